"""Wrong values of public records are refused in one line that says what is allowed."""

from __future__ import annotations

from typing import Any

import pytest

from perceptron_lab import Budget
from perceptron_lab.errors import InputError
from perceptron_lab.goals import MarginRatio, MarginUpper


@pytest.mark.parametrize(
    ("record", "arguments", "named", "said"),
    [
        (Budget, ["a"], {}, "Budget: updates 'a'; allowed: a whole number"),
        (Budget, [-1], {}, "Budget: updates -1; allowed: 0 or more"),
        (Budget, [], {"seconds": float("nan")}, "Budget: seconds nan; allowed: a finite number"),
        (
            *(Budget, [1.5, "x"], {}),
            "Budget: updates 1.5; allowed: a whole number; seconds 'x'; allowed: a number",
        ),
        (
            *(Budget, [], {"updats": 3}),
            "Budget: no parameter 'updats' (did you mean 'updates'?); allowed: updates, seconds",
        ),
        (Budget, [1, 2.0, 3], {}, "Budget: 3 is one value too many; allowed: updates, seconds"),
        (MarginRatio, [1.0], {}, "MarginRatio: margin_ratio 1.0; allowed: less than 1"),
        (MarginUpper, [], {}, "MarginUpper: margin_upper is missing; it must be given"),
    ],
)
def test_it_says_what_was_received_and_what_is_allowed(
    record: Any, arguments: list[Any], named: dict[str, Any], said: str
) -> None:
    with pytest.raises(InputError) as caught:
        record(*arguments, **named)
    assert str(caught.value) == said


def test_right_values_pass() -> None:
    assert Budget(3, 2.5) == Budget(updates=3, seconds=2.5)
