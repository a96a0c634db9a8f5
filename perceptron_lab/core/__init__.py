"""Types and helpers of all layers: errors, goals, claims, results, registries, atomic files."""
