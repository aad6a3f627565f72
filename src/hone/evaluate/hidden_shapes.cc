#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "hone/base/random.h"
#include "hone/evaluate/shape_search.h"
#include "hone/evaluate/stage.h"

namespace hone::evaluate {
namespace {

/// Operations of a shape: what the oracle answers in tens of milliseconds. A screening asks it fifteen times, a promotion thirty.
constexpr double kMostOperations = 0x1p25;
/// Of a long shape; the oracle holds a part of them at a time.
constexpr int64_t kBetween = 32;

bool is_prime(int64_t n) {
  for (int64_t d = 2; d * d <= n; ++d)
    if (n % d == 0) return false;
  return n > 1;
}

int64_t random_below(base::Rng& rng, int64_t n) { return static_cast<int64_t>(rng.below(static_cast<uint64_t>(n))); }

/// Of all magnitudes up to `most`, the larger more often: there are more of them.
int64_t any_magnitude(base::Rng& rng, int64_t most) {
  const int bits = std::bit_width(static_cast<uint64_t>(most));
  const int64_t power = int64_t{1} << std::max(random_below(rng, bits), random_below(rng, bits));
  return std::min(most, power + random_below(rng, power));
}

/// Whole tiles of 8 to 128 and nothing, one or all but one of another: what a tile's tail does wrong shows there. From 16 on; of
/// less, anything.
int64_t at_tiles_edge(base::Rng& rng, int64_t least, int64_t most) {
  if (most < 16) return any_magnitude(rng, most);
  const int64_t tile = std::min(int64_t{8} << random_below(rng, 5), static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(most / 2))));
  const int64_t fewest = std::max<int64_t>(1, least / tile), tiles = most / tile - 1;
  const int64_t whole = least > 1 ? fewest + random_below(rng, std::max<int64_t>(1, tiles - fewest + 1)) : any_magnitude(rng, tiles);
  const int64_t tails[] = {0, 1, 1, tile - 1, tile - 1};
  return whole * tile + tails[random_below(rng, std::size(tails))];
}

/// Whether n / n is less than 1 for whoever multiplies by a reciprocal in float: rows and columns are told from a flat index so, and an
/// eighth of all extents tells that it is wrong.
bool misses_itself(int64_t n) { return static_cast<float>(n) * (1.0F / static_cast<float>(n)) < 1; }

}  // namespace

int64_t random_extent(base::Rng& rng, int64_t most, bool aligned) {
  if (!aligned && random_below(rng, 5) == 0) return at_tiles_edge(rng, 1, most);
  const int64_t power = int64_t{1} << random_below(rng, std::bit_width(static_cast<uint64_t>(most)));
  if (aligned) {
    const int units = std::clamp<int>(std::bit_width(static_cast<uint64_t>(most)) - 4, 1, 7);  // several of the unit fit
    const int64_t unit = std::min<int64_t>(most, int64_t{4} << random_below(rng, units));
    return random_below(rng, 4) == 0 ? std::min(most, std::max<int64_t>(power, 4)) : unit * any_magnitude(rng, std::max<int64_t>(1, most / unit));
  }
  switch (random_below(rng, 16)) {
    case 0: return std::min<int64_t>(most, 1 + random_below(rng, 3));
    case 1: return power;
    case 2:
    case 3: return std::clamp<int64_t>(power + 2 * random_below(rng, 2) - 1, 1, most);
    case 4:
    case 5:
    case 6: {
      int64_t prime = any_magnitude(rng, most);
      while (prime > 2 && !is_prime(prime)) --prime;
      return prime;
    }
    case 7: {
      constexpr int64_t kFar = 64;
      const int64_t from = any_magnitude(rng, most);
      for (int64_t n = from; n <= std::min(most, from + kFar); ++n)
        if (misses_itself(n)) return n;
      return from;
    }
    case 8: return std::min(most, any_magnitude(rng, most) | 1);
    default: return any_magnitude(rng, most);
  }
}

