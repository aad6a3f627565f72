#include "hone/evaluate/shape_search.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "hone/task/language/int_expr_parts.h"

namespace hone::evaluate {
namespace {

using task::Bindings;
using task::IntExpr;

/// Random shapes that are looked at for each that is wanted.
constexpr size_t kCandidates = 400;
/// Conditions that are looked at: a plan that has more is looked at in part.
constexpr size_t kMostConditions = 96;
constexpr int64_t kMostNumber = int64_t{1} << 24, kOftenMet = 2048;

/// Whole numbers that the source spells out.
std::set<int64_t> literals_of(std::string_view source) {
  std::set<int64_t> all;
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; };
  for (size_t at = 0; at < source.size();) {
    size_t end = at;
    while (end < source.size() && is_word(source[end])) ++end;
    int64_t value = 0;
    const bool hex = source.substr(at, 2) == "0x";
    const auto [stopped, error] = std::from_chars(source.data() + at + (hex ? 2 : 0), source.data() + end, value, hex ? 16 : 10);
    if (end > at && error == std::errc() && *stopped != '.' && value > 1 && value <= kMostNumber) all.insert(value);
    at = std::max(end, at + 1);
  }
  return all;
}

/// What a kernel's plan may hang on, its tunables and the limits put in.
class Sides {
 public:
  /// `ones`: symbols of which 1 is a side of its own, whatever the plan says.
  Sides(const kernel::Kernel& kernel, const kernel::Limits& limits, std::span<const std::string> ones) {
    for (const auto& [name, value] : limits) known_.insert_or_assign(name, IntExpr(value));
    for (const auto& [name, value] : kernel.config) known_.insert_or_assign(name, IntExpr(value));
    for (const IntExpr& e : kernel.header.require) look_into(e);
    for (const kernel::Launch& launch : kernel.header.launches) {
      if (launch.when) {
        whens_.push_back(launch.when->substitute(known_));
        look_into(*launch.when);
      }
      if (launch.repeat) look_into(*launch.repeat);
      look_into(launch.shared);
      for (const IntExpr& e : launch.grid) {
        look_into(e);
        add(IntExpr::max(e, 1) - IntExpr(1));  // more than one block, or not
      }
      for (const IntExpr& e : launch.block) look_into(e);
      for (const kernel::Argument& argument : launch.args) look_into(argument.value);
    }
    for (const int64_t number : literals_of(kernel.source)) numbers_.push_back(number);
    for (const std::string& symbol : ones) add(IntExpr::symbol(symbol) - IntExpr(1));
    if (!ones.empty()) numbers_.push_back(1);
  }

  /// From where on a condition is another than for less, of each symbol while the others are 1: `min(ceil_div(N, 256), 128)` spells no
  /// number of which 32,769 is a few times. Nothing where numbers say it, or extents at random are as long.
  [[nodiscard]] std::vector<std::pair<int64_t, size_t>> turns(const std::vector<std::string>& symbols) const {
    std::set<std::pair<int64_t, size_t>> all;
    for (const IntExpr& e : conditions_)
      for (size_t k = 0; k < symbols.size(); ++k) {
        if (!e.symbols().contains(symbols[k])) continue;
        Bindings bindings;
        for (const std::string& symbol : symbols) bindings[symbol] = 1;
        const auto holds = [&](int64_t extent) {
          bindings[symbols[k]] = extent;
          const auto value = e.eval(bindings);
          return !value ? 2 : *value != 0 ? 1 : 0;
        };
        for (int64_t less = kOftenMet, more = 2 * less; more <= kMostNumber; less = more, more *= 2) {
          const int before = holds(less);
          if (holds(more) == before) continue;
          int64_t last = less, first = more;
          while (first - last > 1) (holds((last + first) / 2) == before ? last : first) = (last + first) / 2;
          if (std::ranges::none_of(numbers_, [&](int64_t number) { return std::abs(number - first) <= 1; })) all.emplace(first, k);
        }
      }
    return {all.begin(), all.end()};
  }

