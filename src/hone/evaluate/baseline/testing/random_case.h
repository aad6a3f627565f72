// Random programs of one operation each, for the oracle's test against PyTorch. A generator draws
// shapes, attributes and types from a Draft and writes the call twice: in the task language, and as
// PyTorch (statements that set `result`; helpers are in pytorch_batch.py). What a case is depends on
// the operation's name and the case's number alone.
#pragma once
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "hone/base/random.h"
#include "hone/evaluate/verify/inputs.h"
#include "hone/task/graph/op_table.h"

namespace hone::evaluate::testing {

using task::Domain;
using task::DType;
using task::Shape;

/// Numbers an input may hold beyond those of task::Domain.
enum class Extra : uint8_t {
  kNone,
  kBall,     ///< in [-1, 1]
  kNonZero,  ///< divisors
  kSpecial,  ///< some NaN and infinite
};

struct RandomInput {
  std::string name;
  DType dtype = DType::kF64;
  Shape shape;
  Domain domain = Domain::kReal;
  int64_t bound = 1;  ///< of indices
  Extra extra = Extra::kNone;
};

struct RandomCase {
  std::string compute;  ///< in the task language
  std::string torch;    ///< Python statements
  std::vector<RandomInput> inputs;
  Family family = Family::kNormal;
  uint64_t seed = 0;
  bool upcast = true;  ///< PyTorch computes on f64 copies of narrower floats
  bool gated = true;   ///< what the emitter wrote has an error in f32 that our gate accepts

  [[nodiscard]] std::vector<std::string> declarations() const {
    std::vector<std::string> all;
    for (const RandomInput& input : inputs)
      all.push_back(
          fmt::format("{}={}[{}]", input.name, task::name_of(input.dtype), fmt::join(input.shape, ",")));
    return all;
  }
};

/// Cases of an operation: the first kPlain in f64 (or in integers where the operation takes them),
/// the others in all the types that it takes.
inline constexpr int kPlain = 200, kCases = 240;

/// ", key=value" in both languages.
struct Options {
  std::string hone, torch;
  void add(std::string_view key, std::string_view torch_key, const std::string& value) {
    hone += fmt::format(", {}={}", key, value);
    if (!torch_key.empty()) torch += fmt::format(", {}={}", torch_key, value);
  }
  void add(std::string_view key, const std::string& value) { add(key, key, value); }
};

class Draft {
 public:
  Draft(const task::Op& op, int number, std::string_view torch)
      : op_(op),
        torch_(torch),
        plain_(number < kPlain),
        rng_(seed_of(op.name), static_cast<uint64_t>(number)) {
    case_.seed = rng_.next_u64();
    constexpr Family kFamilies[] = {Family::kNormal, Family::kNormal, Family::kNormal,  Family::kUniform,
                                    Family::kLarge,  Family::kSparse, Family::kShifted, Family::kInteger};
    case_.family = kFamilies[rng_.below(std::size(kFamilies))];
  }

  [[nodiscard]] const RandomCase& result() const { return case_; }
  [[nodiscard]] const std::string& op() const { return op_.name; }
  /// The operation's name or another of its names.
  [[nodiscard]] std::string name() {
    const uint64_t k = rng_.below(op_.aliases.size() + 1);
    return k == 0 ? op_.name : op_.aliases[k - 1];
  }
  /// What the generator's row says of PyTorch.
  [[nodiscard]] const std::string& torch() const { return torch_; }

  [[nodiscard]] int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(rng_.below(static_cast<uint64_t>(high - low + 1)));
  }
  [[nodiscard]] bool chance(double p = 0.5) { return rng_.uniform() < p; }
  template <class T>
  [[nodiscard]] T pick(std::initializer_list<T> from) {
    return *(from.begin() + rng_.below(from.size()));
  }
  /// A number of two decimals.
  [[nodiscard]] std::string number(double low, double high) {
    return fmt::format("{:.2f}", low + (high - low) * rng_.uniform());
  }
  [[nodiscard]] static std::string word(bool b) { return b ? "True" : "False"; }

  [[nodiscard]] DType real() {
    return plain_ ? DType::kF64 : pick({DType::kF64, DType::kF32, DType::kF32, DType::kBF16, DType::kF16});
  }
  [[nodiscard]] DType whole() { return pick({DType::kI64, DType::kI32, DType::kI16, DType::kI8}); }
  [[nodiscard]] DType numeric() { return chance(plain_ ? 0.15 : 0.4) ? whole() : real(); }
  [[nodiscard]] DType any() { return chance(0.1) ? DType::kBool : numeric(); }

