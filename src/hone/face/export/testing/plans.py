"""Evaluates what task_code() and plan_function() wrote, without torch: reads a JSON list of cases from the file that is
its first argument, prints a JSON list of answers. The second argument is export/python/plan.py."""
import json
import math
import sys


class Names:
    """Stands for torch: torch.float32 is "float32"."""

    def __getattr__(self, name):
        return name


def answer(case, runtime):
    scope = {"torch": Names(), "F": None, "math": math, "repeats": runtime["repeats"], "root": runtime["root"]}
    exec(case["task"], scope)
    extents = scope["extents"](*case["shapes"], **case["given"])
    found = {"extents": extents, "shapes": extents and scope["shapes"](*extents)}
    if "plan" in case:
        exec(case["plan"], scope)
        found["plan"] = runtime["bind"](scope["plan"], extents, case["limits"])
    return found


def main():
    runtime = {}
    exec(open(sys.argv[2]).read(), runtime)
    print(json.dumps([answer(case, runtime) for case in json.load(open(sys.argv[1]))]))


main()