bool is_small(const task::Task& task, const task::Bindings& bindings, int64_t most_elements, double most_operations, int64_t between) {
  const auto graph = task::instantiate(task.primitive, bindings);
  if (!graph) return false;
  const auto holds = [&](const task::Shape& shape, int64_t most) {
    int64_t count = 1;
    for (const int64_t extent : shape)
      if (__builtin_mul_overflow(count, extent, &count)) return false;
    return count <= most;
  };
  if (!std::ranges::all_of(graph->shapes, [&](const task::Shape& shape) { return holds(shape, between * most_elements); })) return false;
  for (const auto* ids : {&graph->graph.inputs, &graph->graph.outputs})
    for (const int id : *ids)
      if (!holds(graph->shapes[static_cast<size_t>(id)], most_elements)) return false;
  return task::minimal_cost(*graph).flops <= most_operations;
}

namespace {

/// What a shape shows that a kernel may hang on without saying so: each extent's magnitude, parity and the like, and of each
/// two which is larger and which are even.
std::vector<uint64_t> features_of(const task::Bindings& bindings) {
  std::vector<uint64_t> all;
  uint64_t number = 0;
  for (auto a = bindings.begin(); a != bindings.end(); ++a, ++number) {
    const auto extent = static_cast<uint64_t>(a->second);
    const uint64_t symbol = number << 32;
    all.push_back(symbol + static_cast<uint64_t>(std::bit_width(extent)));
    all.push_back(symbol + 64 + (std::has_single_bit(extent) ? 2 : 0) + (is_prime(a->second) ? 1 : 0));
    uint64_t other = number << 32 | 1 << 16;
    for (auto b = std::next(a); b != bindings.end(); ++b, other += 32) {
      const uint64_t relation = a->second < b->second ? 0 : a->second == b->second ? 1 : 2;
      all.push_back(other + 4 * relation + extent % 2 * 2 + static_cast<uint64_t>(b->second) % 2);
      // Longer than one, one is as long as the other, two to four times that, or one more: seldom met, and so worth two of what is met anyway.
      const auto [less, more] = std::minmax(a->second, b->second);
      if (less > 1 && more % less == 0 && more / less <= 4)
        for (const uint64_t twice : {0, 1}) all.push_back(other + (more == less ? 12 : 14) + twice);
      if (less > 8 && more == less + 1)
        for (const uint64_t twice : {0, 1}) all.push_back(other + 16 + 2 * (relation / 2) + twice);
    }
  }
  return all;
}

}  // namespace

std::optional<task::Bindings> long_in(const task::Task& task, const std::string& symbol, const Long& how, const Fits& fits, base::Rng& rng) {
  constexpr int kTries = 8;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    // What hangs together (H * 4 == D) only holds where others are left alone.
    task::Bindings bindings = task.workloads[rng.below(task.workloads.size())].bindings;
    if (attempt < kTries / 2)
      for (auto& [name, extent] : bindings)
        extent = (how.alone && attempt == 0) || rng.below(how.aligned ? 2 : 4) > 0 ? 1 : how.aligned ? 4 : 2 + random_below(rng, 2);
    int64_t& extent = bindings[symbol];
    int64_t most = 0;
    for (extent = std::bit_floor(static_cast<uint64_t>(how.most)); extent > 1 && most == 0; extent /= 2)
      if (fits(bindings)) most = extent;
    if (most == 0) continue;
    const int64_t power = most, unit = how.aligned ? 8 : 1;
    // A few of what others are leave less than the next power: as much as there is room for.
    for (int64_t step = power / 2; step >= std::max<int64_t>(1, power / 8); step /= 2)
      if (extent = most + step; extent <= how.most && fits(bindings)) most = extent;
    if (!how.aligned && rng.below(4) < (how.alone ? 3U : 2U)) extent = at_tiles_edge(rng, most / 2, most);
    else extent = rng.below(4) == 0 ? power : std::max(unit, (most / 2 + random_below(rng, most / 2 + 1)) / unit * unit);
    if (!fits(bindings)) extent = power;
    if (fits(bindings)) return bindings;
  }
  return std::nullopt;
}

