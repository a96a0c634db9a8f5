"""First-order methods for the saddle point of margin and weights."""
