#!/usr/bin/env python3
"""A model for hone whose answers somebody, or something, writes as files.

    hone optimize TASK --model "command:python3 tools/ask_by_file.py FOLDER"

Takes the prompt from standard input, leaves it as FOLDER/N.prompt.md, waits for FOLDER/N.answer.md and prints that.
N counts from 1; any number may be asked at a time. Both files appear whole, by link or rename: whoever answers
writes another name in the folder first and renames it.

    ask_by_file.py --later FOLDER

names both files by the prompt instead (16 digits of its SHA-256), so that a question has the same name whenever and
wherever it is asked: with `later = true` in the models' file a run may be killed while it waits, carried to another
machine with FOLDER, and resumed once the answers are there. Where there is a file FOLDER/closed, nobody answers any
more: what has no answer by then is declined, and the run comes to its end.
    ask_by_file.py --self-test
"""
import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile
import time


def put(folder, prompt, later):
    """The prompt under the next free number, which nobody else gets; or `later` under its own name."""
    partial = folder / f".{os.getpid()}.part"
    partial.write_text(prompt)
    if later:
        name = hashlib.sha256(prompt.encode()).hexdigest()[:16]
        partial.rename(folder / f"{name}.prompt.md")
        return name
    number = 0
    while True:
        number += 1
        try:
            os.link(partial, folder / f"{number}.prompt.md")
            break
        except FileExistsError:
            pass
    partial.unlink()
    return number


def ask(folder, prompt, later=False):
    folder.mkdir(parents=True, exist_ok=True)
    answer = folder / f"{put(folder, prompt, later)}.answer.md"
    while not answer.exists():
        if later and (folder / "closed").exists():
            sys.exit("nobody answers any more")
        time.sleep(0.1)
    return answer.read_text()


def started(*words):
    return subprocess.Popen([sys.executable, __file__, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def answer(folder, name):
    half = folder / "half"
    half.write_text("answer to " + (folder / f"{name}.prompt.md").read_text())
    half.rename(folder / f"{name}.answer.md")


def self_test():
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        asked = [started(place) for _ in range(5)]
        for n, process in enumerate(asked):
            process.stdin.write(f"question {n}\n")
            process.stdin.close()
        answered = set()
        until = time.time() + 60
        while len(answered) < 5 and time.time() < until:
            for file in folder.glob("*.prompt.md"):
                number = file.name.split(".")[0]
                if number not in answered:
                    answer(folder, number)
                    answered.add(number)
            time.sleep(0.05)
        said = sorted(process.stdout.read() for process in asked)
        for process in asked:
            process.wait()
        assert answered == {"1", "2", "3", "4", "5"}, answered
        assert said == [f"answer to question {n}\n" for n in range(5)], said
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        for life in range(3):
            process = started("--later", place)
            process.stdin.write("question\n")
            process.stdin.close()
            until = time.time() + 60
            while not list(folder.glob("*.prompt.md")) and time.time() < until:
                time.sleep(0.05)
            names = [file.name.split(".")[0] for file in folder.glob("*.prompt.md")]
            assert len(names) == 1, names
            if life == 0:
                process.kill()
                answer(folder, names[0])
            else:
                assert process.stdout.read() == "answer to question\n"
            process.wait()
        (folder / "closed").touch()
        for question, said in (("question\n", "answer to question\n"), ("another\n", "")):
            process = started("--later", place)
            assert process.communicate(question)[0] == said
            assert (process.returncode == 0) == bool(said)
    print("five asked at a time, each got its own answer; one that was killed found it when it asked again; a closed folder declines")


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
    elif len(sys.argv) == 2:
        sys.stdout.write(ask(pathlib.Path(sys.argv[1]), sys.stdin.read()))
    elif len(sys.argv) == 3 and sys.argv[1] == "--later":
        sys.stdout.write(ask(pathlib.Path(sys.argv[2]), sys.stdin.read(), later=True))
    else:
        sys.exit(__doc__)
