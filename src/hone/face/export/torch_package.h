// An accepted kernel for users of PyTorch: as a Python package with a custom operator (--as torch, --as binary), or as one file
// with KernelBench's class ModelNew (--as kernelbench). They carry the kernel's source, which is compiled at first use
// by the compiler that it was verified with, or its machine code, the conditions under which it holds, and the task as PyTorch
// code for all other cases; none needs hone. Pure. Fails (kInput) for a language that has no such form, where the
// plan names something unknown, or where what KernelBench's class is built with is not known; (kUnavailable) where the
// task has no PyTorch form.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "hone/base/result.h"
#include "hone/engine/champion.h"
#include "hone/face/export/export.h"
#include "hone/kernel/kernel.h"
#include "hone/target/toolchain/toolchain.h"
#include "hone/task/task.h"

namespace hone::face {

/// Machine code of a kernel for one case of its shapes (kernel/build_case.h).
struct ExportedBuild {
  task::Bindings bindings;               ///< a shape of the case
  target::Build build;                   ///< for a card
  std::string image;                     ///< its artifact
};

struct TorchOptions {
  ExportOptions common;                  ///< name, provenance; for C++ also alignment, limits, specialised, flags
  std::optional<engine::Place> verified; ///< the files refuse to run the kernel elsewhere; none: nobody knows where
  std::vector<ExportedBuild> builds = {}; ///< in the place of the source, for a package; all for one architecture
};

/// Paths within a folder: pyproject.toml, README.md, the package NAME, a test.
[[nodiscard]] Result<std::vector<ExportedFile>> export_torch(const kernel::Kernel& kernel, const task::Task& task,
                                                             const TorchOptions& options);

/// NAME_kernelbench.py.
[[nodiscard]] Result<ExportedFile> export_kernelbench(const kernel::Kernel& kernel, const task::Task& task, const TorchOptions& options);

}  // namespace hone::face
