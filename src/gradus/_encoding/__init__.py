"""Tables as bits: features, class labels, and rows that contradict each other."""
