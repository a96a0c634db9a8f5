"""An adaptive adversary that forces mistakes of every online learner: a lower bound, and runs."""
