// Progress: every evaluation over time or number, refused ones in lanes below, and the patterns.
#include <algorithm>
#include <cmath>
#include <functional>

#include "hone/base/hash.h"
#include "hone/face/report/sections.h"
#include "hone/face/report/svg.h"
#include "hone/face/report/units.h"

namespace hone::face::report {
namespace {

using svg::Scale;

/// Slower than the best by more than this, a kernel is drawn at the chart's lower edge.
constexpr double kSpan = 100;
constexpr int kLaneHeight = 15;

/// The two readings of the horizontal axis. Elements carry the second one in data attributes, which
/// the page's script swaps in.
struct Axis {
  Scale time, number;
  double divisor;  ///< seconds a unit
  std::string_view unit;
};

Axis axis_of(const RunLog& log) {
  double last = 0;
  for (const Evaluation& e : log.evaluations) last = std::max(last, e.at);
  for (const PromotionEvent& p : log.promotions) last = std::max(last, p.at);
  if (!(last > 0)) last = 1;
  const auto count = static_cast<double>(log.evaluations.size());
  const double divisor = last > 3 * 3600 ? 3600 : last > 300 ? 60 : 1;
  // Ticks are round in the unit that is shown.
  return {{Scale::Kind::kLinear, 0, last / divisor * 1.01},
          {Scale::Kind::kLinear, 0, count * 1.01},
          divisor,
          divisor == 1    ? "seconds"
          : divisor == 60 ? "minutes"
                          : "hours"};
}

struct Place {
  std::string time, number;
};

class Chart {
 public:
  explicit Chart(const RunLog& log) : log_(log), axis_(axis_of(log)), score_(score_scale(log)) {
    for (const Evaluation& e : log.evaluations)
      if (std::find(patterns_.begin(), patterns_.end(), e.pattern) == patterns_.end())
        patterns_.push_back(e.pattern);
  }

  void write(Html& out) const;

 private:
  [[nodiscard]] static Scale score_scale(const RunLog& log) {
    double low = 1, high = 1;
    for (const Evaluation& e : log.evaluations) {
      if (!e.accepted() || !(e.score > 0)) continue;
      low = std::min(low, e.score), high = std::max(high, e.score);
    }
    return svg::log_around(std::max(low, high / kSpan), high, 1.15);
  }
  [[nodiscard]] Place place(double at, double number) const {
    return {svg::along(axis_.time, at / axis_.divisor), svg::along(axis_.number, number)};
  }
  [[nodiscard]] Place place(const Evaluation& e) const { return place(e.at, e.n); }
  [[nodiscard]] Place place(double at) const {
    double number = 0;
    for (const Evaluation& e : log_.evaluations)
      if (e.at <= at) number = std::max(number, static_cast<double>(e.n));
    return place(at, number);
  }
  [[nodiscard]] size_t pattern_of(const Evaluation& e) const {
    return static_cast<size_t>(std::find(patterns_.begin(), patterns_.end(), e.pattern) - patterns_.begin());
  }

  [[nodiscard]] std::string tooltip(const Evaluation& e) const;
  void write_promotions(Html& out) const;
  void write_dots(Html& out) const;
  void write_best(Html& out) const;
  void write_lanes(Html& out) const;
  void write_x_axis(Html& out) const;

