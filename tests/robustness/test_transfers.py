"""Homes that answer nonsense, too much, too slowly or elsewhere: the next home, or a DataError."""

from __future__ import annotations

import gzip
import hashlib
import io
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import requests
import urllib3
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from perceptron_lab.core.errors import ConfigError, DataError
from perceptron_lab.datasets.download import fetching as download
from perceptron_lab.datasets.download import transfer
from perceptron_lab.datasets.download.fetching import fetch
from perceptron_lab.datasets.download.registered_files import COLLECTIONS, Collection, DataFile
from perceptron_lab.datasets.download.transfer import Watch
from tests.datasets.local_home import Answer, LocalHome, RawHome
from tests.repetitions import examples

CONTENT = b"1\n1\n2\n1.0\n" + b"0 1 1 1 1.0\n" * 1500
SHA256 = hashlib.sha256(CONTENT).hexdigest()
WHOLE = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(CONTENT) + CONTENT
FOUND = b"HTTP/1.1 302 Found\r\nConnection: close\r\nContent-Length: 0\r\nLocation: "
Register = Callable[..., None]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of an empty cache; no mirror, and no waiting."""
    monkeypatch.setenv("PLAB_DATA_DIR", str(tmp_path / "cache"))
    for variable in ("PLAB_DATA_MIRROR", "PLAB_OFFLINE"):
        monkeypatch.delenv(variable, raising=False)
    for variable in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setattr(transfer, "TIMEOUT", (2.0, 2.0))
    monkeypatch.setattr(download, "_unreachable", {})
    monkeypatch.setattr("pooch.core.time.sleep", lambda seconds: None)
    return tmp_path / "cache" / "small"


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> Register:
    """Register the collection ``small`` with one file ``a`` (a.dat-s) at the given homes."""

    def to(*urls: str) -> None:
        files = {"a": DataFile("a.dat-s", SHA256, urls)}
        small = Collection("small", "a test", "nowhere", "none", "nobody", files)
        monkeypatch.setitem(COLLECTIONS, "small", lambda: small)

    return to


@pytest.fixture
def raw() -> Iterator[Callable[[Callable[[], Iterable[bytes]]], RawHome]]:
    """Return a function that starts a home, which is closed at the end."""
    homes: list[RawHome] = []

    def start(pieces: Callable[[], Iterable[bytes]]) -> RawHome:
        homes.append(RawHome(pieces))
        return homes[-1]

    yield start
    for home in homes:
        home.close()


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


NONSENSE = {
    "nothing": b"",
    "no HTTP": b"SSH-2.0-OpenSSH_9.6\r\n",
    "zeros": bytes(5000),
    "only a status": b"HTTP/1.1 200 OK\r\n",
    "status of text": b"HTTP/1.1 two hundred\r\n\r\n",
    "endless line": b"HTTP/1.1 200 " + b"a" * 100_000,
    "many headers": b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 500 + b"\r\n" + CONTENT,
    "length of text": b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n" + CONTENT[:-1],
    "two lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 9\r\n\r\n" + CONTENT,
    "negative length": b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n" + CONTENT[:-1],
    "longer than it is": WHOLE[:-1],
    "no length, cut": b"HTTP/1.1 200 OK\r\n\r\n" + CONTENT[:-1],
    "chunks, cut": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n1\n1\n2\r\n",
    "chunks of nonsense": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
    "huge chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"f" * 16 + b"\r\n1",
    "no gzip": b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + CONTENT,
    "gzip, cut": b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"
    + gzip.compress(CONTENT)[:-30],
    "no content": b"HTTP/1.1 204 No Content\r\n\r\n",
    "partial content": b"HTTP/1.1 206 OK\r\nContent-Length: 5\r\n\r\n1\n1\n2",
    "redirect nowhere": b"HTTP/1.1 302 Found\r\n\r\n",
    "redirect to nonsense": FOUND + b"http://[\r\n\r\n",
    "redirect to bytes": FOUND + b"http://\xff\xfe/\r\n\r\n",
    "redirect to a file": FOUND + b"file:///etc/passwd\r\n\r\n",
    "redirect to ftp": FOUND + b"ftp://127.0.0.1/a\r\n\r\n",
    "redirect to itself": FOUND + b"/a\r\n\r\n",
    "continue for ever": b"HTTP/1.1 100 Continue\r\n\r\n" * 50,
}


@pytest.mark.parametrize("answer", NONSENSE.values(), ids=NONSENSE.keys())
def test_nonsense_is_passed_over(
    register: Register, raw: Callable[..., RawHome], cache: Path, answer: bytes
) -> None:
    bad, good = raw(lambda: [answer]), raw(lambda: [WHOLE])
    register(bad.url("a"))
    with pytest.raises(DataError, match=r"small/a\.dat-s is not in .* could not be had \(127"):
        fetch("small", "a")
    assert files(cache) == {}
    register(bad.url("a"), good.url("a"))
    assert fetch("small", "a").read_bytes() == CONTENT
    assert files(cache) == {"a.dat-s": CONTENT}


def test_a_folder_below_the_current_one_is_named_from_there(
    register: Register,
    raw: Callable[..., RawHome],
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    register(raw(lambda: [b""]).url("a"))
    cache.mkdir(parents=True)
    monkeypatch.chdir(cache.parent)
    with pytest.raises(DataError, match=rf"^small/a\.dat-s is not in {cache.name} and"):
        fetch("small", "a")


@pytest.mark.parametrize("length", [*range(0, len(WHOLE), 4096), len(WHOLE) - 1])
def test_a_connection_cut_anywhere(
    register: Register, raw: Callable[..., RawHome], cache: Path, length: int
) -> None:
    register(raw(lambda: [WHOLE[:length]]).url("a"))
    with pytest.raises(DataError, match="could not be had"):
        fetch("small", "a")
    assert files(cache) == {}


@settings(max_examples=examples(100), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.integers(0, len(WHOLE) - 1), change=st.integers(1, 255))
@example(at=len(WHOLE) - 1, change=1)
def test_a_changed_byte_anywhere(
    register: Register, raw: Callable[..., RawHome], cache: Path, at: int, change: int
) -> None:
    """In the head it may not matter; what reaches the cache is right in any case."""
    answer = WHOLE[:at] + bytes([WHOLE[at] ^ change]) + WHOLE[at + 1 :]
    home = RawHome(lambda: [answer])
    register(home.url("a"))
    with suppress(DataError):
        fetch("small", "a").unlink()
        assert at < len(WHOLE) - len(CONTENT)
    assert files(cache) == {}
    home.close()


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("redirect to a file", "redirects to an address that is not as safe"),
        ("redirect to itself", "redirects without end"),
        ("longer than it is", "the transfer broke off"),
        ("nothing", "no connection"),
        ("no content", r"wrong sha256"),
    ],
)
def test_the_message_states_the_cause(
    register: Register, raw: Callable[..., RawHome], name: str, reason: str
) -> None:
    register(raw(lambda: [NONSENSE[name]]).url("a"))
    with pytest.raises(DataError, match=reason):
        fetch("small", "a")


def test_a_redirect_is_followed(register: Register, raw: Callable[..., RawHome]) -> None:
    good = raw(lambda: [WHOLE])
    home = LocalHome(lambda path: Answer(302, b"", location=good.url("elsewhere")))
    register(home.url("a"))
    assert fetch("small", "a").read_bytes() == CONTENT
    home.close()


def test_no_way_leads_from_https_to_http(
    register: Register,
    raw: Callable[..., RawHome],
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    good = raw(lambda: [WHOLE])
    send = requests.adapters.HTTPAdapter.send

    def redirecting(self: object, request: requests.PreparedRequest, **options: object) -> object:
        if not str(request.url).startswith("https://"):
            return send(self, request, **options)  # type: ignore[arg-type]
        answer = requests.Response()
        answer.status_code, answer.url, answer.request = 302, str(request.url), request
        answer.headers["Location"] = good.url("a")
        answer.raw = urllib3.HTTPResponse(io.BytesIO(), preload_content=False)
        return answer

    monkeypatch.setattr(requests.adapters.HTTPAdapter, "send", redirecting)
    register("https://safe.example/a")
    with pytest.raises(DataError, match=r"safe\.example: redirects to an address that is not as"):
        fetch("small", "a")
    assert files(cache) == {}
    register(good.url("a"))
    assert fetch("small", "a").read_bytes() == CONTENT


def test_a_slow_home_is_left(
    register: Register,
    raw: Callable[..., RawHome],
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It sends without end, always soon enough for a time-out; the next home is asked."""
    closed = threading.Event()

    def dripping() -> Iterator[bytes]:
        yield b"HTTP/1.1 200 OK\r\n\r\n"
        while not closed.is_set():
            yield bytes(1024)
            time.sleep(0.005)

    monkeypatch.setattr(transfer, "PATIENCE", 0.05)
    monkeypatch.setattr(transfer, "LEAST_SPEED", 1e12)
    slow = raw(dripping)
    register(slow.url("a"))
    with pytest.raises(DataError, match=r"sent less than 1e\+12 bytes per second"):
        fetch("small", "a")
    monkeypatch.setattr(transfer, "PATIENCE", 60.0)
    closed.set()
    assert files(cache) == {}


