// One function of a plain kernel while it is written: nested loops, values computed in the outermost loop
// that knows what they depend on, the tensors and symbols used. One thread; lives as long as its plan.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "hone/pattern/plain.h"
#include "hone/pattern/plain_plan.h"

namespace hone::pattern::plain {

/// A C++ expression and the innermost loop that it depends on; 0: none, the function's body.
struct Text {
  std::string text;
  int level = 0;
};

/// Where an element is: a position along each dimension, or one in the whole of a dense tensor.
struct Position {
  std::vector<Text> at;
  std::optional<Text> flat;
};

/// What a function is written in. In Triton a value is a block of elements, one a lane: each lane goes through the loops for its own.
enum class Dialect : uint8_t { kCpp, kTriton };

class Function {
 public:
  Function(const task::Task& task, const Plan& plan, const Misprint& misprint, std::string name, Dialect dialect = Dialect::kCpp);
  [[nodiscard]] bool in_lanes() const { return dialect_ == Dialect::kTriton; }

  // Loops. A level's lines stand before the loop that is opened next.
  void open(const std::string& header, const std::string& footer = "}");
  void close();
  void line(const std::string& text) { levels_.back().lines.push_back(text); }
  [[nodiscard]] int level() const { return static_cast<int>(levels_.size()) - 1; }
  /// for (int64_t name = begin; name < end; ++name)
  Text loop(const std::string& name, const Text& begin, const Text& end);
  /// The same over all of an extent, whose ends a misprint may move. Extent 1, literally: no loop, "0".
  Text loop_over(const std::string& name, const task::IntExpr& extent);
  /// The same, a loop in any case.
  Text always_loop_over(const std::string& name, const task::IntExpr& extent);
  /// A constant with this value, in the outermost loop that knows it; equal ones are one.
  Text local(const std::string& type, const Text& value);
  Text index(const Text& value);  ///< local("int64_t", …) unless it is a name or number

  // The grid. At most two dimensions, x first; of lanes one.
  /// Positions along these extents, decoded from a block index over their product.
  std::vector<Text> grid(const std::vector<std::string>& names, const std::vector<task::IntExpr>& extents,
                         const std::string& block);
  /// A block of at most `size` (a constant of hone::plain) elements of an extent: locals `start`, `count`.
  void grid_blocks(const task::IntExpr& extent, const std::string& block, const std::string& size, int64_t size_value);
  void use_shared(const task::IntExpr& bytes) { shared_ = bytes; }

  // Names.
  [[nodiscard]] Text extent(const task::IntExpr& e);

  // How the language says it. Positions are not negative.
  [[nodiscard]] Text quotient(const Text& a, const Text& b);
  [[nodiscard]] Text remainder(const Text& a, const Text& b);
  [[nodiscard]] Text held(const Text& x, const Text& extent);  ///< to 0 … extent - 1
  [[nodiscard]] Text whole(const Text& x);                     ///< an integer as an index
  [[nodiscard]] std::string select(const std::string& condition, const std::string& a, const std::string& b) const;
  [[nodiscard]] std::string both(const std::string& a, const std::string& b) const;
  std::string reads(const std::string& tensor);
  std::string writes(const std::string& tensor);
  /// Of the elements that a tensor of the plan holds.
  [[nodiscard]] task::DType dtype_of(const std::string& tensor) const;
  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] const task::Node& node(int id) const { return plan_.graph.node(id); }

  /// `right`, or what the misprint wants instead.
  std::string maybe(const std::string& right, const std::vector<Mistake>& wrong) const {
    return misprint_ ? misprint_(right, wrong) : right;
  }

  /// An extent as the number of a loop's turns, which a misprint may cut short.
  std::string maybe_short(const task::IntExpr& e);

  /// The whole function, and its [[launch]].
  [[nodiscard]] std::string definition() const;
  [[nodiscard]] std::string launch() const;

 private:
  struct Level {
    std::string header, footer;
    std::vector<std::string> lines;
    std::map<std::string, std::string> known;  ///< locals by what they are
  };

  [[nodiscard]] std::vector<std::string> tensors() const;  ///< read ones, then written ones
  [[nodiscard]] std::string lanes_definition() const;
  [[nodiscard]] std::string lanes_launch() const;

  const task::Task& task_;
  const Plan& plan_;
  const Misprint& misprint_;
  std::string name_;
  Dialect dialect_;
  std::vector<Level> levels_;
  std::vector<task::IntExpr> grid_;
  std::vector<std::string> blocks_;
  std::set<std::string> reads_, writes_, symbols_;
  std::optional<task::IntExpr> shared_;
  std::vector<task::IntExpr> extents_;  ///< that the plan gives a Triton kernel: e0, e1, …
  int locals_ = 0;
};

/// e + number, e * number, … of names and numbers, without needless "+ 0" and "* 1".
[[nodiscard]] Text operator+(const Text& a, const Text& b);
[[nodiscard]] Text operator-(const Text& a, const Text& b);
[[nodiscard]] Text operator*(const Text& a, const Text& b);
[[nodiscard]] Text call(const std::string& function, const std::vector<Text>& arguments);
[[nodiscard]] inline Text number(int64_t value) { return {std::to_string(value), 0}; }

}  // namespace hone::pattern::plain
