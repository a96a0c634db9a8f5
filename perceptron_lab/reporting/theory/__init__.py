"""The theory of the papers as functions, figures and tables: no run is needed for most of it.

The modules here hold the mathematics, each with its paper and equation, and the exhibits that draw
and tabulate it; ``plab theory`` writes those.
"""
