// The roofline: what the champion, its opponents and the other accepted kernels reach of what the
// memory and the CPU's multiply-add units allow. The memory roof is the stream twin's bandwidth from the
// champion's promotion, the compute roof the machine's kept peak.
#include <algorithm>
#include <cmath>

#include "hone/base/hash.h"
#include "hone/face/report/sections.h"
#include "hone/face/report/svg.h"
#include "hone/face/report/units.h"

namespace hone::face::report {
namespace {

using evaluate::WorkloadResult;
using svg::Scale;

constexpr size_t kMostPoints = 200;  ///< screened kernels, a workload
/// Least distance of two labels, in percent of the chart's height.
constexpr double kLabelGap = 6;

struct Point {
  enum class Kind { kScreened, kOpponent, kChampion };
  Kind kind;
  double ns = 0;
  std::string label, title;
};

std::vector<Point> points_of(const RunLog& log, const WorkloadResult& w) {
  std::vector<Point> points;
  const auto index = std::find_if(log.workloads.begin(), log.workloads.end(),
                                  [&](const LoggedWorkload& l) { return l.name == w.workload; }) -
                     log.workloads.begin();
  std::vector<const Evaluation*> screened;
  for (const Evaluation& e : log.evaluations)
    if (e.accepted() && e.kernel != log.champion && static_cast<size_t>(index) < e.screening.median_ns.size() &&
        e.screening.median_ns[static_cast<size_t>(index)] > 0)
      screened.push_back(&e);
  std::stable_sort(screened.begin(), screened.end(),
                   [](const Evaluation* a, const Evaluation* b) { return a->score > b->score; });
  if (screened.size() > kMostPoints) screened.resize(kMostPoints);
  for (const Evaluation* e : screened) {
    const double ns = e->screening.median_ns[static_cast<size_t>(index)];
    points.push_back({Point::Kind::kScreened, ns, "",
                      fmt::format("#{}  {}\n{} in screening\n{}", e->n, base::short_hash(e->kernel),
                                  time_ns(ns), config_text(e->config))});
  }
  for (const evaluate::OpponentResult& o : w.opponents)
    if (o.opponent_ns > 0)
      points.push_back({Point::Kind::kOpponent, o.opponent_ns, o.opponent,
                        fmt::format("{}\n{}", o.opponent, time_ns(o.opponent_ns))});
  points.push_back({Point::Kind::kChampion, w.candidate_ns, "champion " + percent(w.sol_fraction),
                    fmt::format("champion {}\n{}\n{} of the bound, paired", base::short_hash(log.champion),
                                time_ns(w.candidate_ns), percent(w.sol_fraction))});
  return points;
}

std::string_view class_of(Point::Kind kind) {
  return kind == Point::Kind::kChampion   ? "champion"
         : kind == Point::Kind::kOpponent ? "opponent"
                                          : "screened";
}

/// A column of points at one place of the x axis, labelled to the right without overlap.
void write_points(Html& out, const std::vector<Point>& points, const std::string& x, const Scale& y,
                  double work) {
  struct Label {
    double at, wanted;
    const Point* point;
  };
  std::vector<Label> labels;
  for (const Point& p : points) {
    const double at = 100 - y.at(work / p.ns);
    out.add(R"(<circle class="{}" cx="{}" cy="{}" r="{}"><title>{}</title></circle>)", class_of(p.kind), x,
            svg::pc(at),
            p.kind == Point::Kind::kChampion   ? 6
            : p.kind == Point::Kind::kOpponent ? 4.5
                                               : 3.0,
            p.title);
    if (!p.label.empty()) labels.push_back({at, at, &p});
  }
  std::stable_sort(labels.begin(), labels.end(),
                   [](const Label& a, const Label& b) { return a.wanted < b.wanted; });
  for (size_t i = 1; i < labels.size(); ++i)
    labels[i].at = std::max(labels[i].at, labels[i - 1].at + kLabelGap);
  for (const Label& label : labels)
    out.add(R"(<text class="label {}" x="{}" y="{}" dx="11" dy=".32em">{}</text>)",
            class_of(label.point->kind), x, svg::pc(label.at), label.point->label);
}

/// Values that the y axis has to hold, for `work` bytes or operations a call.
Scale y_scale(const std::vector<Point>& points, double work, double roof) {
  double low = roof, high = roof;
  for (const Point& p : points) low = std::min(low, work / p.ns), high = std::max(high, work / p.ns);
  return svg::log_around(std::max(low, high / 1000), high, 1.5);
}

/// Operations a byte against operations a nanosecond (GFLOP/s).
void write_panel(Html& out, const RunLog& log, const WorkloadResult& w) {
  const double intensity = w.flops / w.bytes;
  const double roof = w.flops / w.bound_ns;  // at this intensity
  const double memory = w.memory_ns > 0 ? w.flops / w.memory_ns : 0;
  const double compute = w.compute_ns > 0 ? w.flops / w.compute_ns : 0;
  const std::vector<Point> points = points_of(log, w);
  const Scale y = y_scale(points, w.flops, std::max({roof, memory, compute}));
  const Scale x = svg::log_around(intensity / 3, intensity * 6, 1);
  out.add(
      R"(<figure class="chart roof"><h3>{} <span class="dim">{} moved at least, {} operations a byte</span></h3>)",
      w.workload, bytes_moved(w.bytes), three(intensity));
  out.raw(
      R"(<p class="chartbar">GFLOP/s</p><svg class="area" height="250" role="img" aria-label="roofline">)");
  svg::x_axis(out, x, 4);
  svg::y_axis(out, y, 5, "");
  if (memory > 0) {
    const double slope = memory / intensity;
    const double from = std::max(x.low(), y.low() / slope), to = std::min(x.high(), y.high() / slope);
    out.add(R"(<line class="memory" x1="{}" y1="{}" x2="{}" y2="{}"/>)", svg::along(x, from),
            svg::up(y, from * slope), svg::along(x, to), svg::up(y, to * slope));
    out.add(R"(<text class="label rooftext" x="{}" y="{}" dx="-10" dy="-6" text-anchor="end">{}</text>)",
            svg::along(x, intensity), svg::up(y, memory), bandwidth(w.bytes / w.memory_ns));
  }
  if (compute > 0) {
    out.add(R"(<line class="memory" x1="0" x2="100%" y1="{0}" y2="{0}"/>)", svg::up(y, compute));
    out.add(R"(<text class="label rooftext" x="4" y="{}" dy="-6">{}</text>)", svg::up(y, compute),
            flop_rate(compute));
  }
  out.add(R"(<line class="drop" x1="{0}" x2="{0}" y1="{1}" y2="{2}"/>)", svg::along(x, intensity),
          svg::up(y, roof), svg::up(y, w.flops / w.candidate_ns));
  write_points(out, points, svg::along(x, intensity), y, w.flops);
  out.raw("</svg><p class=\"axisname\">operations a byte</p></figure>\n");
}

/// Without operations there is no intensity: bandwidth over the bytes of each workload.
void write_bandwidths(Html& out, const RunLog& log, const std::vector<const WorkloadResult*>& workloads) {
  double least = workloads.front()->bytes, most = least, roof = 0;
  std::vector<Point> all;
  std::vector<std::vector<Point>> columns;
  for (const WorkloadResult* w : workloads) {
    least = std::min(least, w->bytes), most = std::max(most, w->bytes);
    roof = std::max(roof, w->bytes / w->bound_ns);
    columns.push_back(points_of(log, *w));
    for (Point p : columns.back()) {
      p.ns /= w->bytes;  // a byte
      all.push_back(std::move(p));
    }
  }
  const Scale x = svg::log_around(least, most, 4), y = y_scale(all, 1, roof);
  out.raw(R"(<figure class="chart roof wide"><p class="chartbar">GB/s</p>)"
          R"(<svg class="area" height="280" role="img" aria-label="bandwidth reached">)");
  svg::x_axis(out, x, 5, 1e6);
  svg::y_axis(out, y, 5, "");
  for (size_t i = 0; i < workloads.size(); ++i) {
    const WorkloadResult& w = *workloads[i];
    const double rate = w.bytes / w.bound_ns;
    out.add(R"(<line class="memory" x1="{}" x2="{}" y1="{}" y2="{}"/>)", svg::along(x, w.bytes / 1.5),
            svg::along(x, w.bytes * 1.5), svg::up(y, rate), svg::up(y, rate));
    out.add(R"(<text class="label rooftext" x="{}" y="{}" dy="-7" text-anchor="middle">{} {}</text>)",
            svg::along(x, w.bytes), svg::up(y, rate), w.workload, bandwidth(rate));
    write_points(out, columns[i], svg::along(x, w.bytes), y, w.bytes);
  }
  out.raw("</svg><p class=\"axisname\">least megabytes moved</p></figure>\n");
}

}  // namespace

void write_roofline(Html& out, const Material& from) {
  if (!from.head.promotion) return;
  std::vector<const WorkloadResult*> counting, moving;
  bool multiplying = false;
  for (const WorkloadResult& w : from.head.promotion->promotion.workloads) {
    if (!(w.bytes > 0) || !(w.bound_ns > 0) || !(w.candidate_ns > 0)) continue;
    multiplying = multiplying || w.compute_ns > 0;
    (w.flops > 0 ? counting : moving).push_back(&w);
  }
  if (counting.empty() && moving.empty()) return;
  open_section(
      out, "roofline", "Roofline",
      markup(
          "{} Large dot and rings were measured in the champion\u2019s promotion; small dots are screening "
          "times of other sessions, and only hint at where those kernels lie. Positions are median times; "
          "the "
          "champion\u2019s fraction is paired, as in the results.",
          multiplying
              ? "The slope is the bandwidth that the task\u2019s stream twin (reads each input once, writes "
                "each output once, computes nothing) reached in the champion\u2019s promotion; the level line "
                "is the machine\u2019s measured peak of multiply-adds, for the least of them that the task takes."
              : "The roof is the bandwidth that the task\u2019s stream twin (reads each input once, writes "
                "each output once, computes nothing) reached in the champion\u2019s promotion. No compute "
                "peak is recorded (the task multiplies no matrices), so only the memory roof is drawn."));
  out.raw("<div class=\"panels\">");
  for (const WorkloadResult* w : counting) write_panel(out, from.log, *w);
  if (!moving.empty()) write_bandwidths(out, from.log, moving);
  out.raw("</div></section>\n");
}

}  // namespace hone::face::report
