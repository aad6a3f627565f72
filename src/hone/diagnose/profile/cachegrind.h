// Cachegrind's model of a kernel's caches and branches: what it is told of this machine, what its file says, and the
// metrics that follow. Pure.
#pragma once
#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/result.h"
#include "hone/diagnose/metrics.h"
#include "hone/target/cpu.h"
#include "hone/task/task.h"

namespace hone::diagnose {

/// Cachegrind's events in the order of its names: instructions; reads, those that missed the first-level data cache, and
/// those that missed the last level too; writes likewise; branches on a condition and those foreseen wrongly; jumps through
/// a register likewise.
enum CacheEvent : size_t { kIr, kDr, kD1mr, kDLmr, kDw, kD1mw, kDLmw, kBc, kBcm, kBi, kBim, kCacheEvents };
using CacheCounts = std::array<int64_t, kCacheEvents>;

/// A line of a source; "???" and 0 where nobody knows.
struct SourceLine {
  std::string file, function;
  int64_t line = 0;
  auto operator<=>(const SourceLine&) const = default;
};
using LineCounts = std::map<SourceLine, CacheCounts>;

/// A cachegrind.out file: format as documented by Valgrind, "events:", "fl=", "fn=", counts, "summary:". kInput where it is
/// none, misses an event of a simulation, or does not add up to its summary (it was cut off).
[[nodiscard]] Result<LineCounts> read_cachegrind(std::string_view text);

/// What `whole` has and `idle`, the same program without the kernel's work, has not.
[[nodiscard]] LineCounts without(const LineCounts& whole, const LineCounts& idle);
[[nodiscard]] CacheCounts sum_of(const LineCounts& counts);

/// The caches that Cachegrind knows.
struct CacheModelGeometry {
  target::CacheGeometry instructions, data, last;
};
/// Of this machine: first level, and the highest level there is. What sysfs does not say is taken as 32 KiB, 8 ways.
[[nodiscard]] CacheModelGeometry machine_caches();
/// The nearest geometry that Cachegrind takes: sets a power of two, so with other ways of about the same size.
[[nodiscard]] target::CacheGeometry simulated(target::CacheGeometry cache);
/// The options of one simulation that writes `file`.
[[nodiscard]] std::vector<std::string> cachegrind_options(const CacheModelGeometry& caches, const std::string& file);

inline constexpr const char* kCacheMetrics[] = {"instructions", "l1_miss_share", "last_level_miss_share", "traffic_ratio", "l1_traffic_ratio",
                                                "l1_misses_per_instruction", "branch_miss_share"};
/// How a model came about, for descriptions: at length for the first, in short for the others.
struct ModelWords {
  std::string at_length, in_short;
};
/// kCacheMetrics, modelled. `cost` of the shape that was run. Of tensors under 64 KiB the ratios are absent: a kernel's stack
/// and tables count as much.
///   l1_miss_share          (D1mr + D1mw) / (Dr + Dw)
///   last_level_miss_share  (DLmr + DLmw) / (D1mr + D1mw)
///   traffic_ratio          (DLmr + DLmw) * line / least bytes of the task; a line that is only written counts once too
///   l1_traffic_ratio       (D1mr + D1mw) * line / least bytes
///   l1_misses_per_instruction  (D1mr + D1mw) / Ir
///   branch_miss_share      (Bcm + Bim) / (Bc + Bi)
void add_cache_counts(const LineCounts& counts, const CacheModelGeometry& caches, const task::Cost& cost, const ModelWords& how,
                      Metrics& metrics);

}  // namespace hone::diagnose