  /// What holds at this shape; an expression that has no value there counts as another side.
  [[nodiscard]] std::vector<int> at(const Bindings& bindings) const {
    std::vector<int> all;
    for (const IntExpr& e : conditions_) {
      const auto value = e.eval(bindings);
      all.push_back(!value ? 2 : *value != 0 ? 1 : 0);
    }
    int64_t launched = 0;  // which of the launches, as one side
    for (const IntExpr& e : whens_) launched = 3 * launched + (e.eval(bindings).value_or(2) != 0 ? 1 : 0);
    all.push_back(static_cast<int>(launched % 1000003));
    return all;
  }
  [[nodiscard]] const std::vector<int64_t>& numbers() const { return numbers_; }

 private:
  void add(const IntExpr& condition) {
    const IntExpr e = condition.substitute(known_);
    if (!e.is_constant() && conditions_.size() < kMostConditions && seen_.insert(e.to_string()).second) conditions_.push_back(e);
  }
  void look_into(const IntExpr& expression) {
    const IntExpr e = expression.substitute(known_);
    for (const IntExpr& part : task::distinctions(e)) add(part);
    for (const int64_t number : task::numbers_in(e))
      if (number > 1 && number <= kMostNumber) numbers_.push_back(number);
  }

  std::map<std::string, IntExpr, std::less<>> known_;
  std::vector<IntExpr> conditions_, whens_;
  std::set<std::string> seen_;
  std::vector<int64_t> numbers_;
};

int64_t draw_below(base::Rng& rng, size_t n) { return static_cast<int64_t>(rng.below(n)); }

/// A number at which something may change, and the symbol that takes it: beside it or far beyond, in turns, so that each of the
/// source's numbers has had each symbol on both sides before one comes a second time.
struct Mark {
  int64_t number;
  size_t symbol;
  bool beyond;
  std::optional<size_t> times;  ///< the number is one of this symbol's extents: as long as it, or twice
};

std::vector<Mark> marks_of(const std::vector<int64_t>& numbers, const std::vector<std::pair<int64_t, size_t>>& turns, size_t symbols, base::Rng& rng) {
  std::vector<Mark> marks;
  for (const auto& [number, symbol] : turns) marks.push_back({number, symbol, rng.below(2) == 0, std::nullopt});
  for (const int64_t number : numbers)
    for (size_t symbol = 0; symbol < symbols; ++symbol) marks.push_back({number, symbol, rng.below(2) == 0, std::nullopt});
  std::vector<Mark> others = marks;
  for (Mark& mark : others) mark.beyond = !mark.beyond;
  for (size_t a = 0; a < symbols; ++a)
    for (size_t b = 0; b < symbols; ++b)
      for (int64_t times = a < b ? 1 : 2; a != b && times <= 2; ++times) marks.push_back({times, a, true, b});
  rng.shuffle(others);
  rng.shuffle(marks);
  marks.insert(marks.end(), others.begin(), others.end());
  return marks;
}

/// At it or beside it; or up to a few times as large: a multiple of it, or anywhere.
int64_t extent_at(const Mark& mark, base::Rng& rng) {
  if (!mark.beyond) return mark.number + draw_below(rng, 3) - 1;
  const int64_t multiple = mark.number * (2 + draw_below(rng, 3));
  switch (rng.below(4)) {
    case 0: return mark.number + 1 + draw_below(rng, static_cast<size_t>(3 * mark.number));
    case 1: return multiple + draw_below(rng, 2) * 2 - 1;
    default: return multiple;
  }
}

/// Of each symbol the rests of a division by 16 that no shape has shown yet: what is wrong at one of them, in no tile's tail, is met by
/// chance only where extents are drawn one by one.
class Rests {
 public:
  explicit Rests(const std::vector<std::string>& symbols) {
    for (const std::string& symbol : symbols)
      for (int64_t rest = 0; rest < kOf; ++rest) left_[symbol].push_back(rest);
  }
  void meet(const Bindings& bindings) {
    for (auto& [symbol, rests] : left_)
      if (const int64_t extent = bindings.at(symbol); extent >= kOf) std::erase(rests, extent % kOf);
  }
  /// Moves extents up to where their rest is new, three in four of them: a kernel may ask for multiples of something.
  void move(Bindings& bindings, base::Rng& rng) const {
    for (const auto& [symbol, rests] : left_) {
      int64_t& extent = bindings.at(symbol);
      if (extent < kOf || rests.empty() || rng.below(4) == 0) continue;
      extent += (rests[rng.below(rests.size())] - extent % kOf + kOf) % kOf;
    }
  }

