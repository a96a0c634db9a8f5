"""Figure 6.1 of the thesis: programs as sequences of levels, beside the proved optimum."""
