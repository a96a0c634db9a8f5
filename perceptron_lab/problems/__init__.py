"""One folder per question: separation, ellipsoids, optima (MAXCUT and SDP), streams."""
