"""Calls exported packages of Triton and TileLang kernels where there is no card: Triton's by its own interpreter, TileLang's up to what its
compiler would be given. Arguments: the folder of packages, "triton" or "tilelang"."""
import importlib
import os
import pathlib
import sys
import warnings

folder, language = pathlib.Path(sys.argv[1]), sys.argv[2]
if language == "triton":
    os.environ["TRITON_INTERPRET"] = "1"
sys.path.insert(0, str(folder))
warnings.simplefilter("error")

import torch  # noqa: E402


def compiled_for_no_card(program, pass_configs):
    """Holds what would be called against the program, and writes ones."""
    assert pass_configs["tl.disable_tma_lower"]

    def call(*tensors):
        shapes = [[int(extent) for extent in program.buffer_map[parameter].shape] for parameter in program.params]
        assert shapes == [list(tensor.shape) for tensor in tensors], shapes
        tensors[-1].fill_(1)

    return call


def check(name):
    module = importlib.import_module(name)
    module.KERNEL.device = "cpu"
    module.KERNEL.limits = lambda ordinal: (132, 232448, 32)
    tests = importlib.import_module(f"test_{name}")
    if language == "triton":
        return tests.test_against_pytorch()
    import tilelang
    tilelang.compile = compiled_for_no_card
    found = getattr(module, name)(*tests.inputs())
    assert not module.OPERATOR.refusals and bool((found == 1).all()), module.OPERATOR.refusals


for package in sorted(path.name for path in folder.iterdir() if (folder / f"{path.name}/{path.name}").is_dir()):
    sys.path.insert(0, str(folder / package))
    check(package)
    print(package, "is as PyTorch" if language == "triton" else "is called as its program says")
