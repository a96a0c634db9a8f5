"""A headless Chromium that tests drive by its DevTools protocol, over two pipes."""

from __future__ import annotations

import json
import os
import shutil
import signal
from base64 import b64decode
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any, Self

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


def browser_path() -> str:
    """Return the browser's command, or skip the test and say why."""
    paths = [path for name in NAMES if (path := shutil.which(name))]
    if not paths:
        pytest.skip("needs a browser on PATH: Debian's package chromium, for one")
    return paths[0]


class Browser(AbstractContextManager["Browser"]):
    """A browser with one page; ``said`` is all that its console says, ``asked`` all requests."""

    def __init__(self, command: str, profile: Path) -> None:
        inward, self._out = os.pipe()
        self._in, outward = os.pipe()
        # The browser reads from descriptor 3 and writes to 4; those given are moved above them.
        read, write = (
            os.dup2(descriptor, 100 + index) for index, descriptor in enumerate((inward, outward))
        )
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe"]
        flags += ["--no-first-run", "--disable-dev-shm-usage", f"--user-data-dir={profile}"]
        positions = [(os.POSIX_SPAWN_DUP2, read, 3), (os.POSIX_SPAWN_DUP2, write, 4)]
        positions += [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (1, 2)]
        self._process = os.posix_spawn(
            command, [command, *flags], dict(os.environ), file_actions=positions, setpgroup=0
        )
        for descriptor in (inward, outward, read, write):
            os.close(descriptor)
        self._buffer = b""
        self._number = 0
        self.said: list[str] = []
        self.asked: list[str] = []
        # A page of its own: that of a new tab asks for much by itself.
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        attached = self._call("Target.attachToTarget", targetId=target, flatten=True)
        self._session: str | None = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")

    _session: str | None = None

    def open(self, path: Path, width: int, scheme: str = "light") -> None:
        """Open a file, in a window of this width, where readers ask for this colour scheme."""
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=False,
        )
        scheme_asked = {"name": "prefers-color-scheme", "value": scheme}
        self._call("Emulation.setEmulatedMedia", features=[scheme_asked])
        self._call("Page.navigate", url=path.absolute().as_uri())
        while self._next().get("method") != "Page.loadEventFired":
            pass

    def run(self, script: str) -> Any:
        """Return the value of an expression of JavaScript."""
        answer = self._call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def picture(self, path: Path, height: int) -> None:
        """Write a picture of the upper part of the page."""
        width = self.run("innerWidth")
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        shot = self._call("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)
        path.write_bytes(b64decode(shot["data"]))

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            os.killpg(self._process, signal.SIGKILL)
        os.waitpid(self._process, 0)
        os.close(self._in)
        os.close(self._out)

    def _call(self, method: str, **parameters: Any) -> Any:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != self._number:
            pass
        assert "error" not in answer, answer
        return answer["result"]

    def _next(self) -> dict[str, Any]:
        """Return the next message of the browser, and keep what the page says and asks for."""
        while b"\0" not in self._buffer:
            more = os.read(self._in, 1 << 16)
            assert more, "the browser has ended"
            self._buffer += more
        text, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        parameters = message.get("params", {})
        if message.get("method") == "Network.requestWillBeSent":
            self.asked.append(parameters["request"]["url"])
        elif message.get("method") in (
            "Runtime.consoleAPICalled",
            "Runtime.exceptionThrown",
            "Log.entryAdded",
        ):
            self.said.append(json.dumps(parameters))
        return message

    @classmethod
    def started(cls, profile: Path) -> Self:
        """Return a browser, or skip the test."""
        return cls(browser_path(), profile)
