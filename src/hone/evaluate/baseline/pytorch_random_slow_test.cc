// The oracle against PyTorch: every operation of the table, kCases random cases each, in `make check` every fourth. Two programs
// of PyTorch's run for each case: what the generator wrote, in f64 (so that the oracle's fp64 answer
// is compared as such, whatever the task's types), and what hone's own emitter wrote, in the task's
// types. Prints a line an operation. Skips where there is no torch.
#include <gmock/gmock.h>

#include <cstdio>

#include "hone/base/testing/covering.h"
#include "hone/evaluate/baseline/pytorch_testing.h"
#include "hone/evaluate/baseline/testing/pytorch_batch.h"
#include "hone/evaluate/baseline/testing/random_ops.h"
#include "hone/evaluate/oracle/index_output.h"
#include "hone/evaluate/verify/gate.h"

namespace hone::evaluate::pytorch_random_slow_cases {
namespace {

using testing::Case;
using testing::Prepared;
using testing::TorchResults;

/// Of the oracle's scale: some ten thousand roundings of fp64.
constexpr double kTolerance = 1e-12;

bool has(const Case& c, std::initializer_list<task::DType> types) {
  const auto is = [&](task::DType t) { return std::find(types.begin(), types.end(), t) != types.end(); };
  for (const auto& input : c.task.inputs)
    if (is(input.type.dtype)) return true;
  for (const auto& [name, type] : c.task.outputs)
    if (is(type.dtype)) return true;
  return false;
}

struct Tally {
  int cases = 0, narrow = 0, emitted = 0, open = 0;
  int64_t elements = 0;
  double worst = 0;  ///< in multiples of the scale
};

std::string describe(const Case& c, const testing::RandomCase& random, size_t i) {
  std::string text = fmt::format("{} of {}, family {}; element {}\n{}", random.compute,
                                 fmt::join(random.declarations(), " "), name_of(random.family), i,
                                 random.torch);
  for (size_t k = 0; k < c.data.size(); ++k) {
    const int64_t n = std::min<int64_t>(task::element_count(c.shape(k)), 12);
    std::vector<double> v(static_cast<size_t>(n));
    load_doubles(c.task.inputs[k].type.dtype, c.data[k].data(), 0, n, v.data());
    text += fmt::format("\n{} = {}", c.task.inputs[k].name, fmt::join(v, " "));
  }
  return text;
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// fp64 against fp64: the scale counts fp32 roundings at the finest. Empty, or what is wrong.
std::string compare_values(const Prepared& p, int output, const Answer& answer,
                           const std::vector<double>& found, Tally& tally) {
  const task::DType type = p.built.output_type(output);
  const double unit = std::max(1.0, task::unit_roundoff(type) / task::unit_roundoff(task::DType::kF32));
  for (size_t i = 0; i < found.size(); ++i) {
    const double expected = answer.value[i], scale = answer.scale[i];
    ++tally.elements;
    if (std::isinf(scale) && std::isfinite(expected)) {  // hangs on rounding alone
      ++tally.open;
      continue;
    }
    if (same(found[i], expected)) continue;
    const double error = std::abs(found[i] - expected);
    if (!(error <= (task::is_float(type) ? kTolerance * scale * unit : scale)))
      return fmt::format("PyTorch {:.17g}, the oracle {:.17g}, scale {:.3g}\n{}", found[i], expected, scale,
                         describe(p.built, p.random, i));
    if (task::is_float(type)) tally.worst = std::max(tally.worst, error / (scale * unit));
  }
  return {};
}

std::vector<uint8_t> stored(task::DType type, const std::vector<double>& values) {
  std::vector<uint8_t> bytes(values.size() * static_cast<size_t>(task::size_of(type)));
  store_doubles(type, values.data(), static_cast<int64_t>(values.size()), bytes.data(), 0);
  return bytes;
}

/// As a candidate in the task's own types.
std::string pass_gate(const Prepared& p, int output, const Oracle& oracle, const std::vector<double>& found) {
  const auto& graph = p.built.graph;
  const auto bytes = stored(p.built.output_type(output), found);
  const Reference reference = make_reference(graph, oracle, p.built.task.track, output,
                                             {whole(p.built.output_shape(output))}, 1);
  const OutputError error = compare_output(graph, output, reference, bytes.data(), 1);
  const auto why = judge(error, bound_of(graph, p.built.task.track, output, {reference.anchor}, 4), "r");
  return why ? fmt::format("{}\n{}\n{}", *why, describe(p.built, p.random, 0), p.forward) : std::string();
}

std::string check(const Prepared& p, const TorchResults& torch, Tally& tally) {
  const Case& c = p.built;
  if (!torch.statements_error.empty()) return torch.statements_error + "\n" + describe(c, p.random, 0);
  const bool narrow = has(c, {task::DType::kF32, task::DType::kF16, task::DType::kBF16});
  // What PyTorch loses in f16 and bf16 is no matter of the oracle's.
  const bool emitted = !has(c, {task::DType::kF16, task::DType::kBF16}) && (p.random.gated || !narrow);
  if (emitted && !torch.forward_error.empty())
    return torch.forward_error + "\n" + describe(c, p.random, 0) + "\n" + p.forward;
  const Oracle oracle = c.oracle();
  for (int k = 0; k < p.outputs(); ++k) {
    const auto n = static_cast<size_t>(k);
    std::string why;
    if (judged_by_value(c.graph, k) >= 0) {
      why = pass_gate(p, k, oracle, torch.statements[n]);
      if (emitted && why.empty()) why = pass_gate(p, k, oracle, torch.forward[n]);
    } else {
      const Answer answer = oracle.evaluate(k, whole(c.output_shape(k)), Arithmetic::kExact, true);
      why = compare_values(p, k, answer, torch.statements[n], tally);
      if (emitted && why.empty())
        why = narrow ? pass_gate(p, k, oracle, torch.forward[n])
                     : compare_values(p, k, answer, torch.forward[n], tally);
    }
    if (!why.empty()) return why;
  }
  ++tally.cases;
  tally.narrow += narrow;
  tally.emitted += emitted;
  return {};
}

std::map<std::string, std::vector<const task::Op*>> families() {
  std::map<std::string, std::vector<const task::Op*>> families;
  for (const auto& [name, op] : task::op_table()) families[op.family].push_back(&op);
  return families;
}

class PytorchRandom : public ::testing::TestWithParam<std::string> {};

TEST_P(PytorchRandom, EveryOperationAgrees) {
  SKIP_WITHOUT_TORCH();
  testing::PytorchBatch batch(*pytorch_for_tests());
  std::printf("%-22s %6s %8s %8s %10s %6s  %s\n", "operation", "cases", "narrow", "emitted", "elements",
              "open", "worst error / scale");
  const std::vector<const task::Op*> ops = families()[GetParam()];
  for (const task::Op* op : ops) {
    std::vector<std::unique_ptr<Prepared>> cases;
    const int step = base::testing::in_long_part() ? 1 : 16;
    for (int i = 0; i < testing::kCases; i += step)
      cases.push_back(
          std::make_unique<Prepared>(testing::random_case(*op, testing::generators().at(op->name), i)));
    const std::vector<TorchResults> torch_results = batch.run(cases);
    Tally tally;
    int failures = 0;
    for (size_t i = 0; i < cases.size(); ++i) {
      const std::string why = check(*cases[i], torch_results[i], tally);
      if (why.empty() || ++failures > 3) continue;
      ADD_FAILURE() << fmt::format("{}, case {}: {}", op->name, i, why);
    }
    EXPECT_EQ(failures, 0) << op->name;
    EXPECT_GE(step * tally.cases, 200) << op->name;
    std::printf("%-22s %6d %8d %8d %10lld %6d  %.1e\n", op->name.c_str(), tally.cases, tally.narrow,
                tally.emitted, static_cast<long long>(tally.elements), tally.open, tally.worst);
  }
}

std::vector<std::string> titles() {
  std::vector<std::string> titles;
  for (const auto& [title, ops] : families()) titles.push_back(title);
  return titles;
}

std::string letters_of(const ::testing::TestParamInfo<std::string>& family) {
  std::string name;
  for (const char c : family.param)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) name += c;
  return name;
}

INSTANTIATE_TEST_SUITE_P(Families, PytorchRandom, ::testing::ValuesIn(titles()), letters_of);
INSTANTIATE_TEST_SUITE_P(LongFamilies, PytorchRandom, ::testing::ValuesIn(titles()), letters_of);

}  // namespace
}  // namespace hone::evaluate::pytorch_random_slow_cases
