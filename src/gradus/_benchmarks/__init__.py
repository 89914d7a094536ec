"""`gradus bench`: the speed of the search on this machine, in figures that can be compared across machines."""
