"""The digest of a cell covers its code, that of the user's among it, and no other."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from perceptron_lab.algorithms.perceptrons.perceptron import Perceptron
from perceptron_lab.core import registry
from perceptron_lab.core.errors import ConfigError
from perceptron_lab.experiments.provenance.code_digest import (
    OUTSIDE,
    PACKAGE,
    CellCode,
    is_of_whole_package,
    shown_digest,
)
from tests.deciding_oracles import DECIDING
from tests.repetitions import repeated

Register = Callable[[str | type], None]
READER = "perceptron_lab.datasets.collections.reuters_corpus"


def cell(
    dataset: str = "maxcut",
    algorithm: str = "perceptron",
    parameters: dict[str, Any] | None = None,
    oracles: tuple[str, ...] = (),
) -> dict[str, Any]:
    return {
        "dataset": dataset,
        "dataset_parameters": {},
        "algorithm": algorithm,
        "parameters": parameters or {},
        "oracle": [{"name": name, "parameters": {}} for name in oracles],
    }


def modules(*arguments: Any, **named: Any) -> set[str]:
    return set(CellCode().modules_of(cell(*arguments, **named)))


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package."""
    folder = tmp_path_factory.mktemp("copy") / PACKAGE.name
    shutil.copytree(PACKAGE, folder, ignore=shutil.ignore_patterns("*.pyc", "*.nb[ci]"))
    return folder


@pytest.fixture
def register() -> Iterator[Register]:
    """Register something as the algorithm ``mine``, as long as the test runs."""

    def again(target: str | type) -> None:
        if "mine" in registry.names("algorithm"):
            registry.unregister("algorithm", "mine")
        registry.register("algorithm", "mine", target)

    yield again
    registry.unregister("algorithm", "mine")


def digest(folder: Path, **settings: Any) -> str:
    return CellCode(folder).digest_of(cell(**settings))


def test_a_digest_is_marked_and_shown_short() -> None:
    digest = CellCode().digest_of(cell())
    assert len(digest) == len("cell:") + 64
    assert shown_digest(digest) == digest[5:13]
    assert not is_of_whole_package(digest)
    assert is_of_whole_package("c0de" * 16)
    assert shown_digest("c0de" * 16) == "c0dec0de"


@pytest.mark.slow
def test_the_digest_of_a_copy_is_that_of_the_package(copy: Path) -> None:
    assert digest(copy) == CellCode().digest_of(cell())


@pytest.mark.parametrize("part", OUTSIDE)
def test_code_that_computes_no_numbers_does_not_count(part: str) -> None:
    prefix = f"perceptron_lab.{part}"
    for settings in ({}, {"dataset": "reuters", "algorithm": "linear-scorer"}):
        loaded = modules(**settings)
        assert not [name for name in loaded if name.startswith(prefix)]
        assert not loaded & {"perceptron_lab", "perceptron_lab.core.registry"}


@pytest.mark.slow
def test_the_readers_of_files_concern_their_datasets_alone() -> None:
    """An algorithm receives a system; how a file becomes one is no code of its rows."""
    readers = {name for name in modules("sdplib") if ".datasets.formats." in name}
    assert readers
    for algorithm in DECIDING:  # some of the others write files for programs
        assert not readers & modules("margin-sets", algorithm)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    repeated(
        [
            "certificates/margin.py",
            "solving/driver.py",
            "datasets/generated/maxcut.py",
            "cones/oracles/semidefinite.py",
            "core/goals.py",
        ],
        kept=2,
    ),
)
def test_an_edit_anywhere_in_its_code_counts(copy: Path, name: str) -> None:
    path = copy / name
    source, before = path.read_text(encoding="utf-8"), digest(copy)
    path.write_text(f"{source}\n# a comment\n", encoding="utf-8")
    assert digest(copy) == before
    path.write_text(f"{source}\nadded = 1\n", encoding="utf-8")
    assert digest(copy) != before
    path.write_text(source, encoding="utf-8")


