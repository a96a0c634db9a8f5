"""The theory of the papers as functions, figures and tables: no run is needed for most of it.

The mathematics stands in the modules here, each with its paper and equation; ``exhibits`` draws and
tabulates it, and ``plab theory`` writes that.
"""
