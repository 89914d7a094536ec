"""The paper's search: late-acceptance hill climbing over the wiring of NAND networks, on CPU and GPU.

From the top: `search` is what users call, `driver` runs a search on the CPU, and the compiled `kernel` and its pieces (`moves`)
work on the arrays of `job`, which also has a search's input and output. `cuda` runs thousands of searches on a GPU.
"""
