// The kernels in what a GPU's compiler made, and which of them a launch plan means. Pure.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hone/base/result.h"
#include "hone/kernel/kernel.h"

namespace hone::target {

struct GpuEntry {
  std::string symbol;                    ///< "_Z4rowsPKfPfx", or "rows" where it is extern "C"
  std::vector<int64_t> parameters;       ///< bytes of each, in order
  std::optional<int64_t> bound;          ///< threads of a block, from __launch_bounds__
  std::optional<int64_t> exact;          ///< threads of a block, where it can be launched with no other number
  std::map<std::string, int64_t> facts;  ///< "registers", "code_bytes", …: Build::facts without the function's name
};

/// The name that a symbol has in the source, with its namespaces: "rows" for rows, _Z4rowsPf and _Z4rowsILi4EEvv, "a::rows"
/// for _ZN1a4rowsEPf; empty for what is no function of C++.
[[nodiscard]] std::string source_name(const std::string& symbol);

/// The one entry that the plan's `function` means ("rows" wherever it is, "a::rows" in that namespace), or why there is none, in a line.
[[nodiscard]] tl::expected<const GpuEntry*, std::string> find_entry(const std::vector<GpuEntry>& entries, const std::string& function);

/// Puts into `found` the entry of each function of the plan; else says in a line why there is none that takes what
/// its launch gives.
[[nodiscard]] std::string match_plan(const std::vector<GpuEntry>& entries, const kernel::Kernel& kernel, std::map<std::string, const GpuEntry*>& found);

}  // namespace hone::target
