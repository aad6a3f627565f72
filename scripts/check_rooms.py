#!/usr/bin/env python3
"""Holds the sources to the project's rules of structure. Prints one line a violation, exits with 1.

    scripts/check_rooms.py [ROOT]        ROOT is the folder of CMakeLists.txt
    scripts/check_rooms.py --self-test   a tree with one violation of each rule must be refused

Rules
    rooms      src/hone/<room>/ includes "hone/<room'>/..." only of itself or of a room below it. The
               order is that of the hone_room() calls in CMakeLists.txt; the table of rooms in
               docs/design.md must agree with it. A folder include/ inside a room holds headers for
               the kernels we write: those include each other only.
    headers    stay under 300 lines and begin with #pragma once or an opening comment
    leftovers  no notes to ourselves about work to do, no `using namespace` except for literals
    own names  what an anonymous namespace of a room's sources declares has another name in each of the room's files,
               and in each of its tests with the same label (in the same enclosing namespace, so a test may be in one
               of its own; an alias may be repeated as it is). Sources are compiled several at a time (HONE_UNITY in
               cmake/hone_room.cmake): a name used twice is an error at best, and at worst an overload that fits
               better than the one that was meant.
    links      of a document lead to a file of the tree, or to the web
"""
import pathlib
import re
import sys
import tempfile

MAX_HEADER_LINES = 300
# Spelled so that this file passes its own rule.
LEFTOVER = re.compile(r"\b(TO" r"DO|FIX" r"ME|X" r"XX)\b")
USING_NAMESPACE = re.compile(r"^\s*using\s+namespace\s+(?!\S*literals;)")
INCLUDE = re.compile(r'^\s*#\s*include\s*"hone/([^/"]+)(/?)')
OPEN_NAMESPACE = re.compile(r"(?:inline )?namespace\b\s*([\w:]*)\s*\{$")
OWN_TYPE = re.compile(r"(?:struct|class|union|enum(?: class)?) (\w+)\b(?!\s*;)")
OWN_ENUM = re.compile(r"enum (?!class\b)(?:\w+ )?[^;]*\{")
ENUMERATOR = re.compile(r"\bk[A-Z]\w*")
PUBLIC_TYPE = re.compile(r"^(?:struct|class|union|enum class|enum) (\w+)\b")
OWN_ALIAS = re.compile(r"using (?:[\w:]*::)?(\w+)(?: = .*)?;")
OWN_OTHER = re.compile(r"(?:[\w:<>,&*\[\] ]|\.\.\.)*?[\w>&*\]] ?(?<![\w:])(\w+)(?=\(|\[|\{| =(?: |$))")
ATTRIBUTE = re.compile(r"__attribute__\(\(.*?\)\)\)* ?|^\[\[.*?\]\] ")
RAW_STRING = re.compile(r'R"(\w*)\(.*?\)\1"', re.DOTALL)
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
CODE = {".cc", ".h", ".cu", ".hip"}
DEVICE = {".cu", ".hip"}
TEXT = CODE | {".py", ".sh", ".cmake", ".toml", ".md"}
LINKING = ("docs", "results")
FOLDERS = ("src", "patterns", "prompts", "examples", "test", "scripts", "tools", "cmake", "docs", "python",
           "results")


def declared_rooms(root):
    text = (root / "CMakeLists.txt").read_text()
    return re.findall(r"^\s*hone_room\(\s*(\w+)", text, re.MULTILINE)


def described_rooms(root):
    """First column of the table under the heading "Rooms" of the design document."""
    section = re.search(r"^## Rooms$(.*?)(?=^## |\Z)", (root / "docs/design.md").read_text(),
                        re.MULTILINE | re.DOTALL)
    return re.findall(r"^\|\s*`(\w+)`", section.group(1), re.MULTILINE) if section else []


def check_includes(path, lines, room, rooms):
    for number, line in enumerate(lines, 1):
        include = INCLUDE.match(line)
        if not include or not include.group(2):
            continue
        used = include.group(1)
        if used not in rooms:
            yield f"{path}:{number}: includes from hone/{used}/, which is no room"
        elif rooms.index(used) > rooms.index(room):
            yield f"{path}:{number}: room {room} may not use {used}, which lies above it"


def check_kernel(root, path, lines):
    """A header for kernels, or device code of a room's own: both see only such headers."""
    folders = sorted((root / "src/hone").rglob("include"))
    for number, line in enumerate(lines, 1):
        include = re.match(r'^\s*#\s*include\s*"([^"]+)"', line)
        if include and not any((root / base / include.group(1)).exists()
                               for base in (*folders, path.parent)):
            yield f"{path}:{number}: {include.group(1)} is not a header for kernels"


