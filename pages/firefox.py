"""Drives Firefox over its own remote protocol, WebDriver BiDi, for a test of the pages: it needs no
driver beside the browser.  The websocket comes with selenium (requirements-dev.txt)."""

from __future__ import annotations

import base64
import contextlib
import itertools
import json
import re
import shutil
import subprocess
import tempfile
import time

PROGRAM = shutil.which("firefox") or shutil.which("firefox-esr")
SECONDS = 300  # how long the browser may take for an answer
LISTENS = re.compile(r"WebDriver BiDi listening on (ws://\S+)")


class Firefox:
    """A Firefox with one page.  `log` holds what pages have written to the console."""

    def __init__(self, socket):
        self.log = []
        self._socket = socket
        self._numbers = itertools.count(1)
        self.call("session.new", capabilities={})
        self.call("session.subscribe", events=["log.entryAdded"])
        self._page = self.call("browsingContext.getTree")["contexts"][0]["context"]

    def call(self, method: str, **params) -> dict:
        """Sends a command of the protocol and returns its result."""
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            answer = json.loads(self._socket.recv())
            if answer.get("method") == "log.entryAdded":
                self.log.append(answer["params"])
            if answer.get("id") == number:
                break
        if answer["type"] == "error":
            raise RuntimeError(f"{method}: {answer['message']}")
        return answer["result"]

    def open(self, address: str, width: int = 1280, height: int = 900) -> None:
        size = {"width": width, "height": height}
        self.call("browsingContext.setViewport", context=self._page, viewport=size, devicePixelRatio=1)
        self.call("browsingContext.navigate", context=self._page, url="about:blank", wait="complete")
        self.call("browsingContext.navigate", context=self._page, url=address, wait="complete")

    def evaluate(self, expression: str):
        """The value of a JavaScript expression, or that of its promise."""
        as_json = f"(async () => JSON.stringify(await ({expression})) ?? null)()"
        target = {"context": self._page}
        answer = self.call("script.evaluate", expression=as_json, target=target, awaitPromise=True)
        if answer["type"] == "exception":
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']['text']}")
        text = answer["result"].get("value")
        return None if text is None else json.loads(text)

    def wait_for(self, condition: str) -> None:
        """Until an expression is true."""
        end = time.monotonic() + SECONDS
        while not self.evaluate(f"Boolean({condition})"):
            assert time.monotonic() < end, condition
            time.sleep(0.05)

    def press(self, selector: str) -> None:
        """Clicks on an element as a reader does."""
        found = self.call("browsingContext.locateNodes", context=self._page, locator={"type": "css", "value": selector})
        self.evaluate(f"document.querySelector({json.dumps(selector)}).scrollIntoView({{ block: 'center' }})")
        element = {"type": "element", "element": {"sharedId": found["nodes"][0]["sharedId"]}}
        steps = [
            {"type": "pointerMove", "x": 0, "y": 0, "origin": element},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]
        self._act({"type": "pointer", "id": "mouse", "actions": steps})

    def type(self, keys: str) -> None:
        steps = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self._act({"type": "key", "id": "keyboard", "actions": steps})

    def _act(self, actions: dict) -> None:
        self.call("input.performActions", context=self._page, actions=[actions])

    def picture(self) -> bytes:
        """What the view shows, as a PNG."""
        return base64.b64decode(self.call("browsingContext.captureScreenshot", context=self._page)["data"])


@contextlib.contextmanager
def browser():
    """A Firefox without windows, and with a profile of its own."""
    import websocket

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [PROGRAM, "--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            address = next(filter(None, map(LISTENS.search, process.stderr)))[1]
            socket = websocket.create_connection(f"{address}/session", timeout=SECONDS, suppress_origin=True)
            with contextlib.closing(socket):
                yield Firefox(socket)
        finally:
            process.terminate()
            process.communicate()
