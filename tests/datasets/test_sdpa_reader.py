from pathlib import Path

import pytest

from perceptron_lab.core.errors import DataError, MissingDataError
from perceptron_lab.datasets.formats.sdpa import parse_sdpa, read_sdpa
from perceptron_lab.systems.pencil import write_sdpa

# min 10 x_1 + 20 x_2, blocks of order 2 and 2, the example of SDPLIB's own description.
ENTRIES = """0 1 1 1 1.0
0 1 2 2 2.0
0 2 1 1 3.0
0 2 2 2 4.0
1 1 1 1 1.0
1 1 2 2 1.0
2 1 2 2 1.0
2 2 1 1 5.0
2 2 1 2 2.0
2 2 2 2 6.0
"""
PLAIN = f"2\n2\n2 2\n10.0 20.0\n{ENTRIES}"

SPELLINGS = {
    "comments": f'"A sample problem.\n* and a second remark\n{PLAIN}',
    "comments with spaces and blank lines": f'  " quoted "\n\n* x\n\n{PLAIN}',
    "text after the counts": f"2 =mDIM\n2=nBLOCK\n2 2\n10.0 20.0\n{ENTRIES}",
    "text after the blocks": f"2\n2\n(2, 2) = bLOCKsTRUCT\n10.0 20.0\n{ENTRIES}",
    "braces, commas and signs": f" 2\n 2\n{{2, +2}}\n{{+10.0,+2.0e+01}}\n{ENTRIES}",
    "parentheses": f"(2)\n(2)\n(2,2)\n(10, 20)\n{ENTRIES}",
    "blocks over two lines": f"2\n2\n2\n2\n10 20\n{ENTRIES}",
    "objective over two lines": f"2\n2\n2 2\n10.0\n\n20.0\n{ENTRIES}",
    "Fortran exponents": f"2\n2\n2 2\n1.0D+01 2.0d1\n{ENTRIES.replace('5.0', '0.5D+01')}",
    "blank lines": f"\n2\n\n2\n2 2\n10.0 20.0\n\n{ENTRIES.replace(chr(10), chr(10) * 2)}",
    "tabs and trailing space": PLAIN.replace(" ", "\t").replace("\n", " \t\n"),
    "line ends of Windows": PLAIN.replace("\n", "\r\n"),
    "line ends of old Macs": PLAIN.replace("\n", "\r"),
    "no last line end": PLAIN.rstrip("\n"),
    "entries with punctuation": f"2\n2\n2 2\n10 20\n{ENTRIES.replace(' ', ', ')}",
    "an entry wrapped over lines": PLAIN.replace("0 1 2 2 2.0", "0 1 2\n2 2.0"),
    "two entries on a line": PLAIN.replace("1.0\n0 1 2 2", "1.0   0 1 2 2"),
    "lower triangle": PLAIN.replace("2 2 1 2 2.0", "2 2 2 1 2.0"),
    "an exact repetition": PLAIN + "2 2 1 2 2.0\n",
    "an exact repetition, mirrored": PLAIN + "2 2 2 1 2.000\n",
    "explicit zeros": PLAIN + "1 1 1 2 0.0\n2 1 1 1 -0\n",
    "another order": "2\n2\n2 2\n10 20\n" + "\n".join(reversed(ENTRIES.splitlines())),
}


@pytest.mark.parametrize("text", SPELLINGS.values(), ids=SPELLINGS.keys())
def test_spellings_mean_the_same(text: str) -> None:
    assert parse_sdpa(text) == parse_sdpa(PLAIN)


def test_values_and_positions() -> None:
    data = parse_sdpa(PLAIN)
    assert data.objective.tolist() == [10.0, 20.0]
    assert data.blocks == (2, 2)
    assert data.matrix.tolist() == [0, 0, 0, 0, 1, 1, 2, 2, 2, 2]
    assert data.block.tolist() == [0, 0, 1, 1, 0, 0, 0, 1, 1, 1]
    assert data.row.tolist() == [0, 1, 0, 1, 0, 1, 1, 0, 0, 1]
    assert data.column.tolist() == [0, 1, 0, 1, 0, 1, 1, 0, 1, 1]
    assert data.value.tolist() == [1, 2, 3, 4, 1, 1, 1, 5, 2, 6]


def test_diagonal_block() -> None:
    data = parse_sdpa("1 = m\n2\n(4, -2)\n1\n0 1 1 4 1\n1 2 2 2 3\n1 2 1 2 0\n")
    assert data.blocks == (4, -2)
    assert data.value.tolist() == [1.0, 3.0]


