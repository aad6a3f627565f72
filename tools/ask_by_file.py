#!/usr/bin/env python3
"""A model for hone whose answers somebody, or something, writes as files.

    hone optimize TASK --model "command:python3 tools/ask_by_file.py FOLDER"

Takes the prompt from standard input, leaves it as FOLDER/N.prompt.md, waits for FOLDER/N.answer.md and prints that.
N counts from 1; any number may be asked at a time. Both files appear whole, by link or rename: whoever answers
writes another name in the folder first and renames it.
    ask_by_file.py --self-test
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time


def put(folder, prompt):
    """The prompt under the next free number, which nobody else gets."""
    partial = folder / f".{os.getpid()}.part"
    partial.write_text(prompt)
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


def ask(folder, prompt):
    folder.mkdir(parents=True, exist_ok=True)
    answer = folder / f"{put(folder, prompt)}.answer.md"
    while not answer.exists():
        time.sleep(0.1)
    return answer.read_text()


def self_test():
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        asked = [subprocess.Popen([sys.executable, __file__, place], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(5)]
        for n, process in enumerate(asked):
            process.stdin.write(f"question {n}\n")
            process.stdin.close()
        answered = set()
        until = time.time() + 60
        while len(answered) < 5 and time.time() < until:
            for file in folder.glob("*.prompt.md"):
                number = file.name.split(".")[0]
                if number in answered:
                    continue
                half = folder / "half"
                half.write_text("answer to " + file.read_text())
                half.rename(folder / f"{number}.answer.md")
                answered.add(number)
            time.sleep(0.05)
        said = sorted(process.stdout.read() for process in asked)
        for process in asked:
            process.wait()
        assert answered == {"1", "2", "3", "4", "5"}, answered
        assert said == [f"answer to question {n}\n" for n in range(5)], said
    print("five asked at a time, each got its own answer")


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
    elif len(sys.argv) == 2:
        sys.stdout.write(ask(pathlib.Path(sys.argv[1]), sys.stdin.read()))
    else:
        sys.exit(__doc__)
