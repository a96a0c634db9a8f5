"""Self-dual cones: how they separate, their spectrum and their base."""
