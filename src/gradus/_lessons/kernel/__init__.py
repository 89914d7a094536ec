"""Compiled pieces of the lessons, in a folder of their own: only edits in here make what was compiled stale."""