REFUSED = {
    "empty": ("", 1, "ends before the number of variables"),
    "only comments": ("* one\n* two\n", 3, "ends before the number of variables"),
    "web page": ("<!DOCTYPE html>\n<html>", 1, "found '<!DOCTYPE'"),
    "pointer file": ("version https://git-lfs.github.com/spec/v1\n", 1, "found 'version'"),
    "no variables": ("0\n1\n2\n\n0 1 1 1 1\n", 1, "is 0; allowed: 1 or more"),
    "negative count": ("-3\n1\n2\n1\n0 1 1 1 1\n", 1, "is -3"),
    "fractional count": ("1.5\n1\n2\n1\n0 1 1 1 1\n", 1, "found '1.5'"),
    "absurd count": ("1000000000000\n1\n2\n1\n0 1 1 1 1\n", 1, "whole file has only"),
    "endless count": ("9" * 5000 + "\n1\n2\n1\n0 1 1 1 1\n", 1, "allowed: a whole number"),
    "no blocks": ("1\n0\n\n1\n0 1 1 1 1\n", 2, "number of blocks is 0"),
    "absurd blocks": ("1\n900000000000\n2\n1\n0 1 1 1 1\n", 2, "whole file has only"),
    "block of order 0": ("1\n2\n2 0\n1\n0 1 1 1 1\n", 3, "block orders 2, 0"),
    "absurd order": ("1\n1\n1000000000000\n1\n0 1 1 1 1\n", 3, "at most 1000000"),
    "absurd orders in all": ("1\n2\n600000 -600000\n1\n0 1 1 1 1\n", 3, "at most 1000000"),
    "fractional order": ("1\n1\n2.0\n1\n0 1 1 1 1\n", 3, "found '2.0' in block orders"),
    "too many orders": ("1\n1\n2 3\n1\n0 1 1 1 1\n", 3, "holds 2 numbers"),
    "too few orders": ("1\n3\n2 3 = blocks\n", 4, "found 2 of 3 numbers"),
    "text for a number": ("2\n1\n2\n1 one\n0 1 1 1 1\n", 4, "found 'one' in the objective"),
    "NaN objective": ("2\n1\n2\n1 NaN\n0 1 1 1 1\n", 4, "found 'NaN' in the objective"),
    "infinite objective": ("2\n1\n2\n1 1e400\n0 1 1 1 1\n", 4, "found '1e400' in the objective"),
    "objective too short": ("3\n1\n2\n1 2\n0 1 1 1 1\n", 5, "lines 4 to 5 hold 7 numbers"),
    "objective too long": ("1\n1\n2\n1 2\n0 1 1 1 1\n", 4, "this line holds 2 numbers"),
    "truncated objective": ("5\n1\n2\n1 2 3\n", 5, "found 3 of 5 numbers"),
    "no entries": ("1\n1\n2\n1\n", 5, "ends before its first entry"),
    "truncated entry": (PLAIN + "2 2 2\n", 15, "line 15 holds 3"),
    "short line": (PLAIN.replace("0 1 2 2 2.0", "0 1 2 2"), 14, "line 6 holds 4"),
    "text among entries": (PLAIN.replace("5.0", "five"), 12, "found 'five'"),
    "late comment": (PLAIN + "* the end\n", 15, "found '*'"),
    "underscore": (PLAIN.replace("5.0", "5_0"), 12, "found '5_0'"),
    "foreign digits": (PLAIN.replace("5.0", "५"), 12, "found '५'"),
    "hexadecimal": (PLAIN.replace("5.0", "0x5"), 12, "found '0x5'"),
    "run-together numbers": (PLAIN.replace("2 2 1 2 2.0", "2 2 1 2-2.0"), 13, "found '2-2.0'"),
    "NaN entry": (PLAIN.replace("5.0", "nan"), 12, "the value is nan"),
    "infinite entry": (PLAIN.replace("5.0", "-inf"), 12, "the value is -inf"),
    "overflow": (PLAIN.replace("5.0", "1e999"), 12, "the value is inf"),
    "matrix out of range": (PLAIN.replace("2 2 1 2", "3 2 1 2"), 13, "matrix 3 does not exist"),
    "matrix negative": (PLAIN.replace("2 2 1 2", "-1 2 1 2"), 13, "matrix -1 does not exist"),
    "block out of range": (PLAIN.replace("2 2 1 2", "2 3 1 2"), 13, "block 3 does not exist"),
    "block 0": (PLAIN.replace("2 2 1 2", "2 0 1 2"), 13, "block 0 does not exist"),
    "row 0": (PLAIN.replace("2 2 1 2", "2 2 0 2"), 13, "row 0, column 2 lies outside block 2"),
    "column too large": (PLAIN.replace("2 2 1 2", "2 2 1 3"), 13, "row 1, column 3 lies outside"),
    "absurd index": (PLAIN.replace("2 2 1 2", "2 2 1 1e300"), 13, "lies outside block 2"),
    "fractional index": (PLAIN.replace("2 2 1 2", "2 2 1.5 2"), 13, "the row index is 1.5"),
    "NaN index": (PLAIN.replace("2 2 1 2", "2 nan 1 2"), 13, "the block index is nan"),
    "off a diagonal block": (
        PLAIN.replace("\n2 2\n", "\n2 -2\n"),
        13,
        "off the diagonal of block 2",
    ),
    "conflicting repetition": (PLAIN + "2 2 1 2 7\n", 15, "the one on line 13"),
    "conflict across the diagonal": (PLAIN + "\n2 2 2 1 7\n", 16, "the one on line 13"),
    "conflict with a zero": (PLAIN + "2 2 1 2 0\n", 15, "values 2.0 and 0.0"),
    "all zero": ("1\n1\n2\n1\n0 1 1 1 0\n", 5, "every entry is 0"),
    "byte zero": (PLAIN.replace("5.0", "5.0\x00"), 12, "found '5.0\\x00'"),
}


