// Every refused candidate by verdict and reason, with what the compiler or the gate said; and what was
// considered but not built. Bounded: a thousand long compile logs must not make a page that no
// browser opens.
#include <algorithm>
#include <cctype>
#include <set>

#include "hone/base/hash.h"
#include "hone/face/report/sections.h"
#include "hone/face/report/units.h"

namespace hone::face::report {
namespace {

constexpr size_t kLogHead = 3000, kLogTail = 1500;  ///< bytes of one log
constexpr size_t kAllLogs = 600'000;
constexpr size_t kMostReason = 600;

/// The reason with its numbers taken out, so that "error 1.3e-5 over 2e-7" and "error 8e-6 over 2e-7"
/// are one group.
std::string shape_of(std::string_view reason) {
  std::string shape;
  for (size_t i = 0; i < reason.size();) {
    const bool in_name = !shape.empty() &&
                         (std::isalpha(static_cast<unsigned char>(shape.back())) || shape.back() == '_');
    if (!std::isdigit(static_cast<unsigned char>(reason[i])) || in_name) {
      shape += reason[i++];
      continue;
    }
    shape += "\u2026";
    while (i < reason.size() && (std::isalnum(static_cast<unsigned char>(reason[i])) || reason[i] == '.' ||
                                 (reason[i] == '-' && reason[i - 1] == 'e')))
      ++i;
  }
  return shape;
}

/// Cuts between characters, not within one.
std::string_view until(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
  return text.substr(0, most);
}
std::string_view from_end(std::string_view text, size_t most) {
  size_t from = text.size() - std::min(most, text.size());
  while (from < text.size() && (static_cast<unsigned char>(text[from]) & 0xC0) == 0x80) ++from;
  return text.substr(from);
}

struct Group {
  std::string verdict, shape;
  std::vector<const Evaluation*> members;
};

std::vector<Group> groups_of(const RunLog& log) {
  std::map<std::pair<std::string, std::string>, size_t> index;
  std::vector<Group> groups;
  for (const Evaluation& e : log.evaluations) {
    if (e.accepted()) continue;
    const std::string shape = shape_of(e.verdict().reason);
    const auto [it, added] = index.try_emplace({e.verdict_name(), shape}, groups.size());
    if (added) groups.push_back({e.verdict_name(), shape, {}});
    groups[it->second].members.push_back(&e);
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.members.size() > b.members.size(); });
  return groups;
}

class Writer {
 public:
  Writer(Html& out, const RunLog& log) : out_(out) {
    for (const Evaluation& e : log.evaluations)
      if (e.accepted()) named_.insert(e.kernel);
  }

  void group(const Group& group) {
    const bool one_reason = std::all_of(group.members.begin(), group.members.end(), [&](const Evaluation* e) {
      return e->verdict().reason == group.members.front()->verdict().reason;
    });
    out_.add(
        R"(<details class="group"><summary><span class="count">{}</span><span class="{}">{}</span> {}</summary>)",
        group.members.size(), verdict_class(group.verdict), group.verdict,
        until(one_reason ? group.members.front()->verdict().reason : group.shape, kMostReason));
    out_.raw("<ul class=\"plain refusals\">");
    for (const Evaluation* e : group.members) member(*e, !one_reason);
    out_.raw("</ul></details>\n");
  }

 private:
  void member(const Evaluation& e, bool with_reason) {
    const std::string name = base::short_hash(e.kernel);
    const bool first = named_.insert(e.kernel).second;
    out_.add("<li{}>", first ? markup(R"( id="k-{}")", name) : Markup{});
    out_.add(R"(<span class="dim">#{}</span> <code>{}</code> )", e.n, name);
    if (!e.parent.empty()) out_.add(R"(<span class="dim">from</span> {} )", kernel_link(e.parent));
    out_.add(R"(<b>{}</b> {} <span class="changed">{}</span>)", e.action, e.pattern, config_markup(e.config));
    if (e.card) out_.add(R"( <span class="dim">on {}</span>)", *e.card);
    if (with_reason) out_.add(R"(<div class="reason">{}</div>)", until(e.verdict().reason, kMostReason));
    if (const auto& a = e.verdict().accuracy)
      out_.add(R"(<div class="reason dim">output {}, {}, {}: scaled error {}, anchor {}, bound {}</div>)",
               a->output, a->family, a->shape, three(a->candidate), three(a->anchor), three(a->bound));
    if (!e.verdict().detail.empty()) log(e);
    out_.raw("</li>\n");
  }

  void log(const Evaluation& e) {
    const std::string& text = e.verdict().detail;
    const auto [it, added] = logs_.try_emplace(base::content_hash(text), e.kernel);
    if (!added) {
      out_.add(R"(<div class="reason dim">log as of {}</div>)", kernel_link(it->second));
      return;
    }
    if (out_.size() - start_ > kAllLogs) {
      out_.raw(R"(<div class="reason dim">log left out to keep the page small</div>)");
      return;
    }
    out_.raw("<details class=\"log\"><summary>log</summary><pre>");
    if (text.size() <= kLogHead + kLogTail) {
      out_.add("{}", text);
    } else {
      const std::string_view head = until(text, kLogHead), tail = from_end(text, kLogTail);
      out_.add("{}\n\u2026 {} left out \u2026\n{}", head,
               bytes_held(static_cast<double>(text.size() - head.size() - tail.size())), tail);
    }
    out_.raw("</pre></details>");
  }

  Html& out_;
  size_t start_ = out_.size();
  std::set<std::string> named_;              ///< kernels that have an id on the page
  std::map<std::string, std::string> logs_;  ///< hash of a log -> first kernel that has it
};

}  // namespace

void write_refused(Html& out, const Material& from) {
  const RunLog& log = from.log;
  const std::vector<Group> groups = groups_of(log);
  if (groups.empty() && log.considered.empty()) return;
  size_t refused = 0;
  for (const Group& group : groups) refused += group.members.size();
  open_section(out, "refused", "Refused",
               markup("{} of {} evaluated candidates were refused, grouped by verdict and reason.", refused,
                      log.evaluations.size()));
  Writer writer(out, log);
  for (const Group& group : groups) writer.group(group);
  if (!log.considered.empty()) {
    std::vector<std::pair<std::string, int>> reasons(log.considered.begin(), log.considered.end());
    std::stable_sort(reasons.begin(), reasons.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    out.raw(R"(<h3>Considered but not built</h3><table class="grid narrow"><tbody>)");
    for (const auto& [why, count] : reasons)
      out.add(R"(<tr><td class="num">{}</td><td>{}</td></tr>)", whole(count),
              why.empty() ? "no reason given" : why);
    out.raw("</tbody></table>\n");
  }
  out.raw("</section>\n");
}

}  // namespace hone::face::report
