"""Algorithms that change the metric as they go: rescaling, dilation, ellipsoids, whitening."""
