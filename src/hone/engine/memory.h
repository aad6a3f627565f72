// A run's dealings with memory: what earlier runs on this and on similar tasks offer it, and what it leaves behind. Everything
// read from the archive goes into one event, so a replay needs no archive. What is recalled is a hint where to begin: every
// kernel is verified and measured anew. One thread. docs/memory.md has the rules.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hone/archive/store.h"
#include "hone/base/result.h"
#include "hone/engine/champion.h"
#include "hone/engine/event/run_events.h"
#include "hone/search/strategy.h"
#include "hone/task/task.h"

namespace hone::engine {

class RunMemory {
 public:
  /// All of it is copied but `task`, which must outlive this.
  RunMemory(const task::Task& task, Place place, std::vector<search::Seed> seeds, kernel::Limits limits);

  /// What memory offers `run`; nothing where nothing is known that it could use. `shuffle`, where it is not 0,
  /// seeds a permutation of what the lessons of each context say, which makes them worthless: for ablations.
  [[nodiscard]] Result<std::optional<event::Recalled>> recall(archive::Store& store, const std::string& run, int64_t now_unix_ms,
                                              uint64_t shuffle) const;
  /// What the event means for the search.
  [[nodiscard]] search::Memory take(const event::Recalled& recalled);

  /// One evaluation, live or replayed, before the next.
  void observe(const kernel::Kernel& kernel, bool accepted, double score);
  /// Keeps one evaluation as evidence: number `n` of `run`. `reference`: the kernel that scores are over.
  [[nodiscard]] Status keep(archive::Store& store, const std::string& run, int64_t n, const search::Proposal& proposal, bool accepted,
                            double score, const std::string& reference, int64_t now_unix_ms) const;
  struct Finalist {
    kernel::Kernel kernel;
    double score = 0;
  };
  /// At the end: the finalists once more with the scores of their race, and how far what was recalled from other contexts
  /// kept its promise.
  [[nodiscard]] Status close(archive::Store& store, const std::string& run, const std::vector<Finalist>& finalists,
                             const std::string& reference, int64_t now_unix_ms) const;

 private:
  struct Promise {
    std::string lesson, kernel;
    double share = 0;
    bool elsewhere = false;    ///< learnt in another context
  };
  [[nodiscard]] Result<archive::Context> context() const;
  [[nodiscard]] std::string source_of(const kernel::Kernel& kernel) const;

  const task::Task& task_;
  mutable std::optional<archive::Context> context_;   ///< once it was needed
  Place place_;
  std::vector<search::Seed> seeds_;
  kernel::Limits limits_;
  std::map<std::string, std::string> names_;   ///< a seed's text -> its source's name
  std::vector<Promise> promises_;
  std::map<std::string, double> scores_;       ///< kernel -> its last score; 0: refused
};

}  // namespace hone::engine
