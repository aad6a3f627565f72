#include "hone/engine/behaviour.h"

#include <algorithm>
#include <cmath>

#include "hone/pattern/traffic.h"

namespace hone::engine {
namespace {

/// At this share of what a bound allows, a kernel is near it.
constexpr double kNear = 0.4;

/// Explicit vectors in the source, as the pattern language writes them, or in a vector type of the language.
int vectors_of(const kernel::Kernel& kernel) {
  const auto has = [&](const char* word) { return kernel.source.find(word) != std::string::npos; };
  return has("f32v") || has("f64v") || has("float4") || has("half2") ? 1 : 0;
}

}  // namespace

search::Behaviour behaviour_of(const kernel::Kernel& kernel, const task::Task& task, const kernel::Limits& limits, std::span<const double> median_ns,
                               std::span<const evaluate::LightBound> bounds) {
  search::Behaviour behaviour;
  behaviour.make = kernel.header.pattern;
  behaviour.vectors = vectors_of(kernel);
  size_t longest = 0;
  for (size_t w = 1; w < median_ns.size() && w < task.workloads.size(); ++w)
    if (median_ns[w] > median_ns[longest]) longest = w;
  const task::Bindings& bindings = task.workloads[longest].bindings;
  if (const auto plan = kernel::bind(kernel, task, bindings, limits)) behaviour.launches = static_cast<int>(plan->launches.size());
  if (longest >= bounds.size()) return behaviour;
  const evaluate::LightBound& bound = bounds[longest];
  if (const auto traffic = pattern::traffic_of(kernel, task, bindings, limits); traffic && bound.bytes > 0 && traffic->all() > 0)
    behaviour.traffic = static_cast<int>(std::lround(std::log2(std::max(1.0, traffic->all() / bound.bytes))));
  if (longest < median_ns.size() && median_ns[longest] > 0) {
    const double memory = bound.memory_ns / median_ns[longest], compute = bound.compute_ns / median_ns[longest];
    if (std::max(memory, compute) >= kNear) behaviour.balance = memory >= compute ? 1 : 2;
  }
  return behaviour;
}

}  // namespace hone::engine
