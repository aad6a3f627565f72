#include "hone/face/bench/page.h"

#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include "hone/face/bench/summary.h"
#include "hone/face/report/document.h"
#include "hone/face/report/sections.h"
#include "hone/face/report/svg.h"
#include "hone/face/report/units.h"

namespace hone::face::bench {
namespace {

using evaluate::Comparison;
using report::Html;
using report::Markup;
using report::markup;
namespace svg = report::svg;

std::string_view class_of(Comparison c) {
  return c == Comparison::kFaster ? "faster" : c == Comparison::kSlower ? "slower" : "inconclusive";
}

Markup call_markup(const Row& row) {
  if (!row.accepted()) return markup(R"(<span class="{}">{}</span>)", report::verdict_class(row.verdict), row.verdict);
  if (row.speedups.empty()) return Markup{"accepted"};
  return markup(R"(<span class="{}">{}</span>)", class_of(row.comparison), evaluate::name_of(row.comparison));
}

void write_figures(Html& out, const Summary& s) {
  out.raw(R"(<div class="figures">)");
  const auto figure = [&](const std::string& label, const std::string& value, const std::string& note) {
    out.add(R"(<div class="figure"><h3>{}</h3><p class="value">{}</p><p class="note">{}</p></div>)", label, value, note);
    out.raw("\n");
  };
  figure("accepted", fmt::format("{} of {}", s.accepted, s.total), fmt::format("some kernel compiled in {}", report::percent(s.compiled_fraction)));
  for (const auto& [name, r] : s.ratios) {
    std::string note = fmt::format("geometric mean of {}; median {}", r.rows, report::times(r.median));
    if (tells_dispatch(s, name)) note += fmt::format("; {} without dispatch", report::times(s.ratios_without_dispatch.at(name).geomean));
    figure(name == kBest ? "against the strongest of each row" : "against " + name, report::times(r.geomean), note);
  }
  out.raw("</div>\n");
  if (const std::string line = dispatch_line(s); !line.empty()) out.add("<p>{}</p>\n", line);
  out.add("<p>{}</p>\n", plain_line(s));
}

void write_head(Html& out, const State& state, const Summary& s) {
  out.add(R"(<h1 id="top">{}</h1>)", suite_name(state.asked));
  if (!state.finished())
    out.add(R"(<p class="notice">Not finished: {} of {} tasks are done. <code>hone bench --resume {}</code> goes on.</p>)", s.total,
            state.entries.size(), state.id);
  out.add(R"(<p class="statement">On {}: {} of {} tasks have an accepted kernel. Against the strongest opponent of each, <b>{} are faster</b>, )",
          state.conditions.place.device, s.accepted, s.total, s.calls.faster);
  out.add("{} slower, {} inconclusive.</p>\n", s.calls.slower, s.calls.inconclusive);
  write_figures(out, s);
}

/// Every accepted row against its strongest opponent, the worst left.
void write_chart(Html& out, const std::vector<Row>& rows) {
  std::vector<const Row*> sorted;
  for (const Row& row : rows)
    if (row.accepted() && strongest(row)) sorted.push_back(&row);
  if (sorted.empty()) return;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Row* a, const Row* b) { return strongest(*a)->ratio.median < strongest(*b)->ratio.median; });
  report::Extent extent;
  for (const Row* row : sorted) extent.hold(strongest(*row)->ratio);
  const svg::Scale y = svg::log_around(extent.low, extent.high, 1.1);
  report::open_section(out, "ratios", "Ratios", Markup{"Each task against its strongest opponent, sorted; above the line the kernel is faster."});
  out.raw(R"(<figure class="chart ratios"><svg class="area" height="280" role="img" aria-label="ratios, sorted">)");
  svg::y_axis(out, y, 6, "\u00D7");
  out.add(R"(<line class="one" x1="0" x2="100%" y1="{0}" y2="{0}"/>)", svg::up(y, 1));
  for (size_t i = 0; i < sorted.size(); ++i) {
    const Speedup& s = *strongest(*sorted[i]);
    const std::string x = svg::pc(100 * (static_cast<double>(i) + 0.5) / static_cast<double>(sorted.size()));
    const report::RatioText text = report::ratio_text(s.ratio);
    out.add(R"(<g class="{0}"><line class="range" x1="{1}" x2="{1}" y1="{2}" y2="{3}"/>)", class_of(s.comparison), x, svg::up(y, s.ratio.low),
            svg::up(y, s.ratio.high));
    out.add(R"(<circle cx="{}" cy="{}" r="3.5"><title>{}: {}× {} against {}</title></circle></g>)", x, svg::up(y, s.ratio.median),
            sorted[i]->task, text.median, text.interval, s.opponent);
    out.raw("\n");
  }
  out.raw("</svg></figure></section>\n");
}

