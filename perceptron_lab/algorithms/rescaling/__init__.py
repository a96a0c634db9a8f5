"""Algorithms that adapt the metric: rescaling, space dilation, ellipsoids, whitening."""
