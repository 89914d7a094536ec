"""The paper's search: late-acceptance hill climbing over the wiring of NAND networks, on CPU and GPU.

From the top: `search` is what users call, `driver` runs a search on the CPU, and the compiled `kernel` works on the arrays of
`job`, which also has a search's input and output, by the pieces in `moves`. `cuda` runs thousands of searches on a GPU.
"""
