"""Experiments: tasks identified by a hash, a store of their rows, engines that run them, and specs that describe them."""
