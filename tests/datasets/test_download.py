"""Fetching from real HTTP servers on this machine that misbehave in every way we know of."""

import hashlib
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from perceptron_lab.core.errors import ConfigError, DataError
from perceptron_lab.datasets.download import fetching as download
from perceptron_lab.datasets.download.fetching import FileState, cache_folder, fetch, verify
from perceptron_lab.datasets.download.registered_files import COLLECTIONS, Collection, DataFile
from perceptron_lab.datasets.regular_files import confined
from tests.datasets.local_home import Answer, LocalHome

CONTENT = b"1\n1\n2\n1.0\n" + b"0 1 1 1 1.0\n" * 500
SHA256 = hashlib.sha256(CONTENT).hexdigest()
FLIPPED = CONTENT[:3000] + bytes([CONTENT[3000] ^ 1]) + CONTENT[3001:]

Register = Callable[..., None]


class Home(LocalHome):
    """Paths say how it behaves; it records what was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        super().__init__(self._answer)

    def _answer(self, path: str) -> Answer:
        self.asked.append(path)
        behaviour = path.split("/")[1]
        if behaviour == "flaky":
            behaviour = "good" if self.asked.count(path) > 1 else "broken"
        return Answer(*ANSWERS[behaviour])


ANSWERS: dict[str, tuple[int, bytes, int | None]] = {
    "good": (200, CONTENT, None),
    "broken": (503, b"try again", None),
    "absent": (404, b"not here", None),
    "page": (200, b"<html>please log in</html>", None),
    "empty": (200, b"", None),
    "flipped": (200, FLIPPED, None),
    "cut": (200, CONTENT[:4096], len(CONTENT)),
    "short": (200, CONTENT[:4096], None),
}
BAD = sorted(set(ANSWERS) - {"good"})


@pytest.fixture
def home() -> Iterator[Home]:
    server = Home()
    yield server
    server.close()


@pytest.fixture(autouse=True)
def machine(empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache without proxies; returns the cache folder."""
    for variable in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    return empty_cache


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> Register:
    """Register the collection ``small`` with one file ``a`` (a.dat-s) at the given homes."""

    def to(*urls: str) -> None:
        files = {"a": DataFile("a.dat-s", SHA256, urls)}
        small = Collection("small", "a test", "nowhere", "none", "nobody", files)
        monkeypatch.setitem(COLLECTIONS, "small", lambda: small)

    return to


def _leftovers(cache: Path) -> list[str]:
    return sorted(path.name for path in cache.rglob("*") if path.is_file())


def test_download_then_cache(home: Home, register: Register, machine: Path) -> None:
    register(home.url("good/a"))
    path = fetch("small", "a")
    assert path == machine / "small" / "a.dat-s"
    assert path.read_bytes() == CONTENT
    assert fetch("small", "a") == path
    assert home.asked == ["/good/a"]
    assert _leftovers(machine) == ["a.dat-s"]


def test_a_private_cache_folder_receives_downloads_and_uses_the_cache(
    home: Home, register: Register, machine: Path, tmp_path: Path
) -> None:
    register(home.url("good/a"))
    (tmp_path / "own").mkdir()
    with confined(tmp_path / "own", 0):
        path = fetch("small", "a")
        assert fetch("small", "a") == path
    assert path.is_relative_to(tmp_path / "own")
    assert not machine.exists()
    assert fetch("small", "a").is_relative_to(machine)
    with confined(tmp_path / "own", 0):
        assert fetch("small", "a").is_relative_to(machine)
    assert home.asked == ["/good/a"] * 2


@pytest.mark.parametrize("behaviour", BAD)
def test_a_bad_home_is_passed_over(
    home: Home, register: Register, machine: Path, behaviour: str
) -> None:
    register(home.url(f"{behaviour}/a"), home.url("good/a"))
    assert fetch("small", "a").read_bytes() == CONTENT
    assert home.asked[-1] == "/good/a"
    assert _leftovers(machine) == ["a.dat-s"]


@pytest.mark.parametrize("behaviour", BAD)
def test_one_bad_server_has_no_effect(
    home: Home, register: Register, machine: Path, behaviour: str
) -> None:
    register(home.url(f"{behaviour}/a"))
    with pytest.raises(DataError) as caught:
        fetch("small", "a")
    message = str(caught.value)
    assert "small/a.dat-s" in message
    assert "127.0.0.1" in message
    assert "PLAB_DATA_MIRROR" in message
    assert "plab data fetch small" in message
    assert _leftovers(machine) == []


