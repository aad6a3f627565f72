// What happens in a run's search and at its end, an event a struct: what it holds, and a line on each member. event.h names all.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "hone/diagnose/metrics.h"
#include "hone/diagnose/rules.h"
#include "hone/evaluate/evaluator.h"
#include "hone/evaluate/verdict.h"
#include "hone/kernel/kernel.h"
#include "hone/search/recollection.h"
#include "hone/task/types.h"

namespace hone::engine::event {

struct Started {
  static constexpr const char* kKind = "started";
  static constexpr const char* kAbout = "The run begins: what it was asked, and where it is.";
  struct Workload {
    std::string name;
    task::Bindings bindings;
    double weight = 1;
    template <class F>
    void fields(F& f) {
      f("name", name, "as the task has it");
      f("bindings", bindings, "values of the symbols");
      f("weight", weight, "its share in scores");
    }
  };
  std::string task, task_hash, target, device, track, toolchain, hone;
  nlohmann::json machine, options;
  std::vector<Workload> workloads;
  std::vector<std::string> opponents;
  template <class F>
  void fields(F& f) {
    f("task", task, "the task's name");
    f("task_hash", task_hash, "names its whole content");
    f("target", target, "cpu, cuda:0, …");
    f.later("device", device, "as the champion's file says");
    f("track", track, "what accuracy is asked for");
    f("toolchain", toolchain, "compilers with their releases");
    f("machine", machine, "model, isa, threads, l2_bytes, l3_bytes, memory_bytes, or what there is to say of a card");
    f("options", options, "strategy, seed, budgets and whatever else was asked; absent ones are as they were before there was such an option");
    f("workloads", workloads, "of the task");
    f("opponents", opponents, "names of those that promotions are timed against");
    f("hone", hone, "version of the program");
  }
};

struct Calibrated {
  static constexpr const char* kKind = "calibrated";
  static constexpr const char* kAbout = "The evaluator is ready, and the speed of light known.";
  std::vector<double> bounds_ns;
  std::vector<evaluate::LightBound> bounds;
  int64_t prepare_ns = 0;
  template <class F>
  void fields(F& f) {
    f("bounds_ns", bounds_ns, "the least time of each workload");
    f.later("bounds", bounds, "what those are made of");
    f.later("prepare_ns", prepare_ns, "drawing the inputs, their oracle's answers, measuring the bound");
  }
};

struct Recalled {
  static constexpr const char* kKind = "recalled";
  static constexpr const char* kAbout = "What memory ([memory.md](memory.md)) offers; only where that is anything.";
  struct Context {
    std::string task, task_hash;
    double distance = 0;
    int lessons = 0;
    template <class F>
    void fields(F& f) {
      f("task", task, "where it was learnt");
      f("task_hash", task_hash, "of that task");
      f("distance", distance, "from this one");
      f("lessons", lessons, "how many");
    }
  };
  struct First {
    std::string source, lesson, task;
    kernel::Config config;
    double share = 0, confidence = 0;
    bool elsewhere = false;
    std::optional<std::string> text, author;
    template <class F>
    void fields(F& f) {
      f("source", source, "name of the kernel's source");
      f("config", config, "setting of its tunables");
      f("lesson", lesson, "id of the lesson");
      f("share", share, "of its run's best");
      f("confidence", confidence, "in the lesson");
      f("task", task, "where it was learnt");
      f("elsewhere", elsewhere, "in another context than this one");
      f("text", text, "only of a kernel that no pattern made: its source");
      f("author", author, "of that one");
    }
  };
  struct Known {
    std::string source;
    std::optional<double> share;
    std::optional<kernel::Config> best;
    std::vector<search::Recollection> recollections;
    template <class F>
    void fields(F& f) {
      f("source", source, "name of the source");
      f.or_null("share", share, "of its run's best");
      f.or_null("best", best, "its best configuration there");
      f("recollections", recollections, "what was measured of it, a context each");
    }
  };
  std::vector<Context> contexts;
  std::vector<First> first;
  std::vector<Known> known;
  template <class F>
  void fields(F& f) {
    f("contexts", contexts, "that were asked, the nearest first");
    f("first", first, "kernels to look at before all others");
    f("known", known, "what is known of this run's sources, for their tuners");
  }
};

struct Considered {
  static constexpr const char* kKind = "considered";
  static constexpr const char* kAbout = "Proposals that were not worth a build, counted since the last such event.";
  int constraint = 0, duplicate = 0, predicted_slower = 0;
  template <class F>
  void fields(F& f) {
    f("constraint", constraint, "its own constraints forbid it");
    f("duplicate", duplicate, "it was proposed before");
    f("predicted_slower", predicted_slower, "the tuner expects nothing of it; below zero: taken up after all");
  }
};

/// What models are told of a verdict: nothing that was drawn secretly.
struct Told {
  std::string reason, detail;
  template <class F>
  void fields(F& f) {
    f("reason", reason, "of the verdict");
    f("detail", detail, "of a kernel that a model waits for: how it fails on shapes and inputs made for that");
  }
};

struct Screened {
  static constexpr const char* kKind = "screened";
  static constexpr const char* kAbout = "A kernel was looked at.";
  int n = 0;
  std::string kernel, parent, author, pattern, action, reason, note;
  kernel::Config config;
  evaluate::Screening screening = evaluate::unknown_screening();
  double score = 0;
  std::optional<double> first_score, predicted;
  std::optional<std::string> cause, code, card, yardstick;
  std::optional<Told> told;
  template <class F>
  void fields(F& f) {
    f("n", n, "number of the evaluation, from 1");
    f("kernel", kernel, "hash");
    f("parent", parent, "hash, or empty");
    f("author", author, "who wrote it: pattern:…, model:…, start, …");
    f("pattern", pattern, "that it came from, or empty");
    f("action", action, "what was done to the parent");
    f.later("reason", reason, "why");
    f("note", note, "the kernel's own");
    f("config", config, "setting of its tunables");
    f("screening", screening, "`Screening` in [json.md](json.md); of 0 repetitions: a recalled kernel that was only built, its promotion repeats every check");
    f("score", score, "speedup over the run's first accepted kernel; 0 when refused");
    f("first_score", first_score, "the first look's score, where there were two: it would have made a new yardstick, and `score` is the lesser; or a model "
                                  "waits for it and it looked slower than the best, and the second look had more pairs; `screening` is the second");
    f("predicted", predicted, "only where a diagnosis of the parent asked for it: time of the parent / time");
    f("cause", cause, "what that repairs; \"diagnoser: …\" where a model's diagnosis did");
    f("code", code, "names machine code and launch plan, where they are known");
    f("card", card, "of a run on several: that it was looked at on");
    f("yardstick", yardstick, "of such a run: what it was timed against, which another may have replaced meanwhile; empty: nothing");
    f("told", told, "only with models: what they are told of the verdict, without anything that was drawn secretly; where absent, the verdict");
  }
};

struct Duplicate {
  static constexpr const char* kKind = "duplicate";
  static constexpr const char* kAbout =
      "A kernel became the machine code and launch plan of one that was evaluated, and is dropped before it is measured: no verdict, no score, no evaluation.";
  std::string kernel, of, parent, author, pattern, action, reason;
  kernel::Config config;
  int64_t build_ns = 0;
  template <class F>
  void fields(F& f) {
    f("kernel", kernel, "hash");
    f("of", of, "the kernel that was evaluated");
    f("parent", parent, "hash, or empty");
    f("author", author, "who wrote it");
    f("pattern", pattern, "that it came from, or empty");
    f("action", action, "what was done to the parent");
    f("reason", reason, "why");
    f("config", config, "setting of its tunables");
    f("build_ns", build_ns, "what its build took");
  }
};

/// What a look into a kernel found.
struct Look {
  struct Effect {
    std::string tunable;
    int64_t to = 0;
    double gain = 1;
    template <class F>
    void fields(F& f) {
      f("tunable", tunable, "its name");
      f("to", to, "the new value");
      f("gain", gain, "time before / time after");
    }
  };
  std::string kernel, workload, problem;
  diagnose::Metrics metrics;
  std::optional<diagnose::Diagnosis> diagnosis;
  std::optional<std::vector<Effect>> effects;
  template <class F>
  void fields(F& f) {
    f("kernel", kernel, "hash");
    f("workload", workload, "the one with most to win");
    f("metrics", metrics, "[json.md](json.md)");
    f.or_null("diagnosis", diagnosis, "[json.md](json.md); null: there is none");
    f("effects", effects, "what is expected of changes of one tunable; empty where nothing is known, absent of a champion");
    f.later("problem", problem, "why there is no diagnosis");
  }
};

struct Diagnosed : Look {
  static constexpr const char* kKind = "diagnosed";
  static constexpr const char* kAbout = "A kernel is diagnosed, before the search extends it, and the champion at the end.";
};

struct Profiled : Look {
  static constexpr const char* kKind = "profiled";
  static constexpr const char* kAbout = "The same of a kernel that a model is about to improve, for the diagnoser and the optimiser.";
};

struct Yardstick {
  static constexpr const char* kKind = "yardstick";
  static constexpr const char* kAbout = "Later screenings are timed against another kernel.";
  std::string kernel;
  double score = 0;
  template <class F>
  void fields(F& f) {
    f("kernel", kernel, "hash");
    f("score", score, "of that one");
  }
};

}  // namespace hone::engine::event
