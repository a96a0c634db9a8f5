"""Scripts for work on the repository itself; none is installed."""