  [[nodiscard]] int64_t extent(int64_t most = 5) { return chance(0.2) ? 1 : between(1, most); }
  /// Now and then with a long last axis.
  [[nodiscard]] Shape shape(int least = 0, int most = 4, int64_t largest = 5) {
    Shape shape(static_cast<size_t>(between(least, most)));
    for (int64_t& e : shape) e = extent(largest);
    if (!shape.empty() && shape.size() < 3 && largest == 5 && chance(0.15)) shape.back() = between(1, 150);
    return shape;
  }
  /// A shape that broadcasts with `shape` without growing it.
  [[nodiscard]] Shape part_of(const Shape& shape, double same = 0.5) {
    if (chance(same)) return shape;
    Shape part(shape.begin() + between(0, static_cast<int64_t>(shape.size())), shape.end());
    for (int64_t& e : part)
      if (chance(0.3)) e = 1;
    return part;
  }
  /// An axis of `rank`, as a user may write it.
  [[nodiscard]] int64_t axis(size_t rank) {
    const auto n = static_cast<int64_t>(rank);
    return between(-n, n - 1);
  }
  /// Different axes of `rank`, one at least, in any order; some counted from the end.
  [[nodiscard]] std::vector<int64_t> axes(size_t rank) {
    std::vector<int64_t> all = permutation(rank);
    all.resize(static_cast<size_t>(between(1, static_cast<int64_t>(rank))));
    for (int64_t& a : all)
      if (chance(0.3)) a -= static_cast<int64_t>(rank);
    return all;
  }
  [[nodiscard]] std::vector<int64_t> permutation(size_t rank) {
    std::vector<int64_t> all(rank);
    for (size_t i = 0; i < rank; ++i) all[i] = static_cast<int64_t>(i);
    for (size_t i = rank; i > 1; --i) std::swap(all[i - 1], all[rng_.below(i)]);
    return all;
  }

  /// Declares an input.
  RandomInput& tensor(std::string name, DType dtype, Shape shape, Domain domain = Domain::kReal,
                      int64_t bound = 1) {
    case_.inputs.push_back({std::move(name), dtype, std::move(shape), domain, bound, Extra::kNone});
    return case_.inputs.back();
  }
  [[nodiscard]] size_t inputs() const { return case_.inputs.size(); }
  [[nodiscard]] RandomInput& input(size_t i) { return case_.inputs[i]; }
  void family(Family family) { case_.family = family; }
  /// One case in eight has NaN and infinities among its floats.
  void sometimes_special() {
    if (!chance(0.125)) return;
    for (RandomInput& input : case_.inputs)
      if (task::is_float(input.dtype) && input.domain == Domain::kReal && input.extra == Extra::kNone)
        input.extra = Extra::kSpecial;
  }
  void keep_types() { case_.upcast = false; }
  void never_gated() { case_.gated = false; }
  void before(const std::string& statement) { case_.torch += statement + "\n"; }

  /// r = `call` in the task language, and an expression of PyTorch's.
  void compare(const std::string& call, const std::string& torch) { compare("r", call, torch); }
  void compare(const std::string& targets, const std::string& call, const std::string& torch) {
    case_.compute = targets + " = " + call;
    case_.torch += "result = " + torch;
  }
  /// The same where nothing is read: a task needs an input.
  void compare_made(const std::string& call, const std::string& torch) {
    tensor("z", DType::kF64, {2});
    compare(fmt::format("r = {}\ns", call), "-z", fmt::format("({}, -z)", torch));
  }

 private:
  static uint64_t seed_of(std::string_view name) {
    uint64_t seed = 0xCBF29CE484222325u;
    for (const char c : name) seed = (seed ^ static_cast<uint8_t>(c)) * 0x100000001B3u;
    return seed;
  }

  const task::Op& op_;
  std::string torch_;
  bool plain_;
  base::Rng rng_;
  RandomCase case_;
};

/// How cases of one operation are made; `torch` is the generator's own: an expression, a function.
struct Generator {
  std::string_view op;
  void (*make)(Draft&);
  std::string_view torch{};
};

[[nodiscard]] inline std::string list(const std::vector<int64_t>& values) {
  return fmt::format("[{}]", fmt::join(values, ", "));
}
/// Python's tuple; the task language takes it as a list.
[[nodiscard]] inline std::string tuple_text(const std::vector<int64_t>& values) {
  return fmt::format("({}{})", fmt::join(values, ", "), values.size() == 1 ? "," : "");
}

}  // namespace hone::evaluate::testing
