"""Answers of solvers, and what algorithms that go on from them make of them."""
