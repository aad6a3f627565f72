# A launch plan with numbers put in.
import math

MOST_REPEATS = 256
MOST_CLUSTER_BLOCKS = 16


class Impossible(ArithmeticError):
    """A plan has no meaning for these extents; so does division by zero say."""


def bind(plan, extents, limits):
    """(workspaces, launches) of a plan with numbers put in, each workspace (type, shape, whether zeroed), each launch
    (function, grid, block, cluster, shared bytes, arguments); None where hone would not run it: an extent that is not
    positive, a grid that is no multiple of its cluster, an i32 that does not fit, nothing to launch."""
    try:
        planned = plan(*extents, *limits)
    except ArithmeticError:
        return None
    if planned is None:
        return None
    workspaces, launches = planned
    if not launches or any(extent < 1 for _, shape, _ in workspaces for extent in shape):
        return None
    for _, grid, block, cluster, shared, arguments in launches:
        if min(*grid, *block, *cluster) < 1 or shared < 0:
            return None
        if math.prod(cluster) > MOST_CLUSTER_BLOCKS or any(blocks % together for blocks, together in zip(grid, cluster)):
            return None
        for kind, value in arguments:
            bits = {"i32": 31, "i64": 63}.get(kind)
            if bits and not -1 << bits <= value < 1 << bits:
                return None
    return workspaces, launches


def repeats(times):
    """The steps of a launch that is repeated."""
    if not 0 <= times <= MOST_REPEATS:
        raise Impossible("more repeats than a plan may have")
    return range(times)


def root(value):
    if value < 0:
        raise Impossible("the root of a negative number")
    return math.sqrt(value)
