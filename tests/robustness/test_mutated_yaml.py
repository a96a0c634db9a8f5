"""Damaged configurations: each is one that reads back the same, or a ConfigError with places."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml
from hypothesis import example, given, settings

from perceptron_lab.core.errors import ConfigError
from perceptron_lab.experiments.configuration.catalogue import gallery
from perceptron_lab.experiments.configuration.loader import load_experiment
from perceptron_lab.experiments.configuration.yaml_source import MOST_BYTES, parse, read_source
from tests.repetitions import examples, repeated, thinned
from tests.robustness.mutations import EXAMPLES, SHORT, bounded, mutated, outcome

LAUGHS = b"a: &a [x, x]\n" + b"".join(
    b"%c: &%c [%s]\n" % (name, name, b", ".join([b"*%c" % (name - 1)] * 9))
    for name in range(ord("b"), ord("z"))
)
MERGES = b"a: &a {x: 1}\n" + b"".join(
    b"%c: &%c {<<: [%s]}\n" % (name, name, b", ".join([b"*%c" % (name - 1)] * 9))
    for name in range(ord("b"), ord("z"))
)


def without_remarks(path: Path) -> bytes:
    """The lines of a configuration that are no remarks, so that damages hit what counts."""
    lines = path.read_bytes().splitlines(keepends=True)
    return b"".join(line for line in lines if not line.lstrip().startswith(b"#") and line.strip())


SEEDS = [without_remarks(path) for path in gallery().values()]
PIECES = [
    *(b"&a ", b"*a", b"<<: *a\n", b"<<: {a: 1}\n", b"!!python/object/apply:os.system [id]"),
    *(b"!t ", b"!!binary ", b"%YAML 9.9\n---\n", b"---\n", b"...\n", b"? ", b": ", b"- " * 500),
    *(b"{? " * 50, b"{" * 1000 + b"}" * 1000, b"[" * 1000 + b"]" * 1000, b'"', b"'", b"|\n", b">"),
    *(b'"\\Uffffffff"', b'"\\ud800"', b"#", b", ", b"seeds: [1]\n", b".nan", b"-.inf", b"null"),
    *(LAUGHS, MERGES, b"true", b"experiment: ../../x\n", b"experiment: /etc\n", b"@", b"`"),
]
PLACE = re.compile(r":[1-9][0-9]*(:[1-9][0-9]*)?: ")


def check(content: bytes, path: Path) -> None:
    path.write_bytes(content)
    loaded, message = outcome(ConfigError, load_experiment, path)
    if not message:
        config = loaded.config
        tree = config.model_dump(mode="json")
        again = load_experiment(config).config.model_dump(mode="json")
        # Compared as text: NaN differs from itself.
        assert json.dumps(again) == json.dumps(tree)
        assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", config.experiment)
        return
    for line in message.splitlines():
        assert line.startswith(str(path)) or re.fullmatch(r"\.\.\. and [0-9]+ more", line), line
        assert len(line) < 2 * len(str(path)) + 2500
    assert PLACE.match(message[len(str(path)) :]) or "larger than" in message, message


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for shipped in gallery().values():
        load_experiment(shipped)  # so that no library is loaded, which takes memory, under a limit
    return tmp_path_factory.mktemp("yaml") / "damaged.yaml"


@pytest.mark.slow
@settings(max_examples=examples(SHORT, few=20))
@given(content=mutated(SEEDS, PIECES))
@example(content=LAUGHS)
@example(content=MERGES)
def test_damaged_configurations(path: Path, content: bytes) -> None:
    check(content, path)


@pytest.mark.slow
@settings(max_examples=examples(-(-EXAMPLES // 3)))
@given(content=mutated(SEEDS, PIECES))
def test_many_damaged_configurations(path: Path, content: bytes) -> None:
    """A third of the examples that PLAB_FUZZ_EXAMPLES says (10000 by default)."""
    check(content, path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", thinned(sorted(gallery()), step=26))
def test_a_configuration_cut_off_at_any_line(path: Path, seed: str) -> None:
    lines = without_remarks(gallery()[seed]).splitlines(keepends=True)
    for end in range(len(lines)):
        check(b"".join(lines[:end]), path)


FLOODS = [
    *("[", "{", "- ", "? ", "a: ", "!t ", "&a ", "*a ", "[a,", "{a: b}, ", "k!: v, ", "'", '"'),
    *("a", "9", " ", "\n", "\t", "#\n", "- a\n", "a: b\n", "<<: *a\n", "- &a b\n", "---\n", "''"),
    *("%TAG ! x\n", "%YAML 1.1\n", "|\n", "{? ", "- !t a\n", "\\", "\x00", "\u2028"),
]
MANY = 20_000


@pytest.mark.slow
@pytest.mark.parametrize("before", repeated(["", "[", "{", "a: ", "? ", 'a: "'], kept=1))
def test_floods_end(before: str) -> None:
    """Long files of one sort are read or refused; some took quadratic time and half an hour."""
    for flood in FLOODS:
        text = before + flood * (MANY // len(flood))
        read, message = outcome(ConfigError, parse, "flood.yaml", text)
        assert message.startswith("flood.yaml:") or read.name == "flood.yaml"
        assert len(message) < 400


@pytest.mark.slow
@pytest.mark.parametrize(
    ("flood", "part"), repeated([("- !t a\n", 8), ("- !t a\n", 1), ("a: b\n", 1)], kept=1)
)
def test_the_largest_file_stays_small_in_memory(path: Path, flood: str, part: int) -> None:
    """Or a part of it in a part of the memory."""
    content = (flood * (MOST_BYTES // part // len(flood))).encode()
    path.write_bytes(content)
    source, message = outcome(ConfigError, read_source, path, memory=2**30 // part)
    assert message.startswith(str(path)) or len(source.values) <= MOST_BYTES


@pytest.mark.parametrize("opening", ["{", "[", "? {", "{? ", "{[", "? [{"])
def test_deep_nesting_in_keys_and_values_is_refused_at_once(
    opening: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also inside a key, whose content is passed over: it was once read to its end."""
    events_read = []
    events = yaml.SafeLoader.get_event

    def counted(loader: yaml.SafeLoader) -> yaml.Event:
        events_read.append(event := events(loader))
        return event

    monkeypatch.setattr(yaml.SafeLoader, "get_event", counted)
    with pytest.raises(ConfigError, match=r"nested deeper than 32 levels|not valid YAML"):
        parse("deep.yaml", opening * 500)
    assert 0 < len(events_read) < 200


@pytest.mark.parametrize("bomb", [LAUGHS, MERGES])
def test_bombs_end_at_once(path: Path, bomb: bytes) -> None:
    """Nothing is copied: an alias has no value, and neither has a merge key."""
    path.write_bytes(bomb)
    with bounded(memory=2**26):
        source = read_source(path)
    assert len(source.values) < len(bomb)
    with pytest.raises(ConfigError, match=r"the anchor &a is not allowed(?s:.)*and [0-9]+ more"):
        load_experiment(path)
