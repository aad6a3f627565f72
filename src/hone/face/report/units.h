// Numbers as people read them: three significant digits and a unit. Pure.
#pragma once
#include <cstdint>
#include <string>

#include "hone/evaluate/compare/compare.h"

namespace hone::face::report {

/// What is shown in place of a number that there is none of.
inline constexpr const char* kNone = "\u2013";

/// Three significant digits: "0.0123", "1.20", "412", "1.23e-7", "4.56e6"; "∞" and "–" (not a number).
[[nodiscard]] std::string three(double value);

[[nodiscard]] std::string time_ns(double ns);              ///< "412 µs"; kNone where not positive
[[nodiscard]] std::string time_s(double seconds);          ///< "0.80 s", "42.1 s", "3 min 12 s", "1 h 02 min"
[[nodiscard]] std::string bytes_moved(double bytes);       ///< decimal, as bandwidths are: "268 MB"
[[nodiscard]] std::string bytes_held(double bytes);        ///< binary, as caches are: "32 MiB", "1.50 MiB"
[[nodiscard]] std::string bandwidth(double bytes_per_ns);  ///< "187 GB/s"
[[nodiscard]] std::string flop_rate(double flops_per_ns);  ///< "93.4 GFLOP/s"
[[nodiscard]] std::string percent(double fraction);        ///< "71.2 %"
[[nodiscard]] std::string times(double ratio);             ///< "2.31×"
[[nodiscard]] std::string whole(int64_t count);            ///< "12 345"
[[nodiscard]] std::string date_utc(int64_t unix_ms);       ///< "2025-03-14 09:26 UTC"

/// A ratio and its interval with as many decimals as keep them apart from 1 and from each other.
struct RatioText {
  std::string median;    ///< "2.31"
  std::string interval;  ///< "[2.28, 2.35]"
};
/// False where nothing but the median is known: too few pairs, or one process.
[[nodiscard]] bool has_interval(const evaluate::Ratio& ratio);
[[nodiscard]] RatioText ratio_text(const evaluate::Ratio& ratio);

}  // namespace hone::face::report
