"""Small data sets of other packages' suites, with the answers that their authors state.

POISSON: test/separation_datasets of ppmlhdfe, by number (S. Correia, P. Guimarães and T. Zylkin,
ppmlhdfe: Fast Poisson estimation with high-dimensional fixed effects, The Stata Journal 20, 2020),
and the first table of its guide on separation. A row is y, the columns, and whether it is
separated; columns named id are fixed effects. Set 13 equals set 12.

SILVAPULLE, LIZARDS: data sets of detectseparation (Kosmidis, Schumacher and Schwendinger), from
M. J. Silvapulle (1981) and from T. W. Schoener (1970) by McCullagh and Nelder (1989).

SEX_AGGREGATED: the documented example of logistf (G. Heinze, M. Ploner, L. Jiricka and G. Steiner),
from the LogXact manual of Cytel Inc.; its authors report that no estimate of the diaphragm exists.

ENDOMETRIAL: the first example of detectseparation, from G. Heinze and M. Schemper, Statistics in
Medicine 21 (2002).

HEPATITIS, STEM_CELLS: data sets of brglm2 (Kosmidis), from S. B. Bull, C. Mak and C. M. T.
Greenwood, Computational Statistics & Data Analysis 39 (2002), and from A. Agresti, Analysis of
Ordinal Categorical Data (2010).
"""

from __future__ import annotations

from typing import Final

POISSON: Final = {
    "02": ("id id", "0 1 1 0|1 1 1 0|0 2 1 1|0 2 2 0|1 2 2 0"),
    "03": (
        "id id id",
        "0 5 3 6 1|0 5 5 7 1|1 1 3 1 0|1 1 5 2 0|1 2 4 1 0|1 2 6 2 0|1 3 1 3 0|1 3 7 4 0|"
        "1 4 2 3 0|1 4 8 4 0|1 5 1 5 0|1 5 7 8 0|1 6 2 5 0|1 6 4 6 0|1 6 6 7 0|1 6 8 8 0",
    ),
    "05": (
        "x x x x",
        "0 5 11 2 2 0|0 5 2 11 2 0|0 5 2 2 11 0|0 0 -1 -1 -1 1|1 5 5 5 5 0|2 4 4 4 4 0|"
        "3 3 3 3 3 0|4 2 2 2 2 0|5 1 1 1 1 0",
    ),
    "06": (
        "x x x x",
        "0 0 0 0 0 0|0 0 0 0 0 0|0 5 11 2 2 0|0 5 2 11 2 0|0 5 2 2 11 0|0 0 -1 -1 -1 1|"
        "1 5 5 5 5 0|2 4 4 4 4 0|3 3 3 3 3 0|4 2 2 2 2 0|5 1 1 1 1 0",
    ),
    "07": (
        "x x id id",
        "0 0 0 1 1 0|0 0 0 1 1 0|0 0 0 1 2 0|0 0 0 1 3 0|0 2 0 1 3 0|0 0 1 2 2 1|0 0 0 2 2 0|"
        "0 0 0 2 2 0|0 1 0 2 2 0|0 1 2 2 3 1|0 0 1 2 4 1|0 0 0 4 2 0|0 0 1 5 2 1|1 0 0 1 1 0|"
        "1 1 0 4 3 0|1 0 0 5 4 0|2 0 0 1 2 0|2 0 0 2 1 0",
    ),
    "08": (
        "x x id id",
        "0 1 0 1 2 1|0 1 0 2 2 0|1 2 0 1 3 0|1 0 0 2 1 0|1 1 0 2 2 0|1 0 1 2 3 0|2 0 0 2 1 0|"
        "2 0 1 2 2 0|2 1 0 2 3 0",
    ),
    "09": (
        "x x x",
        "0 0 0 1 0|0 0 0 2 0|0 0 0 1 0|.9788354 3 2 1 0|2.2596662 1 1 2 0|2.4177196 2 2 2 0|"
        "2.611468 4 2 1 0",
    ),
    "10": (
        "x x x",
        "0 -5 0 1 1|0 -2 0 1 1|0 0 2 1 1|0 0 0 2 0|0 0 0 3 1|0 2 3 4 1|.5 2 2 2 0|1.1 1 1 2 0|"
        "2.1 4 2 4 0|3.3 3 3 2 0",
    ),
    "12": (
        "id id",
        "0 3 3 0|0 4 3 1|0 4 4 0|0 6 6 0|0 7 7 0|0 8 8 0|0 9 9 0|1 1 1 0|1 2 2 0|1 2 2 0|1 3 3 0|"
        "1 4 4 0|1 5 5 0|1 6 6 0|1 7 7 0|1 8 8 0|1 9 9 0|1 10 10 0",
    ),
    "14": (
        "x x",
        "0 1 0 0|0 1 0 0|0 -1 0 0|0 0 1 0|0 0 1 0|0 0 1 0|0 0 -1 0|0 0 -1 0|1 0 0 0|2 0 0 0|"
        "3 0 0 0|4 0 0 0|5 0 0 0|6 0 0 0",
    ),
    "15": (
        "x x x",
        "0 1 0 0 0|0 1 0 0 0|0 -1 0 0 0|0 0 1 0 0|0 0 1 0 0|0 0 1 0 0|0 0 -1 0 0|0 0 -1 0 0|"
        "0 0 0 1 1|0 0 0 2 1|0 0 0 3 1|0 0 0 4 1|0 0 0 5 1|0 0 0 6 1|0 0 0 7 1|0 0 0 8 1|"
        "0 0 0 1000 1|1 0 0 0 0|2 0 0 0 0|3 0 0 0 0|4 0 0 0 0|5 0 0 0 0|6 0 0 0 0",
    ),
    "guide": (
        "x x x",
        "0 0 1 0 1|0 0 0 0 0|0 0 0 0 0|0 0 0 0 0|0 1 9 0 1|2 21 21 21 0|3 0 0 0 0|5 0 0 0 0|"
        "7 0 0 0 0|10 -18 -18 0 0",
    ),
}
"""Number -> kinds of the columns, and rows."""

