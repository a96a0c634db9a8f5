"""Separation by ellipsoids: chapters 7 and 8 of `Kharechko2009`, and beyond them."""
