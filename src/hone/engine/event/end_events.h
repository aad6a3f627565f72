// How a run ends, an event a struct: what it holds, and a line on each member. event.h names all.
#pragma once
#include <string>

#include <nlohmann/json.hpp>

#include "hone/evaluate/verdict.h"

namespace hone::engine::event {

struct Fallback {
  static constexpr const char* kKind = "fallback";
  static constexpr const char* kAbout = "Nothing else was accepted, so plain loops are screened before the run ends.";
  std::string kernel;
  template <class F>
  void fields(F& f) {
    f("kernel", kernel, "hash of the plain kernel");
  }
};

struct Stopped {
  static constexpr const char* kKind = "stopped";
  static constexpr const char* kAbout = "The search ends, and what is best goes to its trial; after \"interrupted\" a resumed run goes on.";
  std::string reason = "budget";
  template <class F>
  void fields(F& f) {
    f.later("reason", reason, "budget, speed of light, exhausted, stagnation, interrupted");
  }
};

struct Raced {
  static constexpr const char* kKind = "raced";
  static constexpr const char* kAbout = "A finalist is timed against the best once more.";
  std::string kernel;
  evaluate::Screening screening = evaluate::unknown_screening();
  template <class F>
  void fields(F& f) {
    f("kernel", kernel, "hash");
    f("screening", screening, "`Screening` in [json.md](json.md)");
  }
};

struct Promoted {
  static constexpr const char* kKind = "promoted";
  static constexpr const char* kAbout = "A kernel had its full trial.";
  std::string kernel;
  evaluate::Promotion promotion = evaluate::unknown_promotion();
  template <class F>
  void fields(F& f) {
    f("kernel", kernel, "hash");
    f("promotion", promotion, "`Promotion` in [json.md](json.md)");
  }
};

struct Champion {
  static constexpr const char* kKind = "champion";
  static constexpr const char* kAbout = "The run has a champion, and its file is written.";
  std::string kernel, path, day;
  double score = 0;
  template <class F>
  void fields(F& f) {
    f("kernel", kernel, "hash");
    f("score", score, "speedup over the run's first accepted kernel");
    f.later("path", path, "the file, or empty");
    f.later("day", day, "in UTC, as the file says");
  }
};

struct Finished {
  static constexpr const char* kKind = "finished";
  static constexpr const char* kAbout = "The run ends.";
  std::string reason, champion;
  nlohmann::json summary;
  template <class F>
  void fields(F& f) {
    f("reason", reason, "why the search ended");
    f("champion", champion, "hash, or empty");
    f("summary", summary, "the line that `--json` prints ([json.md](json.md))");
  }
};

}  // namespace hone::engine::event
