"""Learners: features, tuning, fitting, and how their rankings are judged."""
