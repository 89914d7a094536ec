"""Files in and out: one module a format, imported when it is used.

`gradus._formats.export.export` writes a network in the format that a file's extension names; every writing module has
``dumps(network)``, which returns the file's content.
"""
