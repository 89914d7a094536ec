"""The paper's search: late-acceptance hill climbing over the wiring of NAND networks, on CPU and GPU.

From the top: `many` and `search` are what users call, `job` defines the input and output of a search, `driver` runs a search
on the CPU through `workspace`, and the compiled `kernel` and its pieces (`moves`) work on its arrays (`state`). `cuda` runs
thousands of searches on a GPU.
"""