SILVAPULLE: Final = ([2, 4, 5, 5, 5, 7, 7, 10], [0] * 18 + [1] * 8 + [2])
"""General health questionnaire scores where y is 1, and where y is 0."""

LIZARDS: Final = (
    "20 2 0 0 0 0|8 1 0 0 0 1|4 4 0 0 0 2|13 0 1 0 0 0|8 0 1 0 0 1|12 0 1 0 0 2|8 3 0 1 0 0|"
    "4 1 0 1 0 1|5 3 0 1 0 2|6 0 1 1 0 0|1 1 1 1 0 2|34 11 0 0 1 0|69 20 0 0 1 1|18 10 0 0 1 2|"
    "31 5 1 0 1 0|55 4 1 0 1 1|13 3 1 0 1 2|17 15 0 1 1 0|60 32 0 1 1 1|8 8 0 1 1 2|12 1 1 1 1 0|"
    "21 5 1 1 1 1|4 4 1 1 1 2"
)
"""Grahami, opalinus, height, diameter, light, time."""

HEPATITIS: Final = (
    "0 0 0 389|0 0 1 1864|0 1 0 400|0 1 1 1896|1 0 0 5|1 0 1 5|1 1 1 3|2 0 0 3|2 0 1 11|2 1 0 2|"
    "2 1 1 10"
)
"""No disease (0), C (1) or neither A, B nor C (2); withheld; after the transfusion; persons."""

STEM_CELLS: Final = {
    "female": ((34, 41, 58), (67, 83, 63), (30, 23, 15), (25, 14, 12)),
    "male": ((21, 30, 64), (52, 52, 50), (24, 18, 16), (15, 11, 11)),
}
"""Sex -> frequencies: definitely, probably, probably not, definitely not; three religions each."""

