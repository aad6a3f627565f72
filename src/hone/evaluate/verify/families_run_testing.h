// The gate over many task families: fp32 in any order of summation is accepted on the strict track;
// inputs, or partial sums, rounded to TF32, bf16 or f16 are refused there and accepted on their own
// track. No exceptions on either side. Candidates are the task's own graph, evaluated with the rounding
// and the order that stand for a kernel.
#pragma once
#include <gtest/gtest.h>

#include <cstdio>
#include <map>

#include "hone/evaluate/verify/families_testing.h"
#include "hone/evaluate/verify/gate_testing.h"
#include "hone/evaluate/verify/orders_testing.h"

namespace hone::evaluate::testing {

using task::Prim;
using task::Track;

inline constexpr Track kReduced[] = {Track::kTf32, Track::kBf16, Track::kF16};
inline const char* type_of(Track track) {
  return track == Track::kTf32 ? "TF32" : track == Track::kBf16 ? "bf16" : "f16";
}

inline bool adds_up(const task::ConcreteGraph& graph) {
  return std::any_of(graph.graph.nodes.begin(), graph.graph.nodes.end(), [](const task::Node& n) {
    switch (n.prim) {
      case Prim::kSum: case Prim::kProd: case Prim::kCumSum: case Prim::kCumProd: case Prim::kLinearScan: case Prim::kDot:
      case Prim::kConv: case Prim::kConvTranspose: case Prim::kPoolSum: return true;
      default: return false;
    }
  });
}

inline std::vector<std::pair<std::string, Order>> honest_orders() {
  std::vector<std::pair<std::string, Order>> all;
  for (const bool fused : {true, false}) {
    const std::string with = fused ? ", fused" : "";
    all.push_back({"blocks of 16" + with, {.block = 16, .fused = fused}});
    all.push_back({"blocks of 64" + with, {.fused = fused}});
    all.push_back({"tree" + with, {.kind = Order::kTree, .fused = fused}});
    all.push_back({"split in four" + with, {.kind = Order::kParts, .fused = fused}});
    all.push_back({"backwards" + with, {.backwards = true, .fused = fused}});
  }
  return all;
}

inline double rounded(Track track, double v) {
  switch (track) {
    case Track::kTf32: return round_bits(v, 11, -126);
    case Track::kBf16: return round_to(task::DType::kBF16, v);
    default: return round_to(task::DType::kF16, v);
  }
}

inline void round_inputs(Case& c, Track track) {
  for (size_t i = 0; i < c.data.size(); ++i) {
    const int64_t count = task::element_count(c.shape(i));
    std::vector<double> v(static_cast<size_t>(count));
    load_doubles(task::DType::kF32, c.data[i].data(), 0, count, v.data());
    for (double& e : v) e = rounded(track, e);
    c.set(i, v);
  }
}

/// One family of inputs drawn for a task, with what each track makes of it.
class Drawn {
 public:
  Drawn(Case& c, Family family, uint64_t seed, std::map<Track, Bounds>& bounds)
      : c_(c), family_(family), bounds_(bounds) {
    c.draw_all(family, seed);
    original_ = c.data;
    for (const auto& [track, of_track] : bounds) {
      c.task.track = track;
      references_.emplace(track, reference_of(c));
    }
  }

  [[nodiscard]] std::vector<double> ordered(const Order& order) const {
    const OrderedSummation summation(order);
    return fp32_answer(c_, c_.graph, &summation);
  }
  [[nodiscard]] std::vector<double> with_rounded_inputs(Track track) {
    round_inputs(c_, track);
    auto values = fp32_answer(c_, c_.graph, nullptr);
    c_.data = original_;
    return values;
  }
  [[nodiscard]] std::optional<std::string> judged(Track track, const std::vector<double>& values) {
    return testing::judged(c_, family_, references_.at(track), bounds_.at(track), values);
  }

 private:
  Case& c_;
  Family family_;
  std::map<Track, Bounds>& bounds_;
  std::map<Track, Reference> references_;
  std::vector<std::vector<uint8_t>> original_;
};

/// What became of one candidate over all families of inputs.
struct Outcome {
  std::string strict, own;  ///< why it was refused; empty: accepted by all
};

struct Totals {
  int honest = 0, honest_accepted = 0, reduced = 0, reduced_refused = 0, own_accepted = 0;
};

inline void note(std::string& to, const std::optional<std::string>& why) {
  if (to.empty() && why) to = *why;
}

inline void try_family(const TaskFamily& family, uint64_t seed, Totals& totals) {
  Case c(family.compute, family.inputs);
  const bool sums = adds_up(c.graph);
  // Each track's bounds need the task as it is on that track.
  std::map<Track, task::Task> tasks;
  std::map<Track, Bounds> bounds;
  for (const Track track : {Track::kStrict, Track::kTf32, Track::kBf16, Track::kF16}) {
    tasks[track] = c.task;
    tasks[track].track = track;
    bounds.emplace(std::piecewise_construct, std::forward_as_tuple(track),
                   std::forward_as_tuple(tasks[track], c.graph, seed, 1));
  }
  auto orders = honest_orders();
  if (!sums) orders.resize(1);
  std::map<std::string, Outcome> honest, reduced;
  for (const Family inputs : kAllFamilies) {
    Drawn drawn(c, inputs, seed, bounds);
    for (const auto& [name, order] : orders)
      note(honest[name].strict, drawn.judged(Track::kStrict, drawn.ordered(order)));
    for (const Track track : kReduced) {
      const auto try_values = [&](const std::string& what, const std::vector<double>& values) {
        Outcome& outcome = reduced[what + type_of(track)];
        note(outcome.strict, drawn.judged(Track::kStrict, values));
        note(outcome.own, drawn.judged(track, values));
      };
      try_values("inputs in ", drawn.with_rounded_inputs(track));
      if (sums) try_values("sums in ", drawn.ordered({.kind = Order::kParts, .parts = 2, .kept_in = track}));
    }
  }
  for (const auto& [name, outcome] : honest) {
    ++totals.honest;
    totals.honest_accepted += outcome.strict.empty();
    EXPECT_EQ(outcome.strict, "") << family.name << ": " << name << ", seed " << seed;
  }
  for (const auto& [name, outcome] : reduced) {
    ++totals.reduced;
    totals.reduced_refused += !outcome.strict.empty();
    totals.own_accepted += outcome.own.empty();
    EXPECT_NE(outcome.strict, "") << family.name << ": " << name << " passes the strict track, seed " << seed;
    EXPECT_EQ(outcome.own, "") << family.name << ": " << name << " on its own track, seed " << seed;
  }
}

/// Tries families number `first`, `first` + `step`, ... with each seed, expects no exception, and prints what was
/// counted.
inline void try_families(uint64_t first_seed, uint64_t last_seed, size_t first = 0, size_t step = 1) {
  Totals totals;
  for (uint64_t seed = first_seed; seed <= last_seed; ++seed)
    for (size_t i = first; i < task_families().size(); i += step) try_family(task_families()[i], seed, totals);
  std::printf("%zu task families, %zu families of inputs\n"
              "honest fp32: %d of %d accepted\n"
              "reduced, strict track: %d of %d refused\n"
              "reduced, own track: %d of %d accepted\n",
              (task_families().size() - first + step - 1) / step, std::size(kAllFamilies), totals.honest_accepted, totals.honest,
              totals.reduced_refused, totals.reduced, totals.own_accepted, totals.reduced);
}

}  // namespace hone::evaluate::testing
