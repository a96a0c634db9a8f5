"""Table 8.1 and Figure 8.1 of the thesis: average precisions of learners."""
