#include "hone/face/cli/display.h"

#include <unistd.h>

#include <cstdio>

#include <fmt/format.h>

#include "hone/base/hash.h"
#include "hone/face/cli/context.h"
#include "hone/face/cli/text.h"

namespace hone::face {

Display::Display() : terminal_(is_terminal(STDERR_FILENO)) {}
Display::~Display() { end_line(); }

void Display::end_line() {
  if (open_) std::fputs("\n", stderr);
  open_ = false;
}

void Display::update(const engine::Progress& p) {
  using Step = engine::Progress::Step;
  std::string budget;
  if (p.budget_seconds > 0) budget = fmt::format("{:.0f}/{:.0f} s", p.elapsed_seconds, p.budget_seconds);
  if (p.budget_evaluations > 0) budget += fmt::format("{}{}/{} evals", budget.empty() ? "" : ", ", p.evaluated, p.budget_evaluations);
  std::string line;
  switch (p.step) {
    case Step::kPreparing:
      line = "preparing: inputs, oracle, measured bounds";
      break;
    case Step::kPromoting:
      end_line();
      line = fmt::format("measuring {} against its opponents on fresh inputs{}", base::short_hash(p.kernel),
                         interrupted() ? " (Ctrl-C again to stop at once)" : "");
      break;
    case Step::kDone:
      end_line();
      return;
    case Step::kScreened:
    case Step::kChampion:
      line = p.accepted == 0 ? fmt::format("[{}] {} evaluated, none accepted yet; last: {}", budget, p.evaluated, p.verdict)
                             : fmt::format("[{}] best {:.2f}x the first, {:.0f} % of light | {} considered, {} evaluated | {}",
                                           budget, p.best_score, 100 * p.sol_fraction, p.considered, p.evaluated, p.action);
  }
  if (terminal_) {
    std::fprintf(stderr, "\r\033[K%.*s", 150, line.c_str());
    open_ = true;
    if (p.step == Step::kPromoting) end_line();
  } else if (p.step != Step::kScreened || p.elapsed_seconds - last_plain_ >= 5) {
    std::fprintf(stderr, "%s\n", line.c_str());
    if (p.step == Step::kScreened) last_plain_ = p.elapsed_seconds;
  }
  std::fflush(stderr);
}

}  // namespace hone::face
