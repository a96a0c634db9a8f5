"""The algorithms of the papers, one family per file, each against the one contract of ``base``."""
