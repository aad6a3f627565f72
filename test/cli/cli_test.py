#!/usr/bin/env python3
"""Runs the command-line cases of test/cli/*.toml. A new case is a few lines of TOML, no code.

    cli_test.py list FILE...                  one line a case, for CMake: file|group|name|label|seconds
    cli_test.py run --hone PROGRAM FILE CASE  runs one case; prints what differs, exits with 1
    cli_test.py --self-test                   every kind of expectation must be able to fail

A case (all keys but `name` and `args` may be left out):
    [[case]]
    name  = "unknown_op"                 # letters, digits, underscores
    label = "slow"                       # default "unit"; "timed": nothing runs beside it
    timeout = 60                         # seconds for all its commands, default 20
    needs = ["nvcc"]                     # programs, or env:NAME; skipped where one is not in PATH, or not set
    files = { "t.toml" = "..." }         # written first; the command runs in the same folder
    bytes = { "t.toml" = "7f 45 4c 46" } # likewise, for what is no text
    args  = ["check", "t.toml"]          # after the program's name
    stdin = ""                           # default: nothing
    env   = { NAME = "value" }
    exit  = 2                            # default 0; a list where several will do
    python = "..."                       # run before the command, in the same folder and environment
    terminal = true                      # stdout and stderr are one terminal; all comes as stdout
    interrupt = { after = "evaluated", signal = "INT" }  # sent once stderr matches
    disk = "300k"                        # HONE_HOME is a file system of this size, empty at first
    unprivileged = true                  # not as root, whoever runs the tests
    stdout = { has = ["a"], lacks = ["b"], matches = ["^c"] }   # text, text, regular expressions
    stderr = { ... }                     # likewise; `empty = true` asks for nothing at all
    json  = { "best.name" = "rows", "runs.0.ratio" = { min = 1 } }   # stdout is one JSON value
    json_lines = { "-1.event" = "done" }                             # or one a line: first step is the line
    documented_in = "@SOURCE@/docs/json.md"  # every key of the JSON stands there in `backticks`
    created = { "out/report.html" = { has = ["<html"] } }            # files it must leave behind
For several commands in the same folder replace the keys from `args` on by [[case.step]] tables.

JSON expectations: a plain value must be equal; a table may say min, max, type ("object", "array",
"string", "number", "boolean", "null", or a list of them), length, matches, keys (all that an object
has, sorted), absent = true.
In files, args, env and expectations @SOURCE@ is hone's source folder, @DIR@ the case's own. HOME and
HONE_HOME are fresh folders inside it, but for what test/shared_cache.py puts there; of the caller's environment only PATH and a few
more are left.
A case that cannot be tried here (no user namespaces for `disk`) exits with 77: skipped.
"""
import argparse
import json
import os
import pathlib
import re
import pty
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tomllib

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(SOURCE / "test"))
import shared_cache  # noqa: E402

INHERITED = ("PATH", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "HONE_PYTHON", "HONE_TRITON_PYTHON", "HONE_TILELANG_PYTHON")
STEP_KEYS = {"args", "stdin", "env", "exit", "stdout", "stderr", "json", "json_lines", "created", "python",
             "terminal", "interrupt", "disk", "unprivileged", "documented_in"}
CASE_KEYS = STEP_KEYS | {"name", "label", "timeout", "files", "bytes", "step", "needs"}
TEXT_KEYS = {"has", "lacks", "matches", "empty"}
JSON_KEYS = {"min", "max", "type", "length", "matches", "keys", "absent"}
LABELS = {"unit", "slow", "timed", "gpu", "net", "long"}
DEFAULT_TIMEOUT = 20
NOBODY = 65534
SKIPPED = 77
# Keys of these objects are the user's own names, not ours to document.
FREE_NAMES = {"bindings", "config", "mix"}


class BadCase(Exception):
    pass


class Skip(Exception):
    pass


def refuse_unknown(table, known, where):
    """A misspelt expectation would never fail, so it is an error."""
    unknown = set(table) - known
    if unknown:
        raise BadCase(f"{where}: unknown keys {sorted(unknown)}; known are {sorted(known)}")


