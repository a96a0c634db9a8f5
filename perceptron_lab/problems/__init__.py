"""Problem classes: separation, ellipsoids, optima (MAXCUT and SDP), online streams."""
