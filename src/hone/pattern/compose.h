// One kernel of the kernels of a partition's parts, for any language whose functions may stand in namespaces. Pure.
#pragma once
#include <vector>

#include "hone/kernel/kernel.h"
#include "hone/pattern/partition.h"

namespace hone::pattern {

/// `kernels`: one for each part, in the parts' order. Each part's functions stand in a namespace of their own; its tunables
/// and workspaces carry its number. What one part leaves to the next lies in workspaces of the partition's names.
[[nodiscard]] kernel::Kernel composed(const Partition& partition, const std::vector<kernel::Kernel>& kernels);

}  // namespace hone::pattern
