"""Archives: read member by member with caps, and fetched from servers that misbehave."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perceptron_lab.core.errors import DataError
from perceptron_lab.datasets.download import transfer as archives
from perceptron_lab.datasets.download.fetching import FileState, fetch, verify
from perceptron_lab.datasets.download.registered_files import COLLECTIONS, Collection, DataFile
from perceptron_lab.datasets.download.transfer import ArchiveError, CappedWriter, read_members
from tests.datasets.local_home import Answer, LocalHome

CONTENTS = {f"reut2-00{number}.sgm": f"<REUTERS {number}>".encode() * 3000 for number in range(3)}
INNER = "reuters21578.tar.gz"


def tar(contents: dict[str, bytes], **kinds: bytes) -> bytes:
    """A tar archive; ``kinds`` gives members that are no files (name -> type)."""
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as archive:
        for name, content in contents.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        for name, kind in kinds.items():
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, "/etc/passwd"
            archive.addfile(member)
    return target.getvalue()


def packed(contents: dict[str, bytes]) -> bytes:
    return gzip.compress(tar(contents), compresslevel=1)


def random_bytes(count: int) -> bytes:
    """Bytes that no archive makes smaller."""
    return b"".join(hashlib.sha256(bytes([i % 256, i // 256])).digest() for i in range(count // 32))


def zipped(content: bytes, name: str = INNER, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", method) as archive:
        archive.writestr("README.txt", "about")
        archive.writestr(name, content)
    return target.getvalue()


def crowded(count: int) -> bytes:
    """A .zip of the right archive and so many other members."""
    target = io.BytesIO(zipped(packed(CONTENTS)))
    with zipfile.ZipFile(target, "a") as archive:
        for number in range(count):
            archive.writestr(str(number), b"")
    return target.getvalue()


def members(content: bytes, expected: tuple[str, ...] = tuple(CONTENTS)) -> dict[str, bytes]:
    return dict(read_members(io.BytesIO(content), INNER, expected))


GOOD = {
    "tar.gz": packed(CONTENTS),
    "zip": zipped(packed(CONTENTS)),
    "stored": zipped(packed(CONTENTS), method=zipfile.ZIP_STORED),
    "tar": tar(CONTENTS),
    "dot": packed({f"./{name}": content for name, content in CONTENTS.items()}),
    "more": packed({"README.txt": b"about", "../../evil.sgm": b"evil"} | CONTENTS),
}


# -- reading -------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", GOOD)
def test_members_are_read(form: str) -> None:
    assert members(GOOD[form]) == CONTENTS


def test_only_the_requested_members_are_read() -> None:
    assert list(members(GOOD["zip"], ("reut2-001.sgm", "none.sgm"))) == ["reut2-001.sgm"]


@pytest.mark.parametrize(
    "name", ["../reut2-000.sgm", "/reut2-000.sgm", "a/reut2-000.sgm", "REUT2-000.SGM", "././x"]
)
def test_a_member_with_a_path_is_passed_over(name: str) -> None:
    assert members(packed({name: b"evil"})) == {}


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE]
)
def test_a_member_that_is_no_file_is_passed_over(kind: bytes) -> None:
    assert members(gzip.compress(tar({}, **{"reut2-000.sgm": kind}))) == {}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "no archive"),
        (b"<html>please log in</html>", "no archive"),
        (b"<html>" * 5000, "no archive"),
        (gzip.compress(b"<html>" * 500), "no archive"),
        (GOOD["tar.gz"][:-20], "a damaged archive"),
        (GOOD["tar.gz"][:100], "a damaged archive"),
        (GOOD["tar"][:-15000], "a damaged archive"),
        (GOOD["zip"][:-30], "a damaged archive"),
        (zipped(GOOD["tar.gz"], name="other.tar.gz"), f"a .zip without {INNER}"),
        (zipped(GOOD["tar.gz"], name=f"a/{INNER}"), f"a .zip without {INNER}"),
        (zipped(GOOD["tar.gz"], method=zipfile.ZIP_BZIP2), f"a .zip without {INNER}"),
        (zipped(b"<html>"), "a damaged archive"),
        (packed({"reut2-000.sgm": bytes(archives.LARGEST_MEMBER + 1)}), "of 4194305 bytes"),
        (packed({"other": bytes(archives.LARGEST_CONTENT)}), "when unpacked"),
        (packed({str(n): b"" for n in range(archives.MOST_MEMBERS + 1)}), "than 1000 members"),
        (crowded(archives.MOST_MEMBERS), "than 1000 members"),
    ],
    ids=lambda value: value if isinstance(value, str) else "content",  # which holds the time
)
def test_files_that_are_no_archive_are_refused(content: bytes, reason: str) -> None:
    with pytest.raises(ArchiveError, match=reason):
        members(content)


def test_padding_after_the_end_is_not_looked_at() -> None:
    assert members(zipped(GOOD["tar.gz"] + bytes(archives.LARGEST_ARCHIVE))) == CONTENTS


def test_padding_that_inflates_is_capped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "LARGEST_ARCHIVE", 2**16)
    padded = gzip.compress(b"") + bytes(2**16) + GOOD["tar.gz"]
    with pytest.raises(ArchiveError, match="more than 65536 bytes when unpacked"):
        members(zipped(padded))


def test_members_before_the_damage_are_read() -> None:
    stream = read_members(io.BytesIO(GOOD["tar"][:-30000]), INNER, CONTENTS)
    assert next(stream) == ("reut2-000.sgm", CONTENTS["reut2-000.sgm"])
    with pytest.raises(ArchiveError):
        list(stream)


def test_as_many_members_as_allowed_are_read() -> None:
    extra = {str(number): b"" for number in range(archives.MOST_MEMBERS - len(CONTENTS))}
    assert members(packed(extra | CONTENTS)) == CONTENTS
    assert members(crowded(100)) == CONTENTS


@given(st.binary(max_size=300), st.sampled_from([b"", b"PK\x03\x04", b"\x1f\x8b\x08"]))
def test_any_bytes_are_read_or_refused(content: bytes, start: bytes) -> None:
    with contextlib.suppress(ArchiveError):
        assert members(start + content) == {}


@given(st.sampled_from(["tar.gz", "zip", "tar"]), st.integers(0, 2**20), st.integers(1, 255))
def test_a_changed_byte_gives_members_or_is_refused(form: str, at: int, change: int) -> None:
    content = bytearray(GOOD[form])
    content[at % len(content)] ^= change
    try:
        unpacked = members(bytes(content))
    except ArchiveError:
        return
    assert set(unpacked) <= set(CONTENTS)


def test_a_limited_writer_stops_at_its_limit() -> None:
    target = io.BytesIO()
    writer = CappedWriter(target, 5)
    assert writer.write(b"12345") == 5
    with pytest.raises(ArchiveError, match="more than 5 bytes"):
        writer.write(b"6")
    assert target.getvalue() == b"12345"


# -- fetching ------------------------------------------------------------------------------------


class Home(LocalHome):
    """The last part of a path says what it sends; it records what was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        super().__init__(self._answer)

    def _answer(self, path: str) -> Answer:
        name = path.rpartition("/")[2]
        self.asked.append(name)
        status, body, length = ANSWERS.get(name, (404, b"not here", None))
        return Answer(status, body, length, "x-gzip" if name == "encoded" else None)


