"""YAML 1.2, its places, and what is refused."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import event, given
from hypothesis import strategies as st

from perceptron_lab.core.errors import ConfigError
from perceptron_lab.experiments.configuration.catalogue import gallery
from perceptron_lab.experiments.configuration.faults import Fault, refuse
from perceptron_lab.experiments.configuration.yaml_source import (
    MOST_BYTES,
    Source,
    parse,
    read_source,
)
from tests.repetitions import repeated


def tree(text: str) -> Any:
    source = parse("a.yaml", text)
    refuse(source.faults, source.place)
    return source.tree


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-6", 1e-6),
        ("1E6", 1e6),
        ("-1.5", -1.5),
        (".5", 0.5),
        ("5.", 5.0),
        ("+3", 3),
        ("010", 10),
        ("0o10", 8),
        ("0x1F", 31),
        ("1:30", "1:30"),
        ("190:20:30", "190:20:30"),
        ("1_000", "1_000"),
        ("0b11", "0b11"),
        ("no", "no"),
        ("on", "on"),
        ("Yes", "Yes"),
        ("y", "y"),
        ("true", True),
        ("FALSE", False),
        ("tRUE", "tRUE"),
        ("null", None),
        ("~", None),
        ("''", ""),
        ("'1'", "1"),
        ('"true"', "true"),
        ("2001-12-14", "2001-12-14"),
        ("=", "="),
        (".inf", math.inf),
        ("-.INF", -math.inf),
        ("1e999", math.inf),
    ],
)
def test_scalars_follow_the_core_schema(text: str, value: object) -> None:
    read = tree(f"key: {text}")["key"]
    assert read == value
    assert type(read) is type(value)


def test_nan_is_a_number() -> None:
    assert math.isnan(tree("key: .NaN")["key"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: &x 1", "a.yaml:1:4: a: the anchor &x is not allowed; delete it"),
        ("&x a: 1", "a.yaml:1:1: a: the anchor &x is not allowed"),
        ("a: *x", "a.yaml:1:4: a: the alias *x is not allowed; repeat the value"),
        ("a: !!str 1", "a.yaml:1:4: a: the tag !!str is not allowed; delete it"),
        ("a: !own 1", "the tag !own is not allowed"),
        ("!!map\na: 1", "the tag !!map is not allowed"),
        ("a: !!python/object:os.system {}", "the tag !!python/object:os.system is not allowed"),
        ("<<: {a: 1}", "a.yaml:1:1: <<: the merge key << is not allowed; write the keys out"),
        ("a: 1\nb: 2\na: [3, {c: 4}]", "a.yaml:3:1: a: duplicate key, first given in line 1"),
        ("b: {a: 1, a: 1}", "a.yaml:1:11: b.a: duplicate key"),
        ("1: a", "a.yaml:1:1: 1: a key must be text, received 1; quote it"),
        ("null: a", "a key must be text, received nothing"),
        ("? [a, b]\n: c", "a.yaml:1:3: ?: a key must be plain text"),
        ("a: 1\n---\nb: 2", "a.yaml:2:1: a second document begins here"),
        ("a: [1,\n\tb]", "not valid YAML"),
        ("a:\n\tb: 1", "a.yaml:2:1: not valid YAML"),
        ("a: b: c", "(check the indentation, and quote text that holds ': ')"),
        ("a: {b", "a.yaml:1:6: not valid YAML: while parsing a flow mapping"),
        ("a: '", "not valid YAML"),
        ("a: 1\nb: \x00", "a.yaml:2: the character U+0000 is not allowed; delete it"),
        ('a: "\\ud800"', "half of a surrogate pair"),
        ('a: "\\Uffffffff"', "not valid YAML"),
        ("a: " + "9" * 5000, "a whole number with too many digits"),
        ("[" * 40 + "]" * 40, "a.yaml:1:34: nested deeper than 32 levels"),
        ("%YAML 3.0\n---\na: 1", "a.yaml:1:1: not valid YAML"),
    ],
)
def test_yaml_constructs_that_hide_values_are_refused(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        tree(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_every_fault_is_listed_in_the_order_of_lines() -> None:
    with pytest.raises(ConfigError) as caught:
        tree("a: &x 1\nb: *x\nc: !t 3\na: 2\n")
    lines = str(caught.value).splitlines()
    assert [line.split(": ")[0] for line in lines] == [
        "a.yaml:1:4",
        "a.yaml:2:4",
        "a.yaml:3:4",
        "a.yaml:4:1",
    ]


def test_values_and_keys_have_line_numbers() -> None:
    source = parse("a.yaml", "a:\n  - b\n  - {c: 1}\n")
    assert source.place(Fault(("a", 1, "c"), "")).text == "a.yaml:3:9"
    assert source.place(Fault(("a", 1, "c"), "", at_key=True)).text == "a.yaml:3:6"
    assert source.place(Fault(("a", 1, "missing"), "")).text == "a.yaml:3:5"
    assert source.place(Fault((), "")).text == "a.yaml:1:1"


def test_long_lists_of_faults_are_cut() -> None:
    with pytest.raises(ConfigError, match=r"\.\.\. and 10 more"):
        tree("\n".join(f"k{i}: !t 1" for i in range(30)))


def test_empty_text_has_no_value() -> None:
    assert parse("a.yaml", "# nothing\n") == Source("a.yaml", values={(): (1, 1)})


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(10**20), 10**20)
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text("aZ0-: #[]{}'\"\\*&!%@,.\näß", max_size=12),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(st.text("ab:c -", max_size=5), inner, max_size=4)
        ),
        max_leaves=12,
    )
)
def test_json_is_yaml(value: Any) -> None:
    assert tree(json.dumps(value, ensure_ascii=False)) == value


@given(st.text("ab1:-?*&!|>'\"%@`{}[],#~ \t\n\\<=.", max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        value = tree(text)
    except ConfigError as error:
        value = str(error)
        event("refused")
    assert value is None or isinstance(value, str | int | float | bool | list | dict)


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(tmp_path_factory: Any, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.yaml"
    path.write_bytes(content)
    try:
        source = read_source(path)
    except ConfigError as error:
        outcome = str(error)
    else:
        outcome = source.name
    assert outcome.startswith(str(path))


def test_a_byte_order_mark_is_no_content(tmp_path: Path) -> None:
    path = tmp_path / "bom.yaml"
    path.write_bytes(b"\xef\xbb\xbfa: 1\n")
    assert read_source(path).tree == {"a": 1}


def test_files_that_are_no_text_are_refused(tmp_path: Path) -> None:
    latin, large = tmp_path / "latin.yaml", tmp_path / "large.yaml"
    latin.write_bytes("a: 1\nb: Straße".encode("latin-1"))
    large.write_bytes(b"#" * (MOST_BYTES + 1))
    for path, message in [
        (latin, f"{latin}:2: not UTF-8 text; save the file as UTF-8"),
        (large, f"larger than {MOST_BYTES} bytes"),
        (tmp_path, "no file; give the path of a YAML file"),
        (tmp_path / "none.yaml", "no such file"),
        (tmp_path / "nul\0", "no such file"),
    ]:
        with pytest.raises(ConfigError) as caught:
            read_source(path)
        assert message in str(caught.value)


@pytest.mark.skipif(not hasattr(yaml, "CSafeLoader"), reason="PyYAML has no libyaml here")
@pytest.mark.parametrize("seed", repeated(range(400), kept=20))
def test_libyaml_and_pyyaml_read_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(seed)
    text = damaged(draw, times=seed % 4)
    by_libyaml = parsed_or_refused(text)
    monkeypatch.delattr(yaml, "CSafeLoader")
    assert parsed_or_refused(text) == by_libyaml


def damaged(draw: random.Random, times: int) -> str:
    """Return some lines of a shipped file in which characters have been replaced."""
    lines = draw.choice(list(gallery().values())).read_text(encoding="utf-8").splitlines()
    text = "\n".join([line for line in lines if not line.startswith("#")][:20])
    for _ in range(times):
        place = draw.randrange(len(text))
        character = draw.choice("\t:-#'\"{}[]&*!|>%@`,? \n\\~<=é\x07\u2028")
        text = text[:place] + character + text[place + 1 :]
    return text


def parsed_or_refused(text: str) -> object:
    try:
        source = parse("damaged.yaml", text)
    except ConfigError as error:
        return str(error)
    return repr(source.tree), source.keys, source.faults
