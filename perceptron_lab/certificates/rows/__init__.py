"""Proofs of rows: scores, vertices, spans, and kernels."""
