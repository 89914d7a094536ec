"""From a table to a model: cells, kinds, encoding, votes, `Model`, the estimator and its score on rows held out."""
