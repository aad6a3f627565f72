// Pieces of page that several sections use.
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "hone/base/hash.h"
#include "hone/face/report/sections.h"
#include "hone/face/report/svg.h"
#include "hone/face/report/units.h"

namespace hone::face::report {

void open_section(Html& out, std::string_view id, std::string_view title, const Markup& lead) {
  out.add(R"(<section id="{}"><h2>{}</h2>)", id, title);
  if (!lead.html.empty()) out.add(R"(<p class="lead">{}</p>)", lead);
  out.raw("\n");
}

Markup kernel_link(const std::string& kernel) {
  const std::string name = base::short_hash(kernel);
  return markup(R"(<a class="kernel" href="#k-{}">{}</a>)", name, name);
}

std::string verdict_class(std::string_view verdict) {
  constexpr std::array<std::string_view, 9> kKnown{"accepted",      "does not apply",  "does not compile",
                                                   "launch fails",  "wrong",           "less accurate",
                                                   "out of bounds", "does not finish", "cheating"};
  if (std::find(kKnown.begin(), kKnown.end(), verdict) == kKnown.end()) return "v-other";
  std::string name = "v-" + std::string(verdict);
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

Markup config_markup(const kernel::Config& config) {
  Html out;
  for (const auto& [name, value] : config) out.add(R"(<span class="pair">{}={}</span> )", name, value);
  return std::move(out).markup();
}

void write_facts(Html& out, const Facts& facts) {
  if (facts.empty()) return;
  out.raw(R"(<dl class="facts">)");
  for (const auto& [name, value] : facts) out.add("<div><dt>{}</dt><dd>{}</dd></div>", name, value);
  out.raw("</dl>\n");
}

std::string task_file(std::string_view task_name) {
  std::string stem;
  for (const char c : task_name.substr(0, 60))
    stem += std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.' ? c : '_';
  if (stem.empty() || stem.front() == '-' || stem.front() == '.') stem.insert(0, "task");
  return stem + ".toml";
}

void write_commands(Html& out, const std::string& commands) {
  out.add(R"(<div class="copyable"><button type="button" class="copy">copy</button><pre>{}</pre></div>)",
          commands);
  out.raw("\n");
}

void Extent::hold(const evaluate::Ratio& ratio) {
  if (!(ratio.median > 0)) return;
  // An interval that is nearly unbounded must not squeeze the others.
  low = std::min({low, ratio.median, std::max(ratio.low, ratio.median / 3)});
  high = std::max({high, ratio.median, std::min(ratio.high, ratio.median * 3)});
}

Markup whisker(const evaluate::Ratio& ratio, Extent extent) {
  const svg::Scale scale = svg::log_around(extent.low, extent.high, 1.08);
  Html out;
  out.raw(R"(<svg class="whisker" aria-hidden="true">)");
  out.add(R"(<line class="one" x1="{0}" x2="{0}" y1="0" y2="100%"/>)", svg::along(scale, 1));
  out.add(R"(<line class="range" x1="{}" x2="{}" y1="50%" y2="50%"/>)", svg::along(scale, ratio.low),
          svg::along(scale, ratio.high));
  out.add(R"(<circle cx="{}" cy="50%" r="3.5"/></svg>)", svg::along(scale, ratio.median));
  return std::move(out).markup();
}

}  // namespace hone::face::report
