// The champion's diagnosis, and how the run's predictions came out.
#include <algorithm>

#include <fmt/format.h>

#include "hone/base/hash.h"
#include "hone/diagnose/rules.h"
#include "hone/face/report/sections.h"
#include "hone/face/report/svg.h"
#include "hone/face/report/units.h"
#include "hone/search/advice.h"

namespace hone::face::report {
namespace {

constexpr size_t kMostActions = 6;
constexpr double kMost = 1e4;  ///< of a gain, in the chart

struct Prediction {
  const Evaluation* evaluation;
  double predicted, gained;  ///< over the parent; gained: 0 when refused
};

std::vector<Prediction> predictions_of(const RunLog& log) {
  std::vector<Prediction> all;
  for (const Evaluation& e : log.evaluations) {
    if (e.predicted.value_or(0) <= 0) continue;
    const Evaluation* const parent = log.find(e.parent);
    // A log may hold anything; a chart cannot.
    if (parent && parent->score > 0) all.push_back({&e, std::clamp(*e.predicted, 1.0, kMost), std::min(e.score / parent->score, kMost)});
  }
  return all;
}

void write_champion(Html& out, const engine::event::Diagnosed& event) {
  const diagnose::Diagnosis& d = *event.diagnosis;
  out.add("<h3>The champion: {} <span class=\"dim\">on {}</span></h3><p>{}</p>\n", d.bottleneck, event.workload, d.says);
  if (!d.evidence.empty()) {
    out.raw(
        R"(<table class="grid narrow"><thead><tr><th>evidence</th><th>value</th><th>origin</th><th>what it is</th></tr></thead><tbody>)");
    for (const diagnose::Metric& m : d.evidence)
      out.add(R"(<tr><td>{}</td><td class="num">{}</td><td>{}</td><td>{}</td></tr>)", m.name, three(m.value),
              std::string(diagnose::name_of(m.origin)), m.about);
    out.raw("</tbody></table>\n");
  }
  if (d.actions.empty()) return;
  out.raw(
      R"(<table class="grid narrow"><thead><tr><th>worth trying next</th><th>predicted</th><th>cause</th><th>reckoning</th></tr></thead><tbody>)");
  for (size_t i = 0; i < std::min(kMostActions, d.actions.size()); ++i)
    out.add(R"(<tr><td>{}</td><td class="num">{}</td><td>{}</td><td>{}</td></tr>)", d.actions[i].to_string(),
            fmt::format("{:.2f}x", d.actions[i].gain), d.actions[i].cause, d.actions[i].why);
  out.raw("</tbody></table>\n");
}

void write_plot(Html& out, const std::vector<Prediction>& predictions) {
  double low = 1, high = 1.05;
  for (const Prediction& p : predictions) {
    high = std::max({high, p.predicted, p.gained});
    if (p.gained > 0) low = std::min(low, p.gained);
  }
  const svg::Scale x = svg::log_around(1, high, 1.05), y = svg::log_around(std::max(low, 0.2), high, 1.05);
  out.raw(R"(<figure class="chart"><p class="chartbar">gained against predicted; the line is a prediction come true</p>)"
          R"(<svg class="area" height="260" role="img" aria-label="gain of each prediction">)");
  svg::x_axis(out, x, 5);
  svg::y_axis(out, y, 5, "x");
  out.add(R"(<line class="memory" x1="{}" y1="{}" x2="{}" y2="{}"/>)", svg::along(x, 1), svg::up(y, 1), svg::along(x, high),
          svg::up(y, high));
  for (const Prediction& p : predictions)
    out.add(R"(<circle class="screened" cx="{}" cy="{}" r="4"><title>{}</title></circle>)", svg::along(x, p.predicted),
            svg::up(y, std::max(p.gained, y.low())),
            fmt::format("#{} {}\npredicted {:.2f}x, {}", p.evaluation->n, p.evaluation->action, p.predicted,
                        p.gained > 0 ? fmt::format("gained {:.2f}x", p.gained) : "refused"));
  out.raw("</svg></figure>\n");
}

}  // namespace

void write_diagnosis(Html& out, const Material& from) {
  const auto champion = std::find_if(from.log.diagnoses.rbegin(), from.log.diagnoses.rend(), [&](const engine::event::Diagnosed& e) {
    return e.kernel == from.log.champion && e.diagnosis && !e.diagnosis->bottleneck.empty();
  });
  const std::vector<Prediction> predictions = predictions_of(from.log);
  if (champion == from.log.diagnoses.rend() && predictions.empty()) return;
  const auto held = std::count_if(predictions.begin(), predictions.end(),
                                  [](const Prediction& p) { return search::held(p.predicted, p.gained); });
  open_section(out, "diagnosis", "Diagnosis",
               markup("What holds the champion back, and how the {} predictions of the search came out: {} gained at least a third of what "
                      "was predicted.",
                      predictions.size(), held));
  if (champion != from.log.diagnoses.rend()) write_champion(out, *champion);
  if (!predictions.empty()) {
    write_plot(out, predictions);
    out.raw(
        R"(<table class="grid narrow"><thead><tr><th>#</th><th>action</th><th>cause</th><th>predicted</th><th>gained</th></tr></thead><tbody>)");
    for (const Prediction& p : predictions)
      out.add(R"(<tr><td class="num">{}</td><td>{}</td><td>{}</td><td class="num">{}</td><td class="num">{}</td></tr>)",
              p.evaluation->n, p.evaluation->action, p.evaluation->cause.value_or(""), fmt::format("{:.2f}x", p.predicted),
              p.gained > 0 ? fmt::format("{:.2f}x", p.gained) : std::string("refused"));
    out.raw("</tbody></table>\n");
  }
  out.raw("</section>\n");
}

}  // namespace hone::face::report
