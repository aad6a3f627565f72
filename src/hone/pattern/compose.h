// Several kernels as one: their launches one after another, their sources in namespaces of their own, what
// could clash renamed. Pure.
#pragma once
#include <string>
#include <vector>

#include "hone/kernel/kernel.h"
#include "hone/pattern/partition.h"

namespace hone::pattern {

/// One C++ source that runs `kernels`, one for each part. Tunables, functions and workspaces of the first part
/// get the suffix _1, and so on.
[[nodiscard]] std::string compose_cpp(const Partition& partition, const std::vector<kernel::Kernel>& kernels);

/// The same in CUDA or HIP, as the kernels are. Device functions get the suffix too, and there are no namespaces: a
/// launch finds its function by its plain name.
[[nodiscard]] std::string compose_gpu(const Partition& partition, const std::vector<kernel::Kernel>& kernels);

/// The same in OpenCL C. Helpers that do not hang on a tunable stand in front, once; the others get the suffix of their part.
[[nodiscard]] std::string compose_opencl(const Partition& partition, const std::vector<kernel::Kernel>& kernels);

}  // namespace hone::pattern
