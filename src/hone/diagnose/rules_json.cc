// The stable JSON form of a diagnosis (docs/json.md).
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hone/diagnose/rules.h"

namespace hone::diagnose {

using nlohmann::json;

namespace {

constexpr std::string_view kKinds[] = {"tunable", "pattern", "compiler", "rewrite"};

std::string text_of(const json& value, const char* key) {
  const auto it = value.find(key);
  return it != value.end() && it->is_string() ? it->get<std::string>() : std::string();
}

double number_of(const json& value, const char* key, double otherwise) {
  const auto it = value.find(key);
  return it != value.end() && it->is_number() ? it->get<double>() : otherwise;
}

}  // namespace

std::string_view name_of(Action::Kind kind) { return kKinds[static_cast<size_t>(kind)]; }

std::string Action::to_string() const {
  if (kind == Kind::kTunable) return fmt::format("{} {} -> {}", name, from, to);
  return kind == Kind::kRewrite ? name : fmt::format("{} {}", name_of(kind), name);
}

json to_json(const Action& action) {
  json out = {{"action", action.to_string()}, {"kind", name_of(action.kind)}, {"name", action.name}, {"gain", action.gain},
              {"saved", action.saved},        {"cause", action.cause},        {"why", action.why}};
  const bool tunable = action.kind == Action::Kind::kTunable;
  out["from"] = tunable ? json(action.from) : json();
  out["to"] = tunable ? json(action.to) : json();
  return out;
}

json to_json(const Diagnosis& diagnosis) {
  json out = {{"bottleneck", diagnosis.bottleneck},
              {"says", diagnosis.says},
              {"verdict", diagnosis.bottleneck == kLight ? "leave"
                          : diagnosis.redesign           ? "redesign"
                                                         : "retune"},
              {"light", diagnosis.light},
              {"evidence", json::array()},
              {"actions", json::array()}};
  for (const Metric& m : diagnosis.evidence)
    out["evidence"].push_back({{"metric", m.name}, {"value", m.value}, {"origin", name_of(m.origin)}, {"about", m.about}});
  for (const Action& action : diagnosis.actions) out["actions"].push_back(to_json(action));
  return out;
}

Diagnosis diagnosis_from(const json& value) {
  Diagnosis out;
  if (!value.is_object()) return out;
  out.bottleneck = text_of(value, "bottleneck");
  out.says = text_of(value, "says");
  out.redesign = text_of(value, "verdict") == "redesign";
  out.light = number_of(value, "light", 0);
  if (const auto evidence = value.find("evidence"); evidence != value.end() && evidence->is_array())
    for (const json& m : *evidence)
      if (m.is_object())
        out.evidence.push_back({text_of(m, "metric"), number_of(m, "value", 0),
                                text_of(m, "origin") == "modelled" ? Origin::kModelled : Origin::kMeasured, text_of(m, "about")});
  if (const auto actions = value.find("actions"); actions != value.end() && actions->is_array())
    for (const json& a : *actions) {
      if (!a.is_object()) continue;
      Action action;
      const auto kind = std::find(std::begin(kKinds), std::end(kKinds), text_of(a, "kind"));
      if (kind != std::end(kKinds)) action.kind = static_cast<Action::Kind>(kind - std::begin(kKinds));
      action.name = text_of(a, "name");
      action.from = static_cast<int64_t>(number_of(a, "from", 0));
      action.to = static_cast<int64_t>(number_of(a, "to", 0));
      action.saved = number_of(a, "saved", 0);
      action.gain = number_of(a, "gain", 1);
      action.cause = text_of(a, "cause");
      action.why = text_of(a, "why");
      out.actions.push_back(std::move(action));
    }
  return out;
}

}  // namespace hone::diagnose
