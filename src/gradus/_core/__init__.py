"""What everything else stands on: bits, gates, checks, files, words, and the `Run` that long work is handed."""
