"""Data: file formats, registered collections, generators, and the datasets built from them."""
