"""The socket to hone's own process, one a graph: hone asks, this answers."""
from __future__ import annotations

import atexit
import json
import select
import socket
import struct
import subprocess
import tempfile
import warnings
import weakref
from typing import Any

from ._program import program
from ._session import Session, Wrong

LINKS: weakref.WeakSet[Link] = weakref.WeakSet()


class Link:
    def __init__(self, options: dict[str, str], threads: int, target: str) -> None:
        self.socket, its = socket.socketpair()
        self.errors = tempfile.TemporaryFile()
        with its:
            self.process = subprocess.Popen(
                [program(), "attach", "--descriptor", str(its.fileno()), "--when", options["when"], "--budget", options["budget"],
                 "--nested", options["nested"], "--threads", str(threads), "--target", target],
                pass_fds=(its.fileno(),), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.errors)
        LINKS.add(self)

    def asks(self) -> bool:
        return bool(select.select([self.socket], [], [], 0)[0])

    def serve(self, session: Session, graph: Any) -> None:
        """Answers until hone goes on alone, or has decided."""
        while True:
            request = json.loads(self.receive(struct.unpack("<I", self.receive(4))[0]))
            what = request["do"]
            last = what in ("wait", "done")
            if what == "failed":  # outside of what follows: it warns that hone leaves the graph alone
                graph.refuse(request["message"])
                return
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    answer = json.dumps(getattr(graph if last else session, what)(request)).encode()
                status = b"K" + struct.pack("<I", len(answer)) + b"K"
            except Exception as error:  # any failure is an answer
                answer = (str(error) if isinstance(error, Wrong) else f"{type(error).__name__}: {error}").encode()[:8000]
                status = b"E" + struct.pack("<I", len(answer))
                if last or what == "load":  # nothing comes after it
                    raise
            try:
                self.socket.sendall(status + answer)
            except OSError:
                if not last:
                    raise
            if last:
                return

    def receive(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            chunk = self.socket.recv(size - len(data))
            if not chunk:
                self.process.wait(10)
                self.errors.seek(0)
                said = self.errors.read().decode(errors="replace").strip().splitlines()
                raise RuntimeError(f"hone has ended: {said[-1] if said else self.process.returncode}")
            data += chunk
        return bytes(data)

    def close(self) -> None:
        self.socket.close()


@atexit.register
def end_all() -> None:
    for link in list(LINKS):
        if link.process.poll() is None:
            link.process.terminate()
