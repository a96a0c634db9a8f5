"""Self-dual cones, the linear maps onto them (operators) and their separation oracles."""