void write_row(Html& out, const Row& row, const std::vector<std::string>& opponents, report::Extent extent) {
  out.add(R"(<tr><td class="task">{}</td><td>{}</td>)", row.task, call_markup(row));
  if (!row.accepted()) {
    out.add(R"(<td class="why" colspan="{}">{}</td><td class="num">{}</td></tr>)", opponents.size() + 3, row.reason, report::time_s(row.seconds));
    out.raw("\n");
    return;
  }
  for (const std::string& name : opponents) {
    if (const Speedup* s = row.against(name)) {
      const report::RatioText text = report::ratio_text(s->ratio);
      out.add(R"(<td class="ratio"><b>{}×</b><span class="interval">{}</span>)", text.median, text.interval);
      if (s->dispatch_ns > 0) out.add(R"( <span class="dim">{} without dispatch</span>)", report::times(s->without_dispatch().median));
      out.raw("</td>");
    } else {
      out.add(R"(<td class="ratio">{}</td>)", report::kNone);
    }
  }
  const Speedup* least = strongest(row);
  out.add(R"(<td class="plotted">{}</td>)", least ? report::whisker(least->ratio, extent) : Markup{});
  out.add(R"(<td class="num">{}</td><td>{}{}</td><td class="num">{}</td></tr>)", report::percent(row.sol_fraction), row.pattern,
          Markup{row.recalled ? R"( <span class="dim">recalled</span>)" : ""}, report::time_s(row.seconds));
  out.raw("\n");
}

void write_rows(Html& out, const std::vector<Row>& rows) {
  if (rows.empty()) return;
  const std::vector<std::string> opponents = opponents_of(rows);
  report::Extent extent;
  for (const Row& row : rows)
    if (const Speedup* s = strongest(row); row.accepted() && s) extent.hold(s->ratio);
  report::open_section(out, "rows", "Tasks", markup("{}", kHowToRead));
  out.raw(R"(<div class="scroll"><table class="grid bench"><thead><tr><th>task</th><th>call</th>)");
  for (const std::string& name : opponents) out.add(R"(<th class="ratio">{}</th>)", name);
  out.raw(R"(<th>strongest</th><th class="num">light</th><th>pattern</th><th class="num">took</th></tr></thead><tbody>)");
  for (const Row& row : rows) write_row(out, row, opponents, extent);
  out.raw("</tbody></table></div></section>\n");
}

void write_losses(Html& out, const std::vector<Row>& rows) {
  const std::vector<Row> lost = losses(rows);
  if (lost.empty()) return;
  report::open_section(out, "losses", "Losses", Markup{"Accepted kernels that are no faster than their strongest opponent, the worst first."});
  out.raw(R"(<ul class="plain">)");
  for (const Row& row : lost) {
    const Speedup& by = *strongest(row);
    const report::RatioText text = report::ratio_text(by.ratio);
    out.add(R"(<li><b>{}×</b> <span class="dim">{}</span> {} against {}, <span class="{}">{}</span></li>)", text.median, text.interval, row.task,
            by.opponent, class_of(by.comparison), evaluate::name_of(by.comparison));
    out.raw("\n");
  }
  out.raw("</ul></section>\n");
}

void write_list(Html& out, std::string_view id, std::string_view title, const std::vector<std::pair<std::string, std::string>>& items) {
  if (items.empty()) return;
  report::open_section(out, id, title, Markup{});
  out.raw(R"(<ul class="plain">)");
  for (const auto& [what, why] : items) out.add("<li>{}: <span class=\"dim\">{}</span></li>\n", what, why);
  out.raw("</ul></section>\n");
}

void write_failures(Html& out, const std::vector<Row>& rows) {
  std::vector<std::pair<std::string, std::string>> items;
  for (const Row& row : failures(rows)) items.emplace_back(row.task, row.verdict + ": " + row.reason);
  write_list(out, "failures", "Failures", items);
  items.clear();
  for (const auto& [why, tasks] : absences(rows)) items.emplace_back(why, fmt::format("{}", fmt::join(tasks, ", ")));
  write_list(out, "absent", "Absent opponents", items);
}

void write_conditions(Html& out, const State& state) {
  report::open_section(out, "conditions", "Conditions", Markup{});
  report::write_facts(out, conditions_table(state));
  out.raw("<h3>Again</h3>");
  report::write_commands(out, fmt::format("{}\n# this table\nhone bench --resume {}\n# one row in full\nhone report RUN", state.command, state.id));
  out.raw(R"(<h3>Runs</h3><div class="scroll"><table class="grid narrow"><tbody>)");
  for (const Row& row : state.rows())
    if (!row.run.empty()) out.add("<tr><td>{}</td><td><code>hone report {}</code></td></tr>\n", row.task, row.run);
  out.raw("</tbody></table></div></section>\n");
}

}  // namespace

std::string html_page(const State& state) {
  const std::vector<Row> rows = state.rows();
  Html sections;
  write_head(sections, state, summary_of(rows));
  write_chart(sections, rows);
  write_rows(sections, rows);
  write_losses(sections, rows);
  write_failures(sections, rows);
  write_conditions(sections, state);
  constexpr std::pair<std::string_view, std::string_view> kLinks[] = {{"ratios", "Ratios"},     {"rows", "Tasks"},        {"losses", "Losses"},
                                                                     {"failures", "Failures"}, {"conditions", "Conditions"}};
  const std::string name = suite_name(state.asked);
  return report::document(fmt::format("{}: hone bench {}", name, state.id), name, kLinks, sections);
}

}  // namespace hone::face::bench
