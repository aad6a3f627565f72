// What a CUDA binary says of itself, as facts of a build. Thread-safe.
#pragma once
#include <map>
#include <string>

#include "hone/target/toolchain/cubin.h"
#include "hone/target/toolchain/cuda_tools.h"
#include "hone/target/toolchain/toolchain.h"

namespace hone::target {

/// Symbols and facts of the plan's functions; `words` are ptxas's.
void add_cubin_facts(const CubinFacts& cubin, const std::map<std::string, const GpuEntry*>& plan, const std::map<std::string, PtxasFacts>& words, Build& build);

/// Counts of its instructions, from a disassembler in the jail; nothing is added where that does not finish or knows too little.
[[nodiscard]] Status add_sass_mix(const Disassembler& disassembler, const std::filesystem::path& folder, const std::string& cubin, std::chrono::seconds deadline,
                                  Build& build);

}  // namespace hone::target
