"""What all layers share: errors, goals, claims, results, names, parameters, atomic files."""
