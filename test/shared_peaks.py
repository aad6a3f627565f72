"""What this machine can do at most takes the program seconds to measure, once for each cache (src/hone/target/calibrate). Tests that give
it a home of its own share what one of them measured, in the cache of whoever runs the tests."""
import contextlib
import json
import os
import pathlib
import shutil
import tempfile


def folder_in(cache):
    return pathlib.Path(cache) / "hone" / "calibration"


def measured(file):
    """How often, which is more than once where others were at work; 0 for no such file."""
    try:
        return json.loads(file.read_text()).get("measured", 1)
    except (OSError, ValueError, AttributeError):
        return 0


def copy_newer(source, target):
    """Whole files or nothing: others read and write beside us."""
    with contextlib.suppress(OSError):
        for file in source.glob("*.json"):
            if measured(file) <= measured(target / file.name):
                continue
            target.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=target) as scratch:
                copy = pathlib.Path(shutil.copy(file, scratch))
                copy.replace(target / file.name)


@contextlib.contextmanager
def in_home(home):
    """`home`: the program's HOME, which has no cache yet."""
    ours = folder_in(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    theirs = folder_in(pathlib.Path(home) / ".cache")
    copy_newer(ours, theirs)
    try:
        yield
    finally:
        copy_newer(theirs, ours)
