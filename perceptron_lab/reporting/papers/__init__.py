"""The reproductions of the papers' tables and figures, one folder per paper."""
