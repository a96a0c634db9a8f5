"""Courses of runs, performance profiles, and how costs grow with size."""
