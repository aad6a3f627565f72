// The tuner: learns from every configuration measured (and from other targets, shapes and tasks, where that helps)
// which one to measure next. A Gaussian process is refitted for each proposal; expected improvement picks from the
// neighbourhoods of the best known points and a sample of the whole space. A deterministic function of seed and of
// what it is told: no clock, no device. One thread. docs/tuning.md has the reasons and the figures.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hone/search/tune/searcher.h"
#include "hone/search/tune/transfer.h"

namespace hone::search::tune {

/// Constants of the search. The defaults are for everybody; other values are for ablations.
struct TunerOptions {
  bool gaussian = true, forest = false;  ///< the models asked; both: their beliefs are mixed
  int initial = 4;                       ///< points looked at before any model is asked
  bool centre = true;                    ///< the first point is near the middle of the space
  bool local = true;                     ///< candidates: neighbours of the best, not only a sample of the space
  int elites = 4;
  int pool = 300;                        ///< candidates a model looks at
  int samples = 100;                     ///< of them, drawn from the whole space
  double clip = 0.8;                     ///< costs above this quantile count as the quantile
  int stagnation = 30;                   ///< evaluations without improvement before a restart; 0: never
  double own = 0.5;                      ///< share of the model's noise that is a point's own and may make it the best
  double final_pass = 0.1;               ///< share of the budget kept for the champion's neighbourhood
  int initial_warm = 3;                  ///< points taken from the sources' opinion alone
  bool guard = true;                     ///< sources that do not agree with what is measured lose their weight
  double prior_weight = 0.8;             ///< how much of the sources' opinion is believed at first
};

/// Expected improvement over `best` of a log cost believed to be `belief`.
[[nodiscard]] double expected_improvement(const Belief& belief, double best);

/// What somebody who knows the kernel at a point expects of its neighbours: for each parameter what each of its values would
/// add to the log cost.
struct Hint {
  Point at;
  std::vector<std::vector<double>> adds;
};

class Tuner final : public Searcher {
 public:
  /// `budget`: evaluations to expect, 0 if nobody knows.
  Tuner(Space space, uint64_t seed, int budget = 0, std::span<const Experience> warm = {}, TunerOptions options = {});
  ~Tuner() override;
  [[nodiscard]] std::vector<Point> ask(int most) override;
  void tell(const Point& point, std::optional<double> cost) override;

  /// Once its point was told; the model starts from what is expected, as far as that agrees with what was measured.
  void hint(Hint hint);

  [[nodiscard]] const Space& space() const;
  /// The best point told so far.
  [[nodiscard]] std::optional<Point> champion() const;
  /// What models believed of a point's log cost when it was asked for; nothing for points given without a model.
  [[nodiscard]] std::optional<Belief> belief(const Point& point) const;
  /// The candidates among which the models chose last.
  [[nodiscard]] std::span<const Point> looked_at() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hone::search::tune
