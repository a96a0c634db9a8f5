"""The registered learners."""