namespace {

/// Shapes of workloads but for one extent each, which is one more or one less: what is made for a workload ends there. Of two
/// workloads at most, and of one symbol each.
std::vector<task::Bindings> beside_workloads(const task::Task& task, const Fits& fits, base::Rng& rng) {
  std::vector<std::tuple<size_t, std::string, int64_t>> all;
  for (size_t w = 0; w < task.workloads.size(); ++w)
    for (const auto& [symbol, extent] : task.workloads[w].bindings)
      for (const int64_t step : {-1, 1}) all.emplace_back(w, symbol, step);
  rng.shuffle(all);
  std::vector<task::Bindings> found;
  std::set<size_t> workloads;
  for (const auto& [w, symbol, step] : all) {
    if (workloads.size() == 2 || workloads.contains(w)) continue;
    task::Bindings bindings = task.workloads[w].bindings;
    if ((bindings[symbol] += step) < 1 || !fits(bindings)) continue;
    workloads.insert(w);
    found.push_back(std::move(bindings));
  }
  return found;
}

bool is_symbol(const task::IntExpr& e) { return e.symbols().contains(e.to_string()); }

/// Moves a symbol of `a` or `b` to where both have one value; whether that was found. As good as linear: a window's steps round.
bool make_equal(const task::IntExpr& a, const task::IntExpr& b, task::Bindings& bindings, base::Rng& rng) {
  std::set<std::string> symbols = a.symbols();
  symbols.merge(b.symbols());
  if (symbols.empty()) return false;
  const std::string& symbol = *std::next(symbols.begin(), random_below(rng, std::ssize(symbols)));
  const auto gap = [&](int64_t extent) -> std::optional<int64_t> {
    bindings[symbol] = extent;
    const auto left = a.eval(bindings), right = b.eval(bindings);
    return left && right ? std::optional(*left - *right) : std::nullopt;
  };
  constexpr int64_t kSegment = 64;
  int64_t extent = bindings[symbol];
  for (int step = 0; step < 3 && extent > 0; ++step) {
    const auto here = gap(extent), there = gap(extent + kSegment);
    if (!here || !there || *here == 0 || *here == *there) break;
    extent -= static_cast<int64_t>(std::llround(static_cast<double>(*here) * kSegment / static_cast<double>(*there - *here)));
  }
  // Of several, any.
  const int64_t first = extent + random_below(rng, 3) - 1;
  for (const int64_t one : {first, extent})
    if (one > 0 && gap(one) == 0) return true;
  return false;
}

/// A shape at which two extents of an output are equal that are no symbols both (those are equal often enough): one symbol of a
/// random shape is moved to where they meet.
std::optional<task::Bindings> with_equal_outputs(const task::Task& task, const Fits& fits, base::Rng& rng) {
  constexpr int kTries = 32;
  std::vector<std::pair<task::IntExpr, task::IntExpr>> pairs;
  for (const auto& [name, type] : task.outputs)
    for (size_t a = 0; a < type.dims.size(); ++a)
      for (size_t b = a + 1; b < type.dims.size(); ++b)
        if (!(is_symbol(type.dims[a]) && is_symbol(type.dims[b])) && type.dims[a].symbols() != type.dims[b].symbols()) pairs.emplace_back(type.dims[a], type.dims[b]);
  rng.shuffle(pairs);
  for (const auto& [a, b] : pairs)
    for (int attempt = 0; attempt < kTries; ++attempt) {
      task::Bindings bindings = task.workloads[rng.below(task.workloads.size())].bindings;
      for (auto& [name, extent] : bindings)
        if (attempt < kTries / 2 || rng.below(2) == 0) extent = random_extent(rng, int64_t{64} >> attempt % 4, false);
      if (make_equal(a, b, bindings, rng) && a.eval(bindings).value_or(0) > 2 && fits(bindings)) return bindings;
    }
  return std::nullopt;
}

/// Each symbol one more than whole tiles, or one less, as `less` says, and one of them many tiles long; half of the time outputs' extents
/// that are no symbols instead of what they come from. Where none of those fits, some are whole tiles, or as a workload has them.
std::optional<task::Bindings> beside_tiles(const task::Task& task, const std::map<std::string, bool>& less, const std::string& stretched, const Fits& fits,
                                           base::Rng& rng) {
  constexpr int kTries = 64, kSizes = 8;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    task::Bindings bindings = task.workloads[rng.below(task.workloads.size())].bindings;
    const bool all = attempt < kTries / 2;
    const int smaller = attempt % (kTries / 2) * 2 * kSizes / kTries;  // what does not fit at 128 may at 16
    const auto extent_of = [&](bool is_less, bool is_long) {
      const int64_t tile = int64_t{128} >> std::min<int64_t>(3, random_below(rng, 2) + random_below(rng, smaller / 2 + 1));
      const int64_t most = is_long ? std::max(2, 64 >> smaller) : 2;
      const int64_t tiles = is_long || smaller < kSizes / 2 ? most / 2 + random_below(rng, most / 2 + 1) : random_below(rng, most);
      return std::pair(tile * tiles, is_less ? tile - 1 : 1);
    };
    for (auto& [symbol, extent] : bindings) {
      const auto [whole, tail] = extent_of(less.at(symbol), symbol == stretched);
      if (all || rng.below(2) == 0) extent = whole + tail;
      else if (attempt % 2 == 0) extent = whole;
    }
    const bool of_outputs = rng.below(2) == 0;
    for (const auto& [name, type] : task.outputs)
      for (const task::IntExpr& e : type.dims)
        if (of_outputs && !is_symbol(e) && !e.is_constant()) {
          const auto [whole, tail] = extent_of(less.at(*e.symbols().begin()), false);
          (void)make_equal(e, task::IntExpr(whole + tail), bindings, rng);
        }
    if (fits(bindings)) return bindings;
  }
  return std::nullopt;
}

