"""Linear inequalities, equations and bounds: whether there is a point, decided exactly."""
