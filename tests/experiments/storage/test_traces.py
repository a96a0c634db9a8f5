"""The lists of a trace in the bytes of an ``.npz``."""

from __future__ import annotations

import pytest

from perceptron_lab.core.errors import DataError
from perceptron_lab.core.results import Trace
from perceptron_lab.core.saved_answers.files import packed
from perceptron_lab.experiments.storage.stored import decoded_lists, decoded_trace, encoded_trace


def test_single_lists_of_a_trace_are_those_of_the_whole() -> None:
    trace = Trace([0, 1], [0, 1], [1, 3], [0.5, 2.0], [0.0, 0.1], ["", "a"], [-1.0, 0.5], [2.0, 1])
    content = encoded_trace(trace)
    assert decoded_trace(content, "here") == trace
    assert decoded_lists(content, "here", ["updates", "upper"]) == [trace.updates, trace.upper]
    with pytest.raises(DataError, match="here: damaged"):
        decoded_lists(content, "here", ["other"])
    with pytest.raises(DataError, match="here: damaged"):
        decoded_trace(packed({"updates": [1]}), "here")
