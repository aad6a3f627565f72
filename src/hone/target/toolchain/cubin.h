// Reads a CUDA binary (cubin) without loading it: which kernels are in it and what they take and need. Pure; a file
// that is no cubin is an Error. What the vendor's attributes mean was found by comparing with ptxas's own words.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hone/base/result.h"

namespace hone::target {

struct CubinEntry {
  std::string symbol;                   ///< "_Z4rowsPKfPfx", or "rows" where it is extern "C"
  std::vector<int64_t> parameters;      ///< bytes of each, in order
  int64_t code_bytes = 0;               ///< padding to the next function included
  std::optional<int64_t> registers;     ///< of a thread
  std::optional<int64_t> stack_bytes;   ///< of a thread, of all that it calls too
  std::optional<int64_t> bound;         ///< threads of a block, from __launch_bounds__
};

struct CubinFacts {
  std::vector<CubinEntry> entries;
  int64_t constant_bytes = 0;           ///< __constant__ variables
  int64_t global_bytes = 0;             ///< __device__ variables that can be written; const tables look the same
  std::vector<std::string> undefined;   ///< functions that the driver would have to provide: "vprintf", "malloc"
};
[[nodiscard]] Result<CubinFacts> read_cubin(const std::filesystem::path& file);

/// The unqualified name that a symbol has in the source ("rows" for rows, _Z4rowsPf, _ZN1a4rowsILi4EEvv); empty for
/// what is no function of C++.
[[nodiscard]] std::string source_name(const std::string& symbol);

/// The one entry that the plan's `function` means, or why there is none, in a line.
[[nodiscard]] tl::expected<const CubinEntry*, std::string> find_entry(const CubinFacts& facts, const std::string& function);

/// The most threads that a block of it can have, by its bound and its registers.
[[nodiscard]] int64_t most_threads(const CubinEntry& entry);

/// What ptxas -v prints of one function: bytes spilled (stored and loaded), static shared memory.
struct PtxasFacts {
  std::optional<int64_t> spill_bytes, shared_bytes;
};
[[nodiscard]] std::map<std::string, PtxasFacts> read_ptxas(const std::string& log);
/// The log without ptxas's lines about resources.
[[nodiscard]] std::string without_ptxas(const std::string& log);

/// Counts of instructions by symbol, from what nvdisasm -c or cuobjdump -sass prints: "all", "FFMA", "LDG.128", …
[[nodiscard]] std::map<std::string, std::map<std::string, int64_t>> read_sass(const std::string& text);

}  // namespace hone::target
