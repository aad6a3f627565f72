#!/usr/bin/env python3
"""A bench over two pretend cards: every task is done once, on either card, and both have work; and a run over both.

    two_cards.py --hone BUILD/hone --driver BUILD/test/cuda/libhone_pretend_cuda.so
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TASKS = 4


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hone", required=True)
    parser.add_argument("--driver", required=True)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        root = pathlib.Path(place)
        suite = root / "suite"
        suite.mkdir()
        (suite / "negate.cu").write_text((HERE / "pretend_negate.cu").read_text())
        for i in range(TASKS):
            task = (HERE / "negate.toml").read_text().replace('name = "negate"', f'name = "negate{i}"')
            (suite / f"negate{i}.toml").write_text('start = "negate.cu"\n' + task)
        environment = {**os.environ, "HONE_HOME": str(root / "home"), "HONE_CUDA_DRIVER": arguments.driver, "HONE_PRETEND_CARDS": "2"}

        def hone(*words):
            return subprocess.run([arguments.hone, *words], env=environment, capture_output=True, text=True, timeout=500)

        refused = hone("bench", str(suite), "--target", "cuda:0,cuda:2")
        assert refused.returncode != 0 and "cuda:2" in refused.stderr, refused.stderr
        done = hone("bench", str(suite), "--target", "cuda:0,cuda:1", "--budget", "1evals", "--opponents", "none", "--json")
        if "nvcc" in done.stderr and "there is no" in done.stderr:
            print(done.stderr)
            sys.exit(77)
        assert f"{TASKS} of {TASKS} tasks accepted" in done.stderr, done.stderr
        runs = json.loads(hone("runs", "--json").stdout)["runs"]
        assert sorted(run["task"] for run in runs) == [f"negate{i}" for i in range(TASKS)], runs
        assert {run["target"] for run in runs} == {"cuda:0", "cuda:1"}, runs
        print("\n".join(f"{run['task']} on {run['target']}" for run in runs))

        # One run on both: what is unlike or no card is refused, and the archive says which card looked at what.
        task = str(suite / "negate0.toml")
        for targets, why in (("cuda:0,cpu", "in a list of targets"), ("cuda:0,cuda:0", "named twice"), ("cuda:0,cuda:2", "cuda:2")):
            refused = hone("optimize", task, "--target", targets, "--budget", "2evals")
            assert refused.returncode != 0 and why in refused.stderr, (targets, refused.stderr)
        tunable = (HERE / "pretend_negate.cu").read_text().replace('language = "cuda"', 'language = "cuda"\ntunables = { B = [32, 64, 128, 256, 512, 1024] }')
        (suite / "negate.cu").write_text(tunable.replace('(N, 256)', '(N, B)').replace('"256"', '"B"').replace("256LL", "B"))
        ran = hone("optimize", task, "--target", "cuda:0,cuda:1", "--budget", "6evals", "--opponents", "none", "--no-memory", "--strategy", "tune", "--json")
        assert ran.returncode == 0, ran.stderr
        run = json.loads(ran.stdout.strip().splitlines()[-1])["run"]
        shown = hone("show", run).stdout
        assert "card" in shown and "cuda:0" in shown and "cuda:1" in shown, shown
        replayed = hone("optimize", "--replay", run)
        assert replayed.returncode == 0, replayed.stderr
        print(shown)


if __name__ == "__main__":
    main()
