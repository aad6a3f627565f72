// Reads an AMD code object without loading it: its kernels from the metadata note (MessagePack), as LLVM's guide to the
// AMDGPU target describes it. Pure; a file that is none, or whose note makes no sense, is an Error.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "hone/base/result.h"
#include "hone/target/toolchain/gpu_entry.h"

namespace hone::target {

struct CodeObject {
  /// Facts: registers (vector registers of a lane, accumulators included), agprs, sgprs, spilled_vgprs, spilled_sgprs,
  /// stack_bytes (of a lane), static_shared_bytes, constant_bytes (arguments), max_threads, code_bytes.
  std::vector<GpuEntry> entries;
  int64_t global_bytes = 0;       ///< __device__ variables that can be written
};
[[nodiscard]] Result<CodeObject> read_code_object(const std::filesystem::path& file);

/// Counts of instructions by symbol, from what llvm-objdump -d prints: "all", "v_fma", "mfma", "global_load.128", …
[[nodiscard]] std::map<std::string, std::map<std::string, int64_t>> read_amd_assembly(const std::string& text);

}  // namespace hone::target
