#include <algorithm>
#include <bit>
#include <iterator>
#include <optional>
#include <set>

#include "hone/base/random.h"
#include "hone/evaluate/shape_search.h"
#include "hone/evaluate/stage.h"

namespace hone::evaluate {
namespace {

/// Operations of a shape: what the oracle answers in tens of milliseconds. A screening asks it fifteen times, a promotion thirty.
constexpr double kMostOperations = 0x1p25;

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

}  // namespace

int64_t random_extent(base::Rng& rng, int64_t most, bool aligned) {
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
    case 7:
    case 8: return std::min(most, any_magnitude(rng, most) | 1);
    default: return any_magnitude(rng, most);
  }
}

bool is_small(const task::Task& task, const task::Bindings& bindings, int64_t most_elements, double most_operations) {
  const auto graph = task::instantiate(task.primitive, bindings);
  if (!graph) return false;
  for (const task::Shape& shape : graph->shapes) {
    int64_t count = 1;
    for (const int64_t extent : shape)
      if (__builtin_mul_overflow(count, extent, &count)) return false;
    if (count > most_elements) return false;
  }
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
    for (auto b = std::next(a); b != bindings.end(); ++b, other += 16) {
      const uint64_t relation = a->second < b->second ? 0 : a->second == b->second ? 1 : 2;
      all.push_back(other + 4 * relation + extent % 2 * 2 + static_cast<uint64_t>(b->second) % 2);
      // Longer than one, one is as long as the other, or two to four times that: seldom met, and so worth two of what is met anyway.
      const auto [less, more] = std::minmax(a->second, b->second);
      if (less > 1 && more % less == 0 && more / less <= 4)
        for (const uint64_t twice : {0, 1}) all.push_back(other + (more == less ? 12 : 14) + twice);
    }
  }
  return all;
}

/// Shapes in which one symbol is as large as fits, or nearly, and the others are small: few random ones are so, and what breaks
/// beyond a thousand rows or sixteen bits shows in no other.
std::optional<task::Bindings> long_in(const task::Task& task, const std::string& symbol, bool aligned, int64_t most_elements, base::Rng& rng) {
  constexpr int kTries = 8;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    // What hangs together (H * 4 == D) only holds where others are left alone.
    task::Bindings bindings = task.workloads[rng.below(task.workloads.size())].bindings;
    if (attempt < kTries / 2)
      for (auto& [name, extent] : bindings) extent = rng.below(2) == 0 ? 1 : aligned ? int64_t{4} << random_below(rng, 2) : 2 + random_below(rng, 5);
    int64_t& extent = bindings[symbol];
    int64_t most = 0;
    for (extent = std::bit_floor(static_cast<uint64_t>(most_elements)); extent > 1 && most == 0; extent /= 2)
      if (is_small(task, bindings, most_elements, kMostOperations)) most = extent;
    if (most == 0) continue;
    const int64_t unit = aligned ? 8 : 1;
    extent = rng.below(4) == 0 ? most : std::max(unit, (most / 2 + random_below(rng, most)) / unit * unit);
    if (!is_small(task, bindings, most_elements, kMostOperations)) extent = most;
    if (is_small(task, bindings, most_elements, kMostOperations)) return bindings;
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
    // One as long as another, or a few times that: independent draws seldom are.
    if (symbols.size() > 1 && rng.below(3) == 0) {
      const size_t a = rng.below(symbols.size()), b = (a + 1 + rng.below(symbols.size() - 1)) % symbols.size();
      bindings[symbols[a]] = bindings[symbols[b]] * (rng.below(2) == 0 ? 1 : 2 + random_below(rng, 3));
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
  size_t kind = rng.below(2);
  for (size_t i = 0; i < 2 * kEach; ++i) {
    const size_t longs = i == 0 ? 0 : i - 1;
    if (i != 1 && longs < symbols.size()) take(long_in(task, symbols[longs], kind == 1, most_long, rng));
    take(most_telling(candidates[kind], shown));
    kind = 1 - kind;
  }
  return shapes;
}

}  // namespace hone::evaluate
