"""The reproductions of the papers' tables and figures, one folder or module per paper."""
