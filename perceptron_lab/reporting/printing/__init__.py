"""Output of tables and figures."""
