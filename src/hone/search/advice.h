// Diagnoses of kernels, as far as a search can act on them: the tunables they would set. Keeps how each cause's
// predictions came out, and stops listening to a cause that keeps promising too much. Deterministic. One thread.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "hone/diagnose/rules.h"

namespace hone::search {

struct Proposal;
struct Outcome;

class Advice {
 public:
  /// `actions`, best first; those that set no tunable, and those that promise next to nothing, are left out.
  void put(const std::string& kernel, std::vector<diagnose::Action> actions);
  [[nodiscard]] bool has(const std::string& kernel) const { return actions_.contains(kernel); }
  /// What is still worth listening to, best first; a few at most.
  [[nodiscard]] std::vector<diagnose::Action> of(const std::string& kernel) const;
  /// What became of a proposal: of its parent too, if that was observed.
  void observe(const Proposal& proposal, const Outcome& outcome);

 private:
  struct Record {
    int tried = 0, held = 0;
  };
  std::map<std::string, std::vector<diagnose::Action>> actions_;
  std::map<std::string, Record> causes_;
  std::map<std::string, double> scores_;  ///< of accepted kernels
};

/// A prediction holds where at least a third of the gain came about.
[[nodiscard]] bool held(double predicted, double gained);

}  // namespace hone::search
