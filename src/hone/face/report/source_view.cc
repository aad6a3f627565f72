// The champion's file as `hone export` would write it, and how to use it.
#include <nlohmann/json.hpp>

#include "hone/base/hash.h"
#include "hone/base/json.h"
#include "hone/face/report/highlight.h"
#include "hone/face/report/sections.h"
#include "hone/face/report/units.h"
#include "hone/kernel/kernel.h"

namespace hone::face::report {
namespace {

constexpr size_t kMostSource = 400'000;  ///< bytes shown

struct Shown {
  std::string text;
  std::set<std::string, std::less<>> tunables;
  bool configured = true;  ///< the text carries the champion's configuration
};

/// The stored source has its defaults in the header; what people copy must have the champion's values.
Shown shown_of(const archive::KernelRow& row) {
  Shown shown{row.source, {}, false};
  const auto config = base::parse_json(row.config_json, "configuration");
  if (!config || !config->is_object()) return shown;
  for (const auto& [name, value] : config->items()) shown.tunables.insert(name);
  const auto kernel = kernel::parse_kernel(row.source, "champion");
  if (!kernel) return shown;
  kernel::Config values;
  for (const auto& [name, value] : config->items())
    if (value.is_number_integer() && kernel->config.contains(name)) values[name] = value.get<int64_t>();
  if (values.size() != config->size()) return shown;
  shown.text = kernel::with_config(*kernel, values);
  shown.configured = true;
  return shown;
}

}  // namespace

void write_source(Html& out, const Material& from) {
  if (from.log.champion.empty()) return;
  open_section(out, "source", "Champion\u2019s source", Markup{});
  const std::string name = base::short_hash(from.log.champion);
  if (!from.champion) {
    out.add("<p>The archive does not hold kernel {} any more.</p></section>\n", name);
    return;
  }
  const archive::KernelRow& row = *from.champion;
  const Shown shown = shown_of(row);
  Facts facts = {{"kernel", name}, {"language", row.language}, {"author", row.author}};
  if (!row.action.empty()) facts.emplace_back("action", row.action);
  if (const Evaluation* e = from.log.find(from.log.champion)) {
    if (!e->config.empty()) facts.emplace_back("configuration", config_text(e->config));
    if (!e->note.empty()) facts.emplace_back("note", e->note);
  }
  write_facts(out, facts);
  if (!shown.configured)
    out.raw(
        "<p class=\"notice\">The source is shown as stored: its header has the tunables\u2019 defaults, not "
        "the "
        "configuration above. <code>hone export</code> writes the file with it.</p>\n");
  const std::string_view text = std::string_view(shown.text).substr(0, kMostSource);
  out.raw(
      R"(<div class="copyable"><button type="button" class="copy">copy</button><pre class="source"><code>)");
  out.add("{}</code></pre></div>", highlight(text, row.language, shown.tunables));
  if (text.size() < shown.text.size())
    out.add("<p>The first {} of it.</p>", bytes_held(static_cast<double>(text.size())));
  out.raw("<h3>Use it</h3>");
  const std::string task = task_file(from.log.info.task_name);
  write_commands(out, fmt::format("# a C++ header and its source, to be built into a program\n"
                                  "hone export {} {} --as header\n"
                                  "# check it and time it again; another task file for other shapes\n"
                                  "hone evaluate {} {}",
                                  name, task, name, task));
  out.add("<p class=\"dim\">{} is <a href=\"#taskfile\">at the end of this page</a>.</p>\n", task);
  out.raw("</section>\n");
}

}  // namespace hone::face::report