def check_text(path, lines):
    for number, line in enumerate(lines, 1):
        leftover = LEFTOVER.search(line)
        if leftover:
            yield f"{path}:{number}: {leftover.group(1)} left in the text"
        if path.suffix in CODE and USING_NAMESPACE.match(line):
            yield f"{path}:{number}: `using namespace`"
    if path.suffix == ".h":
        if len(lines) >= MAX_HEADER_LINES:
            yield f"{path}:1: header of {len(lines)} lines; the limit is under {MAX_HEADER_LINES}"
        if not lines or not lines[0].startswith(("//", "/*", "#pragma once")):
            yield f"{path}:1: header begins with neither a comment nor #pragma once"


def check_links(root, path, lines):
    for number, line in enumerate(lines, 1):
        for target in LINK.findall(line):
            at = (root / path).parent / target
            if "://" not in target and not (at.exists() and at.resolve().is_relative_to(root.resolve())):
                yield f"{path}:{number}: the link to {target} leads nowhere in the tree"


def own_names(lines):
    """What the anonymous namespaces of a source declare at the beginning of a line: (enclosing namespace, name, the
    alias's text or None, line)."""
    text = RAW_STRING.sub(lambda raw: '""' + "\n" * raw.group().count("\n"), "\n".join(lines))
    spaces = []
    in_enum = False
    for number, line in enumerate(text.split("\n"), 1):
        line = ATTRIBUTE.sub("", line).strip("\r\n")
        if "" in spaces and (in_enum or OWN_ENUM.match(line)):
            # An enumerator without `class` is a name of the namespace.
            for name in ENUMERATOR.findall(line.partition("//")[0]):
                yield "::".join(filter(None, spaces)), name, None, number
            in_enum = "}" not in line
        if space := OPEN_NAMESPACE.match(line):
            spaces.append(space.group(1))
        elif line.startswith("}") and "namespace" in line and spaces:
            spaces.pop()
        elif "" in spaces and line[:1].isalpha() and not line.startswith(("template", "namespace")):
            alias = OWN_ALIAS.match(line)
            found = alias or OWN_TYPE.match(line) or OWN_OTHER.match(line)
            if found:
                yield "::".join(filter(None, spaces)), found.group(1), alias and line, number


def label_of(path):
    """Of a test; nothing for what is none."""
    label = re.search(r"(?:_(slow|timed|long))?_test$", path.stem)
    return label and (label.group(1) or "unit")


def check_own_names(sources, public):
    """`sources`: (room, path, lines) of all that is compiled into the rooms' libraries and tests, several files at a time;
    `public`: of each room the types that its headers declare, and where."""
    seen = {}
    for room, path, lines in sources:
        for space, name, alias, number in own_names(lines):
            first_path, first_alias = seen.setdefault((room, label_of(path), space, name), (path, alias))
            if first_path != path and not (alias and alias == first_alias):
                yield f"{path}:{number}: {name} is a name of {first_path}'s own too"
            if (room, space, name) in public and not (alias and " = " not in alias):
                yield f"{path}:{number}: {name} is a type of {public[room, space, name]} too"


def public_types(room, path, lines):
    """What a header declares outside of other types: ((room, namespace, name), path)."""
    space = ""
    for line in lines:
        line = ATTRIBUTE.sub("", line)
        if opened := OPEN_NAMESPACE.match(line):
            space = opened.group(1)
        elif found := PUBLIC_TYPE.match(line):
            yield (room, space, found.group(1)), path


def check(root):
    rooms = declared_rooms(root)
    if not rooms:
        yield "CMakeLists.txt:1: no hone_room() call found"
        return
    described = described_rooms(root)
    if described != rooms:
        yield f"docs/design.md:1: rooms {described} differ from CMakeLists.txt's {rooms}"
    sources = []
    public = {}
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*")):
            path = file.relative_to(root)
            if not file.is_file() or (path.suffix not in TEXT and path.name != "CMakeLists.txt"):
                continue
            lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
            yield from check_text(path, lines)
            if path.suffix == ".md" and path.parts[0] in LINKING:
                yield from check_links(root, path, lines)
            if path.parts[:2] == ("src", "hone") and len(path.parts) > 3:
                room = path.parts[2]
                if room not in rooms:
                    yield f"{path}:1: {room} is not a room"
                elif "include" in path.parts[:-1] or path.suffix in DEVICE:
                    yield from check_kernel(root, path, lines)
                else:
                    yield from check_includes(path, lines, room, rooms)
                    if path.suffix == ".cc" and not path.stem.endswith("_main"):
                        sources.append((room, path, lines))
                    elif path.suffix == ".h":
                        public.update(public_types(room, path, lines))
    yield from check_own_names(sources, public)


