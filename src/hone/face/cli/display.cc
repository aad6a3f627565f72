#include "hone/face/cli/display.h"

#include <fmt/format.h>

#include "hone/base/hash.h"
#include "hone/face/cli/context.h"

namespace hone::face {

using Step = engine::Progress::Step;

std::string progress_text(const engine::Progress& p) {
  switch (p.step) {
    case Step::kPreparing:
      return "preparing: inputs, oracle, measured bounds";
    case Step::kPromoting:
      return fmt::format("measuring {} against its opponents on fresh inputs", base::short_hash(p.kernel));
    case Step::kScreened:
    case Step::kChampion:
      return p.accepted == 0 ? fmt::format("{} evaluated, none accepted yet; last: {}", p.evaluated, p.verdict)
                             : fmt::format("best {:.2f}x the first, {} | {} considered, {} evaluated | {}", p.best_score,
                                           p.sol_fraction > 1 ? "at light as it was measured at first" : fmt::format("{:.0f} % of light", 100 * p.sol_fraction), p.considered, p.evaluated,
                                           p.action);
    case Step::kDone:
      break;
  }
  return {};
}

void Display::update(const engine::Progress& p) {
  switch (p.step) {
    case Step::kPreparing:
      return line_.renew(progress_text(p));
    case Step::kPromoting:
      line_.end();
      line_.renew(progress_text(p) + (interrupted() ? " (Ctrl-C again to stop at once)" : ""));
      return line_.end();
    case Step::kDone:
      return line_.end();
    case Step::kScreened:
    case Step::kChampion:
      break;
  }
  if (!line_.terminal() && p.step == Step::kScreened) {
    if (p.elapsed_seconds - last_plain_ < 5) return;
    last_plain_ = p.elapsed_seconds;
  }
  std::string budget;
  if (p.budget_seconds > 0) budget = fmt::format("{:.0f}/{:.0f} s", p.elapsed_seconds, p.budget_seconds);
  if (p.budget_evaluations > 0) budget += fmt::format("{}{}/{} evals", budget.empty() ? "" : ", ", p.evaluated, p.budget_evaluations);
  line_.renew(fmt::format("[{}] {}", budget, progress_text(p)));
}

}  // namespace hone::face
