#include "hone/diagnose/metrics.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

namespace hone::diagnose {

using nlohmann::json;

namespace {

constexpr std::string_view kOrigins[] = {"measured", "modelled", "absent"};

}  // namespace

std::string_view name_of(Origin origin) { return kOrigins[static_cast<size_t>(origin)]; }

void Metrics::add(Metric metric) {
  // A value that is no number says nothing.
  if (metric.origin != Origin::kAbsent && !std::isfinite(metric.value)) metric = {metric.name, 0, Origin::kAbsent, "not a finite number"};
  const auto at = std::find_if(all_.begin(), all_.end(), [&](const Metric& m) { return m.name == metric.name; });
  if (at == all_.end())
    all_.push_back(std::move(metric));
  else if (metric.origin != Origin::kAbsent)
    *at = std::move(metric);
}

void Metrics::measured(std::string_view name, double value, std::string_view about) {
  add({std::string(name), value, Origin::kMeasured, std::string(about)});
}
void Metrics::modelled(std::string_view name, double value, std::string_view about) {
  add({std::string(name), value, Origin::kModelled, std::string(about)});
}
void Metrics::absent(std::string_view name, std::string_view why) { add({std::string(name), 0, Origin::kAbsent, std::string(why)}); }

const Metric* Metrics::find(std::string_view name) const {
  const auto at = std::find_if(all_.begin(), all_.end(), [&](const Metric& m) { return m.name == name; });
  return at == all_.end() ? nullptr : &*at;
}

std::optional<double> Metrics::get(std::string_view name) const {
  const Metric* const metric = find(name);
  return metric && metric->origin != Origin::kAbsent ? std::optional(metric->value) : std::nullopt;
}

json to_json(const Metrics& metrics) {
  json out = json::object();
  for (const Metric& m : metrics.all())
    out[m.name] = {{"value", m.origin == Origin::kAbsent ? json() : json(m.value)}, {"origin", name_of(m.origin)}, {"about", m.about}};
  return out;
}

Metrics metrics_from(const json& value) {
  Metrics metrics;
  if (!value.is_object()) return metrics;
  for (const auto& [name, m] : value.items()) {
    if (!m.is_object() || !m.contains("origin") || !m["origin"].is_string()) continue;
    const auto origin = std::find(std::begin(kOrigins), std::end(kOrigins), m["origin"].get<std::string>());
    if (origin == std::end(kOrigins)) continue;
    const std::string about = m.contains("about") && m["about"].is_string() ? m["about"].get<std::string>() : std::string();
    const bool known = m.contains("value") && m["value"].is_number();
    metrics.add(
        {name, known ? m["value"].get<double>() : 0, known ? static_cast<Origin>(origin - std::begin(kOrigins)) : Origin::kAbsent, about});
  }
  return metrics;
}

}  // namespace hone::diagnose
