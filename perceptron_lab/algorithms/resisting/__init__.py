"""An adaptive oracle that no online learner can satisfy early: the lower bound, and its runs."""
