"""HTML pages that open from disk: one theme, one set of templates, one sortable table."""
