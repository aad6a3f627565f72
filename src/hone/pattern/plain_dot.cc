// Contractions: result rows are filled a block of columns at a time, four rows together, so that the
// innermost loop goes along an operand's memory and what it loads serves four rows; or, where both operands
// end in a contracted index, element by element along that.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "hone/pattern/plain_ops.h"

namespace hone::pattern::plain {
namespace {

using task::Dims;
using task::IntExpr;
using task::Node;

class Dot {
 public:
  Dot(Function& f, int id, const std::string& tensor) : f_(f), id_(id), tensor_(tensor), node_(f.node(id)) {
    const std::string& spec = node_.attr<std::string>("spec");
    const size_t comma = spec.find(','), arrow = spec.find("->");
    letters_[0] = spec.substr(0, comma);
    letters_[1] = spec.substr(comma + 1, arrow - comma - 1);
    result_ = spec.substr(arrow + 2);
    for (const int side : {0, 1})
      for (size_t d = 0; d < letters_[side].size(); ++d)
        extent_.emplace(letters_[side][d], f.node(node_.operands[static_cast<size_t>(side)]).type.dims[d]);
    for (const auto& [letter, extent] : extent_) at_[letter] = number(0);
  }

  void write() {
    std::string contracted, kept;
    for (const std::string& side : letters_)
      for (const char c : side)
        if (result_.find(c) == std::string::npos && contracted.find(c) == std::string::npos && !is_one(extent_.at(c)))
          contracted += c;
    for (const char c : result_)
      if (!is_one(extent_.at(c))) kept += c;
    // Best along the result's memory too.
    for (const int side : {1, 0})
      if (!kept.empty() && last_of(side) == kept.back()) return columns(kept, contracted, kept.back(), side);
    for (const int side : {1, 0})
      if (last_of(side) && kept.find(last_of(side)) != std::string::npos)
        return columns(kept, contracted, last_of(side), side);
    elements(kept, contracted);
  }

 private:
  [[nodiscard]] char last_of(int side) const {
    for (size_t d = letters_[side].size(); d-- > 0;)
      if (!is_one(extent_.at(letters_[side][d]))) return letters_[side][d];
    return 0;
  }

  void grid_over(const std::string& over, const std::string& block) {
    std::vector<std::string> names;
    std::vector<IntExpr> extents;
    for (const char c : over) {
      names.push_back(name(c));
      extents.push_back(extent_.at(c));
    }
    const auto positions = f_.grid(names, extents, block);
    for (size_t k = 0; k < over.size(); ++k) at_[over[k]] = positions[k];
  }
  static std::string name(char letter) { return fmt::format("i_{}", letter); }

  Text operand(int side) {
    const int id = node_.operands[static_cast<size_t>(side)];
    Position at;
    for (const char c : letters_[side]) at.at.push_back(at_.at(c));
    const Text x = value(f_, id, at);
    const std::string type = summing_type(node_.type.dtype);
    return f_.local(type, {fmt::format("{}({})", type, x.text), x.level});
  }

  void store(const std::string& value) {
    Position at;
    for (const char c : result_) at.at.push_back(at_.at(c));
    f_.line(store_text(f_, id_, tensor_, at, value));
  }

