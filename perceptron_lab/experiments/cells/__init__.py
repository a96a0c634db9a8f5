"""How cells run: each in a limited process of its own, on this machine or on a cluster."""
