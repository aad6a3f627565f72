// Random programs of element-wise operations, integer arithmetic and casts over all element types: what every writer of
// kernels must make the oracle's answers of. What jumps (//, %, floor, comparisons, casts to integers) is of inputs and casts
// of inputs, and no 16-bit float is computed with: there honest programs may differ by more than a gate allows for. A program
// is a task of several outputs, as compilers take longest.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/base/random.h"
#include "hone/task/task.h"

namespace hone::pattern::random_graphs {

using task::DType;

class Program {
 public:
  explicit Program(uint64_t seed) : rng_(seed) {}

  /// `compute` and the inputs that it uses, for task_from_expressions() with the symbol N.
  Result<task::Task> task(int outputs) {
    std::vector<std::string> statements;
    for (int i = 0; i < outputs; ++i) {
      const DType type = any();
      statements.push_back(fmt::format("y{} = {}", i, rooted(type)));
    }
    compute = fmt::format("{}", fmt::join(statements, "\n"));
    std::vector<std::string> inputs;
    for (const auto& [name, type] : inputs_) inputs.push_back(fmt::format("{}={}[N]", name, task::name_of(type)));
    return task::task_from_expressions(compute, inputs, {"N=213"});
  }
  std::string compute;

 private:
  static constexpr DType kFloats[] = {DType::kF32, DType::kF32, DType::kBF16, DType::kF16, DType::kF64};
  static constexpr DType kWhole[] = {DType::kI8, DType::kI16, DType::kI32, DType::kI64};

  size_t below(size_t n) { return rng_.below(n); }
  template <class T, size_t N>
  T one_of(const T (&from)[N]) { return from[below(N)]; }
  DType any() {
    const size_t which = below(10);
    return which < 4 ? one_of(kFloats) : which < 9 ? one_of(kWhole) : DType::kBool;
  }
  std::string input(DType type) {
    const std::string name = fmt::format("{}_{}", task::name_of(type), below(2) ? "a" : "b");
    inputs_.emplace(name, type);
    return name;
  }
  /// Ends in an operation, so that an output is none of its inputs.
  std::string rooted(DType type) {
    if (task::is_float(type) && task::size_of(type) == 2) return fmt::format("{}({})", task::name_of(type), real(DType::kF32, 4));
    return type == DType::kBool ? truth(3) : task::is_float(type) ? real(type, 4) : whole(type, 4);
  }
  std::string value(DType type, int depth) {
    if (depth == 0 || below(6) == 0) return plain(type);
    return type == DType::kBool ? truth(depth) : task::is_float(type) ? real(type, depth) : whole(type, depth);
  }
  /// Nothing rounds on the way to it but a cast, so that every program has the same: an input, as it is or cast.
  std::string plain(DType type) {
    if (type == DType::kBool || below(3) == 0) return input(type);
    DType from = any();
    while (from == type || from == DType::kBool) from = any();
    return fmt::format("{}({})", task::name_of(type), input(from));
  }
  /// Of integers anything: no rounding is in them.
  std::string exact(DType type, int depth) { return task::is_float(type) ? plain(type) : value(type, depth); }

  std::string cast(DType type, int depth) {
    DType from = any();
    while (from == type) from = any();
    const bool jumps = task::is_float(from) && !task::is_float(type);
    return fmt::format("{}({})", task::name_of(type), jumps ? plain(from) : value(from, depth - 1));
  }
  std::string choice(DType type, int depth) {
    return fmt::format("where({}, {}, {})", value(DType::kBool, depth - 1), value(type, depth - 1), value(type, depth - 1));
  }

  std::string whole(DType type, int depth) {
    constexpr std::string_view kInfix[] = {"+", "-", "*", "//", "%", "+", "*"};
    constexpr std::string_view kCalls[] = {"abs", "-", "sign", "relu"};
    constexpr std::string_view kBits[] = {"&", "|", "^"}, kShifts[] = {"<<", ">>"};
    switch (below(12)) {
      case 0: return cast(type, depth);
      case 1: return choice(type, depth);
      case 2: return fmt::format("{}({}, {})", below(2) ? "max" : "min", value(type, depth - 1), value(type, depth - 1));
      case 3: return fmt::format("{}({})", below(5) == 0 ? "~" : one_of(kCalls), value(type, depth - 1));
      case 9: return fmt::format("({} {} {})", value(type, depth - 1), one_of(kBits), value(type, depth - 1));
      case 10: return fmt::format("({} {} {})", value(type, depth - 1), one_of(kShifts), below(9));
      case 11: return fmt::format("({} {} {})", value(type, depth - 1), one_of(kShifts), value(type, 0));
      case 4: return fmt::format("({} {} {})", value(type, depth - 1), one_of(kInfix), 1 + below(9));
      case 5: return fmt::format("({} ** {})", value(type, depth - 1), below(5));
      default: return fmt::format("({} {} {})", value(type, depth - 1), one_of(kInfix), value(type, depth - 1));
    }
  }
  std::string real(DType type, int depth) {
    constexpr std::string_view kInfix[] = {"+", "-", "*"}, kJumps[] = {"//", "%"};
    constexpr std::string_view kCalls[] = {"abs", "-", "sin", "cos", "tanh", "erf", "sigmoid", "relu", "atan", "gelu", "silu"};
    constexpr std::string_view kJumping[] = {"floor", "ceil", "round", "trunc", "sign"};
    constexpr std::string_view kOfPositive[] = {"sqrt", "log1p", "rsqrt"};
    // Results of 16 bits are rounded by some programs and not by others, which a gate allows for but near zero.
    if (task::size_of(type) == 2) return plain(type);
    switch (below(13)) {
      case 0:
      case 1: return cast(type, depth);
      case 2: return choice(type, depth);
      case 3: return fmt::format("{}({}, {})", below(2) ? "max" : "min", value(type, depth - 1), value(type, depth - 1));
      case 4:
      case 5: return fmt::format("{}({})", one_of(kCalls), value(type, depth - 1));
      case 6: return fmt::format("{}(abs({}) + 0.5)", one_of(kOfPositive), value(type, depth - 1));
      case 7: return fmt::format("{}({})", one_of(kJumping), plain(type));
      case 8: return fmt::format("({} {} {})", plain(type), one_of(kJumps), plain(type));
      case 10: return fmt::format("({} / (abs({}) + 0.5))", value(type, depth - 1), value(type, depth - 1));
      case 9: return fmt::format("({} {} {:.2f})", plain(type), one_of(kJumps), 0.25 * static_cast<double>(1 + below(13)));
      default: return fmt::format("({} {} {})", value(type, depth - 1), one_of(kInfix), value(type, depth - 1));
    }
  }
  std::string truth(int depth) {
    constexpr std::string_view kCompare[] = {"==", "!=", "<", "<=", ">", ">="};
    constexpr std::string_view kLogic[] = {"&", "|", "^"};
    if (below(3) == 0) return fmt::format("({} {} {})", value(DType::kBool, depth - 1), one_of(kLogic), value(DType::kBool, depth - 1));
    if (below(6) == 0) return fmt::format("~({})", value(DType::kBool, depth - 1));
    const DType type = below(2) ? one_of(kFloats) : one_of(kWhole);
    return fmt::format("({} {} {})", exact(type, depth - 1), one_of(kCompare), exact(type, depth - 1));
  }

  base::Rng rng_;
  std::map<std::string, DType> inputs_;
};

}  // namespace hone::pattern::random_graphs
