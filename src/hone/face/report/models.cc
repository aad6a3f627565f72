// The ledger: what each language model was asked, what came of each answer, and what it cost; conversations as a tree. Bounded:
// prompts are long, and a page with hundreds of them opens in no browser.
#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/agent/prompt.h"
#include "hone/base/hash.h"
#include "hone/face/report/sections.h"
#include "hone/face/report/units.h"

namespace hone::face::report {
namespace {

using Came = engine::LedgerCall::Came;

constexpr size_t kMostText = 40'000, kAllTexts = 1'500'000;  ///< bytes
/// A conversation further down hangs beside its parent: browsers stop nesting at 512 elements.
constexpr int kDeepestTalk = 24;
constexpr size_t kMostAction = 120;

std::string dollars_text(int64_t nanodollars) {
  return nanodollars == 0 ? std::string(kNone) : fmt::format("${:.4f}", static_cast<double>(nanodollars) * 1e-9);
}

class Talks {
 public:
  Talks(Html& out, const Material& from) : out_(out), from_(from), below_(from.ledger.size()) {
    std::map<int, size_t> by_ask, begins;  // where the conversation of a question begins
    for (size_t i = 0; i < from.ledger.size(); ++i) {
      const engine::LedgerCall& call = from.ledger[i];
      by_ask[call.asked.ask] = i;
      const auto first = begins.find(call.follows);
      if (first == begins.end()) turns_[i] = {i};
      else turns_[first->second].push_back(i);
      begins[call.asked.ask] = first == begins.end() ? i : first->second;
      if (first != begins.end()) continue;
      const auto about = begins.find(call.about);
      (about == begins.end() ? roots_ : below_[about->second]).push_back(i);
    }
  }

  void write() {
    out_.raw("<ul class=\"tree talks\">");
    for (const size_t root : roots_) talk(root, 0);
    out_.raw("</ul>\n");
  }

 private:
  void talk(size_t first, int depth) {
    out_.raw("<li class=\"talk\">");
    for (const size_t turn : turns_.at(first)) this->turn(from_.ledger[turn]);
    if (!below_[first].empty() && depth < kDeepestTalk) {
      out_.raw("<ul>");
      for (const size_t child : below_[first]) talk(child, depth + 1);
      out_.raw("</ul>");
    }
    out_.raw("</li>\n");
    if (depth >= kDeepestTalk)
      for (const size_t child : below_[first]) talk(child, depth);
  }

  void turn(const engine::LedgerCall& call) {
    const engine::event::Asked& asked = call.asked;
    out_.add(R"(<details><summary><span class="row{}"><span class="what"><span class="dim">#{}</span> <b>{}</b> <span class="dim">{}</span> )",
             call.champion ? " champion" : "", asked.ask, asked.agent, asked.name);
    outcome(call);
    const int64_t tokens = call.answered ? call.answered->charged.tokens : 0, money = call.answered ? call.answered->charged.nanodollars : 0;
    out_.add(R"(</span><span class="cost dim">{} tokens, {}, {}</span></span></summary><div class="said">)", whole(tokens), dollars_text(money),
             time_s(call.seconds));
    Facts facts = {{"asked at", time_s(call.at)}, {"line of work", fmt::format("{}", asked.direction + 1)}};
    if (call.usage.total() > 0)
      facts.emplace_back("tokens in, from a cache, out", fmt::format("{}, {}, {}", whole(call.usage.input + call.usage.cache_write),
                                                                     whole(call.usage.cache_read), whole(call.usage.output)));
    if (!call.advice.empty()) facts.emplace_back("advice in the question", fmt::format("{}", fmt::join(call.advice, ", ")));
    write_facts(out_, facts);
    const auto question = from_.questions.find(asked.ask);
    if (question != from_.questions.end()) text("question", question->second);
    if (call.answered && call.answered->exchange.reply && !call.answered->exchange.reply->text.empty()) text("answer", call.answered->exchange.reply->text);
    for (const engine::event::ToolUsed& tool : call.tools) text(fmt::format("{}{}", tool.tool, tool.failed ? " (failed)" : ""), tool.text);
    out_.raw("</div></details>\n");
  }

