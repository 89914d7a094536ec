"""Boolean logic: formulas, sums of products, factoring, decision diagrams, expressions."""
