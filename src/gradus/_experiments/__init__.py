"""Experiments: hashed tasks, a store of results, engines that run them, and the paper's figures, tables and claims."""