  void outcome(const engine::LedgerCall& call) {
    if (call.came != Came::kKernel) {
      out_.add(R"(<span class="changed">{}</span>)", engine::outcome_text(call));
      return;
    }
    const Markup kernel = from_.log.find(call.kernel) ? kernel_link(call.kernel) : markup("<code>{}</code>", base::short_hash(call.kernel));
    out_.add(R"(→ {} <span class="{}">{}</span>)", kernel, verdict_class(call.verdict), call.verdict.empty() ? "not looked at yet" : call.verdict);
    if (call.score > 0) out_.add(" {}", times(call.score));
    if (!call.action.empty()) out_.add(" {}", agent::in_words(call.action, kMostAction));
    if (call.settings > 1)
      out_.add(R"( <span class="changed">tuned over {} settings{}</span>)", call.settings, call.best_score > 0 ? ": " + times(call.best_score) : "");
    if (call.raced) out_.raw(R"( <span class="tag">raced</span>)");
    if (call.champion) out_.raw(R"( <span class="tag">champion</span>)");
    else if (call.promoted) out_.raw(R"( <span class="tag">promotion refused</span>)");
    if (call.score <= 0 && !call.reason.empty()) out_.add(R"( <span class="changed">{}</span>)", agent::one_line(call.reason, 200));
  }

  void text(const std::string& name, const std::string& content) {
    if (out_.size() - start_ > kAllTexts) {
      out_.add(R"(<p class="dim">{}: left out to keep the page small</p>)", name);
      return;
    }
    out_.add(R"(<details class="log"><summary>{}, {}</summary><pre>{}</pre></details>)", name, bytes_held(static_cast<double>(content.size())),
             agent::bounded(content, kMostText));
  }

  Html& out_;
  const Material& from_;
  size_t start_ = out_.size();
  std::map<size_t, std::vector<size_t>> turns_;  ///< of the conversation that begins there
  std::vector<std::vector<size_t>> below_;       ///< conversations about the kernels of one
  std::vector<size_t> roots_;
};

void write_model_totals(Html& out, const RunLog& log) {
  out.raw(R"(<table class="grid narrow"><thead><tr><th>model</th>)");
  for (const char* head : {"questions", "without answer", "accepted, settings included", "best score", "tokens", "dollars", "seconds"})
    out.add(R"(<th class="num">{}</th>)", head);
  out.raw("</tr></thead><tbody>");
  for (const auto& [name, row] : log.models) {
    int accepted = 0;
    double best = 0;
    for (const Evaluation& e : log.evaluations) {
      if (e.author != "model:" + name || !e.accepted()) continue;
      ++accepted;
      best = std::max(best, e.score);
    }
    out.add("<tr><td>{}</td>", name);
    for (const std::string& value : {whole(row.calls), whole(row.failures), whole(accepted), best > 0 ? times(best) : std::string(kNone), whole(row.tokens),
                                     dollars_text(row.nanodollars), fmt::format("{:.0f}", row.seconds)})
      out.add(R"(<td class="num">{}</td>)", value);
    out.raw("</tr>");
  }
  out.raw("</tbody></table>\n");
}

}  // namespace

void write_models(Html& out, const Material& from) {
  const RunLog& log = from.log;
  if (log.models.empty()) return;
  int64_t nanodollars = 0;
  int calls = 0;
  for (const auto& [name, row] : log.models) nanodollars += row.nanodollars, calls += row.calls;
  open_section(out, "models", "Models",
               markup("{} questions to language models{}. They propose; verdicts and times are hone's own. A conversation about a "
                      "kernel hangs below the one that wrote it; each question opens.",
                      calls, nanodollars > 0 ? ", for " + dollars_text(nanodollars) : ""));
  write_model_totals(out, log);
  if (!from.system.empty())
    out.add(R"(<details class="log"><summary>what every question begins with, {}</summary><pre>{}</pre></details>)",
            bytes_held(static_cast<double>(from.system.size())), agent::bounded(from.system, kMostText));
  Talks(out, from).write();
  out.raw("</section>\n");
}

}  // namespace hone::face::report
