// What passes between a run and language models, an event a struct: what it holds, and a line on each member. event.h names all.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hone/agent/model/budget.h"
#include "hone/agent/model/client.h"
#include "hone/agent/prompt.h"

namespace hone::engine::event {

struct Agents {
  static constexpr const char* kKind = "agents";
  static constexpr const char* kAbout = "Only with models, after `calibrated`: what they are told.";
  std::vector<std::string> models, lessons, patterns, memory;
  std::optional<std::vector<std::string>> directions, worked;
  std::map<std::string, int> prompts;
  agent::Documents documents;
  std::optional<std::vector<agent::ToolSpec>> tools;
  std::string facts;
  std::optional<std::string> timing;
  std::optional<int> lines;
  int diagnose = 0;
  bool research = false;
  template <class F>
  void fields(F& f) {
    f("models", models, "their names");
    f("prompts", prompts, "name and version of each");
    f.later("documents", documents, "prompts and guide in full");
    f("tools", tools, "that models may call");
    f.later("facts", facts, "of machine, build, workloads and budget");
    f("lessons", lessons, "of earlier runs, a text each");
    f.later("diagnose", diagnose, "0: a diagnoser is never asked, 1: where the rules are unsure, 2: always");
    f.later("research", research, "a researcher is asked first");
    f.later("patterns", patterns, "what that one is asked about");
    f.later("memory", memory, "and this");
    f("timing", timing, "name of the prompt that says how the target times");
    f("lines", lines, "of work; where absent, as many as calls at once");
    f("directions", directions, "for those who write kernels, most promising first; where absent, one list for every task");
    f("worked", worked, "files of the library's kernels, as examples");
  }
};

struct Asked {
  static constexpr const char* kKind = "asked";
  static constexpr const char* kAbout = "A question to a model, written down before it is sent.";
  int ask = 0, direction = 0, model = 0;
  std::string name, agent, parent, hash, request;
  int64_t most_tokens = 0, most_nanodollars = 0;
  template <class F>
  void fields(F& f) {
    f("ask", ask, "number of the question, from 0");
    f("direction", direction, "which line of work it goes on with");
    f("model", model, "index in the run's models");
    f("name", name, "of the model");
    f("agent", agent, "generator, fixer, optimiser, diagnoser, researcher");
    f("parent", parent, "kernel that it is about, or empty");
    f("hash", hash, "names the request to this model");
    f("request", request, "blob with the whole of it");
    f("most_tokens", most_tokens, "reserved");
    f("most_nanodollars", most_nanodollars, "reserved");
  }
};

/// What came of a question, as the archive also keeps it where nobody could write the event.
struct Exchanged {
  agent::Exchange exchange;
  agent::Cost charged;
  template <class F>
  void fields(F& f) {
    f.or_null("reply", exchange.reply, "null: there is none");
    f("problem", exchange.problem, "why not");
    f("cancelled", exchange.cancelled, "by us");
    f("attempts", exchange.attempts, "to get one");
    f("tokens", charged.tokens, "charged");
    f("nanodollars", charged.nanodollars, "charged");
  }
};

struct Answered : Exchanged {
  static constexpr const char* kKind = "answered";
  static constexpr const char* kAbout = "An answer, written down before it is used.";
  int ask = 0;
  std::string name;
  template <class F>
  void fields(F& f) {
    f("ask", ask, "the question's number");
    f("name", name, "of the model");
    Exchanged::fields(f);
  }
};

struct Unusable {
  static constexpr const char* kKind = "unusable";
  static constexpr const char* kAbout =
      "After its `answered`: an answer that was not what was asked for, or a kernel that was there already. Older versions did not write it.";
  int ask = 0;
  std::string reason;
  template <class F>
  void fields(F& f) {
    f("ask", ask, "the question's number");
    f("reason", reason, "why it was sent back or put aside");
  }
};

struct ToolUsed {
  static constexpr const char* kKind = "tool";
  static constexpr const char* kAbout = "A model called a tool.";
  int ask = 0;
  std::string tool, text;
  bool failed = false;
  template <class F>
  void fields(F& f) {
    f("ask", ask, "the question's number");
    f("tool", tool, "its name");
    f("failed", failed, "it could not do it");
    f("text", text, "what the model was told");
  }
};

struct Waited {
  static constexpr const char* kKind = "waited";
  static constexpr const char* kAbout = "There was nothing left to look at, so the run waited for a model.";
  int open = 0;
  template <class F>
  void fields(F& f) {
    f("open", open, "questions without an answer");
  }
};

struct Stalled {
  static constexpr const char* kKind = "stalled";
  static constexpr const char* kAbout =
      "The run waited for a model, as nothing had been gained for long, or the evaluations left are kept for answers (`patient`).";
  int open = 0;
  template <class F>
  void fields(F& f) {
    f("open", open, "questions without an answer");
  }
};

}  // namespace hone::engine::event
