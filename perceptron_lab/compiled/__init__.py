"""Inner loops that numpy cannot vectorise, compiled by numba, each beside its numpy reference.

Every kernel has an explicit signature: it is compiled (or loaded from numba's cache) when its
module is imported, so that no compilation ever falls into a measured time.
"""
