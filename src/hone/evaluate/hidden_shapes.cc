#include <algorithm>
#include <bit>

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

std::vector<task::Bindings> hidden_shapes(const task::Task& task, uint64_t seed, int64_t most_elements) {
  const std::vector<std::string> symbols = task.symbols();
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
    return bindings;
  };
  // In turns, so that the few that a screening looks at are of both kinds.
  constexpr size_t kEach = 8;
  size_t found[2] = {0, 0};
  for (int attempt = 0; attempt < kAttempts && shapes.size() < 2 * kEach; ++attempt) {
    const bool aligned = attempt % 2 == 1;
    if (found[aligned] == kEach) continue;
    const auto& like = task.workloads[rng.below(task.workloads.size())].bindings;
    task::Bindings bindings = draw(aligned, like, attempt);
    if (std::find(shapes.begin(), shapes.end(), bindings) != shapes.end() || !is_small(task, bindings, most_elements, kMostOperations)) continue;
    shapes.push_back(std::move(bindings));
    ++found[aligned];
  }
  return shapes;
}

}  // namespace hone::evaluate