/// The shape that shows most of what none before has shown, the first of equals; taken out of the candidates.
std::optional<task::Bindings> most_telling(std::vector<task::Bindings>& candidates, std::set<uint64_t>& shown) {
  auto best = candidates.end();
  std::ptrdiff_t most = -1;
  for (auto it = candidates.begin(); it != candidates.end(); ++it) {
    const auto features = features_of(*it);
    const std::ptrdiff_t news = std::count_if(features.begin(), features.end(), [&](uint64_t f) { return !shown.contains(f); });
    if (news > most) most = news, best = it;
  }
  if (best == candidates.end()) return std::nullopt;
  task::Bindings taken = std::move(*best);
  candidates.erase(best);
  for (const uint64_t feature : features_of(taken)) shown.insert(feature);
  return taken;
}

}  // namespace

std::vector<task::Bindings> edges(const task::Task& task, const Fits& fits, uint64_t seed) {
  std::vector<task::Bindings> all;
  if (task.symbols().empty()) return all;
  base::Rng rng(seed, 0x65646765);
  std::vector<std::string> symbols = task.symbols();
  rng.shuffle(symbols);
  std::map<std::string, bool> less;
  for (const std::string& symbol : symbols) less[symbol] = rng.below(2) == 0;
  const auto take = [&](std::optional<task::Bindings> one) {
    if (one && std::ranges::count(all, *one) == 0) all.push_back(std::move(*one));
  };
  take(beside_tiles(task, less, symbols.front(), fits, rng));
  for (auto& [symbol, is_less] : less) is_less = !is_less;
  take(beside_tiles(task, less, symbols.back(), fits, rng));
  for (task::Bindings& one : beside_workloads(task, fits, rng)) take(std::move(one));
  take(with_equal_outputs(task, fits, rng));
  return all;
}

std::vector<task::Bindings> few_of_each(const task::Task& task, const Fits& fits, uint64_t seed) {
  constexpr int kFew = 8;
  base::Rng rng(seed, 0x666577);
  std::map<std::string, std::vector<int64_t>> extents;
  for (const std::string& symbol : task.symbols()) {
    std::vector<int64_t>& all = extents[symbol];
    for (int64_t extent = 1; extent <= kFew; ++extent) all.push_back(extent);
    rng.shuffle(all);
  }
  std::vector<task::Bindings> shapes;
  for (size_t i = 0; i < kFew && !extents.empty(); ++i) {
    task::Bindings bindings;
    for (const auto& [symbol, all] : extents) bindings[symbol] = all[i];
    if (fits(bindings)) shapes.push_back(std::move(bindings));
  }
  return shapes;
}

