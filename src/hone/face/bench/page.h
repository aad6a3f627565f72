// A bench as pages for people: HTML in one file, and Markdown for a repository. Pure.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "hone/face/bench/state.h"
#include "hone/face/bench/summary.h"

namespace hone::face::bench {

[[nodiscard]] std::string html_page(const State& state);
[[nodiscard]] std::string markdown_page(const State& state);

// What both say.

/// "level1", of ".../tasks/kernelbench/level1"; several with commas.
[[nodiscard]] std::string suite_name(const Asked& asked);
/// Names and values, in order: device, toolchain, dates, command and what was asked.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> conditions_table(const State& state);
/// Opponents that took part somewhere, by name.
[[nodiscard]] std::vector<std::string> opponents_of(const std::vector<Row>& rows);
/// Accepted rows whose strongest opponent is as fast or faster, the worst first.
[[nodiscard]] std::vector<Row> losses(const std::vector<Row>& rows);
[[nodiscard]] std::vector<Row> failures(const std::vector<Row>& rows);
/// Opponents that were absent from accepted rows: reason and tasks, the most frequent first.
[[nodiscard]] std::vector<std::pair<std::string, std::vector<std::string>>> absences(const std::vector<Row>& rows);

/// Whether the means against an opponent (or kBest) with dispatch taken off say anything of their own.
[[nodiscard]] bool tells_dispatch(const Summary& summary, const std::string& opponent);
/// "An empty call takes 1.20 µs (pytorch eager), … With that taken off, …: 3 faster, …"; empty where nobody has one.
[[nodiscard]] std::string dispatch_line(const Summary& summary);
/// How much of the least time plain loops hold, a sentence.
[[nodiscard]] std::string plain_line(const Summary& summary);

/// What ratios are, and what they are not; plain text.
inline constexpr const char* kHowToRead =
    "A ratio is time(opponent) / time(kernel): above 1 the kernel is faster. It is the median of pairs timed in turn, caches "
    "cold, in one session, with its 95 % interval; over several workloads their weighted geometric mean. FASTER and SLOWER "
    "are said only where the interval and the evidence behind it exclude 1; the call is against the strongest opponent of the "
    "row. Light is the time at the speed of light over the kernel\u2019s; above 1, the kernel was faster than its bound also "
    "when that was measured again: it moves bytes faster than the loop that bounds it, or multiplies less than was counted. A "
    "failure counts as 1 in every mean. Without dispatch means that what PyTorch takes for one empty call was taken off its time. Times of "
    "different rows come from different sessions.";

}  // namespace hone::face::bench
