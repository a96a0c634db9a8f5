"""The text of a user's file: unpacked and decoded, with line feeds as line ends."""

from __future__ import annotations

import codecs
import gzip
import io
import re
import sys
import zlib
from pathlib import Path
from typing import Final

from perceptron_lab.core.errors import InputError
from perceptron_lab.datasets.formats.columns import allowed_bytes

STANDARD_INPUT: Final = Path("-")
"""The path that stands for standard input."""

# By the bytes that a text begins with; those of UTF-16 begin those of UTF-32
_ENCODINGS: Final = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
GZIP: Final = b"\x1f\x8b"
"""The first bytes of a file packed by gzip."""
_SHEETS: Final = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
_LINE_END: Final = re.compile(r"\r*\n|\r")
_PIECE: Final = 2**20  # Bytes unpacked at a time
_AROUND: Final = 12  # Bytes shown around one that cannot be decoded


def text_of(path: Path) -> str:
    """Return the text of a file, which may be packed by gzip, or of :data:`STANDARD_INPUT`.

    It is UTF-8, or UTF-16 or UTF-32 with their byte-order mark; a line ends by a line feed, a
    carriage return or both. An ``InputError`` refuses others.
    """
    content = sys.stdin.buffer.read() if path == STANDARD_INPUT else path.read_bytes()
    text = _decoded(unpacked(content) if content.startswith(GZIP) else content)
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise InputError(f"line {line} holds a NUL character, which no text has; save it as UTF-8")
    return _LINE_END.sub("\n", text) if "\r" in text else text


def unpacked(content: bytes) -> bytes:
    """Return the bytes that gzip packed; an ``InputError`` refuses damaged and too large ones."""
    allowed, text = allowed_bytes(), io.BytesIO()
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
            # In pieces: a single read would reserve the memory that is allowed at most
            while piece := file.read(_PIECE):
                text.write(piece)
                if text.tell() > allowed > 0:
                    raise InputError(
                        f"unpacked it takes more than {allowed / 2**30:.3g} GiB, half of this "
                        "machine's memory; save the rows as .npy"
                    )
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"it cannot be unpacked ({error}); compress it again") from None
    return text.getvalue()


def _decoded(content: bytes) -> str:
    if content.startswith(_SHEETS):
        raise InputError("it is a workbook or an archive, and no text; save its sheet as CSV UTF-8")
    encoding = next((name for mark, name in _ENCODINGS.items() if content.startswith(mark)), "")
    try:
        return content.decode(encoding or "utf-8-sig")
    except UnicodeDecodeError as error:
        if encoding:
            fault = f"it begins as {encoding} but does not continue as such"
            raise InputError(f"{fault}; save it as UTF-8") from None
        at = error.start
        before = _LINE_END.sub("\n", content[:at].decode("latin-1"))
        excerpt = content[max(0, at - _AROUND) : at + _AROUND].decode("cp1252", "replace")
        raise InputError(
            f"line {before.count(chr(10)) + 1}: the byte {content[at : at + 1].hex()}, in "
            f"{excerpt!r} by Windows-1252, is no UTF-8; save the file as UTF-8 (spreadsheets call "
            "it "
            "CSV UTF-8)"
        ) from None