OK = b"HTTP/1.1 200 OK\r\n"
ENDLESS = {
    "body without a length": (OK + b"\r\n", b"x"),
    "body of a length": (OK + b"Content-Length: 99999999\r\n\r\n", b"x"),
    "chunk": (OK + b"Transfer-Encoding: chunked\r\n\r\nfffffff\r\n", b"x"),
    "trailer": (OK + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"a: b\r\n"),
    "status line": (b"HTTP/1.1 200 ", b"O"),
    "header": (OK + b"Server: ", b"x"),
    "100 Continue": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "headers of 100 Continue": (b"HTTP/1.1 100 Continue\r\n", b"a: b\r\n"),
    "encoded body": (OK + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(CONTENT)[:99], b""),
}


@pytest.fixture
def dripping(raw: Callable[..., RawHome]) -> Iterator[Callable[[bytes, bytes], str]]:
    """Return a function that starts a home which sends a piece, and another one without end.

    Each comes before the time-out of the socket, so that only a clock ends it.
    """
    closed = threading.Event()

    def start(begin: bytes, drop: bytes) -> str:
        def pieces() -> Iterator[bytes]:
            yield begin
            while not closed.wait(0.01):
                yield drop

        return raw(pieces).url("a")

    yield start
    closed.set()


@pytest.mark.parametrize("kind", ENDLESS)
def test_endless_slow_transfers_are_abandoned(
    register: Register,
    raw: Callable[..., RawHome],
    dripping: Callable[[bytes, bytes], str],
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
) -> None:
    with monkeypatch.context() as impatient:
        impatient.setattr(transfer, "PATIENCE", 0.05)
        register(dripping(*ENDLESS[kind]))
        with pytest.raises(DataError, match=r"1:\d+: sent less than 1000 bytes per second"):
            fetch("small", "a")
    assert files(cache) == {}
    register(raw(lambda: [WHOLE]).url("a"))
    assert fetch("small", "a").read_bytes() == CONTENT