std::vector<task::Bindings> hidden_shapes(const task::Task& task, uint64_t seed, int64_t most_elements, int64_t most_long) {
  std::vector<std::string> symbols = task.symbols();
  std::vector<task::Bindings> shapes;
  if (symbols.empty()) return shapes;
  base::Rng rng(seed, 0x5348);
  constexpr int kAttempts = 1200;
  const auto draw = [&](bool aligned, const task::Bindings& like, int attempt) {
    // Where many symbols multiply, large extents hardly ever fit together: less and less is asked for.
    const int bits = std::bit_width(static_cast<uint64_t>(most_elements)) - 1, left = std::max(2, bits - bits * attempt / kAttempts);
    // Rather large than small: of small numbers there are few, and a kernel may know them all.
    const int64_t most = int64_t{1} << (2 + std::max(random_below(rng, left - 1), random_below(rng, left - 1)));
    task::Bindings bindings = like;
    for (const std::string& symbol : symbols) {
      // Some symbols keep a workload's value: coupled shapes (H * 4 == D) would hardly be hit else.
      if (!like.empty() && rng.below(4) == 0) continue;
      bindings[symbol] = random_extent(rng, most, aligned);
    }
    // One as long as another, a few times that, or one more or less: independent draws seldom are.
    if (symbols.size() > 1 && rng.below(3) == 0) {
      const size_t a = rng.below(symbols.size()), b = (a + 1 + rng.below(symbols.size() - 1)) % symbols.size();
      const int64_t other = bindings[symbols[b]];
      if (!aligned && rng.below(3) == 0) bindings[symbols[a]] = std::max<int64_t>(1, other + (rng.below(2) == 0 ? 1 : -1));
      else bindings[symbols[a]] = other * (rng.below(2) == 0 ? 1 : 2 + random_below(rng, 3));
    }
    return bindings;
  };
  constexpr size_t kEach = 8, kCandidates = 32;
  std::vector<task::Bindings> candidates[2];  // with any extents, and with aligned ones
  for (int attempt = 0; attempt < kAttempts && std::min(candidates[0].size(), candidates[1].size()) < kCandidates; ++attempt) {
    std::vector<task::Bindings>& of = candidates[attempt % 2];
    const auto& like = task.workloads[rng.below(task.workloads.size())].bindings;
    task::Bindings bindings = draw(attempt % 2 == 1, like, attempt);
    if (of.size() < kCandidates && std::ranges::count(of, bindings) == 0 && is_small(task, bindings, most_elements, kMostOperations)) of.push_back(std::move(bindings));
  }
  // A long one first, one of each kind, and then in turns, so that the few that anybody looks at are of all three kinds.
  rng.shuffle(symbols);
  std::set<uint64_t> shown;
  const auto take = [&](std::optional<task::Bindings> one) {
    if (!one || std::ranges::count(shapes, *one) > 0) return;
    for (const uint64_t feature : features_of(*one)) shown.insert(feature);
    shapes.push_back(std::move(*one));
  };
  // Scores of an attention are as many as its length squared: what breaks beyond a thousand keys shows in none that are few.
  const auto fits_long = [&](const task::Bindings& bindings) { return is_small(task, bindings, most_long, kMostOperations, kBetween); };
  size_t kind = rng.below(2);
  for (size_t i = 0; i < 2 * kEach; ++i) {
    const size_t longs = i == 0 ? 0 : i - 1;
    if (most_long > 0 && i != 1 && longs < symbols.size()) take(long_in(task, symbols[longs], {.most = most_long, .aligned = kind == 1}, fits_long, rng));
    take(most_telling(candidates[kind], shown));
    kind = 1 - kind;
  }
  return shapes;
}

}  // namespace hone::evaluate
