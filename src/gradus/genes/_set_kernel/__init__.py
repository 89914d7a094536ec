"""Compiled counting and scoring of regulator sets; apart, so that other edits do not compile it anew."""
