// What a build of a Triton or TileLang kernel depends on beside its source: the constants it is compiled for and what is promised of
// its arguments, which follow from the shapes. One build for each case, so that a promise holds wherever it is made. Pure.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "hone/kernel/kernel.h"

namespace hone::kernel {

struct ArgumentCase {
  std::string type;        ///< "*fp32", "i32", "fp32": as Triton calls them; empty: a constant
  std::string constant;    ///< as Python writes it: "128", "True", "1e-5"
  bool divisible = false;  ///< a multiple of 16; a pointer: of 16 bytes
};

struct FunctionCase {
  std::string function;
  int64_t warps = 4, stages = 3;
  std::vector<ArgumentCase> arguments;  ///< as its launches have them
};

/// Of the functions whose launches are made on these shapes. As Triton's own launcher does it: integers that are 1 become
/// constants, those that 16 divides are promised to be so, tensors begin on 16 bytes. A value that depends on the
/// device is promised nothing. kInput: a function that is launched twice with different constants or types (a build
/// has it once), an unknown tensor, a constant that depends on the device.
[[nodiscard]] Result<std::vector<FunctionCase>> cases_of(const Kernel& kernel, const task::Task& task, const task::Bindings& bindings);

/// An argument of a TileLang launch: a tensor of a shape, or an integer.
struct TileArgument {
  std::string dtype;                  ///< "float32", "bool", "int64": as TileLang calls it
  std::optional<task::Shape> shape;   ///< a tensor's
  int64_t value = 0;
};

struct TileLaunch {
  size_t launch = 0;                  ///< which of the header's
  std::string function;
  std::vector<std::string> constants; ///< as Python writes them, in order
  std::vector<TileArgument> arguments;
  std::vector<std::string> tensors;   ///< names of the arguments, empty for integers
};

/// The launches that are made on these shapes, for TileLang, which builds a kernel for shapes. kInput: an unknown tensor, an integer or
/// constant that depends on the device.
[[nodiscard]] Result<std::vector<TileLaunch>> tile_launches(const Kernel& kernel, const task::Task& task, const task::Bindings& bindings);

/// Names the case: part of a build's name. Empty for a language whose builds are the same for all shapes.
[[nodiscard]] std::string case_name(const Kernel& kernel, const task::Task& task, const task::Bindings& bindings);

}  // namespace hone::kernel
