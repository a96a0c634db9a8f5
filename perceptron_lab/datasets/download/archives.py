"""Members of tar archives (.tar.gz, or one inside a .zip), read one by one into memory.

Nothing is extracted: a member counts only if its whole name is one that is asked for (a leading
``./`` aside), so that no path in an archive is ever followed, and all sizes are capped before
memory is taken.
"""

from __future__ import annotations

import gzip
import tarfile
import zipfile
from collections.abc import Container, Iterator
from typing import IO, Any

# Bytes of an archive as it is sent, of all that it unpacks to, and of a member that is read
LARGEST_ARCHIVE = 32 * 2**20
LARGEST_CONTENT = 64 * 2**20
LARGEST_MEMBER = 4 * 2**20
# Members of an archive, whether they are asked for or not
MOST_MEMBERS = 1000

# Name and content
Member = tuple[str, bytes]

_ZIP, _ZIP_ENTRY, _GZIP = b"PK\x03\x04", b"PK\x01\x02", b"\x1f\x8b"
_ZIP_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class ArchiveError(ValueError):
    """Something else was received than the archive that was asked for."""


class CappedWriter:
    """A file that takes no more than a number of bytes, else it raises an ``ArchiveError``."""

    def __init__(self, file: IO[bytes], most: int = LARGEST_ARCHIVE) -> None:
        self._file, self._most, self._left = file, most, most

    def write(self, data: bytes) -> int:
        """Write the data."""
        self._left -= len(data)
        if self._left < 0:
            raise ArchiveError(f"sent more than {self._most} bytes")
        return self._file.write(data)


class _CappedReader:
    """A stream that refuses to be read beyond a number of bytes."""

    def __init__(self, file: IO[bytes] | gzip.GzipFile, most: int) -> None:
        self._file, self._most, self._left = file, most, most

    def read(self, size: int = -1) -> bytes:
        # One byte more than is left tells an archive that ends here from one that goes on
        data = self._file.read(min(size, self._left + 1) if size >= 0 else self._left + 1)
        self._left -= len(data)
        if self._left < 0:
            raise ArchiveError(f"sent an archive of more than {self._most} bytes when unpacked")
        return data


def read_members(archive: IO[bytes], inner: str, wanted: Container[str]) -> Iterator[Member]:
    """Yield name and content of the members that are wanted, in the archive's order.

    Parameters
    ----------
    archive
        A .tar.gz, or a .zip that holds one called ``inner``; it must be possible to seek in it. A
        bare .tar does as well: some servers call the compression a transfer encoding, and clients
        undo it.
    """
    start = archive.read(4)
    archive.seek(0)
    try:
        if start.startswith(_GZIP):
            yield from _from_gzip(archive, wanted)
        elif start == _ZIP:
            # Opening a .zip makes objects of all its entries; hence they are counted before
            _check_count(archive.read().count(_ZIP_ENTRY))
            archive.seek(0)
            with zipfile.ZipFile(archive) as packed:
                found = [entry for entry in packed.infolist() if entry.filename == inner]
                if len(found) != 1 or found[0].compress_type not in _ZIP_METHODS:
                    raise ArchiveError(f"sent a .zip without {inner}")
                with packed.open(found[0]) as file:
                    yield from _from_gzip(file, wanted)
        else:
            yield from _from_tar(archive, wanted)
    except ArchiveError:
        raise
    except Exception as error:
        # Readers of tar, zip and gzip raise errors of a dozen kinds on damaged archives.
        raise ArchiveError("sent a damaged archive") from error


def _from_gzip(packed: IO[bytes], wanted: Container[str]) -> Iterator[Member]:
    # Capped as well: what a .zip inflates to may be endless padding, which gzip passes over.
    capped: Any = _CappedReader(packed, LARGEST_ARCHIVE)
    with gzip.GzipFile(fileobj=capped) as unpacked:
        yield from _from_tar(unpacked, wanted)


def _from_tar(unpacked: IO[bytes] | gzip.GzipFile, wanted: Container[str]) -> Iterator[Member]:
    capped: Any = _CappedReader(unpacked, LARGEST_CONTENT)
    try:
        archive = tarfile.open(fileobj=capped, mode="r|")  # noqa: SIM115 - closed below
    except tarfile.ReadError as error:  # not even a first header
        raise ArchiveError("sent no archive") from error
    with archive as tar:
        for count, member in enumerate(tar, 1):
            _check_count(count)
            name = member.name.removeprefix("./")
            if name in wanted and member.type in (tarfile.REGTYPE, tarfile.AREGTYPE):
                if member.size > LARGEST_MEMBER:
                    raise ArchiveError(f"sent {member.name} of {member.size} bytes")
                file = tar.extractfile(member)
                assert file is not None
                yield name, file.read()


def _check_count(count: int) -> None:
    if count > MOST_MEMBERS:
        raise ArchiveError(f"sent an archive of more than {MOST_MEMBERS} members")
