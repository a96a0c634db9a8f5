"""The tables and figures of `Kharechko2009`."""
