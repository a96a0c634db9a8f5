"""Table 6.1 of the thesis: numbers, table, figure."""
