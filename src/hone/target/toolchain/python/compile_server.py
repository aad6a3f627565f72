"""What compilers written in Python have in common in the jail: requests come in on descriptor 3 and answers go out there, each a length
in a line and so many bytes of JSON. The first thing said is the compiler's version."""
import ctypes
import json
import os
import signal
import sys

MOST = 64 << 20
PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 4, 36


class Problem(Exception):
    def __init__(self, text, line=0, column=0):
        super().__init__(text)
        self.text, self.line, self.column = text, line, column


def read_exactly(fd, count):
    data = b""
    while len(data) < count:
        more = os.read(fd, count - len(data))
        if not more: sys.exit(0)
        data += more
    return data


def read_message(fd):
    length = b""
    while not length.endswith(b"\n"): length += read_exactly(fd, 1)
    return read_exactly(fd, int(length))


def write_all(fd, data):
    while data: data = data[os.write(fd, data):]


def end_orphans():
    """What a kernel's module left running: children of ours, as we take those in whose parent ended."""
    while True:
        found = []
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{name}/stat") as stat: parent = int(stat.read().rpartition(")")[2].split()[1])
            except (OSError, ValueError):
                continue
            if parent == os.getpid(): found.append(int(name))
        if not found: return
        for pid in found:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def serve(socket, work):
    """One process a request: what a kernel does to its process is gone with it, and it cannot look into this one. One that does not end
    is ended with the whole jail, by whoever waits for the answer."""
    prctl = ctypes.CDLL(None).prctl
    prctl(PR_SET_DUMPABLE, 0)
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    while True:
        request = read_message(socket)
        here, there = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.close(socket)
                os.close(here)
                text = json.dumps(work(json.loads(request)))
            except BaseException as error:  # noqa: BLE001
                text = json.dumps({"error": f"the compiler failed: {type(error).__name__}: {error}"[:600], "line": 0, "column": 0})
            write_all(there, text.encode())
            os._exit(0)
        os.close(there)
        text = b""
        while len(text) < MOST:
            more = os.read(here, 1 << 16)
            if not more: break
            text += more
        os.close(here)
        _, status = os.waitpid(child, 0)
        end_orphans()
        if not text: text = json.dumps({"error": f"the compiler ended with status {status}", "line": 0, "column": 0}).encode()
        write_all(socket, b"%d\n" % len(text) + text)


def main(work, version):
    if sys.argv[1:] == ["version"]:
        print(version)
    elif sys.argv[1:] == ["once"]:
        json.dump(work(json.load(sys.stdin)), sys.stdout)
    else:
        write_all(3, b"%d\n%s" % (len(version), version.encode()))
        serve(3, work)
