// The results table: each workload against each opponent, then all workloads together.
#include <algorithm>
#include <cmath>

#include "hone/face/report/sections.h"
#include "hone/face/report/units.h"

namespace hone::face::report {
namespace {

using evaluate::Comparison;

std::string_view comparison_class(Comparison c) {
  return c == Comparison::kFaster ? "faster" : c == Comparison::kSlower ? "slower" : "inconclusive";
}

/// What the whiskers of the table have to hold.
Extent extent_of(const evaluate::Promotion& promotion) {
  Extent extent;
  for (const evaluate::WorkloadResult& w : promotion.workloads)
    for (const evaluate::OpponentResult& o : w.opponents) extent.hold(o.ratio);
  return extent;
}

void write_workload(Html& out, const RunLog& log, const evaluate::WorkloadResult& w, Extent extent) {
  std::string bindings;
  for (const LoggedWorkload& logged : log.workloads)
    if (logged.name == w.workload) bindings = logged.bindings;
  out.add(
      R"(<tbody><tr class="workload"><th colspan="4" scope="rowgroup">{} <span class="dim">{}</span></th>)"
      R"(<td colspan="3"><span class="pair">champion {}</span> )",
      w.workload, bindings, time_ns(w.candidate_ns));
  out.add(R"(<span class="pair">hot {}</span> )", w.hot_ns > 0 ? time_ns(w.hot_ns) : "not measured");
  if (w.sol_fraction > 0)
    out.add(R"(<span class="pair">speed of light {} ({} bound {})</span>)", percent(w.sol_fraction),
            w.bound_by, time_ns(w.bound_ns));
  if (!w.samples_mhz.empty()) {
    const auto [low, high] = std::minmax_element(w.samples_mhz.begin(), w.samples_mhz.end());
    out.add(R"( <span class="pair">clock {:.0f} to {:.0f} MHz</span>)", *low, *high);
  }
  if (!w.bound_note.empty()) out.add(R"( <span class="pair">{}</span>)", w.bound_note);
  out.raw("</td></tr>\n");
  for (const evaluate::OpponentResult& o : w.opponents) {
    const RatioText text = ratio_text(o.ratio);
    out.add(R"(<tr><td class="name">{}</td><td class="call {}">{}</td><td class="ratio"><b>{}×</b></td>)"
            R"(<td class="interval">{}</td>)",
            o.opponent, comparison_class(o.comparison), evaluate::name_of(o.comparison), text.median,
            text.interval);
    out.add(R"(<td class="plotted">{}</td><td class="times">{} <span class="dim">/ {}</span></td>)"
            R"(<td class="samples">{} <span class="dim">/ {}</span></td></tr>)",
            whisker(o.ratio, extent), time_ns(o.opponent_ns), time_ns(o.candidate_ns), o.pairs, o.processes);
    out.raw("\n");
  }
  if (w.opponents.empty()) out.raw(R"(<tr><td colspan="7" class="name dim">no opponent took part</td></tr>)");
  out.raw("</tbody>\n");
}

void write_totals(Html& out, const Headline& head, Extent extent) {
  out.raw(R"(<tbody><tr class="workload"><th colspan="4" scope="rowgroup">all workloads</th>)"
          R"(<td colspan="3">weighted geometric mean, median of ratios, calls</td></tr>)");
  for (const OpponentSummary& o : head.opponents) {
    const RatioText text = ratio_text(o.ratio);
    out.add(R"(<tr><td class="name">{}</td><td class="call dim">{} faster, {} slower, {} inconclusive</td>)"
            R"(<td class="ratio"><b>{}×</b></td><td class="interval">{}</td>)",
            o.name, o.faster, o.slower, o.inconclusive, text.median, text.interval);
    out.add(R"(<td class="plotted">{}</td><td class="times">median {}</td><td class="samples"></td></tr>)",
            whisker(o.ratio, extent), times(o.median));
    out.raw("\n");
  }
  out.raw("</tbody>\n");
}

void write_absent(Html& out, const evaluate::Promotion& promotion) {
  if (promotion.absent.empty()) return;
  out.raw(R"(<h3>Absent opponents</h3><ul class="plain">)");
  for (const std::string& why : promotion.absent) out.add("<li>{}</li>", why);
  out.raw("</ul>\n");
}

/// Promotions other than the champion's, so that refusals and earlier champions show.
void write_other_promotions(Html& out, const Material& from) {
  if (from.log.promotions.size() < 2 && from.head.promotion) return;
  if (from.log.promotions.empty()) return;
  out.raw(
      R"(<h3>All promotions</h3><div class="scroll"><table class="grid"><thead><tr><th>at</th><th>kernel</th>)"
      R"(<th>verdict</th><th>time</th><th>speed of light</th></tr></thead><tbody>)");
  for (const PromotionEvent& event : from.log.promotions) {
    const std::string verdict(evaluate::name_of(event.promotion.verdict.kind));
    std::string times_text, light;
    for (const evaluate::WorkloadResult& w : event.promotion.workloads) {
      times_text += (times_text.empty() ? "" : " \u00B7 ") + time_ns(w.candidate_ns);
      light += (light.empty() ? "" : " \u00B7 ") + percent(w.sol_fraction);
    }
    out.add(
        R"(<tr><td class="pair">{}</td><td>{}</td><td><span class="{}">{}</span> {}</td><td class="pair">{}</td><td class="pair">{}</td></tr>)",
        time_s(event.at), kernel_link(event.kernel), verdict_class(verdict), verdict,
        event.promotion.verdict.reason, times_text, light);
    out.raw("\n");
  }
  out.raw(
      "</tbody></table></div>\n<p class=\"dim\">Times of different promotions come from different sessions "
      "and "
      "are no comparison.</p>\n");
}

}  // namespace

void write_results(Html& out, const Material& from) {
  const PromotionEvent* event = from.head.promotion;
  if (!event && from.log.promotions.empty()) return;
  open_section(
      out, "results", "Results",
      Markup{
          "The champion\u2019s promotion: fresh secret inputs, fresh processes, every timed call checked, "
          "champion and opponent timed in turn. Ratio is time(opponent)\u2009/\u2009time(champion), median "
          "of pairs with its interval; above 1 the champion is faster."});
  if (!event) {
    out.raw("<p>No promotion was accepted, so there is no result to show.</p>");
  } else {
    const Extent extent = extent_of(event->promotion);
    out.raw(
        R"(<table class="results"><thead><tr><th>opponent</th><th>call</th><th class="ratio">ratio</th><th>interval</th>)"
        R"(<th></th><th class="times">time: opponent / champion</th><th class="samples">pairs / processes</th></tr></thead>)");
    for (const evaluate::WorkloadResult& w : event->promotion.workloads)
      write_workload(out, from.log, w, extent);
    if (event->promotion.workloads.size() > 1) write_totals(out, from.head, extent);
    out.raw("</table>\n");
    out.raw(
        "<p class=\"dim\">Times are medians on cold caches. The interval over all workloads is the weighted "
        "geometric mean of the workloads\u2019 ends, which holds even if their errors go together.");
    if (event->complete)
      out.add(" Over repeated calls the output {} bit for bit.",
              event->promotion.bitwise_deterministic ? "repeats" : "does not repeat");
    out.raw("</p>\n");
    write_absent(out, event->promotion);
  }
  write_other_promotions(out, from);
  out.raw("</section>\n");
}

}  // namespace hone::face::report
