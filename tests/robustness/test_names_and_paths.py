"""Names from outside: none of them leads out of a folder, and none is taken for a path."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from perceptron_lab.core import registry
from perceptron_lab.core.errors import ConfigError, DataError, InputError
from perceptron_lab.datasets.dataset import check_instance_name
from perceptron_lab.datasets.download.fetching import fetch, verify
from perceptron_lab.datasets.download.registered_files import COLLECTIONS
from perceptron_lab.datasets.formats.sdpa import read_sdpa
from perceptron_lab.datasets.generated.rows_on_disk import RowsOnDisk
from perceptron_lab.experiments.configuration.catalogue import find_config, gallery
from perceptron_lab.experiments.configuration.config import FileName, Label
from perceptron_lab.experiments.configuration.loader import instances_of, load_experiment, override
from perceptron_lab.experiments.configuration.plan import plan
from perceptron_lab.experiments.configuration.yaml_source import Source, read_source
from perceptron_lab.experiments.storage.results_folder import output_folder
from tests.repetitions import thinned
from tests.robustness.mutations import outcome

NAME = re.compile(r"(?!\.{1,2}\Z)[A-Za-z0-9._-]{1,64}")
NASTY = st.text("./~\\-_ aZ09\0\n\t:*?\"<>|$`'äß١", max_size=70) | st.text(max_size=70)
BAD = ["", ".", "..", "../x", "/x", "a/b", "a\\b", "a\0", "a\n", "x" * 65, "ä", "a b", "a:b"]


@pytest.mark.parametrize("name", thinned(sorted(gallery()), step=7))
def test_names_of_shipped_experiments(name: str) -> None:
    config = load_experiment(gallery()[name]).config
    assert NAME.fullmatch(config.experiment)
    instances = instances_of(config)
    assert instances
    for instance in instances:
        assert NAME.fullmatch(instance.name)
    for cell in plan(config):
        # What files of results are named after; labels, which may hold spaces, never are.
        assert re.fullmatch("[0-9a-f]{16}", cell.identify("0" * 64))


@pytest.mark.parametrize("name", BAD)
def test_no_instance_and_no_experiment_is_called(name: str) -> None:
    with pytest.raises(ValueError, match="cannot name an instance"):
        check_instance_name(name)
    with pytest.raises(ValidationError):
        TypeAdapter(FileName).validate_python(name)


@pytest.mark.slow
@given(NASTY)
def test_names_that_pass_are_names(text: str) -> None:
    for kind, form in [(FileName, NAME), (Label, re.compile(r"[A-Za-z0-9._ -]{1,64}"))]:
        try:
            passed = TypeAdapter(kind).validate_python(text)
        except ValidationError:
            continue
        assert passed == text
        assert form.fullmatch(text)
        assert text[0].isalnum()


@pytest.mark.parametrize("collection", sorted(COLLECTIONS))
def test_registered_files_have_plain_names(collection: str) -> None:
    source = COLLECTIONS[collection]()
    assert NAME.fullmatch(source.name)
    for name, file in source.files.items():
        assert NAME.fullmatch(name)
        assert NAME.fullmatch(file.file)


@given(NASTY)
def test_only_registered_files_are_fetched(name: str) -> None:
    with pytest.raises(ConfigError):
        fetch("sdplib", name)
    with pytest.raises(ConfigError):
        fetch(name, "mcp100")
    with pytest.raises(ConfigError):
        verify(name)


@given(NASTY.filter(lambda name: name not in gallery()))
def test_only_shipped_configurations_are_found_by_name(name: str) -> None:
    path, message = outcome(ConfigError, find_config, name)
    if message:
        assert "no such file or shipped configuration" in message
        assert len(message) < 2000
    else:
        assert path == Path(name)
        assert path.exists()


REALS = st.floats(1e-8, 0.9) | st.sampled_from([0.1 + 0.2, 1e-8, math.nextafter(0.9, 0)])
MADE = {
    "margin-sets": {"family": st.just("thin"), "dimension": st.integers(2, 10**6), "margin": REALS},
    "rows-on-disk": {
        "dimension": st.integers(2, 100_000),
        "rows": st.integers(1, 10**9),
        "difficulty": REALS,
    },
    "labelled-sets": {"family": st.just("sparse"), "difficulty": REALS, "density": REALS},
    "offset-classes": {"margin": st.floats(1e-6, 0.1), "augment": REALS},
    "decision-lists": {"dimension": st.integers(61, 10**6), "length": st.integers(1, 60)},
    "streams": {"dimension": st.integers(2, 1000), "margin": REALS, "flipped": REALS},
    "conic-sets": {"family": st.just("mixed"), "margin": REALS, "rows": st.integers(1, 1000)},
    "conditioned-cones": {"family": st.just("orthant"), "delta": REALS, "large": REALS},
    "ellipsoid-sets": {"ratio": REALS.map(lambda real: 1 + real)},
    "ellipsoid-separation": {"ratio": REALS.map(lambda real: 1 + real)},
    "linear-systems": {
        "kind": st.sampled_from(["tight", "infeasible"]),
        "gap": st.integers(0, 40),
        "inequalities": st.integers(2, 1000),
    },
    "linear-programs": {
        "kind": st.sampled_from(["chain", "infeasible"]),
        "gap": st.integers(0, 40),
        "size": st.integers(2, 5000),
    },
    "netlib": {"instances": st.lists(NASTY | st.just("afiro"), max_size=2)},
    "inverted-balls": {"exponent": st.integers(-6, 6)},
    "resisting": {"dimension": st.integers(1, 1000), "margin": REALS},
    "maxcut": {"instances": st.lists(NASTY | st.just("random-50-120"), max_size=2)},
    "reuters": {"instances": st.lists(NASTY | st.just("earn"), max_size=2)},
    "sdplib": {"instances": st.lists(NASTY | st.just("mcp100"), max_size=2)},
    "separation-families": {
        "kind": st.sampled_from(["quasi-complete", "overlap"]),
        "finite": st.integers(1, 50),
        "gap": st.integers(0, 60),
        "rows": st.integers(8, 10**6),
        "degenerate": st.booleans(),
    },
    "textbook-separation": {"instances": st.lists(NASTY | st.just("endometrial"), max_size=2)},
    "tabular": {"source": st.just("iris"), "instances": st.lists(NASTY, max_size=2)},
    "sdpa": {
        "files": st.lists(NASTY | st.integers(1, 64).map(lambda n: "x" * n), max_size=2),
        "question": st.sampled_from(["feasibility", "recession"]),
    },
}


@pytest.mark.parametrize("dataset", registry.names("dataset"))
@given(data=st.data())
def test_instances_of_any_parameters_have_plain_names(dataset: str, data: st.DataObject) -> None:
    parameters = data.draw(st.fixed_dictionaries(MADE.get(dataset, {})))
    kind: Any = registry.load("dataset", dataset)
    try:
        drawn_dataset = kind(**parameters)
    except InputError:
        return
    names = drawn_dataset.names()
    assert names
    assert all(NAME.fullmatch(name) for name in names)


def test_tested_names_are_datasets() -> None:
    assert set(MADE) <= set(registry.names("dataset"))


@given(st.text("ab.=0129[]{}:&*!<-' \n", max_size=20) | st.text(max_size=20))
def test_any_override_is_written_or_refused(assignment: str) -> None:
    source = Source("", {"a": {"b": [1, 2]}, "b": 3})
    _, message = outcome(ConfigError, override, source, [assignment])
    if message:
        assert message.startswith("-s ")
        return
    assert isinstance(source.tree, dict)
    assert assignment.partition("=")[0].split(".")[0] in source.tree


@pytest.mark.parametrize(
    "assignment",
    [
        *("a.b.99999999999=1", "=", "a=" + "[" * 5000, "a=&x 1", "a=<<: *b", "x" * 9000),
        *("a." * 5000 + "a=1", ".".join("a" * 33) + "=1", "a.b.0.c=1", "a..b=1"),
    ],
)
def test_overrides_that_are_refused(assignment: str) -> None:
    source = Source("", {"a": {"b": [1, 2]}})
    with pytest.raises(ConfigError, match=r"^-s ") as caught:
        override(source, [assignment])
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("name", ["x" * 300, "x/" * 3000, "a\0b", "\0"])
def test_paths_that_cannot_be(name: str, tmp_path: Path) -> None:
    """The system refuses to look for them at all; the error is the documented one still."""
    with pytest.raises(ConfigError, match="no such file or shipped configuration"):
        find_config(name)
    with pytest.raises(ConfigError, match=r"cannot be read|no such file"):
        read_source(tmp_path / name)
    with pytest.raises(DataError, match="cannot be read"):
        read_sdpa(tmp_path / f"{name}.dat-s")
    with pytest.raises((DataError, InputError), match=r"cannot be written|NUL"):
        RowsOnDisk(rows=5, dimension=2, directory=name + "/x" * 3000).load(
            "reflected-2x5-1", seed=0, base=tmp_path
        )
    if "\0" in name:
        with pytest.raises(ConfigError, match="results cannot be written there"):
            output_folder(tmp_path / name, "one")
