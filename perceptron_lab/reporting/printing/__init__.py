"""How tables are printed and figures are drawn."""
