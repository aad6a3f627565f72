// A program as a Python package: one torch.nn.Module that takes the original's state_dict and calls hone's kernels where
// there are some, PyTorch's operators elsewhere. It needs torch and no hone. Pure: text only (and the constants' bytes).
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "hone/base/result.h"
#include "hone/face/export/torch_package.h"
#include "hone/program/tasks.h"

namespace hone::face {

/// A task's kernel and how it is exported.
struct ProgramKernel {
  kernel::Kernel kernel;
  TorchOptions options;
};

struct ProgramPackage {
  std::string name;                                ///< of the package: an identifier
  std::map<int, ProgramKernel> kernels;            ///< by index into Plan::tasks; the others are PyTorch's
  std::map<int, std::string> sources;              ///< Python that defines forward(tensors...) for a task, instead of its own operators
  std::set<std::string> left_whole;                ///< of what was written out (Plan::written): PyTorch's, whatever kernels there are
  std::string constants;                           ///< bytes of the file of constants
  std::vector<std::string> notes;                  ///< for the README: where it comes from, figures
  bool record = true;                              ///< a card's calls replay one CUDA graph where they can
};

/// Paths within a folder: pyproject.toml, README.md, the package. kInput where a kernel cannot be exported.
[[nodiscard]] Result<std::vector<ExportedFile>> program_package(const program::Program& program, const program::Plan& plan, const ProgramPackage& package);

/// The program's own file, which ModelNew is built by.
struct ProgramOriginal {
  std::string text, function;    ///< as in evaluate::ProgramSource
};

/// The same in one file with ModelNew, as KernelBench takes it.
[[nodiscard]] Result<ExportedFile> program_file(const program::Program& program, const program::Plan& plan, const ProgramPackage& package, const ProgramOriginal& original);

}  // namespace hone::face