  const RunLog& log_;
  Axis axis_;
  Scale score_;
  std::vector<std::string> patterns_;
};

std::string Chart::tooltip(const Evaluation& e) const {
  std::string text = fmt::format("#{}  {}", e.n, base::short_hash(e.kernel));
  text += e.accepted() ? fmt::format("\n{}", times(e.score))
                       : fmt::format("\n{}: {}", e.verdict_name(), e.verdict().reason.substr(0, 160));
  if (!e.pattern.empty()) text += "\n" + e.pattern;
  if (!e.action.empty()) text += (e.pattern.empty() ? "\n" : " \u00B7 ") + e.action;
  if (!e.config.empty()) text += "\n" + config_text(e.config);
  return text + "\nat " + time_s(e.at);
}

void Chart::write_promotions(Html& out) const {
  for (const PromotionEvent& p : log_.promotions) {
    const Place x = place(p.at);
    out.add(
        R"(<line class="promoted{4}" x1="{0}" x2="{0}" y1="0" y2="100%" data-x="{1}"><title>promotion of {2}: {3})"
        "</title></line>",
        x.time, x.number, base::short_hash(p.kernel), evaluate::name_of(p.promotion.verdict.kind), p.promotion.verdict.accepted() ? "" : " failed");
  }
}

void Chart::write_dots(Html& out) const {
  out.raw("<g class=\"dots\">");
  for (const Evaluation& e : log_.evaluations) {
    if (!e.accepted()) continue;
    const Place x = place(e);
    out.add(R"(<circle r="{}" cx="{}" cy="{}" data-x="{}" data-p="{}"{}><title>{}</title></circle>)",
            e.kernel == log_.champion ? "6" : "3.5", x.time, svg::up(score_, e.score), x.number,
            pattern_of(e), Markup{e.kernel == log_.champion ? " class=\"champion\"" : ""}, tooltip(e));
  }
  out.raw("</g>\n");
}

/// The best score so far as steps: percentages are not allowed in paths, so lines.
void Chart::write_best(Html& out) const {
  out.raw("<g class=\"best\">");
  const Evaluation* best = nullptr;
  const auto flat = [&](const Place& to) {
    const Place x = place(*best);
    out.add(R"(<line x1="{}" x2="{}" y1="{}" y2="{}" data-x1="{}" data-x2="{}"/>)", x.time, to.time,
            svg::up(score_, best->score), svg::up(score_, best->score), x.number, to.number);
  };
  for (const Evaluation& e : log_.evaluations) {
    if (!e.accepted() || (best && e.score <= best->score)) continue;
    const Place x = place(e);
    if (best) {
      flat(x);
      out.add(R"(<line x1="{0}" x2="{0}" y1="{1}" y2="{2}" data-x="{3}"/>)", x.time,
              svg::up(score_, best->score), svg::up(score_, e.score), x.number);
    }
    best = &e;
  }
  if (best) flat({"100%", "100%"});
  out.raw("</g>\n");
}

/// One lane for each verdict that occurs, most frequent first.
void Chart::write_lanes(Html& out) const {
  std::map<std::string, int> counts;
  for (const Evaluation& e : log_.evaluations)
    if (!e.accepted()) ++counts[e.verdict_name()];
  if (counts.empty()) return;
  std::vector<std::pair<std::string, int>> lanes(counts.begin(), counts.end());
  std::stable_sort(lanes.begin(), lanes.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  out.add(R"(<svg class="area lanes" height="{}" role="img" aria-label="refused candidates">)",
          static_cast<int>(lanes.size()) * kLaneHeight + 4);
  int top = 4;
  for (const auto& [verdict, count] : lanes) {
    out.add(R"(<g class="{}"><text class="lane" x="-8" y="{}" text-anchor="end">{}</text>)",
            verdict_class(verdict), top + 9, verdict);
    for (const Evaluation& e : log_.evaluations) {
      if (e.verdict_name() != verdict) continue;
      const Place x = place(e);
      out.add(R"(<rect x="{}" y="{}" width="2" height="10" data-x="{}" data-p="{}"><title>{}</title></rect>)",
              x.time, top, x.number, pattern_of(e), tooltip(e));
    }
    out.raw("</g>\n");
    top += kLaneHeight;
  }
  out.raw("</svg>\n<p class=\"legend\">");
  for (const auto& [verdict, count] : lanes)
    out.add(R"(<span class="pair"><i class="swatch {}"></i>{} {}</span> )", verdict_class(verdict), count,
            verdict);
  out.raw("</p>\n");
}

void Chart::write_x_axis(Html& out) const {
  out.raw("<g data-axis=\"time\">");
  svg::x_axis(out, axis_.time, 6);
  out.raw("</g><g data-axis=\"number\" hidden=\"\">");
  svg::x_axis(out, axis_.number, 6);
  out.raw("</g>\n");
}

void Chart::write(Html& out) const {
  out.raw(
      R"(<figure class="chart" id="progress-chart"><div class="chartbar"><span>speedup over the first correct )"
      R"(kernel, logarithmic</span><span class="switch" hidden=""><button type="button" data-show="time" )"
      R"(aria-pressed="true">time</button><button type="button" data-show="number" aria-pressed="false">)"
      R"(evaluation</button></span></div>)");
  out.raw(R"(<svg class="area" height="340" role="img" aria-label="score of each evaluation">)");
  write_x_axis(out);
  svg::y_axis(out, score_, 7, "×");
  out.add(R"(<line class="one" x1="0" x2="100%" y1="{0}" y2="{0}"/>)", svg::up(score_, 1));
  write_promotions(out);
  write_best(out);
  write_dots(out);
  out.raw("</svg>\n");
  out.add(R"(<p class="axisname"><span data-axis="time">{} of active time</span>)"
          R"(<span data-axis="number" hidden="">number of the evaluation</span></p>)",
          axis_.unit);
  write_lanes(out);
  out.raw("</figure>\n");
}

struct PatternLine {
  std::string name;
  int evaluated = 0, accepted = 0;
  const Evaluation* best = nullptr;
};

void write_patterns(Html& out, const RunLog& log) {
  std::vector<PatternLine> lines;  // in the order of the chart's data-p
  double most = 0;
  for (const Evaluation& e : log.evaluations) {
    auto it = std::find_if(lines.begin(), lines.end(),
                           [&](const PatternLine& l) { return l.name == e.pattern; });
    if (it == lines.end()) it = lines.insert(lines.end(), {e.pattern, 0, 0, nullptr});
    ++it->evaluated;
    if (!e.accepted()) continue;
    ++it->accepted;
    if (!it->best || e.score > it->best->score) it->best = &e;
    most = std::max(most, e.score);
  }
  out.raw(
      R"(<div class="scroll"><table class="grid patterns"><thead><tr><th>pattern</th><th class="num">evaluated</th>)"
      R"(<th class="num">accepted</th><th class="num">best</th><th class="bar"></th><th class="num">at</th>)"
      "<th>kernel</th></tr></thead><tbody>");
  std::vector<size_t> order(lines.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto score = [&](size_t i) { return lines[i].best ? lines[i].best->score : 0; };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return score(a) > score(b); });
  for (const size_t i : order) {
    const PatternLine& line = lines[i];
    out.add(R"(<tr data-pattern="{}"><td>{}</td><td class="num">{}</td><td class="num">{}</td>)", i,
            line.name.empty() ? "none" : line.name, line.evaluated, line.accepted);
    if (line.best) {
      out.add(
          R"(<td class="num">{}</td><td class="bar"><i style="width:{}"></i></td><td class="num">#{}</td>)"
          "<td>{}</td></tr>",
          times(line.best->score), svg::pc(100 * line.best->score / most), line.best->n,
          kernel_link(line.best->kernel));
    } else {
      out.add(R"(<td class="num">{}</td><td class="bar"></td><td></td><td></td></tr>)", kNone);
    }
    out.raw("\n");
  }
  out.raw("</tbody></table></div>\n");
}

}  // namespace

void write_progress(Html& out, const Material& from) {
  const RunLog& log = from.log;
  if (log.evaluations.empty()) return;
  const int refused = static_cast<int>(log.evaluations.size()) - log.accepted();
  open_section(
      out, "progress", "Progress",
      markup("{} evaluations: {} accepted (dots), {} refused (ticks below). The line is the best score so "
             "far; the large dot is the champion; vertical lines are promotions. Scores come from "
             "screening, which guides the search and confirms nothing.",
             log.evaluations.size(), log.accepted(), refused));
  Chart(log).write(out);
  write_patterns(out, log);
  out.raw("</section>\n");
}

}  // namespace hone::face::report
