"""Storage of results: one store per experiment with rows, traces and certificates.

``rows.row_of`` makes the row of a run; ``Store.add`` puts it into ``runs.sqlite`` as a ``Stored``;
``reader.shown`` gives it back for the cell as it is planned now; ``rows.rendered`` writes it to
runs.csv, and ``rows.frame_of`` makes the frame of reports from it.
"""
