// A task that is being drawn: the text of its statements, the type and shape of each value, its symbols. Pieces
// (pieces.h) and kinds (kinds.h) add to it; sizes.h then gives the symbols their numbers. Every choice is made by a
// counter-based generator and in integers, so the same seed and index give the same task on every machine.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/random.h"
#include "hone/task/drawn/mix.h"

namespace hone::task::drawn {

using Extents = std::vector<std::string>;  ///< expressions over symbols: {"B", "H*E", "3"}

/// What is known of a value's elements, so that no piece is added that would do nothing or everything.
struct Value {
  std::string name, dtype;
  Extents dims;
  int spread = 0;         ///< about log2 of the typical magnitude, above that of a normal distribution
  bool negative = false;  ///< not positive: relu would leave nothing
  bool positive = false;  ///< not negative: relu and abs do nothing
  bool bounded = false;   ///< within a few times [-1, 1]: clamps and tanh do little
  bool scaled = false;    ///< its last operation was multiplying by a number: a norm behind it would undo that
  bool curved = false;    ///< something behind the last heavy operation is not linear: a sum cannot be moved before it
  bool product = false;   ///< nothing but linear steps since a product or convolution: a second one would be one with it
  bool centred = false;   ///< each row (or channel) has a known mean, sum or norm: reducing it gives a constant
  [[nodiscard]] size_t rank() const { return dims.size(); }
  [[nodiscard]] const std::string& last() const { return dims.back(); }
};

struct Symbol {
  std::string name, role;  ///< role: a section [extent.…] of the mix
  int64_t full = 0, small = 0, tiny = 0;
  int64_t least = 1;       ///< what windows and halves need
};

/// How large a value is, and what it costs: what sizes.h adds up.
struct Load {
  Extents dims;
  std::string dtype;
  bool moved = false;  ///< read from or written to memory whole, for certain: an input or an output
  bool input = false;
};
struct Work {
  Extents factors;     ///< their product is the number of multiply-adds
  bool half = false;   ///< by 16-bit or 8-bit units
};

class Sketch {
 public:
  Sketch(const Mix& mix, uint64_t seed, uint64_t index) : mix_(mix), rng_(seed, index) { type_ = mix.pick("types", rng_); }

  // choices
  [[nodiscard]] int64_t below(int64_t n) { return static_cast<int64_t>(rng_.below(static_cast<uint64_t>(n))); }
  [[nodiscard]] bool chance(int percent) { return below(100) < percent; }
  [[nodiscard]] const std::string& pick(std::string_view section) { return mix_.pick(section, rng_); }
  template <class T>
  [[nodiscard]] T one_of(std::initializer_list<T> all) { return *(all.begin() + below(static_cast<int64_t>(all.size()))); }
  [[nodiscard]] std::string_view one_of(std::initializer_list<const char*> all) { return *(all.begin() + below(static_cast<int64_t>(all.size()))); }

  // the growing task
  [[nodiscard]] const std::string& type() const { return type_; }
  void set_type(std::string type) { type_ = std::move(type); }
  [[nodiscard]] bool half() const { return type_ != "f32"; }
  /// A new symbol of that role, named `letter` or `letter`2, …; at least `least` everywhere.
  std::string extent(std::string_view letter, std::string_view role, int64_t least = 1);
  /// The symbol is at least that much (windows).
  void at_least(const std::string& symbol, int64_t least);
  Value input(std::string_view hint, Extents dims, std::string_view dtype = "", std::string_view domain = "");
  /// hint = expression, with the type of `like` unless said otherwise. Facts about the elements are not carried over.
  Value let(std::string_view hint, std::string expression, Extents dims, std::string_view dtype = "");
  /// hint, hint, … = expression: parts of one shape and type.
  std::vector<Value> let_all(const std::vector<std::string>& hints, std::string expression, const Extents& dims, std::string_view dtype = "");
  void output(const Value& value, std::string_view name = "y");
  void work(Extents factors, bool half);
  void hint(std::string_view word);
  void allow_nan() { nan_ = true; }

  // the finished task
  [[nodiscard]] const Mix& mix() const { return mix_; }
  [[nodiscard]] std::vector<Symbol>& symbols() { return symbols_; }
  [[nodiscard]] const std::vector<Symbol>& symbols() const { return symbols_; }
  [[nodiscard]] const std::vector<Load>& loads() const { return loads_; }
  [[nodiscard]] const std::vector<Work>& works() const { return works_; }
  [[nodiscard]] const std::vector<std::string>& hints() const { return hints_; }
  /// The task file; `comment` is its first lines.
  [[nodiscard]] std::string to_toml(const std::string& name, const std::string& comment) const;

 private:
  struct Named {
    std::string name, text;
  };
  Value new_value(std::string_view hint, const Extents& dims, std::string_view dtype);
  std::string new_name(std::string_view hint);

  const Mix& mix_;
  base::Rng rng_;
  std::string type_;
  std::vector<Symbol> symbols_;
  std::vector<Named> inputs_, statements_, outputs_;
  std::vector<std::string> names_;
  std::vector<Load> loads_;
  std::vector<Work> works_;
  std::vector<std::string> hints_;
  bool nan_ = false;
};

/// "f32[B, H*E]"
[[nodiscard]] std::string type_text(const std::string& dtype, const Extents& dims);
/// "[B, S, H*E]"
[[nodiscard]] std::string shape_text(const Extents& dims);
/// The product as text, sums in brackets: "(H - 2)*W".
[[nodiscard]] std::string product_text(const Extents& factors);
/// A text of the extent plus a number: "L - 2".
[[nodiscard]] std::string plus(const std::string& extent, int64_t more);

}  // namespace hone::task::drawn
