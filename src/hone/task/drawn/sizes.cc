#include "hone/task/drawn/sizes.h"

#include <algorithm>
#include <set>

#include "hone/base/result.h"
#include "hone/task/language/int_expr.h"
#include "hone/task/types.h"

namespace hone::task::drawn {
namespace {

constexpr int64_t kFullBytes = int64_t{3} << 30, kFullOperations = 15'000'000'000'000;
constexpr int64_t kSmallBytes = int64_t{32} << 20, kSmallOperations = 400'000'000;
constexpr int64_t kTinyElements = 12'000, kTinyLargest = 12'000, kTinyBytes = 48'000, kTinyOperations = 250'000;

/// Of a card like an H100, a microsecond: bytes moved and operations (two a multiply-add); of all that, 0.6.
constexpr int64_t kBytesMicrosecond = 3'000'000 * 6 / 10, kF32Microsecond = 60'000'000ll * 6 / 10, kHalfMicrosecond = 700'000'000ll * 6 / 10;

struct Totals {
  int64_t moved = 0;       ///< bytes of inputs and outputs
  int64_t held = 0;        ///< bytes of everything
  int64_t elements = 0;    ///< of inputs and outputs
  int64_t largest = 0;     ///< elements of the largest value
  int64_t operations = 0;  ///< two a multiply-add, eight an element of any value
  int64_t micros = 0;
};

/// A symbol was drawn for an extent that came to be used nowhere.
void drop_unused(Sketch& sketch) {
  std::set<std::string> used;
  for (const Load& load : sketch.loads())
    if (load.input)
      for (const std::string& dim : load.dims) used.merge(IntExpr::parse(dim).value().symbols());
  std::erase_if(sketch.symbols(), [&](const Symbol& symbol) { return !used.contains(symbol.name); });
}

class Sizer {
 public:
  explicit Sizer(const Sketch& sketch) {
    for (const Load& load : sketch.loads()) loads_.push_back({parsed(load.dims), size_of(dtype_from(load.dtype).value()), load.moved});
    for (const Work& work : sketch.works()) works_.push_back({parsed(work.factors), work.half});
  }

  [[nodiscard]] Totals at(const std::vector<Symbol>& symbols, int64_t Symbol::*extent) const {
    Bindings bindings;
    for (const Symbol& symbol : symbols) bindings[symbol.name] = symbol.*extent;
    Totals totals;
    for (const auto& [dims, size, moved] : loads_) {
      const int64_t count = product(dims, bindings);
      totals.held += count * size;
      totals.largest = std::max(totals.largest, count);
      if (moved) totals.moved += count * size;
      if (moved) totals.elements += count;
      else totals.operations += 8 * count;
    }
    int64_t compute = 0;
    for (const auto& [factors, half] : works_) {
      const int64_t operations = 2 * product(factors, bindings);
      totals.operations += operations;
      compute += operations / (half ? kHalfMicrosecond : kF32Microsecond);
    }
    totals.micros = std::max(totals.moved / kBytesMicrosecond, compute);
    return totals;
  }