FLIPPED = {name: content[:-1] + b"?" for name, content in CONTENTS.items()}
ANSWERS: dict[str, tuple[int, bytes, int | None]] = {
    "tar.gz": (200, GOOD["tar.gz"], None),
    "zip": (200, GOOD["zip"], None),
    "encoded": (200, GOOD["tar.gz"], None),
    "page": (200, b"<html>please log in</html>", None),
    "empty": (200, b"", None),
    "broken": (503, b"try again", None),
    "cut": (200, GOOD["tar.gz"][:-50], len(GOOD["tar.gz"])),
    "short": (200, GOOD["tar.gz"][:90], None),
    "wrong": (200, packed(FLIPPED), None),
    "path": (200, packed({f"../{name}": content for name, content in CONTENTS.items()}), None),
    "other": (200, packed({"README.txt": b"about"}), None),
    "huge": (200, packed({"reut2-000.sgm": bytes(archives.LARGEST_MEMBER + 1)}), None),
    "reut2-001.sgm": (200, CONTENTS["reut2-001.sgm"], None),
}
BAD = {
    "page": "sent no archive",
    "empty": "sent no archive",
    "broken": "HTTP 503",
    "cut": "the transfer broke off",
    "short": "sent a damaged archive",
    "wrong": "sent an archive without the registered reut2-001.sgm",
    "path": "sent an archive without the registered reut2-001.sgm",
    "other": "sent an archive without the registered reut2-001.sgm",
    "huge": "sent reut2-000.sgm of 4194305 bytes",
    "nothing": "HTTP 404",
}


