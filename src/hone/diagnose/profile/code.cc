#include "hone/diagnose/profile/code.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/base/file.h"
#include "hone/diagnose/profile/assembly.h"
#include "hone/diagnose/profile/chains.h"
#include "hone/diagnose/profile/port_model.h"
#include "hone/diagnose/profile/tools.h"
#include "hone/target/toolchain/compiler_run.h"

namespace hone::diagnose {
namespace {

constexpr const char* kMixNames[] = {"vector_share", "vector_width", "scalar_float_share", "gather_share", "division_share",
                                     "call_share",   "library_call_share", "accumulators", "spill_share", "stream_store_share", "fma_share"};
constexpr const char* kPortNames[] = {"loop_cycles", "port_cycles", "dependency_share", "instructions_per_cycle_modelled"};
/// Loops at least this heavy, against the heaviest, count as hot.
constexpr double kHot = 0.5;
/// What a call of mathematics takes, and how many other instructions a cycle does: estimates, tens of cycles and a few.
constexpr double kCallCycles = 30, kOthersACycle = 3;

template <size_t N>
void all_absent(const char* const (&names)[N], const std::string& why, Metrics& metrics) {
  for (const char* name : names) metrics.absent(name, why);
}

Result<std::string> listing_of(const target::Build& build) {
  static const std::string tool = first_tool({"objdump", "llvm-objdump-22", "llvm-objdump-19", "llvm-objdump-16", "llvm-objdump"});
  if (tool.empty()) return fail(ErrorCode::kUnavailable, "there is no objdump", "apt-get install binutils");
  HONE_TRY(const base::ScratchDirectory scratch, base::ScratchDirectory::create("code"));
  target::ToolNeeds needs;
  needs.readable = {build.artifact.parent_path()};
  needs.output_limit = size_t{16} << 20;
  HONE_TRY(auto run, target::run_compiler({tool, "-d", "--no-show-raw-insn", build.artifact.string()}, scratch.path(), scratch.path(),
                                          std::chrono::seconds(20), needs));
  if (!run.ok) return fail(ErrorCode::kUnavailable, fmt::format("{} failed: {}", tool, run.log.substr(0, 200)));
  return std::move(run.out);
}

}  // namespace

void add_mix(std::string_view listing, int vector_bytes, Metrics& metrics, std::string& heaviest_body) {
  const std::vector<Loop> loops = innermost_loops(read_assembly(listing));
  if (loops.empty() || loops.front().weight == 0) {
    all_absent(kMixNames, "no loop over vectors or floating-point values was found in the code", metrics);
    return;
  }
  Mix mix;
  int hot = 0;
  for (const Loop& loop : loops) {
    if (loop.weight < kHot * loops.front().weight) break;
    const Mix& m = loop.mix;
    mix.all += m.all, mix.vector += m.vector, mix.scalar_float += m.scalar_float, mix.vector_bytes += m.vector_bytes, mix.fma += m.fma;
    mix.divide += m.divide, mix.gather += m.gather, mix.call += m.call, mix.library_call += m.library_call, mix.load += m.load, mix.store += m.store;
    mix.stream_store += m.stream_store, mix.spill += m.spill;
    ++hot;
  }
  // What a library does between two instructions of a loop no model of ports sees.
  heaviest_body = loops.front().mix.library_call > 0 ? "" : body_text(loops.front());
  const double all = mix.all, moved = std::max(mix.vector + mix.scalar_float, 1);
  const std::string of = fmt::format("of the instructions of the {} heaviest innermost loops ({} in all)", hot, mix.all);
  metrics.modelled("vector_share", mix.vector / moved,
                   "packed instructions among those on vectors and floating-point values, heaviest loops");
  metrics.modelled("vector_width", mix.mean_width() / std::max(vector_bytes, 1),
                   "mean width of packed instructions against the machine's vectors");
  metrics.modelled("scalar_float_share", mix.scalar_float / all, "one element at a time, " + of);
  metrics.modelled("gather_share", mix.gather / all, "gathers and scatters, " + of);
  metrics.modelled("division_share", mix.divide / all, "divisions and square roots, " + of);
  metrics.modelled("call_share", mix.call / all, "calls, " + of);
  const std::vector<std::string> called = library_calls(loops.front().code);
  const double calling = kCallCycles * mix.library_call;
  metrics.modelled("library_call_share", calling / (calling + all / kOthersACycle),
                   called.empty() ? "mathematics called an element at a time, of the time of the heaviest innermost loops: there is none"
                                  : fmt::format("{} called an element at a time: of the time of the heaviest innermost loops, a call at {:.0f} cycles",
                                                fmt::join(called, ", "), kCallCycles));
  metrics.modelled("accumulators", carried_registers(loops.front().code),
                   "vector registers that an iteration of the heaviest loop hands to its own next one: chains of dependent results");
  metrics.modelled("spill_share", mix.spill / all, "vector registers kept on the stack, " + of);
  metrics.modelled("fma_share", mix.fma / all, "multiply-adds, " + of);
  if (mix.store > 0)
    metrics.modelled("stream_store_share", static_cast<double>(mix.stream_store) / mix.store,
                     "stores past the caches, of the stores of the heaviest loops");
  else
    metrics.absent("stream_store_share", "the heaviest loops store nothing");
}

void add_code(const target::Build& build, int vector_bytes, Metrics& metrics) {
  const auto listing = listing_of(build);
  if (!listing) {
    all_absent(kMixNames, listing.error().message, metrics);
    all_absent(kPortNames, listing.error().message, metrics);
    return;
  }
  std::string body;
  add_mix(*listing, vector_bytes, metrics, body);
  if (body.empty()) {
    all_absent(kPortNames, "no loop to model, or the heaviest calls a library", metrics);
    return;
  }
  const auto ports = model_ports(body);
  if (!ports) {
    all_absent(kPortNames, ports.error().message, metrics);
    return;
  }
  metrics.modelled("loop_cycles", ports->cycles, "cycles an iteration of the heaviest loop, all loads in the first-level cache (llvm-mca)");
  metrics.modelled("port_cycles", ports->throughput, "cycles an iteration if no instruction waited for another (llvm-mca)");
  metrics.modelled("dependency_share", std::clamp(1 - ports->throughput / ports->cycles, 0.0, 1.0), "1 - port_cycles / loop_cycles");
  metrics.modelled("instructions_per_cycle_modelled", ports->instructions, "of the heaviest loop (llvm-mca)");
}

Result<HotLoop> loop_in(std::string_view listing, size_t rank) {
  HotLoop hot;
  hot.loops = innermost_loops(read_assembly(listing));
  if (hot.loops.empty() || hot.loops.front().weight == 0)
    return fail(ErrorCode::kNotFound, "no loop over vectors or floating-point values was found in the code");
  if (rank >= hot.loops.size())
    return fail(ErrorCode::kNotFound, fmt::format("the code has no innermost loop of rank {}: there are {}, counted from 0, the heaviest first", rank, hot.loops.size()));
  hot.loop = hot.loops[rank];
  return hot;
}

Result<HotLoop> hot_loop(const target::Build& build, size_t rank) {
  HONE_TRY(const std::string listing, listing_of(build));
  HONE_TRY(HotLoop hot, loop_in(listing, rank));
  const std::string body = hot.loop.mix.library_call > 0 ? "" : body_text(hot.loop);
  const auto ports = body.empty() ? Result<PortModel>(fail(ErrorCode::kUnavailable, "no instruction that a model of ports takes")) : model_ports(body);
  if (ports) hot.ports = *ports;
  else hot.no_ports = ports.error().message;
  return hot;
}

std::string loop_text(const Loop& loop, size_t most) {
  std::string text;
  for (size_t i = 0; i < loop.code.size() && i < most; ++i)
    text += fmt::format("{:x}: {} {}\n", loop.code[i].address, loop.code[i].mnemonic, loop.code[i].operands);
  return text;
}

void add_plan(const kernel::BoundPlan& plan, std::span<const int64_t> tensor_bytes, double least_bytes, int threads, Metrics& metrics) {
  // Of inputs, outputs and workspaces, as arguments count them.
  std::vector<double> bytes_of(tensor_bytes.begin(), tensor_bytes.end());
  double workspace = 0;
  for (const auto& w : plan.workspaces) {
    bytes_of.push_back(static_cast<double>(task::element_count(w.shape) * task::size_of(w.dtype)));
    workspace += bytes_of.back() * (w.zero ? 3 : 2);
  }
  // Launches count by the bytes that they name: a last one that adds up what thousands of blocks have left is no reason to
  // cut those smaller.
  double blocks_all = 0, all = 0, taken = 0, most = -1, each_of_most = 0;
  for (const kernel::BoundLaunch& launch : plan.launches) {
    double blocks = 1, bytes = 1;
    for (const int64_t extent : launch.grid) blocks *= static_cast<double>(extent);
    for (const kernel::BoundArgument& argument : launch.args)
      if (argument.tensor >= 0) bytes += bytes_of.at(static_cast<size_t>(argument.tensor));
    const double each = blocks / std::max(threads, 1);
    blocks_all += blocks;
    all += bytes;
    taken += bytes * std::ceil(each) / each;
    if (bytes > most) most = bytes, each_of_most = each;
  }
  metrics.modelled("launches", static_cast<double>(plan.launches.size()), "of the plan, a call");
  metrics.modelled("blocks", blocks_all, "of all launches");
  metrics.modelled("blocks_per_thread", each_of_most, "of the launch that names most bytes");
  metrics.modelled("balance", taken > 0 ? all / taken : 1,
                   "blocks / (threads * blocks of the busiest thread), a launch's blocks taken as equal; launches weighted by the bytes they name");
  if (least_bytes > 0)
    metrics.modelled("workspace_ratio", workspace / least_bytes,
                     "bytes of workspaces, written and read once each, against the task's least bytes");
}

}  // namespace hone::diagnose
