"""The digest of a source changes with every edit that may change a number, and what it imports."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from perceptron_lab.experiments.provenance import source_files
from perceptron_lab.experiments.provenance.source_files import (
    SourceFile,
    file_of,
    parsed,
    read_module,
)

SOURCE = '''"""A module."""
import math


def step(x: float) -> float:
    """Return a step."""
    # a comment
    return math.sqrt(x) + 1.0


class Step:
    """A step."""

    size = 1
'''


def digest(source: str) -> str:
    return parsed(source).digest


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"""A module."""', ""),
        ('"""Return a step."""', '"""Return another step."""'),
        ('"""A step."""', "'''A longer text.\n\n    In two parts.'''"),
        ("    # a comment\n", ""),
        ("math.sqrt(x) + 1.0", "(\n        math.sqrt(x)\n        + 1.0)  # laid out"),
        ("def step(x: float)", "def step(\n    x: float,\n)"),
        ("import math\n\n\n", "import math\n"),
        ("1.0", "1.00"),
    ],
)
def test_comments_docstrings_and_layout_do_not_change_the_digest(old: str, new: str) -> None:
    assert old in SOURCE
    assert digest(SOURCE.replace(old, new)) == digest(SOURCE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("1.0", "1.0000000000000002"),
        ("1.0", "1"),
        (" + ", " - "),
        ("sqrt", "cbrt"),
        ("x: float", "x: int"),
        ("x: float", "x: float = 0"),
        ("size = 1", "size = True"),
        ("import math", "import math as math"),
        ("return math", "x\n    return math"),
        ("    # a comment\n", '    "no docstring"\n'),
        ("class Step:", "class Step(object):"),
        ("    size = 1", "    size = None"),
    ],
)
def test_every_other_edit_changes_it(old: str, new: str) -> None:
    assert old in SOURCE
    assert digest(SOURCE.replace(old, new)) != digest(SOURCE)


def test_a_function_that_is_its_docstring_alone_is_hashed() -> None:
    assert digest("def f():\n    '''a'''") == digest("def f():\n    '''b'''")
    assert digest("def f():\n    '''a'''") != digest("def g():\n    '''a'''")


IMPORTS = """
from __future__ import annotations
import typing
from typing import TYPE_CHECKING
import first, second.part as part

if TYPE_CHECKING:
    from unseen import Never
    if True:
        import unseen.part
else:
    import third

if typing.TYPE_CHECKING:
    import unseen
elif part:
    import fourth

def function():
    from . import beside
    from ..above import name
    from ....outside import nothing
"""


def test_imports_count_wherever_they_run() -> None:
    assert parsed(IMPORTS, "top.package").imports == {
        "__future__.annotations",
        "typing",
        "typing.TYPE_CHECKING",
        "first",
        "second.part",
        "third",
        "fourth",
        "top.package.beside",
        "top.above.name",
    }


def test_texts_are_those_of_the_program() -> None:
    module = parsed("'''Documentation.'''\nx = 'one'\ny = f'two{x}'")
    assert module.texts == {"one", "two"}


def test_files_that_are_no_python_are_hashed_as_bytes(tmp_path: Path) -> None:
    extension, broken = tmp_path / "fast.so", tmp_path / "broken.py"
    extension.write_bytes(b"\x7fELF")
    broken.write_text("def (")
    assert len(read_module("fast", extension).digest) == 64
    assert read_module("broken", broken).imports == frozenset()


def test_an_edited_file_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("x = 1\n")
    before = read_module("mine", path)
    path.write_text("x = 1  # the same\n")
    assert read_module("mine", path) == before
    path.write_text("x = 2\n")
    assert read_module("mine", path) != before


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """A module that was read once, and the file that keeps what was read."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    path = tmp_path / "package" / "mine.py"
    path.parent.mkdir()
    path.write_text(f"{IMPORTS}x = 'spécial \\ud800'\n", encoding="utf-8")
    read_module("package.mine", path)
    (file,) = (path.parent / "__pycache__").iterdir()
    return path, file


def reread(path: Path, name: str = "package.mine") -> SourceFile:
    """Read a module as a new process does."""
    source_files._read.cache_clear()
    return read_module(name, path)


def test_a_file_is_parsed_once(kept: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    path, _ = kept
    expected = parsed(path.read_bytes(), "package")
    monkeypatch.setattr(source_files, "parsed", None)
    assert reread(path) == expected
    with pytest.raises(TypeError):  # its relative imports are others
        reread(path, "other.mine")


def test_what_is_kept_of_former_contents_does_not_count(kept: tuple[Path, Path]) -> None:
    path, file = kept
    former = file.read_bytes()
    path.write_text("x = 1\n")
    assert reread(path) == parsed("x = 1\n")
    assert file.read_bytes() != former
    file.write_bytes(former)
    assert reread(path) == parsed("x = 1\n")


@pytest.mark.parametrize("damaged", [b"", b"{}", b"[1, 2]", b"\xff", b'["a", 1, 2, 3]', b"null"])
def test_a_damaged_file_is_made_again(kept: tuple[Path, Path], damaged: bytes) -> None:
    path, file = kept
    intact = file.read_bytes()
    file.write_bytes(damaged)
    assert reread(path) == parsed(path.read_bytes(), "package")
    assert file.read_bytes() == intact


def test_nothing_is_kept_where_python_keeps_nothing(
    kept: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, file = kept
    file.unlink()
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert reread(path) == parsed(path.read_bytes(), "package")
    assert not file.exists()
    file.parent.rmdir()
    file.parent.write_text("a file where the folder should be")
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    assert reread(path) == parsed(path.read_bytes(), "package")


def test_only_modules_of_the_user_have_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in (tmp_path, tmp_path / "site-packages"):
        (folder / f"pack_{len(folder.parts)}" / "inner").mkdir(parents=True)
        for name in ("__init__", "inner/__init__", "inner/deep"):
            (folder / f"pack_{len(folder.parts)}" / f"{name}.py").write_text("raise OSError\n")
        monkeypatch.syspath_prepend(folder)
    package, installed = f"pack_{len(tmp_path.parts)}", f"pack_{len(tmp_path.parts) + 1}"
    assert file_of(f"{package}.inner.deep") == tmp_path / package / "inner" / "deep.py"
    assert file_of(f"{package}.inner") == tmp_path / package / "inner" / "__init__.py"
    assert file_of(f"{package}.inner.deep.name") is None
    assert file_of(f"{installed}.inner.deep") is None
    file = tmp_path / "site-packages" / installed / "inner" / "deep.py"
    assert file_of(f"{installed}.inner.deep", of=installed) == file
    assert package not in sys.modules
    for name in ("numpy", "json", "sys", "there.is.none", "perceptron_lab_is_not_this"):
        assert file_of(name) is None
