"""How fast the search is on this machine, in figures that mean something on another one too."""
