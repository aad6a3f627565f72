#include <algorithm>

#include "hone/base/random.h"
#include "hone/evaluate/stage.h"

namespace hone::evaluate {
namespace {

/// Small enough for the oracle to check whole, on each side of what vector widths and tiles like.
constexpr int64_t kOdd[] = {1, 2, 3, 5, 7, 13, 17, 31, 33, 63, 65, 127, 129, 257, 1000, 1023};
constexpr int64_t kAligned[] = {4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048};

/// Operations of a shape: what the oracle answers in tens of milliseconds. A screening asks it fifteen times, a promotion thirty.
constexpr double kMostOperations = 0x1p25;

/// Whether the task takes the shape, with tensors of so many elements at most and few operations.
bool is_small(const task::Task& task, const task::Bindings& bindings, int64_t most_elements) {
  const auto graph = task::instantiate(task.primitive, bindings);
  if (!graph) return false;
  for (const task::Shape& shape : graph->shapes) {
    int64_t count = 1;
    for (const int64_t extent : shape)
      if (__builtin_mul_overflow(count, extent, &count)) return false;
    if (count > most_elements) return false;
  }
  return task::minimal_cost(*graph).flops <= kMostOperations;
}

}  // namespace

std::vector<task::Bindings> hidden_shapes(const task::Task& task, uint64_t seed, int64_t most_elements) {
  const std::vector<std::string> symbols = task.symbols();
  std::vector<task::Bindings> shapes;
  if (symbols.empty()) return shapes;
  base::Rng rng(seed, 0x5348);
  constexpr int kAttempts = 800;
  const auto draw = [&](bool aligned, const task::Bindings& like, int attempt) {
    // Where many symbols multiply, large extents hardly ever fit together: less and less is asked for.
    const auto among = [&](size_t all) { return std::max<size_t>(4, all - all * static_cast<size_t>(attempt) / kAttempts); };
    task::Bindings bindings = like;
    for (const std::string& symbol : symbols) {
      // Some symbols keep a workload's value: coupled shapes (H * 4 == D) would hardly be hit else.
      if (!like.empty() && rng.below(4) == 0) continue;
      bindings[symbol] = aligned ? kAligned[rng.below(among(std::size(kAligned)))] : kOdd[rng.below(among(std::size(kOdd)))];
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
    if (!is_small(task, bindings, most_elements) || std::find(shapes.begin(), shapes.end(), bindings) != shapes.end()) continue;
    shapes.push_back(std::move(bindings));
    ++found[aligned];
  }
  return shapes;
}

}  // namespace hone::evaluate
