#include "hone/face/audit/trials.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/base/random.h"
#include "hone/evaluate/oracle/number.h"
#include "hone/evaluate/oracle/oracle.h"
#include "hone/evaluate/verify/bounds.h"
#include "hone/evaluate/verify/compare_found.h"
#include "hone/evaluate/verify/gate.h"
#include "hone/evaluate/verify/integer_bounds.h"
#include "hone/face/audit/leave_out.h"

namespace hone::face::audit {
namespace {

using evaluate::Family;
using Inputs = std::vector<std::vector<uint8_t>>;

/// Of each family: what passes them all is let through.
constexpr int kDraws = 2;
/// Exact answers nearer than this, as a part of their scale, are one: what is left is fp64's own rounding.
constexpr double kSame = 1e-11;

/// All inputs of a task, drawn whole or with the weights of norms at 1.
class Source {
 public:
  Source(const task::Task& task, const task::ConcreteGraph& graph, int threads)
      : task_(task), graph_(graph), threads_(threads), bounds_(evaluate::draw_bounds(task, graph)) {}

  void draw(Inputs& inputs, size_t i, Family family, uint64_t seed) const {
    const task::InputSpec& spec = task_.inputs[i];
    inputs[i].resize(static_cast<size_t>(count(i) * task::size_of(spec.type.dtype)));
    evaluate::draw(spec, shape(i), bounds_[i], family, seed, inputs[i].data(), threads_);
    if (at_one_ && spec.domain == task::Domain::kNearOne)
      evaluate::store_doubles(spec.type.dtype, std::vector<double>(static_cast<size_t>(count(i)), 1).data(), count(i), inputs[i].data(), 0);
  }
  [[nodiscard]] Inputs draw_all(Family family, uint64_t seed) const {
    Inputs inputs(task_.inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) draw(inputs, i, family, seed + i);
    return inputs;
  }
  [[nodiscard]] std::vector<evaluate::TensorView> views(const Inputs& inputs) const {
    std::vector<evaluate::TensorView> views;
    for (size_t i = 0; i < inputs.size(); ++i) views.push_back({task_.inputs[i].type.dtype, shape(i), inputs[i].data()});
    return views;
  }
  void set_at_one() { at_one_ = true; }

 private:
  [[nodiscard]] const task::Shape& shape(size_t i) const { return graph_.shapes[static_cast<size_t>(graph_.graph.inputs[i])]; }
  [[nodiscard]] int64_t count(size_t i) const { return task::element_count(shape(i)); }

  const task::Task& task_;
  const task::ConcreteGraph& graph_;
  int threads_;
  std::vector<evaluate::DrawBounds> bounds_;
  bool at_one_ = false;
};

/// One draw of all inputs, and whether the gate takes other answers for the right ones.
class Draw {
 public:
  Draw(const task::Task& task, const task::ConcreteGraph& graph, const Source& source, evaluate::Bounds& bounds, Family family, uint64_t seed, int threads)
      : task_(task), graph_(graph), source_(source), family_(family), threads_(threads), inputs_(source.draw_all(family, seed)) {
    evaluate::GateOptions options;
    options.full_limit = options.sample_elements;
    options.sample_seed = seed;
    const evaluate::Oracle oracle(graph, source.views(inputs_), task.track, threads);
    for (int output = 0; output < static_cast<int>(graph.graph.outputs.size()); ++output) {
      references_.push_back(evaluate::make_reference(graph, oracle, task.track, output, evaluate::plan_boxes(graph, output, options), threads));
      bounds_.push_back(bounds.of(output, family, references_.back().anchor));
    }
  }

  /// The answer of another graph over the same inputs, as a kernel rounds it.
  [[nodiscard]] bool takes_graph(int output, const task::ConcreteGraph& other) const {
    return takes(output, answers(output, other, inputs_, evaluate::arithmetic_of(task_.track)));
  }
  /// What the exact answer is to inputs of which one is drawn anew: the same, another that the gate takes, or one that it refuses.
  enum class Other : uint8_t { kEqual, kTaken, kRefused };
  [[nodiscard]] Other other_input(int output, size_t input, uint64_t seed) const {
    Inputs inputs = inputs_;
    source_.draw(inputs, input, family_, seed);
    std::vector<evaluate::Answer> found = answers(output, graph_, inputs, evaluate::Arithmetic::kExact);
    bool another = false;
    // What cancels leaves fp64's rounding of its own terms, which may be large beside an answer whose terms are all zero.
    for_each_element(output, found, [&](double& value, double right, double right_scale, double scale) {
      if (std::abs(value - right) <= kSame * scale) value = right;
      another |= std::abs(value - right) > kSame * right_scale;
    });
    if (!takes(output, found)) return Other::kRefused;
    return another ? Other::kTaken : Other::kEqual;
  }
  /// Whether another graph is another function here, whatever the gate thinks of it.
  [[nodiscard]] bool differs(int output, const task::ConcreteGraph& other) const {
    std::vector<evaluate::Answer> found = answers(output, other, inputs_, evaluate::Arithmetic::kExact);
    bool another = false;
    for_each_element(output, found, [&](double value, double right, double scale, double) { another |= std::abs(value - right) > kSame * scale; });
    return another;
  }
  [[nodiscard]] bool zeros(int output) const {
    for (const evaluate::Answer& answer : references_[static_cast<size_t>(output)].answers)
      for (const double value : answer.value)
        if (value != 0) return false;
    return true;
  }