def self_test():
    design = "# d\n## Rooms\n| room | holds |\n| --- | --- |\n| `base` | b |\n| `task` | t |\n## Next\n| `x` | |\n"
    clean = {
        "CMakeLists.txt": "hone_room(base)\nhone_room(task ROOMS base)\n",
        "docs/design.md": design,
        "src/hone/base/a.h": '// A.\n#pragma once\n#include "hone/base/b.h"\n',
        "src/hone/task/t.cc": '#include "hone/base/a.h"\n#include "hone/task/t.h"\nusing base::a;\n'
                              "using namespace std::chrono_literals;\n",
        "src/hone/task/u.cc": "namespace hone::task {\nnamespace {\nusing base::a;\nint size(int x) { return x; }\n"
                              "}  // namespace\n}  // namespace hone::task\n",
        "src/hone/task/v.cc": "namespace hone::task::graph {\nnamespace {\nusing base::a;\nint size(int x);\n"
                              "const char* kText = R\"(\nint shape(long x);\n)\";\nint shape(int x);\n}\n}  // namespace\n",
        "src/hone/task/u_test.cc": "namespace hone::task {\nnamespace {\nint size(int x) { return x; }\n",
        "src/hone/task/v_slow_test.cc": "namespace hone::task {\nnamespace {\nint size(int x) { return x; }\n",
        "src/hone/main.cc": '#include "hone/task/t.h"\n',
        "src/hone/task/include/hone/cpu/a.h": '// A.\n#include "hone/cpu/b.h"\n',
        "src/hone/task/include/hone/cpu/b.h": "// B.\n",
        "src/hone/task/own.cu": '#include "hone/cpu/b.h"\n',
    }
    violations = {
        "a room that uses one above it": {"src/hone/base/a.cc": '#include "hone/task/t.h"\n'},
        "a room nobody declared": {"src/hone/attic/a.cc": "int a;\n"},
        "device code that uses a room": {"src/hone/task/own.cu": '#include "hone/base/a.h"\n'},
        "an include of no room": {"src/hone/task/t.cc": '#include "hone/attic/a.h"\n'},
        "a header for kernels that uses ours": {
            "src/hone/task/include/hone/cpu/b.h": '// B.\n#include "hone/base/a.h"\n'},
        "a long header": {"src/hone/base/a.h": "// A.\n" * MAX_HEADER_LINES},
        "a header without opening": {"src/hone/base/a.h": "int a();\n"},
        "a leftover": {"src/hone/base/a.cc": "int a;  // TO" + "DO: more\n"},
        "a leftover outside the rooms": {"scripts/a.py": "# FIX" + "ME\n"},
        "using namespace": {"src/hone/base/a.cc": "  using namespace std;\n"},
        "a function of one name in two files": {
            "src/hone/task/w.cc": "namespace hone::task {\nnamespace {\nstd::string size(const std::string& text) {\n"},
        "a type of one name in two files": {
            "src/hone/task/u.cc": "namespace hone::task {\nnamespace {\nstruct Row {\n};\n",
            "src/hone/task/w.cc": "namespace hone::task {\nnamespace {\nenum class Row : int { kA };\n"},
        "a constant of one name in two files": {
            "src/hone/task/u.cc": "namespace hone::task {\nnamespace {\nconstexpr int kRows = 2;\n",
            "src/hone/task/w.cc": "namespace hone::task {\nnamespace {\nconst Row kRows[] = {{1}};\n"},
        "a function of one name in two tests": {
            "src/hone/task/w_test.cc": "namespace hone::task {\nnamespace {\nint size(long x) {\n"},
        "an enumerator of one name in two files": {
            "src/hone/task/u.cc": "namespace hone::task {\nnamespace {\nenum Code : int {\n  kRow, kColumn,\n};\n",
            "src/hone/task/w.cc": "namespace hone::task {\nnamespace {\nconst Row kColumn[] = {{1}};\n"},
        "an alias that hides a type of the room": {
            "src/hone/task/w.h": "// W.\n#pragma once\nnamespace hone::task {\nstruct Row {\n",
            "src/hone/task/w.cc": "namespace hone::task {\nnamespace {\nusing Row = Table::Row;\n"},
        "a type of a file's own that hides one of the room": {
            "src/hone/task/w.h": "// W.\n#pragma once\nnamespace hone::task {\nclass Row {\n",
            "src/hone/task/w.cc": "namespace hone::task {\nnamespace {\nstruct Row {\n};\n"},
        "an alias with two meanings": {
            "src/hone/task/u.cc": "namespace hone::task {\nnamespace {\nusing Kind = Row::Kind;\n",
            "src/hone/task/w.cc": "namespace hone::task {\nnamespace {\nusing Kind = Op::Kind;\n"},
        "a link to nowhere": {"results/a.md": "[b](b.md)\n"},
        "a link out of the tree": {"docs/a.md": "[b](../../etc)\n"},
        "a document out of date": {"docs/design.md": design.replace("`base`", "`cellar`")},
    }
    wrong = []
    for name, files in [("a clean tree", {}), *violations.items()]:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for path, content in {**clean, **files}.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(content)
            found = list(check(root))
        expected = 1 if files else 0
        if len(found) != expected:
            wrong.append(f"{name}: expected {expected} violations, found {found}")
    print("\n".join(wrong) or f"{len(violations)} kinds of violation are found")
    return 1 if wrong else 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    root = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).resolve().parent.parent
    found = list(check(root))
    print("\n".join(found) or "rooms and headers are in order")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