def check_case(case, where):
    refuse_unknown(case, CASE_KEYS, where)
    if not re.fullmatch(r"\w+", case.get("name", "")):
        raise BadCase(f"{where}: `name` must be letters, digits and underscores")
    if case.get("label", "unit") not in LABELS:
        raise BadCase(f"{where}: label {case['label']!r} is none of {sorted(LABELS)}")
    if "step" in case and STEP_KEYS & set(case):
        raise BadCase(f"{where}: {sorted(STEP_KEYS & set(case))} belong into the steps")
    for step in steps_of(case):
        refuse_unknown(step, STEP_KEYS, where)
        if "args" not in step:
            raise BadCase(f"{where}: `args` is missing")
        if "interrupt" in step:
            refuse_unknown(step["interrupt"], {"after", "signal"}, where)
            if "terminal" in step:
                raise BadCase(f"{where}: interrupt and terminal exclude each other")
        if "json" in step and "json_lines" in step:
            raise BadCase(f"{where}: json and json_lines exclude each other")
        for text in [step.get("stdout", {}), step.get("stderr", {}), *step.get("created", {}).values()]:
            refuse_unknown(text, TEXT_KEYS, where)
        for checks in (step.get("json", {}), step.get("json_lines", {})):
            for expected in checks.values():
                if isinstance(expected, dict):
                    refuse_unknown(expected, JSON_KEYS, where)


def steps_of(case):
    return case.get("step") or [{key: case[key] for key in STEP_KEYS & set(case)}]


def load(file):
    with open(file, "rb") as stream:
        document = tomllib.load(stream)
    refuse_unknown(document, {"case"}, file)
    cases = document.get("case", [])
    if not cases:
        raise BadCase(f"{file}: no [[case]]")
    for number, case in enumerate(cases, 1):
        check_case(case, f"{file}, case {case.get('name', number)}")
    names = [case["name"] for case in cases]
    if len(set(names)) != len(names):
        raise BadCase(f"{file}: two cases have the same name")
    return cases


def fill_in(value, places):
    if isinstance(value, str):
        for place, path in places.items():
            value = value.replace(place, path)
        return value
    if isinstance(value, list):
        return [fill_in(item, places) for item in value]
    if isinstance(value, dict):
        return {fill_in(key, places): fill_in(item, places) for key, item in value.items()}
    return value


def check_text(name, text, expected):
    for piece in expected.get("has", []):
        if piece not in text:
            yield f"{name} lacks {piece!r}"
    for piece in expected.get("lacks", []):
        if piece in text:
            yield f"{name} has {piece!r}"
    for pattern in expected.get("matches", []):
        if not re.search(pattern, text, re.MULTILINE):
            yield f"{name} does not match {pattern!r}"
    if expected.get("empty") and text:
        yield f"{name} is not empty"


def look_up(value, path):
    for step in path.split("."):
        if isinstance(value, list) and re.fullmatch(r"-?\d+", step):
            value = value[int(step)]
        elif isinstance(value, dict):
            value = value[step]
        else:
            raise KeyError(step)
    return value


def as_list(value):
    return value if isinstance(value, list) else [value]


def json_type(value):
    kinds = {dict: "object", list: "array", str: "string", bool: "boolean", int: "number", float: "number"}
    return kinds.get(type(value), "null")


def check_json(path, found, expected):
    if not isinstance(expected, dict):
        # True equals 1 in Python, but not in JSON.
        if found != expected or json_type(found) != json_type(expected):
            yield f"{path} is {found!r}, expected {expected!r}"
        return
    is_number = json_type(found) == "number"
    if "min" in expected and not (is_number and found >= expected["min"]):
        yield f"{path} is {found!r}, expected at least {expected['min']}"
    if "max" in expected and not (is_number and found <= expected["max"]):
        yield f"{path} is {found!r}, expected at most {expected['max']}"
    if "type" in expected and json_type(found) not in as_list(expected["type"]):
        yield f"{path} is {found!r}, expected {expected['type']}"
    if "keys" in expected and (not isinstance(found, dict) or sorted(found) != expected["keys"]):
        yield f"{path} is {found!r}, expected the keys {expected['keys']}"
    if "length" in expected and not (hasattr(found, "__len__") and len(found) == expected["length"]):
        yield f"{path} is {found!r}, expected length {expected['length']}"
    if "matches" in expected and not (isinstance(found, str) and re.search(expected["matches"], found)):
        yield f"{path} is {found!r}, expected a match of {expected['matches']!r}"