  /// `side`: the operand along whose rows the innermost loop goes.
  void columns(std::string kept, const std::string& contracted, char column, int side) {
    std::erase(kept, column);
    const int other = 1 - side;
    // Rows: an index of the result and the other operand alone.
    char row = 0;
    for (const char c : kept)
      if (letters_[side].find(c) == std::string::npos && letters_[other].find(c) != std::string::npos) row = c;
    const Running running = running_of(f_, id_);
    f_.grid_blocks(extent_.at(column), "column", "kColumns", 256);
    const int rows = row ? 4 : 1;
    std::string four;   // which four rows the block has; a number where there are no more
    if (row) {
      const IntExpr whole = extent_.at(row);
      extent_.insert_or_assign(row, IntExpr::ceil_div(whole, 4));
      grid_over(kept, "row");
      four = at_.at(row).text;
      extent_.insert_or_assign(row, whole);
      const std::string end = f_.extent(whole).text;
      // Where fewer rows are left the last one is computed again, and not stored.
      for (int k = 0; k < rows; ++k)
        row_at_.push_back(f_.local("int64_t", {fmt::format("hone::plain::least({} * 4 + {}, {} - 1)", at_.at(row).text, k, end), 0}));
    } else {
      grid_over(kept, "row");
    }
    f_.line(fmt::format("{} sum[{}][hone::plain::kColumns];", running.type, rows));
    f_.line(fmt::format("for (int64_t k = 0; k < {}; ++k)", rows));
    f_.line(fmt::format("  for (int64_t j = 0; j < count; ++j) sum[k][j] = {};", running.start));
    for (const char c : contracted) at_[c] = f_.loop_over(name(c), extent_.at(c));
    std::vector<Text> factors;
    for (int k = 0; k < rows; ++k) {
      if (row) at_[row] = row_at_[static_cast<size_t>(k)];
      factors.push_back(letters_[other].find(column) == std::string::npos ? operand(other) : Text{});
    }
    f_.loop("j", number(0), {"count", 0});
    at_[column] = {"(start + j)", f_.level()};
    for (int k = 0; k < rows; ++k) {
      if (row) at_[row] = row_at_[static_cast<size_t>(k)];
      const Text factor = factors[static_cast<size_t>(k)].text.empty() ? operand(other) : factors[static_cast<size_t>(k)];
      f_.line(running.take(fmt::format("sum[{}][j]", k), factor.text + " * " + operand(side).text, ""));
    }
    while (f_.level() > 0) f_.close();
    f_.loop("k", number(0), number(rows));
    const int level = f_.level();
    if (row) {
      at_[row] = f_.local("int64_t", {fmt::format("{} * 4 + k", four), level});
      f_.line(fmt::format("if ({} >= {}) break;", at_[row].text, f_.extent(extent_.at(row)).text));
    }
    f_.loop("j", number(0), {"count", 0});
    at_[column] = {"(start + j)", f_.level()};
    store("sum[k][j]");
    f_.close();
    f_.close();
  }

  void elements(const std::string& kept, std::string contracted) {
    // Innermost the index that both operands have last, or one of them.
    const auto order = [&](char c) { return (last_of(0) == c) + (last_of(1) == c); };
    std::stable_sort(contracted.begin(), contracted.end(), [&](char a, char b) { return order(a) < order(b); });
    const Running running = running_of(f_, id_);
    grid_over(kept, "row");
    f_.line(fmt::format("{} sum = {};", running.type, running.start));
    const bool lanes = running.type == "double" && running.narrowed.empty() && !contracted.empty();
    for (size_t k = 0; k < contracted.size(); ++k) {
      const char c = contracted[k];
      if (lanes && k + 1 == contracted.size()) {
        const std::string length = f_.maybe_short(extent_.at(c));
        f_.open(fmt::format("sum += hone::plain::sum_of({}, [&](int64_t {}) -> double", length, name(c)), "});");
        at_[c] = {name(c), f_.level()};
      } else {
        at_[c] = f_.loop_over(name(c), extent_.at(c));
      }
    }
    const Text a = operand(0), b = operand(1);
    f_.line(lanes ? fmt::format("return {} * {};", a.text, b.text) : running.take("sum", a.text + " * " + b.text, ""));
    while (f_.level() > 0) f_.close();
    store("sum");
  }

  Function& f_;
  int id_;
  const std::string& tensor_;
  const Node& node_;
  std::string letters_[2], result_;
  std::map<char, IntExpr> extent_;
  std::map<char, Text> at_;
  std::vector<Text> row_at_;
};

}  // namespace

void write_dot(Function& f, int id, const std::string& tensor) { Dot(f, id, tensor).write(); }

}  // namespace hone::pattern::plain