 private:
  /// Of answers with scales: each value beside the right one, and the scales of the right one and its own.
  template <class Look>
  void for_each_element(int output, std::vector<evaluate::Answer>& found, Look look) const {
    const std::vector<evaluate::Answer>& right = references_[static_cast<size_t>(output)].answers;
    for (size_t box = 0; box < found.size(); ++box)
      for (size_t i = 0; i < found[box].value.size(); ++i) look(found[box].value[i], right[box].value[i], right[box].scale[i], found[box].scale[i]);
  }
  [[nodiscard]] std::vector<evaluate::Answer> answers(int output, const task::ConcreteGraph& graph, const Inputs& inputs, evaluate::Arithmetic arithmetic) const {
    const evaluate::Oracle oracle(graph, source_.views(inputs), task_.track, threads_);
    std::vector<evaluate::Answer> answers;
    for (const evaluate::Box& box : references_[static_cast<size_t>(output)].boxes)
      answers.push_back(oracle.evaluate(output, box, arithmetic, arithmetic == evaluate::Arithmetic::kExact, threads_));
    return answers;
  }
  [[nodiscard]] bool takes(int output, const std::vector<evaluate::Answer>& answers) const {
    const auto at = static_cast<size_t>(output);
    const auto found = [&](int64_t box, int64_t position, int64_t, std::span<double> values) {
      std::copy_n(answers[static_cast<size_t>(box)].value.begin() + position, values.size(), values.begin());
    };
    const evaluate::OutputError error = evaluate::compare_found(graph_, output, references_[at], found, threads_);
    return !evaluate::judge(error, bounds_[at], task_.outputs[at].first);
  }

  const task::Task& task_;
  const task::ConcreteGraph& graph_;
  const Source& source_;
  Family family_;
  int threads_;
  Inputs inputs_;
  std::vector<evaluate::Reference> references_;
  std::vector<evaluate::Bound> bounds_;
};

class Trials {
 public:
  Trials(const task::Task& task, const task::ConcreteGraph& graph, uint64_t seed, int threads)
      : task_(task), graph_(graph), threads_(threads), rng_(seed), source_(task, graph, threads), bounds_(task, graph, rng_.next_u64(), threads) {}

  std::vector<Finding> run() {
    find_unread();
    const bool all_constant = constant_.size() == outputs();
    if (!all_constant) find_passes();
    if (!all_constant) find_left_out();
    if (!all_constant) find_at_one();
    return std::move(findings_);
  }

 private:
  [[nodiscard]] size_t outputs() const { return task_.outputs.size(); }
  [[nodiscard]] const std::string& output_name(int output) const { return task_.outputs[static_cast<size_t>(output)].first; }
  [[nodiscard]] std::string input_names(const std::set<size_t>& inputs) const {
    std::vector<std::string_view> names;
    for (const size_t i : inputs) names.push_back(task_.inputs[i].name);
    return fmt::format("{}", fmt::join(names, ", "));
  }
  void add(Kind kind, std::string what) { findings_.push_back({kind, std::move(what)}); }

  /// Calls `keep(draw, suspect)` on every draw of every family, and drops suspects for which it says false.
  template <class Suspect, class Keep>
  void sift(std::vector<Suspect>& suspects, Keep keep) {
    for (int n = 0; n < kDraws; ++n)
      for (const Family family : evaluate::kAllFamilies) {
        if (suspects.empty()) return;
        const Draw draw(task_, graph_, source_, bounds_, family, rng_.next_u64(), threads_);
        std::erase_if(suspects, [&](const Suspect& suspect) { return !keep(draw, suspect); });
      }
  }

  using Pair = std::pair<int, size_t>;  ///< an output and an input
  /// Those of `inputs` that an output is made from and does not depend on; into `taken` those that it does, though the gate does not see it.
  std::vector<Pair> unread_among(const std::set<size_t>& inputs, std::vector<Pair>& taken) {
    std::vector<Pair> suspects;
    for (int output = 0; output < static_cast<int>(outputs()); ++output)
      for (const size_t input : inputs_of(output))
        if (inputs.contains(input)) suspects.emplace_back(output, input);
    std::set<Pair> seen;
    sift(suspects, [&](const Draw& draw, const Pair& pair) {
      const Draw::Other other = draw.other_input(pair.first, pair.second, rng_.next_u64());
      if (other == Draw::Other::kTaken) seen.insert(pair);
      return other != Draw::Other::kRefused;
    });
    std::copy_if(suspects.begin(), suspects.end(), std::back_inserter(taken), [&](const Pair& pair) { return seen.contains(pair); });
    std::erase_if(suspects, [&](const Pair& pair) { return seen.contains(pair); });
    return suspects;
  }
  [[nodiscard]] std::set<size_t> inputs_of(int output) const {
    std::set<size_t> inputs;
    for (const int input : inputs_behind(graph_.graph, graph_.graph.outputs[static_cast<size_t>(output)])) inputs.insert(static_cast<size_t>(input));
    return inputs;
  }
  [[nodiscard]] static std::set<size_t> of_output(const std::vector<Pair>& pairs, int output) {
    std::set<size_t> inputs;
    for (const auto& [o, input] : pairs)
      if (o == output) inputs.insert(input);
    return inputs;
  }