@pytest.fixture
def home() -> Iterator[Home]:
    server = Home()
    yield server
    server.close()


@pytest.fixture(autouse=True)
def cache(empty_cache: Path) -> Path:
    """The collection's folder of an empty cache."""
    return empty_cache / "reuters21578"


def register(monkeypatch: pytest.MonkeyPatch, *urls: str) -> None:
    """Let three small files be all of Reuters-21578, at home in archives."""
    files = {
        name.removesuffix(".sgm"): DataFile(name, hashlib.sha256(content).hexdigest(), ())
        for name, content in CONTENTS.items()
    }
    collection = Collection("reuters21578", "a test", "nowhere", "none", "nobody", files, urls)
    monkeypatch.setitem(COLLECTIONS, "reuters21578", lambda: collection)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("form", ["tar.gz", "zip", "encoded"])
def test_one_archive_brings_all_files(
    home: Home, cache: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    register(monkeypatch, home.url(form))
    for name, content in CONTENTS.items():
        path = fetch("reuters21578", name.removesuffix(".sgm"))
        assert path == cache / name
        assert path.read_bytes() == content
    assert home.asked == [form]
    assert contents(cache) == CONTENTS


@pytest.mark.parametrize("behaviour", BAD)
def test_a_bad_home_is_passed_over(
    home: Home, cache: Path, monkeypatch: pytest.MonkeyPatch, behaviour: str
) -> None:
    register(monkeypatch, home.url(behaviour), home.url("zip"))
    assert fetch("reuters21578", "reut2-001").read_bytes() == CONTENTS["reut2-001.sgm"]
    assert home.asked == [behaviour, "zip"]
    assert contents(cache) == CONTENTS


@pytest.mark.parametrize("behaviour", BAD)
def test_one_bad_server_has_no_effect(
    home: Home, cache: Path, monkeypatch: pytest.MonkeyPatch, behaviour: str
) -> None:
    register(monkeypatch, home.url(behaviour))
    with pytest.raises(DataError) as caught:
        fetch("reuters21578", "reut2-001")
    message = str(caught.value)
    assert BAD[behaviour] in message
    assert "plab data fetch reuters21578" in message
    assert contents(cache.parent) == {}
    assert contents(cache.parents[1]) == {}


def test_an_archive_that_breaks_off_after_the_file(
    home: Home, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What has the registered hash is kept, also where the rest is lost."""
    monkeypatch.setitem(ANSWERS, "torn", (200, GOOD["tar"][:-30000], None))
    register(monkeypatch, home.url("torn"))
    assert fetch("reuters21578", "reut2-000").read_bytes() == CONTENTS["reut2-000.sgm"]
    with pytest.raises(DataError, match="sent a damaged archive"):
        fetch("reuters21578", "reut2-002")
    assert "reut2-002.sgm" not in contents(cache)


@pytest.mark.parametrize("claimed", [True, False])
@pytest.mark.parametrize("form", ["tar", "random.tar.gz"])
def test_an_archive_cut_at_every_4_kilobytes(
    home: Home, cache: Path, monkeypatch: pytest.MonkeyPatch, form: str, claimed: bool
) -> None:
    """Whether the server admits the cut or claims the whole length: only whole files are kept."""
    random = {name: random_bytes(len(content)) for name, content in CONTENTS.items()}
    full, inside = (GOOD["tar"], CONTENTS) if form == "tar" else (packed(random), random)
    monkeypatch.setitem(globals(), "CONTENTS", inside)
    register(monkeypatch, home.url("cut"))
    assert len(full) > 30_000
    for length in range(0, len(full) - 1, 4096):
        monkeypatch.setitem(ANSWERS, "cut", (200, full[:length], len(full) if claimed else None))
        with contextlib.suppress(DataError):
            assert fetch("reuters21578", "reut2-002").read_bytes() == inside["reut2-002.sgm"]
            assert not claimed
        stored = contents(cache.parent)
        assert all(content == inside[name] for name, content in stored.items())
        for path in cache.iterdir():
            path.unlink()


def test_one_wrong_member_does_not_affect_the_others(
    home: Home, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edited = CONTENTS | {"reut2-000.sgm": FLIPPED["reut2-000.sgm"]}
    monkeypatch.setitem(ANSWERS, "edited", (200, packed(edited), None))
    register(monkeypatch, home.url("edited"))
    with pytest.raises(DataError, match=r"without the registered reut2-000\.sgm"):
        fetch("reuters21578", "reut2-000")
    assert [state for _, state in verify("reuters21578")] == [
        FileState.MISSING,
        FileState.PRESENT,
        FileState.PRESENT,
    ]


def test_an_archive_that_is_too_large_is_not_stored(
    home: Home, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CappedWriter.__init__, "__defaults__", (1000,))
    register(monkeypatch, home.url("tar"))
    monkeypatch.setitem(ANSWERS, "tar", (200, GOOD["tar"], None))
    with pytest.raises(DataError, match="sent more than 1000 bytes"):
        fetch("reuters21578", "reut2-000")
    assert contents(cache.parent) == {}


def test_a_mirror_address_gives_files_not_archives(
    home: Home, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(monkeypatch, home.url("zip"))
    monkeypatch.setenv("PLAB_DATA_MIRROR", home.url("mirror"))
    assert fetch("reuters21578", "reut2-001").read_bytes() == CONTENTS["reut2-001.sgm"]
    assert home.asked == ["reut2-001.sgm"]


def test_a_mirror_folder_is_read_directly(
    home: Home, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(monkeypatch, home.url("zip"))
    file = tmp_path / "mirror" / "reuters21578" / "reut2-001.sgm"
    file.parent.mkdir(parents=True)
    file.write_bytes(CONTENTS[file.name])
    monkeypatch.setenv("PLAB_DATA_MIRROR", str(tmp_path / "mirror"))
    assert fetch("reuters21578", "reut2-001") == file
    assert home.asked == []
    assert not cache.exists()


def test_a_damaged_file_in_the_cache_is_fetched_again(
    home: Home, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(monkeypatch, home.url("tar.gz"))
    fetch("reuters21578", "reut2-000").write_bytes(b"damaged")
    assert fetch("reuters21578", "reut2-000").read_bytes() == CONTENTS["reut2-000.sgm"]
    assert home.asked == ["tar.gz", "tar.gz"]


def test_a_cache_that_cannot_be_written(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(monkeypatch, home.url("tar.gz"))
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("PLAB_DATA_DIR", str(tmp_path / "file"))
    with pytest.raises(DataError, match="set PLAB_DATA_DIR"):
        fetch("reuters21578", "reut2-000")
