// One program of a launch as the interpreter runs it: operations over whole tensors, values by number. Internal to ttir; run.h is the
// way in. Its operations are in arithmetic.cc, shapes.cc, folds.cc (reductions and scans), access.cc and
// descriptors.cc (memory) and dot.cc.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hone/target/ttir/memory.h"
#include "hone/target/ttir/ops.h"
#include "hone/target/ttir/run.h"
#include "hone/target/ttir/text.h"

namespace hone::target::ttir {

[[noreturn]] inline void unknown(const std::string& what) { throw Stop{simt::Finding::kEmulator, what + " is not among what the interpreter has"}; }

class Program {
 public:
  Program(const Function& function, const int64_t* grid, Memory& memory)
      : function_(function), grid_(grid), memory_(memory), values_(static_cast<size_t>(function.values)) {}

  void run(std::span<const Argument> arguments, const int64_t* id);
  [[nodiscard]] int line() const { return line_; }

 private:
  using Values = std::vector<ValuePtr>;
  enum class End : uint8_t { kYield, kReturn, kCondition };

  void set(int number, Value value) { values_[static_cast<size_t>(number)] = std::make_shared<const Value>(std::move(value)); }
  void set(int number, ValuePtr value) { values_[static_cast<size_t>(number)] = std::move(value); }
  [[nodiscard]] const ValuePtr& pointer(int number) const {
    const ValuePtr& value = values_[static_cast<size_t>(number)];
    if (!value) throw Stop{simt::Finding::kEmulator, "a value is used before it is there"};
    return value;
  }
  [[nodiscard]] const Value& operand(const Op& op, size_t i) const {
    if (i >= op.operands.size()) throw Stop{simt::Finding::kEmulator, op.name + " has too few operands"};
    return *pointer(op.operands[i]);
  }
  [[nodiscard]] const Type& last_type(const Op& op) const {
    if (op.types.empty()) throw Stop{simt::Finding::kEmulator, op.name + " has no type"};
    return op.types.back();
  }
  void result(const Op& op, Value value) {
    if (!op.results.empty()) set(op.results[0], std::move(value));
  }

  /// A branch or a bound must be known.
  int64_t decided(const Value& value, const char* what);
  static std::string words_of(uint8_t why);

  /// Runs a function's or a region's blocks from the first on.
  End body(const Region& region);
  /// One block up to its end; what it yields is in yielded_.
  End straight(const Block& block, const Op*& branch);
  void take(const Op& op, size_t from);
  /// A region with arguments given; the values it yields.
  Values call(const Region& region, const Values& arguments);

  void execute(const Op& op);
  void binary(const Op& op);
  void compare(const Op& op);
  void select(const Op& op);
  void cast(const Op& op);
  void function(const Op& op);
  void add_pointer(const Op& op);
  void shapes(const Op& op);
  void load(const Op& op);
  void store(const Op& op);
  void atomic(const Op& op);
  void dot(const Op& op);
  void multiply(const Op& op, const Value& a, const Value& b, const Value& c, const std::string& precision);
  void reduce(const Op& op);
  void scan(const Op& op);
  void gather(const Op& op);
  void histogram(const Op& op);
  void external(const Op& op);
  void dot_scaled(const Op& op);
  void make_descriptor(const Op& op);
  void descriptor(const Op& op);
  void call_function(const Op& op);
  void map_elementwise(const Op& op);
  void loop(const Op& op);

  uint64_t checked_address(const Value& pointer, size_t lane, const char* what);
  /// What an atomic operation leaves of lanes of `elem`: "add", "fadd", "max", …
  static uint64_t combined(std::string_view kind, Elem elem, uint64_t old, uint64_t mine);
  bool masked_off(const Value* mask, size_t lane, const char* what);
  void check_stored(const Value& value, size_t lane);
  /// Lanes from `begin` on that lie behind one another in memory and are neither masked off nor bad.
  static size_t run_of(const Value& pointer, const Value* mask, size_t begin, uint64_t bytes);

  const Function& function_;
  const int64_t* grid_;
  Memory& memory_;
  const int64_t* id_ = nullptr;
  std::vector<ValuePtr> values_;
  Values yielded_;
  int64_t condition_ = 0;
  int calls_ = 0;
  int line_ = 0;
};

}  // namespace hone::target::ttir
