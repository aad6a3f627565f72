// What a candidate may lose, for one task at one shape: the anchor's errors on further inputs of the
// same families, drawn when first asked for, or known from an earlier evaluation. Not thread-safe.
#pragma once
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hone/evaluate/facts.h"
#include "hone/evaluate/verify/gate.h"
#include "hone/evaluate/verify/inputs.h"
#include "hone/target/card.h"

namespace hone::evaluate {

class Bounds {
 public:
  static constexpr double kSlack = 4;
  /// Above this share of its bound an error is called near it, and more draws are taken (near_bound.h).
  static constexpr double kFarWithin = 0.8;
  /// `task` and `graph` (an instance of it) must outlive the bounds. Everything drawn follows from
  /// `seed`. With `facts` the anchor's errors are looked up there first, and kept there. With `card` inputs of large reductions
  /// are drawn there too, if it has room for them, and reduced there.
  Bounds(const task::Task& task, const task::ConcreteGraph& graph, uint64_t seed, int threads,
         std::shared_ptr<const Facts> facts = nullptr, std::shared_ptr<target::Card> card = nullptr, double slack = kSlack);

  /// The bound of an output on inputs of `family`, on which the anchor's own error is `here`
  /// (Reference::anchor): from `here` and further draws, and never below what signed normal inputs
  /// give.
  [[nodiscard]] Bound of(int output, Family family, const OutputError& here);

  /// As of(), and no more than has to be known of it: the least that it can be where `error` is certain to lie far within it
  /// (below kFarWithin of it) and no nearer to it than an earlier one, so that most answers of good kernels wait for no further
  /// draws. `nearest`: the largest share of its bound that a maximum had so far; kept up to date.
  [[nodiscard]] Bound deciding(int output, Family family, const OutputError& here, const OutputError& error, double& nearest);

  /// The anchor's errors on further draws: 3, or 15 for outputs of fewer than kFewElements; fewer,
  /// though one at least, where they would take the oracle more than a second or so. None for outputs that are compared
  /// exactly or by value.
  [[nodiscard]] const std::vector<OutputError>& further_anchors(int output, Family family);

  /// Takes four times as many draws, once: for who asks again and again and wants the same answer. Not kept as a fact.
  void refine(int output, Family family);

  /// Whether a card may have a part in further_anchors() of an output.
  [[nodiscard]] bool on_card(int output) const;

 private:
  [[nodiscard]] int draws_of(int output) const;
  [[nodiscard]] std::vector<OutputError> draw_anchors(int output, Family family, uint64_t seed, int times) const;
  [[nodiscard]] std::string question_of(int output, Family family) const;

  const task::Task& task_;
  const task::ConcreteGraph& graph_;
  uint64_t seed_;
  int threads_;
  std::shared_ptr<const Facts> facts_;
  std::shared_ptr<target::Card> card_;
  double slack_;
  std::map<std::pair<int, Family>, std::vector<OutputError>> further_;
  std::set<std::pair<int, Family>> refined_;
};

}  // namespace hone::evaluate
