// The kernel's side of an export for PyTorch: source files that travel, and the Python that makes a kernel object of
// them (export/python/cpu.py, cuda.py, tiles.py, binary.py). Pure.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/result.h"
#include "hone/face/export/torch_package.h"

namespace hone::face {

struct TorchSource {
  std::vector<std::string> modules;    ///< "driver", "cuda": the run time it needs, the class in the last, on top of the first
  std::string type;                    ///< that class: "CpuKernel"
  std::vector<ExportedFile> files;     ///< "softmax.cc", "kernel.cu", "hone/gpu.h": by the name they are included by
  std::vector<ExportedFile> binaries;  ///< machine code
  std::string plan;                    ///< definition of plan(), or of several; empty for C++, whose plan is in its source
  std::vector<std::string> plans;      ///< their names
  std::string object;                  ///< Python that sets VERIFIED and KERNEL; to be completed by kernel_object()
  std::vector<std::string> conditions; ///< for people
};

/// `name` is the function's.
[[nodiscard]] Result<TorchSource> torch_source(const kernel::Kernel& kernel, const task::Task& task, const TorchOptions& options,
                                               const std::string& name);

/// The object with the Python expressions for the dictionary of its files and the folder for what is built.
[[nodiscard]] std::string kernel_object(const TorchSource& source, std::string_view sources, std::string_view folder);

/// "softmax": options.common.name, else the task's as an identifier of Python and C++. kInput where that was given and is none.
[[nodiscard]] Result<std::string> torch_name(const TorchOptions& options, const task::Task& task);

/// What the files say of where the kernel comes from: lines without a comment's mark.
[[nodiscard]] std::vector<std::string> torch_provenance(const kernel::Kernel& kernel, const task::Task& task, const TorchOptions& options);

/// export/python/NAME.py as it is embedded.
[[nodiscard]] std::string runtime_module(const std::string& name);

}  // namespace hone::face
