"""The learners that experiments name."""