  void find_unread() {
    std::set<size_t> all;
    for (size_t i = 0; i < task_.inputs.size(); ++i) all.insert(i);
    std::vector<Pair> taken;
    unread_ = unread_among(all, taken);
    for (int output = 0; output < static_cast<int>(outputs()); ++output) {
      const std::set<size_t> here = of_output(unread_, output);
      if (here.size() == inputs_of(output).size()) {
        constant_.insert(output);
        const Draw draw(task_, graph_, source_, bounds_, Family::kNormal, rng_.next_u64(), threads_);
        add(Kind::kConstant, fmt::format("{} is {} whatever the inputs are", output_name(output), draw.zeros(output) ? "zero" : "the same"));
      } else if (!here.empty()) {
        add(Kind::kUnread, fmt::format("{} does not depend on {}", output_name(output), input_names(here)));
      }
    }
    for (const auto& [output, input] : taken)
      add(Kind::kLeftOut, fmt::format("{}: the answer to other values of {}", output_name(output), task_.inputs[input].name));
  }

  /// What the evaluator itself asks before it looks at a kernel.
  void find_passes() {
    const auto all = evaluate::self_test(task_, rng_.next_u64(), threads_);
    if (!all) return add(Kind::kPasses, all.error().to_string());
    for (const evaluate::Degenerate& passed : *all)
      if (!constant_.contains(passed.output)) add(Kind::kPasses, passed.describe(task_));
  }

  void find_left_out() {
    struct Suspect {
      int output;
      const LeftOut* left_out;
    };
    const std::vector<LeftOut> all = leave_out(graph_);
    std::vector<Suspect> suspects;
    for (int output = 0; output < static_cast<int>(outputs()); ++output)
      for (const LeftOut& one : all)
        if (reads(output, one)) suspects.push_back({output, &one});
    // What changes nothing, such as the maximum that a softmax subtracts where nothing overflows, is no mistake.
    std::set<std::pair<int, const LeftOut*>> mistakes;
    sift(suspects, [&](const Draw& draw, const Suspect& suspect) {
      if (!draw.takes_graph(suspect.output, suspect.left_out->graph)) return false;
      if (draw.differs(suspect.output, suspect.left_out->graph)) mistakes.emplace(suspect.output, suspect.left_out);
      return true;
    });
    for (const Suspect& suspect : suspects)
      if (mistakes.contains({suspect.output, suspect.left_out}))
        add(Kind::kLeftOut, fmt::format("{}: {}", output_name(suspect.output), suspect.left_out->what));
  }

  /// Whether what is left out is part of an output that is not constant, and does not come from inputs alone that are not read anyway.
  [[nodiscard]] bool reads(int output, const LeftOut& one) const {
    if (constant_.contains(output) || !part_of(one, output)) return false;
    const std::set<size_t> not_read = of_output(unread_, output);
    return one.inputs.empty() || std::any_of(one.inputs.begin(), one.inputs.end(), [&](int i) { return !not_read.contains(static_cast<size_t>(i)); });
  }
  [[nodiscard]] static bool part_of(const LeftOut& one, int output) {
    return ancestors(one.graph.graph, one.graph.graph.outputs[static_cast<size_t>(output)]).contains(one.changed);
  }

  void find_at_one() {
    std::set<size_t> others, weights;
    for (size_t i = 0; i < task_.inputs.size(); ++i) (task_.inputs[i].domain == task::Domain::kNearOne ? weights : others).insert(i);
    if (weights.empty()) return;
    source_.set_at_one();
    std::vector<Pair> taken;
    const std::vector<Pair> unread = unread_among(others, taken);
    for (int output = 0; output < static_cast<int>(outputs()); ++output) {
      std::set<size_t> here = of_output(unread, output);
      for (const size_t known : of_output(unread_, output)) here.erase(known);
      if (!here.empty() && !constant_.contains(output))
        add(Kind::kAtOne, fmt::format("{} does not depend on {} where all of {} is 1", output_name(output), input_names(here), input_names(weights)));
    }
  }

  const task::Task& task_;
  const task::ConcreteGraph& graph_;
  int threads_;
  base::Rng rng_;
  Source source_;
  evaluate::Bounds bounds_;
  std::vector<Pair> unread_;
  std::set<int> constant_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> found_by_trial(const task::Task& task, const task::ConcreteGraph& graph, uint64_t seed, int threads) {
  return Trials(task, graph, seed, threads).run();
}

}  // namespace hone::face::audit
