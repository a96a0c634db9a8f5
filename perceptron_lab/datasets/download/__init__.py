"""Data files on this machine: registered, fetched, verified, kept."""