 private:
  using Parsed = std::vector<IntExpr>;
  static Parsed parsed(const Extents& dims) {
    Parsed all;
    for (const std::string& dim : dims) {
      auto expression = IntExpr::parse(dim);
      HONE_CHECK(expression.has_value(), dim);
      all.push_back(std::move(*expression));
    }
    return all;
  }
  static int64_t product(const Parsed& factors, const Bindings& bindings) {
    constexpr int64_t kMost = int64_t{1} << 48;  // what a sum of many still holds
    int64_t count = 1;
    for (const IntExpr& factor : factors) {
      const auto value = factor.eval(bindings);
      HONE_CHECK(value.has_value(), factor.to_string());
      count = *value > 0 && count > kMost / *value ? kMost : count * std::max<int64_t>(*value, 0);
    }
    return count;
  }
  struct OneLoad {
    Parsed dims;
    int64_t size;
    bool moved;
  };
  struct OneWork {
    Parsed factors;
    bool half;
  };
  std::vector<OneLoad> loads_;
  std::vector<OneWork> works_;
};

/// Odd extents stay odd, so that the shares of the mix survive.
int64_t doubled(int64_t extent) { return extent % 2 == 1 && extent > 1 ? 2 * extent + 1 : 2 * extent; }
int64_t halved(int64_t extent) { return extent % 2 == 1 ? (extent / 2) | 1 : extent / 2; }

/// Halves the extent that has most to give, by its ratio to `least_of`; false where none has.
template <class Least>
bool shrink(std::vector<Symbol>& symbols, int64_t Symbol::*extent, const Least& least_of) {
  Symbol* most = nullptr;
  for (Symbol& symbol : symbols) {
    const int64_t least = least_of(symbol);
    if (least == 0 || symbol.*extent <= least) continue;
    if (!most || symbol.*extent * least_of(*most) > most->*extent * least) most = &symbol;
  }
  if (!most) return false;
  const int64_t less = halved(most->*extent);
  most->*extent = std::max(less < most->*extent ? less : most->*extent - 1, least_of(*most));
  return true;
}

bool may_grow(const Mix& mix, const Symbol& symbol) { return mix.has("most", symbol.role); }

/// Doubles the extent that has most room; false where none has any.
bool grow(const Mix& mix, std::vector<Symbol>& symbols) {
  Symbol* most = nullptr;
  const auto room = [&](const Symbol& s) { return mix.numbers("most", s.role).front() / s.full; };
  for (Symbol& symbol : symbols)
    if (may_grow(mix, symbol) && room(symbol) >= 2 && (!most || room(symbol) > room(*most))) most = &symbol;
  if (most) most->full = doubled(most->full);
  return most != nullptr;
}

void size_full(Sketch& sketch, const Sizer& sizer) {
  const std::vector<int64_t> wanted = sketch.mix().numbers("time", sketch.pick("time"));
  std::vector<Symbol>& symbols = sketch.symbols();
  const auto totals = [&] { return sizer.at(symbols, &Symbol::full); };
  const auto too_much = [&](const Totals& t) { return t.held > kFullBytes || t.operations > kFullOperations; };
  const auto loose_least = [&](const Symbol& s) { return may_grow(sketch.mix(), s) ? std::max(s.least, s.tiny) : 0; };
  const auto least = [&](const Symbol& s) { return std::max(s.least, s.tiny); };
  while (totals().micros < wanted[1] && grow(sketch.mix(), symbols)) {}
  while (totals().micros > wanted[2] && shrink(symbols, &Symbol::full, loose_least)) {}
  while (too_much(totals()) && shrink(symbols, &Symbol::full, loose_least)) {}
  while (too_much(totals()) && shrink(symbols, &Symbol::full, least)) {}
}

void size_small(std::vector<Symbol>& symbols, const Sizer& sizer) {
  for (Symbol& symbol : symbols) symbol.small = symbol.full;
  const auto least = [](const Symbol& s) { return std::max(s.least, s.tiny); };
  const auto too_much = [&] {
    const Totals t = sizer.at(symbols, &Symbol::small);
    return t.held > kSmallBytes || t.operations > kSmallOperations;
  };
  while (too_much() && shrink(symbols, &Symbol::small, least)) {}
  const auto odd = [](const Symbol& s) { return s.small > 1 && s.small % 2 == 1; };
  if (std::any_of(symbols.begin(), symbols.end(), odd)) return;
  const auto largest = std::max_element(symbols.begin(), symbols.end(), [](const Symbol& a, const Symbol& b) { return a.small < b.small; });
  if (largest != symbols.end() && largest->small > largest->least) --largest->small;
}

void size_tiny(std::vector<Symbol>& symbols, const Sizer& sizer) {
  const auto too_much = [&] {
    const Totals t = sizer.at(symbols, &Symbol::tiny);
    return t.elements > kTinyElements || t.largest > kTinyLargest || t.moved > kTinyBytes || t.operations > kTinyOperations;
  };
  while (too_much() && shrink(symbols, &Symbol::tiny, [](const Symbol& s) { return s.role == "batch" ? s.least : std::max<int64_t>(s.least, 2); })) {}
  const auto odd = [](const Symbol& s) { return s.tiny > 1 && s.tiny % 2 == 1; };
  if (std::any_of(symbols.begin(), symbols.end(), odd)) return;
  const auto largest = std::max_element(symbols.begin(), symbols.end(), [](const Symbol& a, const Symbol& b) { return a.tiny < b.tiny; });
  if (largest != symbols.end() && largest->tiny > largest->least + 1) --largest->tiny;
}

}  // namespace

void give_sizes(Sketch& sketch) {
  drop_unused(sketch);
  const Sizer sizer(sketch);
  size_full(sketch, sizer);
  size_tiny(sketch.symbols(), sizer);
  size_small(sketch.symbols(), sizer);
}

}  // namespace hone::task::drawn
