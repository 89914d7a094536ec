"""The paper's search: late-acceptance hill climbing over the wiring of NAND networks, on CPU and GPU.

From the top: `many` and `search` take the user's tables, `job` says what a search is given and gives back, `driver` runs one
on the CPU through `workspace`, whose arrays (`state`) the compiled `kernel` and its pieces (`moves`) work on. `cuda` runs
thousands on a GPU.
"""
