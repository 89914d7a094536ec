"""The foundation of everything else: bits, gates, checks, files, words, and the `Run` that long work is handed."""
