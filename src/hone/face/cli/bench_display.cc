#include "hone/face/cli/bench_display.h"

#include <cmath>

#include <fmt/format.h>

#include "hone/face/bench/summary.h"
#include "hone/face/cli/context.h"
#include "hone/face/cli/display.h"
#include "hone/face/cli/text.h"

namespace hone::face {

std::string duration_text(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", seconds);
  const int minutes = static_cast<int>(std::lround(seconds / 60));
  return minutes < 90 ? fmt::format("{} min", minutes) : fmt::format("{} h {:02} min", minutes / 60, minutes % 60);
}

std::string row_text(const bench::Row& row) {
  std::string text = row.task + ": ";
  if (!row.accepted()) return text + fmt::format("{}: {}, {}", row.verdict, row.reason, duration_text(row.seconds));
  if (const bench::Speedup* s = bench::strongest(row))
    text += fmt::format("{} {} {}", evaluate::name_of(row.comparison), ratio_text(s->ratio), s->opponent);
  else
    text += "accepted, no opponent took part";
  text += fmt::format(", {:.2f} of light{}", row.sol_fraction, row.sol_fraction > 1 ? " (beyond its bound, which was measured twice)" : "");
  if (!row.pattern.empty()) text += ", " + row.pattern;
  if (row.recalled) text += ", recalled";
  return text + ", " + duration_text(row.seconds);
}

void BenchDisplay::update(const bench::Progress& p) {
  const bench::State& state = *p.state;
  const bench::Entry& entry = state.entries.at(p.index);
  const std::string place = fmt::format("[{}/{}] ", state.entries.size() - state.left() + (entry.row ? 0 : 1), state.entries.size());
  const std::string where = cards_ > 1 ? state.asked.options.target + " " : "";
  const std::string left = state.left() == 0 ? "" : fmt::format("about {} left", duration_text(bench::seconds_left(state) / static_cast<double>(cards_)));
  if (p.step == bench::Progress::Step::kDone)
    return line_.say(fmt::format("{}{}{}{}", place, where, row_text(*entry.row), line_.terminal() || left.empty() ? "" : "; " + left));
  if (!line_.terminal() || cards_ > 1) return;
  std::string doing = p.run ? progress_text(*p.run) : p.recalls ? "recalled from the archive" : "begins";
  if (doing.empty()) return;
  if (interrupted()) doing += " | ends after this task (Ctrl-C again: at once)";
  line_.renew(fmt::format("{}{}, {} | {}", place, left, entry.name, doing));
}

}  // namespace hone::face