def test_the_body_of_a_redirect_is_not_read(
    register: Register, raw: Callable[..., RawHome], dripping: Callable[[bytes, bytes], str]
) -> None:
    """Neither slowly nor into memory."""
    good = raw(lambda: [WHOLE]).url("a").encode()
    head = b"HTTP/1.1 302 Found\r\nLocation: " + good + b"\r\n\r\n"
    register(dripping(head, bytes(2**16)))
    assert fetch("small", "a").read_bytes() == CONTENT


def test_a_tunnel_that_drips_is_left(
    register: Register,
    dripping: Callable[[bytes, bytes], str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The answer of a proxy to CONNECT is read before there is any encryption."""
    monkeypatch.setattr(transfer, "PATIENCE", 0.05)
    monkeypatch.delenv("NO_PROXY")
    monkeypatch.setenv("https_proxy", dripping(b"HTTP/1.1 4", b"0"))
    register("https://safe.example/a")
    with pytest.raises(DataError, match=r"safe\.example: sent less than 1000 bytes per second"):
        fetch("small", "a")


def test_a_fast_start_does_not_extend_the_limit_of_a_slow_transfer(
    register: Register,
    dripping: Callable[[bytes, bytes], str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(transfer, "PATIENCE", 0.05)
    register(dripping(OK + b"\r\n" + bytes(2**22), b"x"))
    with pytest.raises(DataError, match="sent less than 1000 bytes per second"):
        fetch("small", "a")


def test_a_connection_opened_after_the_end_is_closed() -> None:
    with Watch(0.001, 1.0) as watch:
        watch._thread.join()
        ours, remote = socket.socketpair()
        watch.add(ours)
        assert remote.recv(1) == b""
    assert watch.expired
    ours.close()
    remote.close()


def test_a_watch_ends_with_its_transfer() -> None:
    before = threading.active_count()
    with Watch(60.0, 1.0) as watch:
        ours, remote = socket.socketpair()
        watch.add(ours)
    assert threading.active_count() == before
    assert not watch.expired
    assert [duplicate.fileno() for duplicate in watch._sockets] == [-1]
    ours.close()
    remote.close()


def test_a_home_that_falls_silent_is_left(
    register: Register,
    raw: Callable[..., RawHome],
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    closed = threading.Event()

    def silent() -> Iterator[bytes]:
        yield WHOLE[:9000]
        closed.wait(20)

    monkeypatch.setattr(transfer, "TIMEOUT", (2.0, 0.1))
    register(raw(silent).url("a"), raw(lambda: [WHOLE]).url("a"))
    assert fetch("small", "a").read_bytes() == CONTENT
    closed.set()
    assert files(cache) == {"a.dat-s": CONTENT}


@pytest.mark.parametrize("encoding", ["none", "gzip"])
def test_a_home_that_never_ends_is_left(
    register: Register,
    raw: Callable[..., RawHome],
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
    encoding: str,
) -> None:
    """Also where a few bytes become many."""
    monkeypatch.setattr(download, "LARGEST_FILE", 2**20)
    endless = bytes(2**23)
    body = gzip.compress(endless) if encoding == "gzip" else endless
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" if encoding == "gzip" else WHOLE[:0]
    register(raw(lambda: [head or b"HTTP/1.1 200 OK\r\n\r\n", body]).url("a"))
    with pytest.raises(DataError, match="sent more than 1048576 bytes"):
        fetch("small", "a")
    assert files(cache) == {}


@pytest.mark.parametrize(
    ("variable", "value", "reason"),
    [
        ("PLAB_DATA_MIRROR", "http://", "is no http"),
        ("PLAB_DATA_MIRROR", "http://[", "PLAB_DATA_MIRROR cannot be used"),
        ("PLAB_DATA_MIRROR", "http://host:port/", "PLAB_DATA_MIRROR cannot be used"),
        ("PLAB_DATA_MIRROR", "~nobody-of-this-name/x", "give the folder's path"),
        ("PLAB_DATA_DIR", "~nobody-of-this-name/x", "give the folder's path"),
    ],
)
def test_invalid_addresses_and_folders_are_refused(
    register: Register, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, reason: str
) -> None:
    register("http://127.0.0.1:1/a")
    monkeypatch.setenv(variable, value)
    with pytest.raises(ConfigError, match=reason):
        fetch("small", "a")


def test_a_password_in_an_address_is_not_shown(
    register: Register, monkeypatch: pytest.MonkeyPatch
) -> None:
    register("http://127.0.0.1:1/a")
    monkeypatch.setenv("PLAB_DATA_MIRROR", "http://me:secret@127.0.0.1:1/data")
    with pytest.raises(DataError, match=r"127\.0\.0\.1:1: no connection") as caught:
        fetch("small", "a")
    assert "secret" not in str(caught.value)
