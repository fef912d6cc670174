"""A headless Chromium for tests of pages, driven over a pipe by the DevTools protocol. It reaches no
network."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, Callable

DEADLINE_S = 60
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--hide-scrollbars",
    "--disable-background-networking",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--remote-debugging-pipe",
)


def program() -> str | None:
    """Where Chromium is; None where it is not installed."""
    return shutil.which("chromium")


class Browser:
    """One process with one tab; `events` holds all that the tab reported, in order."""

    def __init__(self) -> None:
        self.profile = tempfile.mkdtemp(prefix="weir-browser-")
        to_child, self._write = os.pipe()
        self._read, from_child = os.pipe()
        # The program reads from 3 and writes to 4; both are taken only once neither is an end here.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (to_child, from_child)]

        def place() -> None:
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        self.process = subprocess.Popen(
            [str(program()), *FLAGS, f"--user-data-dir={self.profile}"],
            preexec_fn=place,
            close_fds=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for end in (to_child, from_child, *ends):
            os.close(end)
        self._last, self._rest, self._session = 0, b"", ""
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self) -> None:
        """Ends the process and removes what it wrote."""
        for end in (self._write, self._read):
            os.close(end)
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command's result. Raises AssertionError where the browser refuses it."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        answer = self._until(lambda one: one.get("id") == self._last)
        assert "error" not in answer, (method, answer["error"])
        return answer["result"]

    def _until(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The next message of this kind; what comes before it is kept as an event."""
        end = time.monotonic() + DEADLINE_S
        while True:
            while b"\0" not in self._rest:
                ready, _, _ = select.select([self._read], [], [], max(0, end - time.monotonic()))
                assert ready, "the browser does not answer"
                chunk = os.read(self._read, 1 << 16)
                assert chunk, "the browser is gone"
                self._rest += chunk
            text, _, self._rest = self._rest.partition(b"\0")
            message = json.loads(text)
            if "id" not in message:
                self.events.append(message)
            if wanted(message):
                return message

    def open(self, path: Path, width: int, dark: bool = False, phone: bool = False) -> None:
        """Loads a file in a window of this width, in pixels, without what was there before."""
        size = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": phone}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        self.call("Emulation.setTouchEmulationEnabled", enabled=phone)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.events.clear()
        self.call("Page.navigate", url=path.as_uri())
        if not any(one["method"] == "Page.loadEventFired" for one in self.events):
            self._until(lambda one: one.get("method") == "Page.loadEventFired")

    def value(self, script: str) -> Any:
        """What an expression of the page's is worth. Raises AssertionError where it throws."""
        done = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in done, done["exceptionDetails"]
        return done["result"].get("value")

    def errors(self) -> list[str]:
        """What the page or the browser complained of since it was opened."""
        found = []
        for event in self.events:
            name, detail = event["method"], event["params"]
            if name == "Runtime.exceptionThrown":
                found.append(json.dumps(detail["exceptionDetails"]))
            if name == "Runtime.consoleAPICalled" and detail["type"] in ("error", "warning"):
                found.append(json.dumps(detail["args"]))
            if name == "Log.entryAdded" and detail["entry"]["level"] in ("error", "warning"):
                found.append(detail["entry"]["text"])
        return found

    def requests(self) -> list[str]:
        """Every address that was asked for since the page was opened."""
        sent = (one for one in self.events if one["method"] == "Network.requestWillBeSent")
        return [event["params"]["request"]["url"] for event in sent]

    def key(self, name: str) -> None:
        """Presses and releases a key, e.g. "Enter"."""
        text = {"Enter": "\r"}.get(name, "")
        code = {"Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowRight": 39}[name]
        known = {"key": name, "code": name, "text": text, "windowsVirtualKeyCode": code}
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, **known)

    def hover(self, x: float, y: float) -> None:
        """Moves the mouse there, in the window's pixels."""
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def tap(self, x: float, y: float) -> None:
        """A finger down and up again."""
        point = [{"x": x, "y": y}]
        self.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=point)
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def picture(self, path: Path, whole: bool = True) -> None:
        """The whole page, or what the window shows of it, as a PNG file."""
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shot["data"]))

    def printed(self) -> bytes:
        """The page as a PDF."""
        return base64.b64decode(self.call("Page.printToPDF")["data"])
