// What profilers, compilers and disassemblers print; every reader gets every text.
#include "fuzz.h"
#include "hone/diagnose/profile/assembly.h"
#include "hone/diagnose/profile/cachegrind.h"
#include "hone/diagnose/profile/chains.h"
#include "hone/diagnose/profile/code.h"
#include "hone/diagnose/profile/ncu.h"
#include "hone/diagnose/profile/port_model.h"
#include "hone/diagnose/profile/ptx_counting.h"
#include "hone/diagnose/profile/ptx_text.h"
#include "hone/diagnose/profile/ptx_variant.h"
#include "hone/diagnose/profile/remarks.h"
#include "hone/target/toolchain/assembly_check.h"
#include "hone/target/toolchain/code_object.h"
#include "hone/target/toolchain/cubin.h"
#include "hone/target/toolchain/source_check.h"

namespace hone::diagnose {
namespace {

HONE_FUZZ(profiler) {
  if (input.size() > fuzz::kMostBytes) return;
  const std::string text(input);
  if (const auto counts = read_cachegrind(input)) {
    Metrics metrics;
    add_cache_counts(without(*counts, *counts), machine_caches(), {}, {}, metrics);
    add_cache_counts(*counts, machine_caches(), {}, {}, metrics);
  }
  if (const auto launches = read_ncu_csv(input))
    for (const LaunchCounters& launch : *launches) static_cast<void>(launch.get("gpu__time_duration.sum"));
  static_cast<void>(read_port_model(input)), static_cast<void>(count_missed_loops(input));
  for (const Loop& loop : innermost_loops(read_assembly(input)))
    static_cast<void>(body_text(loop)), static_cast<void>(loop_text(loop, 10)), static_cast<void>(carried_registers(loop.code)), static_cast<void>(library_calls(loop.code));
  Metrics metrics;
  std::string heaviest;
  add_mix(input, 32, metrics, heaviest);
  if (read_ptx(input)) {
    for (int without = 0; without <= static_cast<int>(Without::kWork); ++without) static_cast<void>(ptx_without(input, static_cast<Without>(without)));
    static_cast<void>(ptx_counting(input));
  }
  static_cast<void>(target::read_ptxas(text)), static_cast<void>(target::without_ptxas(text));
  static_cast<void>(target::read_sass(text)), static_cast<void>(target::read_amd_assembly(text));
  static_cast<void>(target::refuse_instructions(input)), static_cast<void>(target::refuse_directives(input)), static_cast<void>(target::refuse_text(input));
}

}  // namespace
}  // namespace hone::diagnose
