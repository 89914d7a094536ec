"""The verbs `reproduce`, `status` and `report`, which `gradus` finds through entry points."""