def check_document(read, checks):
    try:
        document = read()
    except json.JSONDecodeError as error:
        yield f"stdout is not JSON: {error}"
        return
    for path, expected in checks.items():
        absent = isinstance(expected, dict) and expected.get("absent", False)
        try:
            found = look_up(document, path)
        except (KeyError, IndexError):
            if not absent:
                yield f"{path} is not in the output"
            continue
        if absent:
            yield f"{path} is {found!r}, expected nothing there"
        else:
            yield from check_json(path, found, expected)


def undocumented(value, text):
    """Keys of a JSON value that `text` does not name in backticks."""
    if isinstance(value, list):
        return set().union(*(undocumented(item, text) for item in value))
    if not isinstance(value, dict):
        return set()
    missing = {key for key in value if not re.search(rf"`[^`\n]*\b{re.escape(key)}\b[^`\n]*`", text)}
    return missing.union(*(undocumented(item, text) for key, item in value.items() if key not in FREE_NAMES))


def command_for(program, step, environment):
    command = [*program, *step["args"]]
    if "disk" not in step:
        return command
    pathlib.Path(environment["HONE_HOME"]).mkdir(exist_ok=True)
    script = f'mount -t tmpfs -o size={step["disk"]} none "$HONE_HOME" || exit 77; exec "$@"'
    inside = ["unshare", "--user", "--map-root-user", "--mount"]
    if subprocess.run([*inside, "sh", "-c", script, "sh", "true"], env=environment, capture_output=True).returncode != 0:
        raise Skip("no file system can be mounted here")
    return [*inside, "sh", "-c", script, "sh", *command]


