// The ledger: what each language model was asked, what of it was accepted, and what it cost.
#include <fmt/format.h>

#include "hone/face/report/sections.h"
#include "hone/face/report/units.h"

namespace hone::face::report {

void write_models(Html& out, const Material& from) {
  const RunLog& log = from.log;
  if (log.models.empty()) return;
  int64_t nanodollars = 0;
  int calls = 0;
  for (const auto& [name, row] : log.models) nanodollars += row.nanodollars, calls += row.calls;
  open_section(out, "models", "Models",
               markup("{} questions to language models, for ${}. They propose; verdicts and times are hone's own.", calls,
                      fmt::format("{:.4f}", static_cast<double>(nanodollars) * 1e-9)));
  out.raw(R"(<table class="grid narrow"><thead><tr><th>model</th><th>questions</th><th>without answer</th><th>kernels accepted</th>)"
          R"(<th>best score</th><th>tokens</th><th>dollars</th><th>seconds</th></tr></thead><tbody>)");
  for (const auto& [name, row] : log.models) {
    int accepted = 0;
    double best = 0;
    for (const Evaluation& e : log.evaluations) {
      if (e.author != "model:" + name || !e.accepted()) continue;
      ++accepted;
      best = std::max(best, e.score);
    }
    out.add(R"(<tr><td>{}</td><td class="num">{}</td><td class="num">{}</td><td class="num">{}</td><td class="num">{}</td>)", name, row.calls, row.failures,
            accepted, best > 0 ? fmt::format("{:.2f}x", best) : std::string("-"));
    out.add(R"(<td class="num">{}</td><td class="num">{}</td><td class="num">{}</td></tr>)", fmt::format("{}", row.tokens),
            fmt::format("{:.4f}", static_cast<double>(row.nanodollars) * 1e-9), fmt::format("{:.0f}", row.seconds));
  }
  out.raw("</tbody></table>\n</section>\n");
}

}  // namespace hone::face::report
