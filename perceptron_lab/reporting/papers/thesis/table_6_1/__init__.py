"""Table 6.1 of the thesis: its numbers beside ours, as a table and as a figure."""