SEX_AGGREGATED: Final = (
    "0 0 0 0 0 1 0 1|0 0 0 1 0 0 0 2|0 0 0 1 0 1 0 1|0 0 0 1 1 0 0 8|0 0 0 1 1 1 0 18|"
    "0 0 1 0 0 0 0 42|0 0 1 0 0 1 0 1|0 0 1 1 0 0 0 1|0 0 1 1 1 0 0 5|0 0 1 1 1 1 0 6|"
    "0 1 0 1 1 0 0 2|0 1 0 1 1 1 0 4|0 1 1 0 0 0 0 14|0 1 1 0 0 1 0 1|0 1 1 1 0 0 0 1|"
    "0 1 1 1 1 1 0 2|1 0 0 0 0 1 0 1|1 0 0 1 0 0 0 14|1 0 0 1 0 1 0 3|1 0 0 1 1 0 0 10|"
    "1 0 0 1 1 1 0 12|1 0 0 1 1 1 1 1|1 0 1 0 0 0 0 44|1 0 1 0 0 0 1 3|1 0 1 1 0 0 0 15|"
    "1 0 1 1 0 0 1 1|1 0 1 1 0 1 0 2|1 0 1 1 1 0 0 7|1 0 1 1 1 1 0 3|1 1 0 1 0 0 0 2|"
    "1 1 0 1 0 1 0 1|1 1 0 1 0 1 1 1|1 1 0 1 1 0 0 1|1 1 0 1 1 1 1 1|1 1 1 0 0 0 0 5|"
    "1 1 1 1 0 0 0 3"
)
"""Urinary tract infection, age of 24 or more, oral contraceptive, condom, lubricated condom,
spermicide, diaphragm; persons."""

ENDOMETRIAL: Final = (
    "0 13 1.64 0|0 16 2.26 0|0 8 3.14 0|0 34 2.68 0|0 20 1.28 0|0 5 2.31 0|0 17 1.8 0|"
    "0 10 1.68 0|0 26 1.56 0|0 17 2.31 0|0 8 2.01 0|0 7 1.89 0|0 20 3.15 0|0 10 1.23 0|"
    "0 18 1.27 0|0 16 1.76 0|0 18 2 0|0 8 2.64 1|0 29 0.88 1|0 12 1.27 1|0 20 1.37 1|"
    "1 38 0.97 1|1 22 1.14 1|1 7 0.88 1|1 25 0.91 1|1 15 0.58 1|0 7 0.97 1|0 28 1.5 0|"
    "0 11 1.33 0|0 19 2.37 0|0 10 1.82 0|0 10 3.13 0|0 18 1.31 0|0 14 1.92 0|0 21 1.64 0|"
    "0 11 2.01 0|0 17 1.88 0|0 25 1.93 0|0 16 2.11 0|0 19 1.29 0|0 15 1.72 0|0 33 0.75 0|"
    "0 24 1.92 0|0 48 1.84 1|0 12 1.11 1|0 19 1.61 1|0 2 1.18 1|1 22 1.44 1|1 40 1.18 1|"
    "1 5 0.93 1|1 0 1.17 1|0 21 1.19 1|0 15 1.06 1|0 29 2.02 0|0 15 2.29 0|0 12 2.33 0|"
    "0 3 2.9 0|0 20 1.7 0|0 23 1.41 0|0 12 2.25 0|0 22 1.54 0|0 42 1.97 0|0 15 1.75 0|"
    "0 13 2.16 0|0 14 2.57 0|0 19 1.37 0|0 12 3.61 0|0 13 2.04 0|0 10 2.17 0|0 12 1.69 1|"
    "1 49 0.27 1|0 6 1.84 1|0 5 1.3 1|0 17 0.96 1|1 11 1.01 1|1 21 0.98 1|0 5 0.35 1|"
    "1 19 1.02 1|0 33 0.85 1"
)
"""Neovasculisation, pulsatility index, endometrium height; high grade."""
