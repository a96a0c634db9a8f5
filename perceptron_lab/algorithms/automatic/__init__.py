"""``auto``, the default, and the search for a separator that it begins with."""