 private:
  static constexpr int64_t kOf = 16;
  std::map<std::string, std::vector<int64_t>> left_;
};

/// A shape at random, with a symbol where the mark says, or its product with another beside the number.
Bindings guess(const std::vector<std::string>& symbols, const Bindings& like, const std::optional<Mark>& mark, const Rests& rests, int64_t most_elements,
               base::Rng& rng) {
  Bindings bindings = like;
  int64_t most = int64_t{1} << (2 + draw_below(rng, 12));
  if (mark && !mark->times) most = std::min(most, std::max<int64_t>(4, most_elements / mark->number / 2));
  for (const std::string& symbol : symbols)
    if (rng.below(4) != 0) bindings[symbol] = random_extent(rng, most, rng.below(2) == 0);
  rests.move(bindings, rng);
  if (!mark) return bindings;
  const std::string& first = symbols[mark->symbol];
  if (mark->times) {
    bindings[first] = mark->number * bindings.at(symbols[*mark->times]);
    return bindings;
  }
  int64_t target = std::min(kMostNumber, extent_at(*mark, rng));
  if (!mark->beyond && rng.below(3) == 0) {
    const std::string& second = symbols[rng.below(symbols.size())];
    if (second != first) target = target / std::max<int64_t>(1, bindings[second]) + draw_below(rng, 2);
  }
  bindings[first] = std::max<int64_t>(1, target);
  return bindings;
}

/// Where whole tiles lie on every side: each symbol a multiple of as many of the numbers as there is room for.
Bindings whole_tiles(const std::vector<std::string>& symbols, std::vector<int64_t> numbers, base::Rng& rng) {
  Bindings bindings;
  // 31 beside 32 is the end of a tile and no size of one.
  const std::set<int64_t> named(numbers.begin(), numbers.end());
  std::erase_if(numbers, [&](int64_t number) { return named.contains(number + 1); });
  for (const std::string& symbol : symbols) {
    const int64_t most = int64_t{1} << (6 + draw_below(rng, 7));
    int64_t extent = 1;
    rng.shuffle(numbers);
    for (const int64_t number : numbers)
      if (const int64_t common = std::lcm(extent, number); common <= most) extent = common;
    bindings[symbol] = extent * (1 + draw_below(rng, static_cast<size_t>(std::min<int64_t>(4, most / extent))));
  }
  return bindings;
}

/// Any numbers whose product is no more than so many: the room is shared out among the symbols in turns.
Bindings anywhere(const std::vector<std::string>& symbols, int64_t most_elements, base::Rng& rng) {
  Bindings bindings;
  double left = std::log2(static_cast<double>(most_elements));
  const size_t first = rng.below(symbols.size());
  for (size_t k = 0; k < symbols.size(); ++k) {
    const bool last = k + 1 == symbols.size();
    const double share = last ? left : left * static_cast<double>(20 + rng.below(61)) / 100;
    const int64_t extent = 1 + draw_below(rng, static_cast<size_t>(std::exp2(share)));
    bindings[symbols[(first + k) % symbols.size()]] = extent;
    left = std::max(0.0, left - std::log2(static_cast<double>(extent)));
  }
  return bindings;
}

}  // namespace