def user_for(program, step, root, environment):
    """Whom the command runs as; None: whoever we are. Gives the case's files to that user."""
    if not step.get("unprivileged") or os.geteuid() != 0:
        return None
    for folder, _, names in os.walk(root):
        for path in (folder, *(os.path.join(folder, name) for name in names)):
            os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
    try:
        subprocess.run([*program, "--version"], user=NOBODY, group=NOBODY, env=environment, cwd=root, check=True, capture_output=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise Skip("an ordinary user cannot reach the program") from error
    return NOBODY


def execute(command, user, step, folder, environment, seconds):
    """(exit status or None when it took too long, stdout, stderr); kills all that it started."""
    terminal, end = pty.openpty() if step.get("terminal") else (None, subprocess.PIPE)
    process = subprocess.Popen(command, cwd=folder, env=environment, start_new_session=True, user=user, group=user,
                               extra_groups=None if user is None else [],
                               stdin=subprocess.PIPE, stdout=end, stderr=end)
    texts = [bytearray(), bytearray()]

    def read(text, stream):
        sent = "interrupt" not in step or text is texts[0]
        while True:
            try:
                piece = os.read(stream, 65536)
            except OSError:  # a terminal whose other end is closed
                return
            if not piece:
                return
            text.extend(piece)
            if not sent and re.search(step["interrupt"]["after"].encode(), text):
                sent = True
                process.send_signal(signal.Signals["SIG" + step["interrupt"].get("signal", "INT")])

    streams = [terminal] if terminal is not None else [process.stdout.fileno(), process.stderr.fileno()]
    readers = [threading.Thread(target=read, args=pair, daemon=True) for pair in zip(texts, streams)]
    if terminal is not None:
        os.close(end)
    for reader in readers:
        reader.start()
    try:
        process.stdin.write(step.get("stdin", "").encode())
        process.stdin.close()
    except BrokenPipeError:
        pass
    try:
        status = process.wait(max(seconds, 0.01))
    except subprocess.TimeoutExpired:
        status = None
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    for reader in readers:
        reader.join(5)
    if terminal is not None:
        os.close(terminal)
    return status, *(bytes(text).decode(errors="replace") for text in texts)


def check_step(step, folder, status, out, err):
    if status is None:
        yield "did not end in time"
    elif status not in as_list(step.get("exit", 0)):
        yield f"exit status is {status}, expected {step.get('exit', 0)}"
    yield from check_text("stdout", out, step.get("stdout", {}))
    yield from check_text("stderr", err, step.get("stderr", {}))
    if "json" in step:
        yield from check_document(lambda: json.loads(out), step["json"])
    if "json_lines" in step:
        yield from check_document(lambda: [json.loads(line) for line in out.splitlines()], step["json_lines"])
    if "documented_in" in step:
        text = pathlib.Path(step["documented_in"]).read_text()
        try:
            for key in sorted(undocumented(json.loads(out), text)):
                yield f"{step['documented_in']} says nothing of `{key}`"
        except json.JSONDecodeError as error:
            yield f"stdout is not JSON: {error}"
    for name, expected in step.get("created", {}).items():
        if not (folder / name).exists():
            yield f"{name} was not created"
        elif expected:
            yield from check_text(name, (folder / name).read_text(errors="replace"), expected)


def run_case(program, case):
    """Differences, each with the command's output behind the first one; empty when all is well."""
    for tool in case.get("needs", []):
        if not (os.environ.get(tool[4:]) if tool.startswith("env:") else shutil.which(tool)):
            raise Skip(f"there is no {tool} here")
    with tempfile.TemporaryDirectory(prefix="hone_cli_", ignore_cleanup_errors=True) as root:
        folder, home = pathlib.Path(root) / "work", pathlib.Path(root) / "home"
        folder.mkdir()
        home.mkdir()
        case = fill_in(case, {"@SOURCE@": str(SOURCE), "@DIR@": str(folder)})
        for name, content in case.get("files", {}).items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(content)
        for name, content in case.get("bytes", {}).items():
            (folder / name).write_bytes(bytes.fromhex(content))
        base = {name: os.environ[name] for name in INHERITED if name in os.environ}
        base |= {"HOME": str(home), "HONE_HOME": str(home / "hone"), "LC_ALL": "C.UTF-8", "TMPDIR": root}
        deadline = time.monotonic() + case.get("timeout", DEFAULT_TIMEOUT)
        with shared_cache.in_home(home):
            for step in steps_of(case):
                environment = base | step.get("env", {})
                if "python" in step:
                    subprocess.run([sys.executable, "-c", step["python"]], cwd=folder, env=environment, check=True)
                user = user_for(program, step, root, environment)
                command = command_for(program, step, environment)
                status, out, err = execute(command, user, step, folder, environment, deadline - time.monotonic())
                wrong = list(check_step(step, folder, status, out, err))
                if wrong:
                    return [*wrong, f"command: hone {' '.join(step['args'])}", f"stdout:\n{out}", f"stderr:\n{err}"]
    return []


# Stands in for hone: does what its arguments say.
FAKE = """
import json, os, pathlib, sys, time
verb, *rest = sys.argv[1:]
if verb == "say": print(*rest)
if verb == "warn": print(*rest, file=sys.stderr)
if verb == "exit": sys.exit(int(rest[0]))
if verb == "echo": print(sys.stdin.read(), end="")
if verb == "env": print(os.environ.get(rest[0], "unset"))
if verb == "read": print(pathlib.Path(rest[0]).read_text())
if verb == "write": pathlib.Path(rest[0]).write_text(rest[1])
if verb == "sleep": time.sleep(60)
if verb == "terminal": print(sys.stdout.isatty() and sys.stderr.isatty())
if verb == "user": print(os.geteuid() != 0)
if verb == "fill": (pathlib.Path(os.environ["HONE_HOME"]) / "a").write_bytes(b"a" * int(rest[0]))
if verb == "wait":
    try:
        print("waiting", file=sys.stderr, flush=True)
        time.sleep(60)
    except KeyboardInterrupt: sys.exit(7)
"""
SELF_TEST = [  # (case, passes)
    ({"args": ["say", "a"]}, True),
    ({"args": ["exit", "2"]}, False),
    ({"args": ["exit", "2"], "exit": 2}, True),
    ({"args": ["say", "a"], "exit": 2}, False),
    ({"args": ["say", "abc"], "stdout": {"has": ["b"], "lacks": ["d"], "matches": ["^a.c$"]}}, True),
    ({"args": ["say", "abc"], "stdout": {"has": ["d"]}}, False),
    ({"args": ["say", "abc"], "stdout": {"lacks": ["b"]}}, False),
    ({"args": ["say", "abc"], "stdout": {"matches": ["^b"]}}, False),
    ({"args": ["say", "abc"], "stdout": {"empty": True}}, False),
    ({"args": ["say", "abc"], "stderr": {"empty": True}}, True),
    ({"args": ["warn", "abc"], "stderr": {"has": ["abc"]}, "stdout": {"empty": True}}, True),
    ({"args": ["warn", "abc"], "stderr": {"empty": True}}, False),
    ({"args": ["echo"], "stdin": "abc", "stdout": {"has": ["abc"]}}, True),
    ({"args": ["env", "A"], "env": {"A": "b"}, "stdout": {"has": ["b"]}}, True),
    ({"args": ["env", "USER"], "stdout": {"has": ["unset"]}}, True),
    ({"args": ["env", "HONE_HOME"], "stdout": {"matches": ["/home/hone$"]}}, True),
    ({"args": ["read", "d/a"], "files": {"d/a": "@DIR@"}, "stdout": {"has": ["@DIR@"]}}, True),
    ({"args": ["write", "out", "abc"], "created": {"out": {"has": ["b"]}}}, True),
    ({"args": ["write", "out", "abc"], "created": {"out": {"has": ["d"]}}}, False),
    ({"args": ["say"], "created": {"out": {}}}, False),
    ({"step": [{"args": ["write", "out", "abc"]}, {"args": ["read", "out"], "stdout": {"has": ["abc"]}}]}, True),
    ({"step": [{"args": ["exit", "1"]}, {"args": ["say"]}]}, False),
    ({"args": ["sleep"], "timeout": 0.5}, False),
    ({"args": ["exit", "2"], "exit": [1, 2]}, True),
    ({"args": ["exit", "2"], "exit": [0, 1]}, False),
    ({"args": ["read", "a"], "bytes": {"a": "61 62"}, "stdout": {"has": ["ab"]}}, True),
    ({"args": ["read", "a"], "python": "open('a', 'w').write('abc')", "stdout": {"has": ["abc"]}}, True),
    ({"args": ["terminal"], "terminal": True, "stdout": {"has": ["True"]}}, True),
    ({"args": ["terminal"], "stdout": {"has": ["True"]}}, False),
    ({"args": ["wait"], "interrupt": {"after": "wait"}, "exit": 7}, True),
    ({"args": ["wait"], "interrupt": {"after": "wait", "signal": "TERM"}, "exit": 7}, False),
    ({"args": ["wait"], "interrupt": {"after": "never"}, "exit": 7, "timeout": 0.5}, False),
    ({"args": ["user"], "unprivileged": True, "stdout": {"has": ["True"]}}, True),
    ({"args": ["fill", "1000"], "disk": "64k"}, True),
    ({"args": ["fill", "1000000"], "disk": "64k"}, False),
    ({"args": ["say", '{"a": [{"b": 1.5}], "t": true}'],
      "json": {"a.0.b": 1.5, "a": {"length": 1}, "a.0": {"type": "object"}, "x": {"absent": True}}}, True),
    ({"args": ["say", '{"a": 2}'], "json": {"a": {"min": 2, "max": 2, "type": "number"}}}, True),
    ({"args": ["say", '{"a": 2}'], "json": {"a": {"min": 3}}}, False),
    ({"args": ["say", '{"a": 2}'], "json": {"a": {"max": 1}}}, False),
    ({"args": ["say", '{"a": "2"}'], "json": {"a": {"min": 1}}}, False),
    ({"args": ["say", '{"a": true}'], "json": {"a": 1}}, False),
    ({"args": ["say", '{"a": null}'], "json": {"a": {"type": "null"}}}, True),
    ({"args": ["say", '{"a": "xyz"}'], "json": {"a": {"matches": "^y"}}}, False),
    ({"args": ["say", '{"a": [1]}'], "json": {"a": {"length": 2}}}, False),
    ({"args": ["say", '{"a": 2}'], "json": {"a": {"absent": True}}}, False),
    ({"args": ["say", '{"a": 2}'], "json": {"b": 2}}, False),
    ({"args": ["say", "{"], "json": {}}, False),
    ({"args": ["say", '{"a": null}'], "json": {"a": {"type": ["number", "null"]}}}, True),
    ({"args": ["say", '{"a": "x"}'], "json": {"a": {"type": ["number", "null"]}}}, False),
    ({"args": ["say", '{"a": {"c": 1, "b": 2}}'], "json": {"a": {"keys": ["b", "c"]}}}, True),
    ({"args": ["say", '{"a": {"c": 1, "b": 2}}'], "json": {"a": {"keys": ["b"]}}}, False),
    ({"args": ["say", '{"a": [{"b": 1}], "bindings": {"c": 1}}'], "files": {"d": "`a` `b` `bindings`"},
      "documented_in": "@DIR@/d"}, True),
    ({"args": ["say", '{"a": [{"b": 1}]}'], "files": {"d": "`a` b"}, "documented_in": "@DIR@/d"}, False),
    ({"args": ["say", '{"e": 1}\n{"e": 2}'], "json_lines": {"0.e": 1, "-1.e": 2}}, True),
    ({"args": ["say", '{"e": 1}\n{"e": 2}'], "json_lines": {"-1.e": 1}}, False),
    ({"args": ["say", '{"e": 1}\nnot json'], "json_lines": {}}, False),
]
BAD_CASES = [
    {"name": "a", "args": [], "stduot": {}},
    {"name": "a", "args": [], "stdout": {"contains": ["a"]}},
    {"name": "a", "args": [], "json": {"a": {"minimum": 1}}},
    {"name": "a", "args": [], "label": "quick"},
    {"name": "a b", "args": []},
    {"name": "a", "args": [], "interrupt": {"when": "b"}},
    {"name": "a", "args": [], "interrupt": {"after": "b"}, "terminal": True},
    {"name": "a"},
    {"name": "a", "args": [], "step": [{"args": []}]},
]


def self_test():
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        fake = pathlib.Path(folder) / "fake.py"
        fake.write_text(FAKE)
        for case, passes in SELF_TEST:
            case = {"name": "a", **case}
            check_case(case, "self-test")
            try:
                differences = run_case([sys.executable, "-S", str(fake)], case)
            except Skip as why:
                print(f"not tried: {case['args']}: {why}")
                continue
            if passes == bool(differences):
                wrong.append(f"{case} should {'pass' if passes else 'fail'}: {differences}")
    for case in BAD_CASES:
        try:
            check_case(case, "self-test")
            wrong.append(f"{case} should be refused")
        except BadCase:
            pass
    print("\n".join(wrong) or f"{len(SELF_TEST) + len(BAD_CASES)} expectations hold")
    return 1 if wrong else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    listing = verbs.add_parser("list")
    listing.add_argument("files", nargs="*", type=pathlib.Path)
    running = verbs.add_parser("run")
    running.add_argument("--hone", required=True)
    running.add_argument("file", type=pathlib.Path)
    running.add_argument("case")
    options = parser.parse_args()
    try:
        if options.verb == "list":
            for file in options.files:
                for case in load(file):
                    seconds = case.get("timeout", DEFAULT_TIMEOUT)
                    print(file, file.stem, case["name"], case.get("label", "unit"), seconds, sep="|")
            return 0
        chosen = [case for case in load(options.file) if case["name"] == options.case]
        if not chosen:
            raise BadCase(f"{options.file}: no case named {options.case}")
    except (BadCase, tomllib.TOMLDecodeError) as error:
        print(error, file=sys.stderr)
        return 2
    try:
        differences = run_case([os.path.abspath(options.hone)], chosen[0])
    except Skip as why:
        print(f"skipped: {why}")
        return SKIPPED
    print("\n".join(differences) or "as expected")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
