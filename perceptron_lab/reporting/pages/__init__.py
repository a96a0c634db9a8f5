"""Pages of results: HTML that needs no network, no server and no JavaScript to be read."""
