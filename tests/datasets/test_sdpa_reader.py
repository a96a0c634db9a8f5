import gzip
import re
from fractions import Fraction
from pathlib import Path

import pytest

from perceptron_lab.core.errors import DataError, MissingDataError
from perceptron_lab.datasets.collections.problem_files import read_problem
from perceptron_lab.datasets.formats.sdpa import decode_sdpa, parse_sdpa, plain_text, read_sdpa
from perceptron_lab.exact.readings import Reading
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
    "comments everywhere": '# a\n2\n* m\n2\n% n\n2 2\n" orders\n10.0 20.0\n* c\n'
    + ENTRIES.replace("\n", "\n * entry\n"),
    "remarks everywhere": "2 mDIM\n2 : blocks\n2 2= sizes 7\n10.0 20.0 = c_1, c_2\n"
    + ENTRIES.replace("\n", " * 1 2 3\n"),
    "words after the lists": f"2 x\n2 y\n2 2 and so on\n10.0 20.0 objective\n{ENTRIES}",
    "square brackets and semicolons": f"[2]\n2;\n[2; 2]\n[10.0, 20.0]\n{ENTRIES}",
    "blocks of order 0": "2\n4\n0 2 0 2\n10 20\n"
    + re.sub(r"(?m)^(\d) (\d)", lambda at: f"{at[1]} {2 * int(at[2])}", ENTRIES),
    "integer unknowns": f"{PLAIN}*INTEGER\n*1\n*2\n",
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
    "blocks of order 0": ("1\n2\n0 -0\n1\n0 1 1 1 1\n", 3, "block orders 0, 0; allowed: at l"),
    "entry of a block of order 0": ("1\n2\n0 2\n1\n0 1 1 1 1\n", 5, "lies outside block 1"),
    "remark among the orders": ("1\n2\n2 = 3\n1\n0 1 1 1 1\n", 5, "holds 5 numbers for the obj"),
    "value in a remark": (PLAIN.replace("1 1 5.0", "1 1 * 5.0"), 14, "line 12 holds 4"),
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
    "late word": (PLAIN + "the end\n", 15, "found 'the'"),
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


DENSE = """2
2
2 -2
10.0 20.0
{{1, 0}, {0, 2}} {3, 4.5}
{ {1, 0}, {0, 1} } {0, 0}
0 0.25
0.25 1 5 6
"""
SPARSE = """2\n2\n2 -2\n10 20\n0 1 1 1 1\n0 1 2 2 2\n0 2 1 1 3\n0 2 2 2 4.5\n1 1 1 1 1\n1 1 2 2 1
2 1 1 2 0.25\n2 1 2 2 1\n2 2 1 1 5\n2 2 2 2 6\n"""


def test_the_dense_format_states_the_same_program(tmp_path: Path) -> None:
    assert parse_sdpa(DENSE, dense=True) == parse_sdpa(SPARSE)
    (tmp_path / "a.dat").write_text(DENSE)
    (tmp_path / "a.dat-s.gz").write_bytes(gzip.compress(SPARSE.encode()))
    (tmp_path / "a.dat.gz").write_bytes(gzip.compress(DENSE.encode()))
    for name in ("a.dat", "a.dat-s.gz", "a.dat.gz"):
        assert read_sdpa(tmp_path / name) == parse_sdpa(SPARSE)
        plain = plain_text((tmp_path / name).read_bytes(), name)
        assert parse_sdpa(plain) == parse_sdpa(SPARSE)


@pytest.mark.parametrize("text", SPELLINGS.values(), ids=SPELLINGS.keys())
def test_plain_texts_state_the_same_program(text: str) -> None:
    """The checker reads them as the system that the reader makes."""
    plain = plain_text(text.encode(), "a.dat-s")
    assert parse_sdpa(plain) == parse_sdpa(PLAIN)
    fields = {"form": "sdpa", "question": "feasibility"}
    systems = [Reading(fields, content).system() for content in (plain.encode(), PLAIN.encode())]
    scores = [
        {
            row[:3]: {k: Fraction(v, x.scale) for k, v in zip(*row[3:], strict=True)}
            for row in x.rows
        }
        for x in systems
    ]
    assert scores[0] == scores[1]


def test_notes_say_what_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "a.dat-s"
    path.write_text(SPELLINGS["integer unknowns"])
    assert read_problem(path).notes == ("*INTEGER is ignored: unknowns are real, of any rank",)
    path.write_text(SPELLINGS["blocks of order 0"])
    assert "left out, and not counted: 1, 3" in read_problem(path).notes[0]


REFUSED_DENSE = {
    "too few entries": (DENSE.replace("5 6", "5"), 9, "17 entries follow, but 3 matrices of block"),
    "sparse entries": (SPARSE, 15, "have 6 each; allowed: all rows of each block"),
    "not symmetric": (DENSE.replace("0 0.25", "0 0.5"), 8, "the one on line 7 give one position"),
    "text": (DENSE.replace("4.5", "x"), 5, "found 'x' among the entries; allowed: numbers"),
    "infinite": (DENSE.replace("4.5", "inf"), 5, "the value is inf"),
    "all zero": ("1\n1\n1\n1\n0\n0\n", 5, "every entry is 0"),
    "table": ("1.5 2\n3 4\n", 1, "each line holds 2 numbers, as in a table; the name of a table"),
    "whole": ("1 2 3\n4 5 6\n7 8 9\n", 1, "each line holds 3 numbers, as in a table"),
    "uneven": ("1.5 2\n3\n", 1, "a whole number; the name of a table has to end with .txt"),
}


@pytest.mark.parametrize(
    ("text", "line", "reason"), REFUSED_DENSE.values(), ids=REFUSED_DENSE.keys()
)
def test_dense_refusals(text: str, line: int, reason: str) -> None:
    with pytest.raises(DataError, match=f"my.dat:{line}: ") as caught:
        decode_sdpa(text.encode(), "my.dat")
    assert reason in str(caught.value)


def test_damaged_packed_files(tmp_path: Path) -> None:
    path = tmp_path / "a.dat-s.gz"
    path.write_bytes(gzip.compress(PLAIN.encode())[:-9])
    with pytest.raises(DataError, match=r"a\.dat-s\.gz:1: it cannot be unpacked"):
        read_sdpa(path)


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
