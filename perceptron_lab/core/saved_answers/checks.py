"""The checks of ``plab verify``, each with what it does to the fields that it covers."""

from __future__ import annotations

from enum import Enum, unique


@unique
class Check(Enum):
    """A check; its value is the sentence of the documentation."""

    FORM = "no other value is read"
    STATUS = (
        "its claim is verified on the data; UPDATE_LIMIT, FITTED and other statuses without a "
        "claim are not verified"
    )
    PROVED = "compared with the status"
    POINT = "verified on the data, if the status or `margin_lower` claims something of it"
    WEIGHTS = "verified on the data, if the status or `margin_upper` claims something of them"
    MARGIN_LOWER = "the margin of the point, computed again with bounds of rounding errors"
    MARGIN_UPPER = "the bound of the weights, computed again with bounds of rounding errors"
    NO_MARGIN = "null: there is no margin here"
    NO_OPTIMUM = "null: there is no optimum here"
    OPTIMUM_LOWER = "proved again from the arrays of the proof"
    OPTIMUM_UPPER = "proved again from the point"
    PROOF = "used by the proof of a bound or status; an array that no proof reads is not verified"
    CUT = "the cut is evaluated again"
    FIGURES = "`optimum_lower` and `optimum_upper` as above, `cut` and `cut_ratio` evaluated again"
    LEARNT = "bounds are proved and counts are made again; errors, seconds and others are not"
    MEASURES = "measured again; `claimed_...`, `mistakes` and `rounds` are not verified"
    GOAL_REACHED = "compared with the goal and the verified bounds"
    DATA = "the data are read again, and have this sha256"
    SETTINGS = "used: the data are read by it, and the claims are verified about them"
    SOURCE = (
        "the file that it names is read by it, and has its sha256; the folder `base`, in which the "
        "file was found, is not verified"
    )
    PROVENANCE = "compared with the data, read again"
    MARGIN_NAME = "compared with the system of the data"
    NO_BOUND = "compared with the only value that there is"
    IDENTITY = "compared with the hash of the settings"
    EXACT_POINT = "put into the conditions, exactly: it satisfies all of them"
    EXACT_WEIGHTS = "put into the conditions, exactly: they prove that there is no point"
    IRREDUCIBLE = "proved again, exactly; `false` is not verified where `true` can be proved"
    TIGHT = "computed again at the point, exactly"
    ALWAYS = "put into the conditions, exactly, if `complete`"
    COMPLETE = "computed again of `tight` and `always`; `false` is not verified where `true` is so"
    VIOLATION = "computed again from point or weights, and rounded outward"
    NAMES = "made again of the exact numbers and the names in the data"
    ROUNDED = "compared with the exact numbers: each is rounded once"
    MESSAGE = "made again of the exact numbers, but for the method in parentheses"
    SEPARATION = "made again of the exact proof, on the data"
    SIZE = "compared with the problem, loaded again"
    WIDTH = "computed again from the bounds"
