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
#include "hone/target/toolchain/gpu_entry.h"

namespace hone::target {

struct CubinFacts {
  std::vector<GpuEntry> entries;        ///< facts: registers, stack_bytes (of all that it calls too), code_bytes
  int64_t constant_bytes = 0;           ///< __constant__ variables
  int64_t global_bytes = 0;             ///< __device__ variables that can be written; const tables look the same
  bool phase_barriers = false;          ///< barriers with phases (mbarrier) are used
  std::vector<std::string> undefined;   ///< functions that the driver would have to provide: "vprintf", "malloc"
};
/// Of a bundle: of all its binaries together.
[[nodiscard]] Result<CubinFacts> read_cubin(const std::filesystem::path& file);

/// The most threads that a block of it can have, by its bound and its registers.
[[nodiscard]] int64_t most_threads(const GpuEntry& entry);

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
