#!/usr/bin/env python3
"""Prints which kernels the library writes: for each task and target a line an offer, with the kernel's hash.

Two lists, made before and after a change, say which kernels it changed: diff them. With --build the lines of GPU targets
also say what the binary's code hashes to, which stays the same where only names or comments changed.

    tools/kernel_hashes.py [--hone build/hone] [--targets cpu,emulator:cuda,emulator:hip] [--first] [--build cuda:sm_90a] [FOLDER ...]
"""
import argparse
import json
import pathlib
import subprocess

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--hone", default="build/hone")
parser.add_argument("--targets", default="cpu,emulator:cuda,emulator:hip")
parser.add_argument("--first", action="store_true", help="the first offer of each task only")
parser.add_argument("--build", default="", help="build the offers for this GPU too, such as cuda:sm_90a")
parser.add_argument("folders", nargs="*", default=["tasks/inference", "tasks/kernelbench/level1", "tasks/kernelbench/level2"])
asked = parser.parse_args()


def said(*words):
    done = subprocess.run([asked.hone, *words], capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 and done.stdout else {}


for folder in asked.folders:
    for file in sorted(pathlib.Path(folder).glob("*.toml")):
        for target in asked.targets.split(","):
            patterns = said("explain", str(file), "--target", target, "--json").get("patterns", [])
            for number, offer in enumerate(patterns[:1] if asked.first else patterns):
                code = ""
                if asked.build and target == "emulator:" + asked.build.split(":")[0]:
                    code = said("build", f"pattern:{number}", str(file), "--target", asked.build, "--json").get("code", "does not build")
                print(file.name, target, number, offer["pattern"], offer["hash"][:16], code, flush=True)
            if not patterns:
                print(file.name, target, "-", "none", flush=True)
