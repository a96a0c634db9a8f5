"""Separation oracles, chosen by name: each finds a cut for a block of scores outside its cone."""