@pytest.mark.parametrize(
    ("behaviour", "why"),
    [("absent", "HTTP 404"), ("page", "wrong sha256"), ("cut", "broke off"), ("short", "sha256")],
)
def test_the_message_states_the_result_of_each_server(
    home: Home, register: Register, behaviour: str, why: str
) -> None:
    register(home.url(f"{behaviour}/a"))
    with pytest.raises(DataError, match=why):
        fetch("small", "a")


@pytest.mark.parametrize("length", range(0, len(CONTENT), 4096))
def test_truncation_anywhere_is_noticed(
    home: Home, register: Register, machine: Path, length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ANSWERS, "here", (200, CONTENT[:length], None))
    register(home.url("here/a"))
    with pytest.raises(DataError):
        fetch("small", "a")
    assert _leftovers(machine) == []


def test_a_server_is_tried_again(home: Home, register: Register) -> None:
    register(home.url("flaky/a"))
    assert fetch("small", "a").read_bytes() == CONTENT
    assert home.asked == ["/flaky/a", "/flaky/a"]


def test_retries_end(home: Home, register: Register) -> None:
    register(home.url("broken/a"))
    with pytest.raises(DataError, match="HTTP 503"):
        fetch("small", "a")
    assert len(home.asked) == 1 + download.RETRIES


def test_an_unreachable_server_is_reported(register: Register) -> None:
    register("http://127.0.0.1:1/a")
    with pytest.raises(DataError, match=r"127\.0\.0\.1:1: no connection"):
        fetch("small", "a")


