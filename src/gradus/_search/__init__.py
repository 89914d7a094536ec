"""Late-acceptance hill climbing over the wiring of NAND networks.

`settings` says what can be set, `objective` what is minimised, `kernel` is the compiled loop, and `front` runs it.
"""
