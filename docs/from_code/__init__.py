"""The pages that are made from the code when the documentation is built.

Nothing on them is copied by hand: texts are docstrings, parameters are those of the records, steps
are included from the sources, and pictures and numbers are of runs made by the build.
"""
