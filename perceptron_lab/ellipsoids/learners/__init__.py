"""Learners that experiments name: how a task is turned into features, tuned, fitted and scored."""