std::vector<Bindings> untried_sides(const kernel::Kernel& kernel, const task::Task& task, const kernel::Limits& limits,
                                    std::span<const Bindings> tried, uint64_t seed, const ShapeSearch& search) {
  const std::vector<std::string> symbols = task.symbols();
  std::vector<Bindings> found;
  if (symbols.empty()) return found;
  const Sides sides(kernel, limits, search.ones ? std::span<const std::string>(symbols) : std::span<const std::string>());
  std::set<std::pair<size_t, int>> known;
  /// Whether the shape shows something new.
  const auto learn = [&](const Bindings& bindings, bool keep) {
    const std::vector<int> all = sides.at(bindings);
    bool is_new = false;
    for (size_t i = 0; i < all.size(); ++i) is_new |= keep ? known.insert({i, all[i]}).second : !known.contains({i, all[i]});
    return is_new;
  };
  Rests rests(symbols);
  for (const Bindings& bindings : tried) (void)learn(bindings, true), rests.meet(bindings);
  base::Rng rng(seed, 0x73696465);
  const Bindings& first = task.workloads.front().bindings;
  // In turns, so that none is left out by chance while another has had many.
  std::vector<int64_t> numbers = sides.numbers();
  std::ranges::sort(numbers);
  numbers.erase(std::ranges::unique(numbers).begin(), numbers.end());
  const std::vector<Mark> marks = marks_of(numbers, sides.turns(symbols), symbols.size(), rng);
  size_t turn = 0;
  const auto bake_in = [&](Bindings& bindings) {
    for (const std::string& symbol : kernel.header.specialise)
      if (const auto it = first.find(symbol); it != first.end()) bindings[symbol] = it->second;
  };
  const auto is_new = [&](const Bindings& bindings) { return std::ranges::count(tried, bindings) == 0 && std::ranges::count(found, bindings) == 0; };
  for (size_t i = 0; i < kCandidates && found.size() < search.whole && !numbers.empty(); ++i) {
    Bindings bindings = whole_tiles(symbols, numbers, rng);
    bake_in(bindings);
    const auto fits = kernel::applies(kernel, bindings, limits);
    if (!fits || !*fits || !is_new(bindings) || !is_small(task, bindings, 4 * search.most_elements, search.most_operations)) continue;
    (void)learn(bindings, true);
    found.push_back(std::move(bindings));
  }
  const size_t most = found.size() + search.most, least = found.size() + std::min(search.most, search.least > 0 ? std::max(marks.size(), search.least) : 0);
  for (size_t i = 0; i < kCandidates * search.most && found.size() < most; ++i) {
    const bool anything = i > kCandidates * search.most * 3 / 4 && found.size() < least;
    const std::optional<Mark> mark = marks.empty() || (!anything && rng.below(3) == 0) ? std::nullopt : std::optional(marks[turn % marks.size()]);
    const bool is_anywhere = anything && (marks.empty() ? i % 2 == 0 : i % 4 == 0);
    Bindings bindings = is_anywhere ? anywhere(symbols, search.most_elements, rng)
                                    : guess(symbols, task.workloads[rng.below(task.workloads.size())].bindings, mark, rests, search.most_elements, rng);
    if (!anything) ++turn;
    if (is_anywhere) rests.move(bindings, rng);
    bake_in(bindings);
    const auto fits = kernel::applies(kernel, bindings, limits);
    if (!fits || !*fits || !(anything || learn(bindings, false))) continue;
    if (anything && !is_new(bindings)) continue;
    if (!is_small(task, bindings, search.most_elements, search.most_operations)) continue;
    if (anything && !is_anywhere) ++turn;
    (void)learn(bindings, true);
    rests.meet(bindings);
    found.push_back(std::move(bindings));
  }
  return found;
}

}  // namespace hone::evaluate