def test_an_unreachable_host_is_left_alone_for_a_while(
    register: Register, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = Home()
    url = server.url("good/a")
    register(url)
    server.close()
    for _ in range(2):
        with pytest.raises(DataError, match="no connection"):
            fetch("small", "a")

    def from_home(url: str, file: DataFile, target: Path) -> Path:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(CONTENT)
        return target

    monkeypatch.setattr(download, "_from_home", from_home)
    with pytest.raises(DataError, match="no connection"):
        fetch("small", "a")
    later = time.monotonic() + download.PATIENCE + 1
    monkeypatch.setattr("perceptron_lab.datasets.download.fetching.time.monotonic", lambda: later)
    assert fetch("small", "a").read_bytes() == CONTENT


def test_a_damaged_cache_is_fetched_again(home: Home, register: Register, machine: Path) -> None:
    register(home.url("good/a"))
    fetch("small", "a").write_bytes(FLIPPED)
    assert verify("small") == [("a", FileState.WRONG_HASH)]
    assert fetch("small", "a").read_bytes() == CONTENT
    assert verify("small") == [("a", FileState.PRESENT)]


def test_a_damaged_cache_is_never_used(home: Home, register: Register, machine: Path) -> None:
    register(home.url("absent/a"))
    (machine / "small").mkdir(parents=True)
    (machine / "small" / "a.dat-s").write_bytes(FLIPPED)
    with pytest.raises(DataError, match="HTTP 404"):
        fetch("small", "a")


def _mirror_folder(folder: Path, content: bytes) -> Path:
    file = folder / "small" / "a.dat-s"
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    return file


def test_a_mirror_folder_is_read_directly(
    home: Home, register: Register, machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(home.url("good/a"))
    file = _mirror_folder(tmp_path / "mirror", CONTENT)
    monkeypatch.setenv("PLAB_DATA_MIRROR", str(tmp_path / "mirror"))
    assert fetch("small", "a") == file
    assert verify("small") == [("a", FileState.PRESENT)]
    assert home.asked == []
    assert not machine.exists()


def test_a_wrong_file_in_a_mirror_folder_is_refused(
    home: Home, register: Register, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(home.url("good/a"))
    file = _mirror_folder(tmp_path / "mirror", FLIPPED)
    monkeypatch.setenv("PLAB_DATA_MIRROR", str(tmp_path / "mirror"))
    with pytest.raises(DataError, match=re.escape(str(file))) as caught:
        fetch("small", "a")
    assert SHA256 in str(caught.value)
    assert verify("small") == [("a", FileState.WRONG_HASH)]
    assert home.asked == []


def test_files_missing_in_a_mirror_folder_are_downloaded(
    home: Home, register: Register, machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(home.url("good/a"))
    monkeypatch.setenv("PLAB_DATA_MIRROR", str(tmp_path))
    assert fetch("small", "a") == machine / "small" / "a.dat-s"


def test_a_mirror_address_is_tried_first(
    home: Home, register: Register, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(home.url("good/a"))
    monkeypatch.setenv("PLAB_DATA_MIRROR", home.url("good/mirror/"))
    assert fetch("small", "a").read_bytes() == CONTENT
    assert home.asked == ["/good/mirror/small/a.dat-s"]


@pytest.mark.parametrize("mirror", ["http://127.0.0.1:1", "page", "absent", "flipped"])
def test_a_bad_mirror_address_is_passed_over(
    home: Home, register: Register, monkeypatch: pytest.MonkeyPatch, mirror: str
) -> None:
    register(home.url("good/a"))
    address = mirror if mirror.startswith("http") else home.url(mirror)
    monkeypatch.setenv("PLAB_DATA_MIRROR", address)
    assert fetch("small", "a").read_bytes() == CONTENT
    assert home.asked[-1] == "/good/a"


def test_offline_uses_the_cached_files(
    home: Home, register: Register, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(home.url("good/a"))
    monkeypatch.setenv("PLAB_OFFLINE", "1")
    with pytest.raises(DataError, match="PLAB_OFFLINE=1 forbids downloads"):
        fetch("small", "a")
    assert home.asked == []
    monkeypatch.setenv("PLAB_OFFLINE", "0")
    fetch("small", "a")
    monkeypatch.setenv("PLAB_OFFLINE", "1")
    assert fetch("small", "a").read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("PLAB_OFFLINE", "maybe"),
        ("PLAB_DATA_MIRROR", "/no/such/folder"),
        ("PLAB_DATA_MIRROR", "ftp://x"),
    ],
)
def test_variables_that_make_no_sense(
    register: Register, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    register("http://127.0.0.1:1/a")
    monkeypatch.setenv(variable, value)
    with pytest.raises(ConfigError, match=variable):
        fetch("small", "a")


def test_unwritable_cache(
    home: Home, register: Register, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(home.url("good/a"))
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("PLAB_DATA_DIR", str(tmp_path / "file"))
    with pytest.raises(DataError, match="set PLAB_DATA_DIR"):
        fetch("small", "a")


def test_unknown_names(register: Register) -> None:
    register("http://127.0.0.1:1/a")
    with pytest.raises(ConfigError, match=r"did you mean 'small'\?"):
        fetch("smal", "a")
    with pytest.raises(ConfigError, match="small has no 'zzz'"):
        fetch("small", "zzz")


def test_cache_in_a_clone_and_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PLAB_DATA_DIR")
    inside = tmp_path / "clone" / "configs"
    inside.mkdir(parents=True)
    project = tmp_path / "clone" / "pyproject.toml"
    project.write_text('[project]\nname = "perceptron-lab"\n')
    monkeypatch.chdir(inside)
    assert cache_folder() == tmp_path / "clone" / "data"
    for other in ('[project]\nname = "another"\n', "not TOML at all [", "project = 3\n"):
        project.write_text(other)
        assert cache_folder().name == "perceptron-lab"


def test_sdplib_is_registered_completely() -> None:
    sdplib = COLLECTIONS["sdplib"]()
    assert len(sdplib.files) == 87
    assert len({file.sha256 for file in sdplib.files.values()}) == 87
    for name, file in sdplib.files.items():
        assert file.file == f"{name}.dat-s"
        assert re.fullmatch("[0-9a-f]{64}", file.sha256)
        assert len(file.urls) > 1
        assert all(url.startswith("https://") for url in file.urls)
    assert "Borchers" in sdplib.citation


def test_mirrored_sdplib_is_verified(sdplib_mirror: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLAB_DATA_MIRROR", str(sdplib_mirror.parent))
    states = dict(verify("sdplib"))
    for file in sdplib_mirror.glob("*.dat-s"):
        assert states[file.name.removesuffix(".dat-s")] is FileState.PRESENT
        assert fetch("sdplib", file.name.removesuffix(".dat-s")) == file


def test_partial_files_of_a_killed_download_are_removed(
    home: Home, register: Register, machine: Path
) -> None:
    register(home.url("good/a"))
    left = machine / "small" / ".a.dat-s.12345.partial"
    left.parent.mkdir(parents=True)
    left.write_bytes(CONTENT[:100])
    fetch("small", "a")
    assert _leftovers(machine) == ["a.dat-s"]
    left.write_bytes(CONTENT[:100])
    fetch("small", "a")  # from the cache
    assert _leftovers(machine) == ["a.dat-s"]
    assert home.asked == ["/good/a"]