@pytest.mark.parametrize(("text", "line", "reason"), REFUSED.values(), ids=REFUSED.keys())
def test_refusals_name_the_line_and_the_reason(text: str, line: int, reason: str) -> None:
    with pytest.raises(DataError) as caught:
        parse_sdpa(text, "my.dat-s")
    message = str(caught.value)
    assert message.startswith(f"my.dat-s:{line}: ")
    assert reason in message
    assert len(message) < 300


def test_read_and_write(tmp_path: Path) -> None:
    path = tmp_path / "sample.dat-s"
    path.write_text(PLAIN)
    data = read_sdpa(path)
    write_sdpa(data, tmp_path / "again.dat-s")
    assert read_sdpa(tmp_path / "again.dat-s") == data == parse_sdpa(PLAIN)


def test_byte_order_mark_is_skipped(tmp_path: Path) -> None:
    path = tmp_path / "mark.dat-s"
    path.write_bytes(b"\xef\xbb\xbf" + PLAIN.encode())
    assert read_sdpa(path) == parse_sdpa(PLAIN)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "packed.dat-s"
    path.write_bytes(b"2\n\x8b\x08")
    with pytest.raises(DataError, match=r"packed\.dat-s:2: byte 0x8b is not UTF-8"):
        read_sdpa(path)


def test_missing_file_folder_and_device(tmp_path: Path) -> None:
    with pytest.raises(MissingDataError, match=r"none\.dat-s: no such file; check the path"):
        read_sdpa(tmp_path / "none.dat-s")
    with pytest.raises(DataError, match="not a regular file"):
        read_sdpa(tmp_path)
    with pytest.raises(DataError, match="not a regular file"):
        read_sdpa("/dev/zero")


def test_unwritable_target(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be written"):
        write_sdpa(parse_sdpa(PLAIN), tmp_path / "no folder" / "x.dat-s")


@pytest.mark.slow
def test_every_mirrored_file_round_trips(sdplib_mirror: Path, tmp_path: Path) -> None:
    files = sorted(sdplib_mirror.glob("*.dat-s"))
    assert files
    for file in files:
        data = read_sdpa(file)
        write_sdpa(data, tmp_path / file.name)
        assert read_sdpa(tmp_path / file.name) == data, file.name


@pytest.mark.parametrize(
    ("name", "variables", "blocks"),
    [
        ("arch0", 174, (161, -174)),
        ("control1", 21, (10, 5)),
        ("hinf1", 13, (4, 4, 6)),
        ("qap5", 136, (26,)),
        ("truss1", 6, (2, 2, 2, 2, 2, 2, 1)),
    ],
)
def test_known_files(
    sdplib_mirror: Path, name: str, variables: int, blocks: tuple[int, ...]
) -> None:
    file = sdplib_mirror / f"{name}.dat-s"
    if not file.exists():
        pytest.skip(f"the mirror has no {file.name}")
    data = read_sdpa(file)
    assert len(data.objective) == variables
    assert data.blocks == blocks
    assert set(data.matrix.tolist()) <= set(range(variables + 1))
