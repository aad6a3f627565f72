// Tuning spaces as other programs write them: Kernel Tuner's caches and the T1 and T4 files of the autotuning
// community's benchmark hub. Reads and writes text; the caller owns the files. What is wrong is an Error (kInput)
// that names the file. Thread-safe.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/json.h"
#include "hone/search/tune/space.h"
#include "hone/search/tune/transfer.h"

namespace hone::search::tune {

/// Why a configuration has no cost.
enum class Invalidity : uint8_t { kNone, kCompile, kRuntime, kCorrectness, kTimeout, kConstraints };
[[nodiscard]] std::string_view name_of(Invalidity invalidity);  ///< as T4 says it: "correct", "compile", …

/// What was measured of one configuration. Milliseconds, as in the files.
struct Measured {
  std::optional<double> cost;
  std::vector<double> times;      ///< raw timings, in the order taken
  Invalidity invalidity = Invalidity::kNone;
  double compile_ms = 0;
};

/// A Kernel Tuner cache: a space, and what was measured of its points.
struct TuningCache {
  std::string device, kernel;
  std::string problem_size;               ///< JSON
  std::string subject;                    ///< hone's own: hash of the source, plan and task that were measured; else empty
  std::string objective = "time";
  std::vector<Parameter> parameters;
  std::vector<Point> points;              ///< in the order of their keys
  std::vector<std::string> keys;          ///< of the points, as in the file
  std::vector<Measured> measured;         ///< of the points

  /// Its points, without anything that was measured.
  [[nodiscard]] Space space() const { return Space::of_points(parameters, points); }
  [[nodiscard]] Experience experience() const;
};

/// `text` is JSON; a cache that was cut off while it was being written (no closing brackets) is taken, too.
[[nodiscard]] Result<TuningCache> parse_cache(std::string_view text, std::string_view name);
/// The same form; parse_cache() reads it back.
[[nodiscard]] std::string cache_text(const TuningCache& cache);

/// The space of a T1 file: its tuning parameters and conditions.
[[nodiscard]] Result<Space> parse_t1(std::string_view text, std::string_view name);
/// The points of `cache` that `t1` allows, as points of `t1`. Fails where the two have different parameters, where
/// values of the cache are unknown to T1, and where none is left.
[[nodiscard]] Result<TuningCache> within(const TuningCache& cache, const Space& t1, std::string_view cache_name,
                                         std::string_view t1_name);

/// A T4 file of everything in `cache`.
[[nodiscard]] std::string t4_text(const TuningCache& cache);

}  // namespace hone::search::tune
