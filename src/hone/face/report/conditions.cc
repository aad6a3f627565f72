// Where the time went, the conditions that the numbers hold under, and how to get them again.
#include <algorithm>
#include <cmath>
#include <map>

#include "hone/base/hash.h"
#include "hone/face/report/sections.h"
#include "hone/face/report/svg.h"
#include "hone/face/report/units.h"

namespace hone::face::report {
namespace {

struct Part {
  std::string name, style;
  double screening = 0, promotion = 0;  ///< seconds
  [[nodiscard]] double all() const { return screening + promotion; }
};

void write_time(Html& out, const RunLog& log) {
  evaluate::Spent screening, promotion;
  for (const Evaluation& e : log.evaluations) screening += e.screening.spent;
  screening += log.raced;
  for (const PromotionEvent& p : log.promotions) promotion += p.promotion.spent;
  std::vector<Part> parts;
  const auto add = [&](const char* name, const char* style, int64_t screened, int64_t promoted) {
    if (screened + promoted > 0) parts.push_back({name, style, 1e-9 * static_cast<double>(screened), 1e-9 * static_cast<double>(promoted)});
  };
  add("build", "part-build", screening.build, promotion.build);
  add("verify", "part-verify", screening.verify, promotion.verify);
  add("sanitizers", "part-sanitize", screening.sanitize, promotion.sanitize);
  add("opponents' compilers", "part-opponents", screening.opponents, promotion.opponents);
  add("run", "part-run", screening.run, promotion.run);
  double spent = 0;
  for (const Part& part : parts) spent += part.all();
  const double total = std::max(spent, log.seconds);
  if (!(total > 0)) return;
  const double rest = log.seconds - spent;
  if (rest > 0) parts.push_back({"rest", "part-rest", rest, 0});

  out.raw("<h3>Where the time went</h3><div class=\"timebar\">");
  for (const Part& part : parts) {
    const double share = 100 * part.all() / total;
    if (share <= 0) continue;
    out.add(R"(<span class="{}" style="width:{}" title="{}: {}"><b>{}</b></span>)", part.style,
            svg::pc(share), part.name, time_s(part.all()), share > 8 ? part.name : "");
  }
  out.raw(
      R"(</div><div class="scroll"><table class="grid narrow"><thead><tr><th></th><th class="num">all</th>)"
      R"(<th class="num">share</th><th class="num">screening</th><th class="num">promotion</th></tr></thead><tbody>)");
  for (const Part& part : parts) {
    const bool evaluator = part.style != "part-rest";
    out.add(R"(<tr><td><i class="swatch {}"></i>{}</td><td class="num">{}</td><td class="num">{}</td>)",
            part.style, part.name, time_s(part.all()), percent(part.all() / total));
    out.add(R"(<td class="num">{}</td><td class="num">{}</td></tr>)", evaluator ? time_s(part.screening) : "",
            evaluator ? time_s(part.promotion) : "");
    out.raw("\n");
  }
  out.raw("</tbody></table></div>\n");
  if (rest < 0)
    out.add(
        "<p class=\"dim\">The parts add up to more than the {} of active time: builds ran side by "
        "side.</p>\n",
        time_s(log.seconds));
  else
    out.raw("<p class=\"dim\">Rest: calibration, baselines, drawing inputs, the search itself.</p>\n");
}

/// Of a run on several cards: what each of them did.
void write_cards(Html& out, const RunLog& log) {
  struct Row {
    int looked = 0, accepted = 0;
    double seconds = 0;
  };
  std::map<std::string, Row> cards;
  for (const Evaluation& e : log.evaluations) {
    if (!e.card) continue;
    Row& row = cards[*e.card];
    ++row.looked;
    row.accepted += e.accepted() ? 1 : 0;
    row.seconds += 1e-9 * static_cast<double>(e.screening.spent.verify + e.screening.spent.run);
  }
  if (cards.empty()) return;
  out.raw(R"(<h3>Cards</h3><div class="scroll"><table class="grid narrow"><thead><tr><th></th><th class="num">candidates</th>)"
          R"(<th class="num">accepted</th><th class="num">busy</th></tr></thead><tbody>)");
  for (const auto& [card, row] : cards)
    out.add(R"(<tr><td>{}</td><td class="num">{}</td><td class="num">{}</td><td class="num">{}</td></tr>)", card, row.looked, row.accepted, time_s(row.seconds));
  out.add("</tbody></table></div>\n<p class=\"dim\">Each candidate was checked and timed on one card, against a yardstick on the same; diagnoses, finals and promotion were on {}.</p>\n",
          log.info.target);
}

/// A row of the samples that a promotion's numbers were made from.
void write_samples(Html& out, const PromotionEvent& event) {
  const auto& workloads = event.promotion.workloads;
  if (std::all_of(workloads.begin(), workloads.end(), [](const auto& w) { return w.samples_ns.empty(); }))
    return;
  out.raw(
      R"(<h3>Raw times of the champion</h3><div class="scroll"><table class="grid"><thead><tr><th>workload</th>)"
      R"(<th class="num">samples</th><th class="num">least</th><th class="num">5 %</th><th class="num">median</th>)"
      R"(<th class="num">95 %</th><th class="num">most</th><th class="strip"></th></tr></thead><tbody>)");
  for (const evaluate::WorkloadResult& w : workloads) {
    std::vector<double> sorted;
    for (const double ns : w.samples_ns)
      if (ns > 0 && std::isfinite(ns)) sorted.push_back(ns);
    if (sorted.empty()) continue;
    std::sort(sorted.begin(), sorted.end());
    const auto quantile = [&](double q) {
      return sorted[static_cast<size_t>(std::lround(q * static_cast<double>(sorted.size() - 1)))];
    };
    out.add(R"(<tr><td>{}</td><td class="num">{}</td>)", w.workload, sorted.size());
    for (const double q : {0.0, 0.05, 0.5, 0.95, 1.0})
      out.add(R"(<td class="num">{}</td>)", time_ns(quantile(q)));
    out.raw(R"(<td class="strip"><svg class="samplestrip" aria-hidden="true">)");
    const svg::Scale x(svg::Scale::Kind::kLinear, sorted.front() * 0.999, sorted.back() * 1.001);
    // A strip of a few hundred marks shows what thousands would.
    const size_t stride = std::max<size_t>(1, sorted.size() / 300);
    for (size_t i = 0; i < sorted.size(); i += stride)
      out.add(R"(<line x1="{0}" x2="{0}" y1="2" y2="14"/>)", svg::along(x, sorted[i]));
    out.raw("</svg></td></tr>\n");
  }
  out.raw("</tbody></table></div>\n");
}

void write_conditions_of(Html& out, const RunLog& log) {
  out.raw("<h3>Machine</h3>");
  write_facts(out, log.machine);
  out.raw("<h3>Asked for</h3>");
  Facts asked = log.options;
  std::string opponents;
  for (const std::string& name : log.opponents) opponents += (opponents.empty() ? "" : ", ") + name;
  if (!opponents.empty()) asked.emplace_back("opponents", opponents);
  write_facts(out, asked);
  if (!log.bounds_ns.empty()) {
    Facts bounds;
    for (size_t i = 0; i < log.bounds_ns.size(); ++i)
      bounds.emplace_back(
          i < log.workloads.size() ? log.workloads[i].name : fmt::format("workload {}", i + 1),
          time_ns(log.bounds_ns[i]));
    out.raw(
        "<h3>Speed of light before the search</h3><p class=\"dim\">Calibrated once to guide the search. The "
        "fractions above are taken against bounds measured in the promotion itself.</p>");
    write_facts(out, bounds);
  }
}

void write_seeds(Html& out, const PromotionEvent& event) {
  if (event.promotion.seeds.empty()) return;
  out.raw("<h3>Seeds of the champion\u2019s promotion</h3><p class=\"seeds\">");
  for (const uint64_t seed : event.promotion.seeds) out.add("<code>{:016x}</code> ", seed);
  out.raw("</p>\n");
}

void write_replay(Html& out, const RunLog& log) {
  std::string commands;
  if (log.finished.empty() || log.finished == "interrupted")
    commands += fmt::format("# go on with this run\nhone resume {}\n", log.info.id);
  const Evaluation* first = nullptr;
  for (const Evaluation& e : log.evaluations)
    if (e.accepted() && !first) first = &e;
  if (first && !log.champion.empty() && first->kernel != log.champion)
    commands += fmt::format(
        "# champion against the first correct kernel, timed anew\nhone compare {} {} {}\n",
        base::short_hash(log.champion), base::short_hash(first->kernel), task_file(log.info.task_name));
  commands += fmt::format("# this page\nhone report {}", log.info.id);
  out.raw("<h3>Again</h3>");
  write_commands(out, commands);
}

}  // namespace

void write_conditions(Html& out, const Material& from) {
  open_section(out, "conditions", "Conditions", Markup{});
  write_time(out, from.log);
  write_cards(out, from.log);
  if (from.head.promotion) {
    write_samples(out, *from.head.promotion);
    write_seeds(out, *from.head.promotion);
  }
  write_conditions_of(out, from.log);
  write_replay(out, from.log);
  out.add("<h3 id=\"taskfile\">Task file <span class=\"dim\">({})</span></h3>",
          task_file(from.log.info.task_name));
  out.add(R"(<div class="copyable"><button type="button" class="copy">copy</button><pre>{}</pre></div>)",
          from.log.info.task_toml);
  out.raw("</section>\n");
}

}  // namespace hone::face::report
