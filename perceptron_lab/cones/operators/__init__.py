"""The data as a linear map A* from points to scores, and its adjoint."""
