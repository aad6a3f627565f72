#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "hone/face/report/document.h"
#include "hone/face/report/svg.h"
#include "hone/face/tune/contest.h"

namespace hone::face::tuning {
namespace {

namespace tune = search::tune;
using base::Json;
using report::Html;

std::string number(double value) { return std::isfinite(value) ? fmt::format("{:.1f}", value) : "never"; }

std::string with_interval(const tune::Interval& i) { return fmt::format("{:.2f} [{:.2f}, {:.2f}]", i.value, i.low, i.high); }
std::string count_with_interval(const tune::Interval& i) { return fmt::format("{} [{}, {}]", number(i.value), number(i.low), number(i.high)); }

/// Methods in the order of their first score, with all their scores.
std::vector<std::pair<std::string, std::vector<const Score*>>> by_method(std::span<const Score> scores) {
  std::vector<std::pair<std::string, std::vector<const Score*>>> all;
  for (const Score& score : scores) {
    auto at = std::find_if(all.begin(), all.end(), [&](const auto& m) { return m.first == score.method; });
    if (at == all.end()) at = all.insert(all.end(), {score.method, {}});
    at->second.push_back(&score);
  }
  return all;
}

struct Overall {
  double p = 0, expected = 0;
};
Overall overall(const std::vector<const Score*>& scores) {
  std::vector<double> p, expected;
  for (const Score* score : scores) p.push_back(score->p.value), expected.push_back(score->expected.value);
  return {tune::mean(p), tune::geometric_mean(expected)};
}

Json json_of(const tune::Interval& i) { return {{"value", i.value}, {"low", i.low}, {"high", i.high}}; }

constexpr const char* kColours[] = {"#2a78d6", "#d9480f", "#868e96", "#2f9e44", "#9c36b5", "#e0a800"};

void write_chart(Html& out, const std::string& space, const std::vector<const Score*>& scores) {
  double low = 1;
  size_t longest = 2;
  for (const Score* score : scores) {
    longest = std::max(longest, score->curve.size());
    for (size_t t = 4; t < score->curve.size(); ++t) low = std::min(low, score->curve[t]);
  }
  const report::svg::Scale y(report::svg::Scale::Kind::kLinear, std::floor(low * 10) / 10, 1);
  const report::svg::Scale x(report::svg::Scale::Kind::kLinear, 0, static_cast<double>(longest));
  out.add(R"(<figure class="chart"><div class="chartbar"><span>{}: mean fraction of the optimum after so many evaluations</span></div>)", space);
  out.add(R"(<svg class="area" height="260" role="img" aria-label="{}">)", space);
  report::svg::y_axis(out, y, 6, "");
  report::svg::x_axis(out, x, 8);
  out.raw(R"(<svg viewBox="0 0 100 100" width="100%" height="100%" preserveAspectRatio="none">)");
  size_t colour = 0;
  std::string legend;
  for (const Score* score : scores) {
    std::string points;
    for (size_t t = 0; t < score->curve.size(); ++t)
      points += fmt::format("{:.2f},{:.2f} ", x.at(static_cast<double>(t + 1)), 100 - y.at(score->curve[t]));
    const char* const line = kColours[colour++ % std::size(kColours)];
    out.add(R"(<polyline points="{}" fill="none" stroke="{}" stroke-width="1.8" vector-effect="non-scaling-stroke"/>)", points, line);
    legend += fmt::format(R"(<span style="color:{}">&#9632;</span> {} &nbsp; )", line, report::escape(score->method));
  }
  out.raw("</svg></svg><p class=\"legend\">").raw(legend).raw("</p></figure>\n");
}

}  // namespace

std::string table_of(std::span<const Score> scores, std::span<const RaceScore> races) {
  std::string text;
  if (!scores.empty()) {
    text += fmt::format("{:<24} {:<16} {:>20} {:>22}", "space", "method", "P [95 %]", "ERT [95 %]");
    for (const auto& [n, interval] : scores.front().fractions) text += fmt::format(" {:>6}", fmt::format("@{}", n));
    text += fmt::format(" {:>8}\n", "ms/eval");
    for (const Score& s : scores) {
      text += fmt::format("{:<24} {:<16} {:>20} {:>22}", s.space, s.method, with_interval(s.p), count_with_interval(s.expected));
      for (const auto& [n, interval] : s.fractions) text += fmt::format(" {:>6.3f}", interval.value);
      text += fmt::format(" {:>8.2f}\n", s.search_ms);
    }
    for (const auto& [method, all] : by_method(scores)) {
      const Overall o = overall(all);
      text += fmt::format("{:<24} {:<16} {:>20.3f} {:>22}\n", "all (means)", method, o.p, number(o.expected));
    }
  }
  for (const RaceScore& r : races)
    text += fmt::format("{:<24} racing: lost {:.2f} % (at most {:.2f} %) at {:.1f} % of the device time (at most {:.1f} %)\n", r.space,
                        100 * r.mean_loss, 100 * r.largest_loss, 100 * r.mean_share, 100 * r.largest_share);
  return text;
}

Json json_of(std::span<const Score> scores, std::span<const RaceScore> races, const Contest& contest) {
  Json all = {{"evaluations", contest.evaluations}, {"repeats", contest.repeats}, {"seed", contest.seed}, {"batch", contest.batch},
              {"scores", Json::array()}, {"methods", Json::array()}, {"races", Json::array()}};
  for (const Score& s : scores) {
    Json fractions = Json::object();
    for (const auto& [n, interval] : s.fractions) fractions[std::to_string(n)] = json_of(interval);
    all["scores"].push_back({{"space", s.space}, {"method", s.method}, {"p", json_of(s.p)}, {"ert", json_of(s.expected)},
                             {"fraction_of_optimum", fractions}, {"search_ms", s.search_ms}});
  }
  for (const auto& [method, scored] : by_method(scores)) {
    const Overall o = overall(scored);
    all["methods"].push_back({{"method", method}, {"mean_p", o.p}, {"geometric_mean_ert", o.expected}});
  }
  for (const RaceScore& r : races)
    all["races"].push_back({{"space", r.space}, {"mean_loss", r.mean_loss}, {"largest_loss", r.largest_loss},
                            {"mean_device_share", r.mean_share}, {"largest_device_share", r.largest_share}});
  return all;
}

std::string page_of(std::span<const Score> scores, std::span<const RaceScore> races, const Contest& contest) {
  Html out;
  out.raw("<h1 id=\"top\">Tuning, replayed</h1>\n");
  out.add("<p>{} evaluations, {} repeats, seed {}, {} at a time. P: 0 is random search, 1 is the optimum at once. ERT: expected evaluations "
          "to within 5 % of the optimum. In brackets 95 % intervals (bootstrap over the repeats).</p>\n",
          contest.evaluations, contest.repeats, contest.seed, contest.batch);
  out.raw("<section id=\"scores\"><h2>Scores</h2><table class=\"grid\"><thead><tr><th>space</th><th>method</th><th>P</th><th>ERT</th>");
  if (!scores.empty())
    for (const auto& [n, interval] : scores.front().fractions) out.add("<th>optimum after {}</th>", n);
  out.raw("<th>search, ms</th></tr></thead><tbody>\n");
  for (const Score& s : scores) {
    out.add("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td>", s.space, s.method, with_interval(s.p), count_with_interval(s.expected));
    for (const auto& [n, interval] : s.fractions) out.add("<td>{}</td>", with_interval(interval));
    out.add("<td>{}</td></tr>\n", fmt::format("{:.2f}", s.search_ms));
  }
  for (const auto& [method, all] : by_method(scores)) {
    const Overall o = overall(all);
    out.add("<tr><td><b>all</b></td><td><b>{}</b></td><td><b>{}</b></td><td><b>{}</b></td></tr>\n", method, fmt::format("{:.3f}", o.p), number(o.expected));
  }
  out.raw("</tbody></table></section>\n");
  if (!races.empty()) {
    out.raw("<section id=\"races\"><h2>Racing</h2><table class=\"grid\"><thead><tr><th>space</th><th>lost, %</th><th>at most</th><th>device time, %</th>"
            "<th>at most</th></tr></thead><tbody>\n");
    for (const RaceScore& r : races)
      out.add("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n", r.space, fmt::format("{:.2f}", 100 * r.mean_loss),
              fmt::format("{:.2f}", 100 * r.largest_loss), fmt::format("{:.1f}", 100 * r.mean_share), fmt::format("{:.1f}", 100 * r.largest_share));
    out.raw("</tbody></table></section>\n");
  }
  out.raw("<section id=\"curves\"><h2>Curves</h2>\n");
  std::vector<std::string> spaces;
  for (const Score& s : scores)
    if (std::find(spaces.begin(), spaces.end(), s.space) == spaces.end()) spaces.push_back(s.space);
  for (const std::string& space : spaces) {
    std::vector<const Score*> here;
    for (const Score& s : scores)
      if (s.space == space) here.push_back(&s);
    write_chart(out, space, here);
  }
  out.raw("</section>\n");
  constexpr std::pair<std::string_view, std::string_view> kLinks[] = {{"scores", "Scores"}, {"races", "Racing"}, {"curves", "Curves"}};
  return report::document("Tuning, replayed", "hone", kLinks, out);
}

}  // namespace hone::face::tuning
