// The head: what was asked, what came out in a sentence and four figures, and the title block.
#include <algorithm>
#include <cmath>

#include "hone/base/hash.h"
#include "hone/face/report/sections.h"
#include "hone/face/report/svg.h"
#include "hone/face/report/units.h"
#include "hone/task/task.h"

namespace hone::face::report {
namespace {

void write_status(Html& out, const RunLog& log) {
  if (log.finished.empty()) {
    out.add(
        R"(<p class="notice">This run has not finished: it is recorded as <b>{}</b>, and its log ends at {} of )"
        R"(active time. What follows is the state so far. <code>hone resume {}</code> goes on from here.</p>)",
        log.info.status, time_s(log.seconds), log.info.id);
  }
  if (log.unread > 0)
    out.add(R"(<p class="notice">{} of the run's events could not be read and are left out.</p>)",
            log.unread);
  for (const auto& [kind, count] : log.unknown)
    out.add(
        R"(<p class="notice">{} events of kind <code>{}</code> are left out: this version of hone does not )"
        R"(know them.</p>)",
        count, kind);
}

void write_unconfirmed(Html& out, const RunLog& log) {
  out.raw(R"(<p class="statement"><b>No champion.</b> )");
  if (log.evaluations.empty()) {
    out.raw("Nothing has been evaluated.</p>\n");
  } else if (const Evaluation* best = log.best()) {
    out.add(
        "Nothing is confirmed by a promotion. The best kernel in screening, {}, ran at {} the speed of the "
        "first correct kernel (evaluation {} of {}). Screening is a quick look: it says nothing of any "
        "opponent.</p>\n",
        kernel_link(best->kernel), times(best->score), best->n, log.evaluations.size());
  } else {
    out.add("None of the {} evaluated kernels was accepted; <a href=\"#refused\">the reasons</a>.</p>\n",
            log.evaluations.size());
  }
}

/// Where the calls were made: " on all 3 workloads", ": FASTER on 2, INCONCLUSIVE on 1 of 3 workloads".
std::string calls(const OpponentSummary& o, size_t workloads) {
  const bool everywhere = static_cast<size_t>(o.rows) == workloads;
  const std::string all = workloads == 1   ? ""
                          : workloads == 2 ? " on both workloads"
                                           : fmt::format(" on all {} workloads", workloads);
  if (everywhere && (o.faster == o.rows || o.slower == o.rows)) return all;
  if (everywhere && o.inconclusive == o.rows) return ": INCONCLUSIVE" + all;
  std::string text;
  for (const auto& [call, count] :
       {std::pair("FASTER", o.faster), {"SLOWER", o.slower}, {"INCONCLUSIVE", o.inconclusive}})
    if (count > 0) text += fmt::format("{}{} on {}", text.empty() ? ": " : ", ", call, count);
  return text + fmt::format(" of {} workloads", workloads);
}

void write_statement(Html& out, const Material& from) {
  const Headline& head = from.head;
  const RunLog& log = from.log;
  if (!head.promotion) return write_unconfirmed(out, log);

  out.add(R"(<p class="statement">Champion {} )", kernel_link(log.champion));
  const size_t workloads = head.promotion->promotion.workloads.size();
  if (head.opponents.empty()) {
    out.raw("is confirmed, but no opponent could take part");
  } else {
    const OpponentSummary& o = head.opponents.front();
    out.add(R"(is <b{}>{} {}</b> <span class="interval">{}</span>)",
            Markup{o.faster == o.rows ? "" : " class=\"mixed\""}, comparison_words(o), o.name,
            ratio_text(o.ratio).interval);
    out.raw(calls(o, workloads));
  }
  if (head.sol_fraction > 0) out.add(", at {} of the speed of light{}", percent(head.sol_fraction), head.sol_fraction > 1 ? ", beyond a bound that was measured twice" : "");
  out.raw(". ");
  if (const auto& a = head.accuracy)
    out.add(
        "Where its accuracy comes closest to the bound, the scaled error is <span class=\"nobr\">{}</span>, "
        "the "
        "anchor\u2019s <span class=\"nobr\">{}</span>; <span class=\"nobr\">{}</span> is allowed. ",
        three(a->candidate), three(a->anchor), three(a->bound));
  if (head.gain > 0) out.add("It runs at {} the speed of the first correct kernel. ", times(head.gain));
  if (const Evaluation* e = log.find(log.champion))
    out.add("Found as evaluation {} of {}.", e->n, log.evaluations.size());
  out.raw("</p>\n");
}

struct Figure {
  std::string label, value;
  Markup plot, note;
};

void write_figure(Html& out, const Figure& figure) {
  out.add(R"(<div class="figure"><h3>{}</h3><p class="value">{}</p>{}<p class="note">{}</p></div>)",
          figure.label, figure.value, figure.plot, figure.note);
  out.raw("\n");
}

/// A whisker for each workload, on one scale, with 1 marked.
Figure opponent_figure(const Headline& head) {
  const OpponentSummary& o = head.opponents.front();
  Extent extent;
  Html rows;
  int row = 0;
  for (const bool draw : {false, true}) {
    for (const evaluate::WorkloadResult& w : head.promotion->promotion.workloads) {
      for (const evaluate::OpponentResult& r : w.opponents) {
        if (r.opponent != o.name || row == 5) continue;
        if (draw) {
          rows.raw(whisker(r.ratio, extent).html);
          ++row;
        } else {
          extent.hold(r.ratio);
        }
      }
    }
  }
  return {"against " + o.name, ratio_text(o.ratio).median + "×",
          markup(R"(<div class="plot whiskers">{}</div>)", std::move(rows).markup()),
          markup("interval {}; a dot for each workload, the line marks 1×", ratio_text(o.ratio).interval)};
}

Figure light_figure(const Headline& head) {
  Html plot;
  plot.add(R"(<svg class="plot light" aria-hidden="true"><rect class="all" width="100%" y="5" height="10"/>)"
           R"(<rect class="part" width="{}" y="5" height="10"/>)",
           svg::pc(100 * std::clamp(head.sol_fraction, 0.0, 1.0)));
  std::string bound_by;
  for (const evaluate::WorkloadResult& w : head.promotion->promotion.workloads) {
    plot.add(R"(<line x1="{0}" x2="{0}" y1="1" y2="19"/>)",
             svg::pc(100 * std::clamp(w.sol_fraction, 0.0, 1.0)));
    if (bound_by.find(w.bound_by) == std::string::npos)
      bound_by += (bound_by.empty() ? "" : ", ") + w.bound_by;
  }
  plot.raw("</svg>");
  return {"speed of light", percent(head.sol_fraction), std::move(plot).markup(),
          markup("bound by {}; a line for each workload", bound_by)};
}

Figure accuracy_figure(const evaluate::Accuracy& a) {
  const double least = std::max(
      std::min({a.candidate > 0 ? a.candidate : a.bound, a.anchor > 0 ? a.anchor : a.bound, a.bound}),
      a.bound * 1e-4);
  const svg::Scale scale = svg::log_around(least, std::max(a.bound, a.candidate), 1.6);
  Html plot;
  plot.raw(
      R"(<svg class="plot accuracy" aria-hidden="true"><line class="axis" x1="0" x2="100%" y1="10" y2="10"/>)");
  plot.add(R"(<rect class="beyond" x="{}" width="{}" y="3" height="14"/>)", svg::along(scale, a.bound),
           svg::pc(100 - scale.at(a.bound)));
  plot.add(R"(<line class="anchor" x1="{0}" x2="{0}" y1="2" y2="18"/>)", svg::along(scale, a.anchor));
  plot.add(R"(<circle cx="{}" cy="10" r="4.5"/></svg>)", svg::along(scale, a.candidate));
  return {"scaled error", three(a.candidate), std::move(plot).markup(),
          markup("anchor {} (line), bound {} (shaded beyond), where it is closest: {}, {} inputs, {}",
                 three(a.anchor), three(a.bound), a.output, a.family, a.shape)};
}

/// Best so far over the evaluations.
Figure gain_figure(const RunLog& log, double gain) {
  const svg::Scale y = svg::log_around(1, std::max(gain, 1.01), 1.0);
  const auto count = static_cast<double>(std::max<size_t>(log.evaluations.size(), 2));
  Html plot;
  plot.raw(
      R"(<svg class="plot spark" aria-hidden="true"><line class="one" x1="0" x2="100%" y1="100%" y2="100%"/>)");
  double best = 0, from = 0;
  const auto step = [&](double to) {
    if (best > 0)
      plot.add(R"(<line x1="{}" x2="{}" y1="{}" y2="{}"/>)", svg::pc(from), svg::pc(to), svg::up(y, best),
               svg::up(y, best));
  };
  for (size_t i = 0; i < log.evaluations.size(); ++i) {
    const Evaluation& e = log.evaluations[i];
    if (!e.accepted() || e.score <= best) continue;
    const double x = 100 * static_cast<double>(i) / (count - 1);
    step(x);
    if (best > 0)
      plot.add(R"(<line x1="{0}" x2="{0}" y1="{1}" y2="{2}"/>)", svg::pc(x), svg::up(y, best),
               svg::up(y, e.score));
    best = e.score, from = x;
  }
  step(100);
  plot.raw("</svg>");
  return {"speed over the first correct kernel", times(gain), std::move(plot).markup(),
          markup("best so far over {} evaluations, {}", log.evaluations.size(), time_s(log.seconds))};
}

void write_figures(Html& out, const Material& from) {
  const Headline& head = from.head;
  out.raw(R"(<div class="figures">)");
  if (!head.opponents.empty()) write_figure(out, opponent_figure(head));
  if (head.promotion && head.sol_fraction > 0) write_figure(out, light_figure(head));
  if (const auto& a = head.accuracy; a && a->bound > 0) write_figure(out, accuracy_figure(*a));
  const Evaluation* best = from.log.best();
  const double gain = head.gain > 0 ? head.gain : best ? best->score : 0;
  if (gain > 0) write_figure(out, gain_figure(from.log, gain));
  out.raw("</div>\n");
}

/// The computation as the user wrote it; the task file as it is where it does not parse here.
void write_computation(Html& out, const RunLog& log) {
  out.raw(R"(<div class="computation"><h2>Computation</h2>)");
  const auto task = task::parse_task(log.info.task_toml, "task");
  if (!task) {
    out.add(R"(<pre class="math">{}</pre>)", log.info.task_toml);
  } else {
    std::string_view compute = task->compute;
    while (compute.starts_with('\n')) compute.remove_prefix(1);
    while (compute.ends_with('\n')) compute.remove_suffix(1);
    out.add(R"(<pre class="math">{}</pre>)", compute);
    out.raw(R"(<table class="types"><tbody>)");
    for (const task::InputSpec& input : task->inputs)
      out.add(R"(<tr><th scope="row">{}</th><td>{}</td><td class="dim">input</td></tr>)", input.name,
              input.type.to_string());
    for (const auto& [name, type] : task->outputs)
      out.add(R"(<tr><th scope="row">{}</th><td>{}</td><td class="dim">output</td></tr>)", name,
              type.to_string());
    out.raw("</tbody></table>");
  }
  if (!log.workloads.empty()) {
    out.raw(
        R"(<table class="types"><thead><tr><th>workload</th><th>shape</th><th>weight</th></tr></thead><tbody>)");
    for (const LoggedWorkload& w : log.workloads)
      out.add(R"(<tr><th scope="row">{}</th><td>{}</td><td>{}</td></tr>)", w.name, w.bindings,
              fmt::format("{:.4g}", w.weight));
    out.raw("</tbody></table>");
  }
  out.raw("</div>\n");
}

void write_title_block(Html& out, const RunLog& log) {
  std::string opponents;
  for (const std::string& name : log.opponents) opponents += (opponents.empty() ? "" : ", ") + name;
  const Facts cells = {
      {"track", log.track},
      {"target", log.info.target},
      {"machine", log.machine_model},
      {"toolchain", log.toolchain},
      {"opponents", opponents},
      {"begun", date_utc(log.info.created_unix_ms)},
      {"ended by", !log.stopped.empty() ? log.stopped : log.finished},
      {"active time", time_s(log.seconds)},
      {"evaluated", fmt::format("{}, {} accepted", log.evaluations.size(), log.accepted())},
      {"task", base::short_hash(log.info.task_hash)},
      {"run", log.info.id},
      {"hone", log.version},
  };
  out.raw(R"(<dl class="titleblock">)");
  for (const auto& [name, value] : cells)
    out.add("<div><dt>{}</dt><dd>{}</dd></div>", name, value.empty() ? kNone : value.c_str());
  out.raw("</dl>\n");
}

}  // namespace

void write_head(Html& out, const Material& from) {
  out.add(R"(<header id="top"><h1>{}</h1>)", from.log.info.task_name);
  out.raw("\n");
  write_status(out, from.log);
  write_statement(out, from);
  write_figures(out, from);
  out.raw(R"(<div class="asked">)");
  write_computation(out, from.log);
  write_title_block(out, from.log);
  out.raw("</div></header>\n");
}

}  // namespace hone::face::report
