// Metrics of a kernel's machine code and of its plan: nothing is run.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hone/diagnose/metrics.h"
#include "hone/diagnose/profile/assembly.h"
#include "hone/diagnose/profile/port_model.h"
#include "hone/kernel/kernel.h"
#include "hone/target/toolchain/toolchain.h"

namespace hone::diagnose {

/// The instruction mix of the heaviest loops of `build` and llvm-mca's view of the heaviest; all of it modelled, as nobody
/// saw where the time goes. A vector of this machine has `vector_bytes`. What cannot be told is absent, with the reason:
/// vector_share, vector_width, scalar_float_share, gather_share, division_share, call_share, spill_share,
/// stream_store_share, fma_share; loop_cycles, port_cycles, dependency_share, instructions_per_cycle_modelled.
void add_code(const target::Build& build, int vector_bytes, Metrics& metrics);

/// The same from a disassembler's listing; without llvm-mca. Pure.
void add_mix(std::string_view listing, int vector_bytes, Metrics& metrics, std::string& heaviest_body);

/// One of a build's innermost loops, to be read, and what others there are.
struct HotLoop {
  Loop loop;
  std::vector<Loop> loops;         ///< all innermost ones, heaviest first: by rank
  std::optional<PortModel> ports;  ///< of its body, where llvm-mca could say
  std::string no_ports;            ///< why it could not
};
/// `rank` 0: the one that add_code() believes to be the hot one. kUnavailable without a disassembler; kNotFound where the code has no loop over vectors or
/// floating-point values, or not so many loops.
[[nodiscard]] Result<HotLoop> hot_loop(const target::Build& build, size_t rank = 0);
/// The same of a disassembler's listing, without ports. Pure.
[[nodiscard]] Result<HotLoop> loop_in(std::string_view listing, size_t rank);
/// Its first `most` instructions, a line each, AT&T syntax.
[[nodiscard]] std::string loop_text(const Loop& loop, size_t most);

/// From the plan bound to a workload: launches, blocks, balance (work of all threads over the time of the busiest, for
/// equal blocks; launches weighted by the bytes they name), blocks_per_thread (of the launch that names most),
/// workspace_ratio (bytes of workspaces written and read once each over the task's least bytes). `tensor_bytes`: of inputs,
/// then outputs. Pure.
void add_plan(const kernel::BoundPlan& plan, std::span<const int64_t> tensor_bytes, double least_bytes, int threads, Metrics& metrics);

}  // namespace hone::diagnose