@pytest.mark.slow
def test_the_reader_of_reuters_concerns_reuters_alone(copy: Path) -> None:
    path = copy.parent.joinpath(*READER.split(".")).with_suffix(".py")
    source, before = path.read_text(encoding="utf-8"), digest(copy)
    reuters = digest(copy, dataset="reuters")
    path.write_text(f"{source}\nadded = 1\n", encoding="utf-8")
    assert digest(copy) == before
    assert digest(copy, dataset="reuters") != reuters
    path.write_text(source, encoding="utf-8")


def test_a_cell_depends_on_the_modules_of_its_components_only() -> None:
    assert READER in modules("reuters")
    assert READER not in modules("maxcut")
    ellipsoid = "perceptron_lab.algorithms.rescaling.ellipsoid"
    assert ellipsoid in modules(algorithm="ellipsoid")
    assert ellipsoid in modules(algorithm="auto")  # which delegates to it
    assert ellipsoid not in modules(algorithm="perceptron")
    learning = "perceptron_lab.estimators.learners.learning"
    assert learning in modules("ellipsoid-sets", "linear-scorer")
    assert learning not in modules()
    assert "perceptron_lab.cones.oracles.semidefinite" in modules(oracles=("cholesky",))


def test_modules_named_by_parameters_count() -> None:
    inner = "perceptron_lab.algorithms.saddle_points.mirror_prox"
    assert inner in modules(algorithm="whitened", parameters={"algorithm": "mirror-prox"})
    assert inner not in modules(algorithm="whitened", parameters={"algorithm": "perceptron"})


def test_a_name_that_is_not_registered_is_refused() -> None:
    with pytest.raises(ConfigError, match="unknown algorithm 'percepton'"):
        modules(algorithm="percepton")


def test_modules_that_the_users_module_imports_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, register: Register
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "someones").mkdir()
    sources = {
        "someones/__init__.py": "",
        "someones/method.py": "from someones.step import step\nclass Mine: pass\n",
        "someones/step.py": "import numpy\ndef step():\n    import someones_scale\n",
        "someones_scale.py": "from perceptron_lab.algorithms.saddle_points import mirror_prox\n",
        "someones/unused.py": "size = 1\n",
    }

    def modules_of_cell(**changes: str) -> str:
        for name, source in sources.items():
            (tmp_path / name).write_text(source + changes.get(Path(name).stem, ""))
        return CellCode().digest_of(cell(algorithm="mine"))

    for name, source in sources.items():
        (tmp_path / name).write_text(source)
    register("someones.method:Mine")
    assert modules(algorithm="mine") - modules() == {
        "someones",
        "someones.method",
        "someones.step",
        "someones_scale",
        "perceptron_lab.algorithms.saddle_points",
        "perceptron_lab.algorithms.saddle_points.mirror_prox",
    }
    before = modules_of_cell()
    assert modules_of_cell(unused="size = 2\n", step="# a comment\n") == before
    edits = ({name: "size = 2\n"} for name in ("__init__", "method", "step", "someones_scale"))
    assert len({before, *(modules_of_cell(**edit) for edit in edits)}) == 5
    assert "someones" not in sys.modules


def test_public_and_registered_names_count_where_a_user_uses_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, register: Register
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    source = "import perceptron_lab as pl\nclass Mine: inner = 'ellipsoid'\n"
    (tmp_path / "someone_public.py").write_text(source)
    register(import_module("someone_public").Mine)
    loaded = modules(algorithm="mine")
    assert {"someone_public", "perceptron_lab.estimators"} <= loaded
    assert "perceptron_lab.algorithms.rescaling.ellipsoid" in loaded


def test_a_class_without_source_is_hashed_by_its_bytecode(register: Register) -> None:
    def compiled(body: str) -> str:
        space: dict[str, Any] = {"__name__": "nowhere", "Perceptron": Perceptron}
        exec(f"class Mine:\n    def step(self, x):\n        {body}", space)
        register(space["Mine"])
        return CellCode().digest_of(cell(algorithm="mine"))

    body = "return [y for y in x if y in {'a', 'b'}]"
    assert compiled(body) == compiled(body)
    assert compiled(body) != compiled(body.replace("'b'", "'c'"))
    assert compiled("return x + 1") != compiled("return x - 1")
    compiled("return Perceptron().step(x)")
    assert {"nowhere:Mine", Perceptron.__module__} <= modules(algorithm="mine")
