"""Wrong values of public records are refused in one line that says what is allowed."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from perceptron_lab import Budget
from perceptron_lab.cli.main import main
from perceptron_lab.cones.operators.kernels import Linear, Polynomial, Rbf
from perceptron_lab.core import registry
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.goals import MarginRatio, MarginUpper
from perceptron_lab.experiments.configuration.components import build
from perceptron_lab.experiments.configuration.faults import Fault


@pytest.mark.parametrize(
    ("record", "arguments", "named", "message"),
    [
        (Budget, ["a"], {}, "Budget: updates 'a'; allowed: a whole number, 0 or more"),
        (Budget, [-1], {}, "Budget: updates -1; allowed: 0 or more"),
        (
            Budget,
            [],
            {"seconds": float("nan")},
            "Budget: seconds nan; allowed: a finite number, 0 or more",
        ),
        (
            *(Budget, [1.5, "x"], {}),
            "Budget: updates 1.5; allowed: a whole number, 0 or more; "
            "seconds 'x'; allowed: a number, 0 or more",
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
def test_the_error_states_the_value_and_the_allowed_ones(
    record: Any, arguments: list[Any], named: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError) as caught:
        record(*arguments, **named)
    assert str(caught.value) == message


def test_right_values_pass() -> None:
    assert Budget(3, 2.5) == Budget(updates=3, seconds=2.5)


REGISTERED = [
    (kind, name)
    for kind in ("algorithm", "learner", "oracle", "dataset", "optimiser")
    for name in registry.names(kind)
]


class Odd:
    """A value that is no parameter."""

    def __repr__(self) -> str:
        return "<odd>"


def parameters(record: Any) -> list[str]:
    return [field.name for field in fields(record) if field.init]


def one_line(error: pytest.ExceptionInfo[InputError]) -> str:
    message = str(error.value)
    assert "\n" not in message
    for word in ("pydantic", "Input should", "Value error", "[type=", "validation error"):
        assert word not in message
    return message


def answered_otherwise(record: Any) -> list[str]:
    """Return what is said of parameters, and of one too many, other than in a line of ours."""
    messages = []
    for name in parameters(record):
        with pytest.raises(InputError) as caught:
            record(**{name: Odd()})
        if f"{name} <odd>; allowed: " not in one_line(caught):
            messages.append(str(caught.value))
    with pytest.raises(InputError) as caught:
        record(zap=1)
    return messages if "no parameter 'zap'" in one_line(caught) else [*messages, str(caught.value)]


@pytest.mark.parametrize(("kind", "name"), REGISTERED)
def test_every_registered_record_refuses_in_one_line(kind: str, name: str) -> None:
    record = registry.load(kind, name)
    assert answered_otherwise(record) == []
    schema = TypeAdapter(record).json_schema().get("properties", {})
    for parameter, entry in schema.items():
        if entry.get("type") == "number" and entry.get("exclusiveMinimum") == 0:
            with pytest.raises(InputError) as caught:
                record(**{parameter: "x"})
            assert f"{parameter} 'x'; allowed: a number, more than 0" in one_line(caught)


@pytest.mark.parametrize("record", [Linear, Polynomial, Rbf])
def test_kernels_refuse_in_one_line(record: Any) -> None:
    assert answered_otherwise(record) == []


@pytest.mark.parametrize(("kind", "name"), REGISTERED)
def test_a_configuration_error_names_the_location_of_the_parameter(kind: str, name: str) -> None:
    """A mapping of a list is no value of a parameter, but of those that are mappings."""
    mappings = ("parameters", "first_parameters", "options")
    names = [
        parameter
        for parameter in parameters(registry.load(kind, name))
        if parameter not in mappings
    ]
    faults: list[Fault] = []
    indices: dict[str, tuple[str | int, ...]] = {name: ("at", 0, name) for name in names}
    build(kind, name, ("at",), {name: {"odd": []} for name in names}, indices, faults)
    messages = {".".join(map(str, fault.crumbs)): fault.message for fault in faults}
    for parameter in names:
        assert messages[f"at.0.{parameter}"].startswith("received a mapping; allowed: ")


@pytest.mark.parametrize(
    ("algorithm", "override", "message"),
    [
        ("perceptron-with-margin", "b=x", "b: received the text 'x'; allowed: a number, more th"),
        ("svc", "tolerance=0", "tolerance: received 0; allowed: more than 0"),
        ("sgd", "steps=optimum", "did you mean 'optimal'?"),
        ("sgd", "first=a", "first: received the text 'a'; allowed: a whole number, 1 or more\n"),
    ],
)
def test_the_command_line_states_the_range(
    algorithm: str, override: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "rows.csv").write_text("1,2\n3,4\n")
    command = ["solve", str(tmp_path / "rows.csv"), "--algorithm", algorithm, "-s", override]
    assert main(command) == 2
    assert message in capsys.readouterr().err


def test_attributes_of_the_class_are_no_parameters() -> None:
    """A position means a parameter, and those that are allowed are parameters."""
    kind = registry.load("algorithm", "tau-perceptron")  # which declares its systems
    with pytest.raises(InputError, match=r"tau -1.0; allowed: more than 0"):
        kind(-1.0)
    with pytest.raises(InputError, match=r"no parameter 'nonsense'; allowed: tau, rate$"):
        kind(nonsense=1)
