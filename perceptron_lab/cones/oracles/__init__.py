"""Separation oracles: how a block of scores outside its cone is cut off, chosen by name."""
