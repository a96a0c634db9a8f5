"""Table 6.1 of the thesis: its numbers compared with ours, as a table and as a figure."""
