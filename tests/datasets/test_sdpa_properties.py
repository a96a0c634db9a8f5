"""Round trips, and texts nobody wrote on purpose."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perceptron_lab.core.errors import DataError, InputError
from perceptron_lab.datasets.formats.sdpa import parse_sdpa
from perceptron_lab.systems.pencil import SdpaData, format_sdpa, sha256_of_text
from tests.repetitions import examples

NUMBERS = st.floats(allow_nan=False, allow_infinity=False, allow_subnormal=False)
"""Subnormal numbers in a text are refused: their last digit is no part of a unit roundoff."""


@st.composite
def entries_of(draw: st.DrawFn, blocks: list[int], variables: int) -> dict[tuple[int, ...], float]:
    entries: dict[tuple[int, ...], float] = {}
    for _ in range(draw(st.integers(1, 12))):
        block = draw(st.integers(0, len(blocks) - 1))
        row = draw(st.integers(0, abs(blocks[block]) - 1))
        column = row if blocks[block] < 0 else draw(st.integers(row, blocks[block] - 1))
        matrix = draw(st.integers(0, variables))
        entries[matrix, block, row, column] = draw(NUMBERS.filter(lambda value: value != 0))
    return entries


@st.composite
def programs(draw: st.DrawFn) -> SdpaData:
    objective = draw(st.lists(NUMBERS, min_size=1, max_size=5))
    size = st.integers(-6, 6).filter(lambda order: order != 0)
    blocks = draw(st.lists(size, min_size=1, max_size=4))
    entries = draw(entries_of(blocks, len(objective)))
    indices = np.array(list(entries), dtype=np.int64)
    return SdpaData.from_entries(
        np.array(objective), blocks, indices, np.array(list(entries.values()))
    )


@given(programs())
def test_round_trip_is_exact(data: SdpaData) -> None:
    text = format_sdpa(data)
    again = parse_sdpa(text)
    assert again == data
    assert format_sdpa(again) == text
    assert again.value.tobytes() == data.value.tobytes()


@given(programs(), st.randoms(use_true_random=False))
def test_order_triangle_repetition_and_zeros_do_not_matter(data: SdpaData, random: object) -> None:
    head, lines = format_sdpa(data).split("\n")[:4], format_sdpa(data).split("\n")[4:-1]
    random.shuffle(lines)  # type: ignore[attr-defined]
    mirrored = [" ".join(np.array(line.split())[[0, 1, 3, 2, 4]]) for line in lines[::2]]
    assert parse_sdpa("\n".join([*head, *lines, *mirrored])) == data


@given(programs(), st.integers(min_value=0), st.data())
def test_a_changed_value_is_a_conflict(data: SdpaData, pick: int, draw: st.DataObject) -> None:
    lines = format_sdpa(data).rstrip("\n").split("\n")
    *index, value = lines[4 + pick % len(data.value)].split()
    other = draw.draw(NUMBERS.filter(lambda number: number != float(value)))
    with pytest.raises(DataError, match=f":{len(lines) + 1}: this entry and the one on line "):
        parse_sdpa("\n".join([*lines, " ".join([*index, repr(other)])]))


@st.composite
def damaged(draw: st.DrawFn) -> str:
    text = format_sdpa(draw(programs()))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, min(start + 6, len(text))))
        patch = st.one_of(
            st.text(max_size=4), st.text('0123456789+-.eEdD,(){}"*=_ \n\r\t', max_size=8)
        )
        text = text[:start] + draw(patch) + text[end:]
    return text


@settings(max_examples=examples(400))
@given(st.one_of(damaged(), st.text()))
def test_any_text_is_a_program_or_a_data_error(text: str) -> None:
    try:
        data = parse_sdpa(text)
    except DataError as error:
        message = str(error)
    else:
        assert parse_sdpa(format_sdpa(data)) == data
        return
    assert message.startswith("<text>:")


@given(programs())
def test_truncation_is_a_program_or_a_data_error(data: SdpaData) -> None:
    text = format_sdpa(data)
    head_end = len("\n".join(text.split("\n")[:4])) + 1
    for end in range(head_end + 1):
        with pytest.raises(DataError):
            parse_sdpa(text[:end])


def test_data_are_compared_by_content() -> None:
    data = parse_sdpa("1\n1\n2\n1\n0 1 1 1 1\n")
    assert data != parse_sdpa("1\n1\n2\n1\n0 1 1 1 2\n")
    assert data != parse_sdpa("1\n1\n-2\n1\n0 1 1 1 1\n")
    assert data != parse_sdpa("1\n1\n2\n2\n0 1 1 1 1\n")
    assert data != "1\n1\n2\n1\n0 1 1 1 1\n"
    assert sha256_of_text(data) == sha256_of_text(parse_sdpa("1\n1\n(2)\n1.0\n0 1 1 1 +1\n"))


def test_arrays_cannot_be_changed() -> None:
    data = parse_sdpa("1\n1\n2\n1\n0 1 1 1 1\n")
    with pytest.raises(ValueError, match="read-only"):
        data.value[0] = 2.0


ONE = np.ones(1)
ENTRY = np.array([[0, 0, 0, 1]])


@pytest.mark.parametrize(
    ("objective", "blocks", "indices", "value", "reason"),
    [
        (np.ones(0), [2], ENTRY, ONE, "objective"),
        (np.array([np.nan]), [2], ENTRY, ONE, "objective"),
        (np.ones((1, 1)), [2], ENTRY, ONE, "objective"),
        (ONE, [], ENTRY, ONE, "blocks"),
        (ONE, [2, 0], ENTRY, ONE, "blocks"),
        (ONE, [2_000_000], ENTRY, ONE, "blocks"),
        (ONE, [2], ENTRY, np.ones(2), "indices of shape"),
        (ONE, [2], ENTRY[:, :3], ONE, "indices of shape"),
        (ONE, [2], ENTRY, np.zeros(1), "nonempty"),
        (ONE, [2], ENTRY, np.array([np.inf]), "the value is inf"),
        (ONE, [1], ENTRY, ONE, "lies outside block 1"),
        (ONE, [-2], ENTRY, ONE, "off the diagonal"),
        (ONE, [2], np.array([[2, 0, 0, 1]]), ONE, "matrix 2 does not exist"),
        (ONE, [2], np.repeat(ENTRY, 2, 0), np.arange(1.0, 3.0), "two values"),
    ],
)
def test_arrays_that_are_no_program(
    objective: np.ndarray, blocks: list[int], indices: np.ndarray, value: np.ndarray, reason: str
) -> None:
    with pytest.raises(InputError, match=reason):
        SdpaData.from_entries(objective, blocks, indices, value)


def test_direct_construction_must_be_canonical() -> None:
    zero = np.zeros(1, dtype=np.int64)
    with pytest.raises(InputError, match=r"use SdpaData\.from_entries"):
        SdpaData(ONE, (2,), zero, zero, zero + 1, zero, ONE)
    pair = np.zeros(2, dtype=np.int64)
    with pytest.raises(InputError, match="strictly increasing"):
        SdpaData(ONE, (2,), pair, pair, pair, np.array([1, 0]), np.ones(2))
