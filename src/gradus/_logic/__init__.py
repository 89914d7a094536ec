"""Boolean logic: formulas of networks, sums of products, factoring, decision diagrams, parsed expressions."""
