"""Nothing that is read can run: no pickle, no eval, no shell, no unsafe YAML in the package."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "perceptron_lab"
FILES = sorted(PACKAGE.rglob("*.py"))
SHIPPING = {
    "core/killable_calls.py",
    "experiments/cells/attempt.py",
    "experiments/cells/cell_run.py",
    "experiments/cells/dask_executor.py",
    "experiments/cells/dask_worker.py",
}
"""Modules that send calls, cells and outcomes between processes of one run: no user's file."""
LOADERS = {"np.load", "numpy.load", "np.lib.format.open_memmap", "np.lib.format.read_array"}
RUNNING = {
    *(
        "eval",
        "exec",
        "compile",
        "__import__",
        "os.system",
        "os.popen",
        "yaml.load",
        "yaml.unsafe_load",
    ),
    *(
        "yaml.full_load",
        "pd.read_pickle",
        "joblib.load",
        "shelve.open",
        "marshal.loads",
        "runpy.run_path",
    ),
    *("tar.extractall", "archive.extractall", "shutil.unpack_archive", "pd.eval"),
}
OPTIONS = ("allow_pickle", "shell", "Loader")
PICKLES = {"pickle", "cloudpickle", "dill", "joblib", "shelve", "marshal"}
TELLING = [{name} for name in (*PICKLES, *OPTIONS, "extractall", "yaml")]
TELLING += [set(name.split(".")) for name in (*LOADERS, *RUNNING)]
"""Words of which no risk is without: a source that lacks one of each set need not be parsed."""


def written(node: ast.expr) -> str:
    """Return an expression as `ast.unparse` writes it; that takes long, and most are names."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name | ast.Attribute):
        return f"{written(node.value)}.{node.attr}"
    return ast.unparse(node)


def calls(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, ast.Call]]:
    return ((written(node.func), node) for node in nodes if isinstance(node, ast.Call))


def options(call: ast.Call) -> dict[str | None, str]:
    telling = [keyword for keyword in call.keywords if keyword.arg in OPTIONS]
    return {keyword.arg: written(keyword.value) for keyword in telling}


def imported(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (name.name.split(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").split(".")[0]


def nodes_of(source: str) -> list[ast.AST]:
    """Return the syntax tree of a source as a list, or none where no word tells of a risk."""
    words = set(re.findall(r"\w+", source))
    return list(ast.walk(ast.parse(source))) if any(map(words.issuperset, TELLING)) else []


def risks(source: str, shipping: bool = False) -> list[str]:
    """Return what could run something that was read, line by line."""
    return risks_of(nodes_of(source), shipping)


def risks_of(nodes: list[ast.AST], shipping: bool) -> list[str]:
    risks = []
    for name, call in calls(nodes):
        keywords = options(call)
        if name in LOADERS and keywords.get("allow_pickle") != "False":
            risks.append(f"line {call.lineno}: {name} without allow_pickle=False")
        if name in RUNNING or name.endswith(".extractall"):
            risks.append(f"line {call.lineno}: {name}")
        if keywords.get("shell", "False") != "False":
            risks.append(f"line {call.lineno}: {name} with a shell")
        if keywords.get("allow_pickle", "False") != "False":
            risks.append(f"line {call.lineno}: {name} with pickles")
        if name in ("yaml.parse", "yaml.compose", "yaml.scan") and "Safe" not in keywords.get(
            "Loader", ""
        ):
            risks.append(f"line {call.lineno}: {name} without a safe loader")
    if not shipping:
        risks += [f"imports {name}" for name in imported(nodes) if name in PICKLES]
    return risks


@pytest.mark.slow
def test_the_package_executes_no_input() -> None:
    risks, loads = [], 0
    for path in FILES:
        name = path.relative_to(PACKAGE).as_posix()
        nodes = nodes_of(path.read_text(encoding="utf-8"))
        risks += [f"{name}: {risk}" for risk in risks_of(nodes, name in SHIPPING)]
        loads += sum(called in LOADERS for called, _ in calls(nodes))
    assert risks == []
    assert loads >= 4  # arrays are loaded somewhere


@pytest.mark.parametrize(
    "source",
    [
        "np.load(path)",
        "np.load(path, allow_pickle=True)",
        "np.load(path, mmap_mode='r')",
        "np.savez(path, allow_pickle=allowed)",
        "eval(text)",
        "os.system(text)",
        "subprocess.run(text, shell=True)",
        "yaml.load(text)",
        "yaml.parse(text)",
        "tar.extractall(path)",
        "import pickle",
        "from cloudpickle import loads",
    ],
)
def test_the_check_detects_known_risks(source: str) -> None:
    assert len(risks(source)) >= 1


def test_the_check_lets_safe_code_pass() -> None:
    source = "np.load(path, mmap_mode='r', allow_pickle=False)\nsubprocess.run([a], shell=False)"
    assert risks(source) == []
    assert risks("import cloudpickle", shipping=True) == []
