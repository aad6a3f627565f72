// Made-up tuning spaces whose costs are formulas: for tests. Not part of the program.
#pragma once
#include <cmath>
#include <functional>

#include "hone/search/tune/space_files.h"

namespace hone::search::tune::testing {

inline Parameter numbers(std::string name, std::vector<int64_t> values) { return {std::move(name), {values.begin(), values.end()}}; }

inline Space space_of(std::vector<Parameter> parameters, const std::vector<std::string>& conditions = {}) {
  std::vector<std::string> names;
  for (const Parameter& p : parameters) names.push_back(p.name);
  std::vector<Condition> parsed;
  for (const std::string& text : conditions) parsed.push_back(Condition::parse(text, names).value());
  return Space::make(std::move(parameters), std::move(parsed)).value();
}

using Cost = std::function<std::optional<double>(const std::vector<double>&)>;

/// Everything measured, as a file would hold it. `cost` takes the values in order.
inline TuningCache measured(const Space& space, const Cost& cost) {
  TuningCache cache;
  cache.device = "none";
  cache.kernel = "formula";
  cache.parameters = space.parameters();
  for (const Point& point : space.points()) {
    std::vector<double> values;
    for (size_t p = 0; p < point.size(); ++p) values.push_back(number_of(space.value(point, p)));
    Measured m;
    m.cost = cost(values);
    if (!m.cost) m.invalidity = Invalidity::kRuntime;
    cache.points.push_back(point);
    cache.keys.push_back(space.key(point));
    cache.measured.push_back(m);
  }
  return cache;
}

/// A product of tiles on a device that likes blocks of `block` threads and `reuse` elements a thread: threads beyond the
/// device's fail, misaligned widths cost, one switch helps only where the tile is large.
inline TuningCache tiles(double block, double reuse) {
  const Space space = space_of({numbers("bx", {16, 32, 48, 64, 96, 128, 192, 256}), numbers("by", {1, 2, 4, 8, 16}), numbers("tx", {1, 2, 4, 8}),
                                numbers("ty", {1, 2, 4, 8}), numbers("cache", {0, 1}), numbers("unroll", {0, 1, 2, 4})},
                               {"bx * by <= 1024", "bx * by >= 32", "unroll <= ty"});
  return measured(space, [=](const std::vector<double>& v) -> std::optional<double> {
    if (v[0] * v[1] * v[2] * v[3] > 16384) return std::nullopt;
    const double threads = std::log2(v[0] * v[1] / block), elements = std::log2(v[2] * v[3] / reuse);
    double cost = 1 + 0.15 * threads * threads + 0.3 * elements * elements + 0.1 * std::pow(std::log2(v[0] / 64), 2);
    if (std::fmod(v[0], 32) != 0) cost *= 1.25;
    cost *= v[4] == 1 ? (v[2] * v[3] >= 4 ? 0.9 : 1.2) : 1;
    cost *= 1 + 0.03 * std::abs(v[5] - 2);
    return cost;
  });
}

/// Six switches and two sizes that matter only together; a third of all fails.
inline TuningCache switches() {
  const Space space = space_of({numbers("a", {0, 1}), numbers("b", {0, 1}), numbers("c", {0, 1}), numbers("d", {0, 1}), numbers("e", {0, 1}),
                                numbers("f", {0, 1}), numbers("n", {1, 2, 4, 8, 16, 32}), numbers("m", {1, 2, 3, 4, 5, 6, 7, 8})});
  return measured(space, [](const std::vector<double>& v) -> std::optional<double> {
    if (std::fmod(v[6] + 3 * v[7] + v[0], 3) == 0) return std::nullopt;
    double cost = 2 - 0.4 * v[0] * v[1] - 0.3 * v[2] * (1 - v[3]) + 0.2 * v[4] - 0.1 * v[5] * v[2];
    cost += 0.2 * std::abs(std::log2(v[6]) - 3) + 0.05 * std::abs(v[7] - 5 + v[0]);
    return cost;
  });
}

}  // namespace hone::search::tune::testing
