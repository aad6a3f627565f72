#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "hone/search/tune/space_files.h"
#include "hone/search/tune/value_json.h"

namespace hone::search::tune {
namespace {

using base::Json;

/// Kernel Tuner's stand-in for "no time".
constexpr double kNoTime = 1e19;

Invalidity invalidity_of(std::string_view word) {
  const auto has = [&](std::string_view part) { return word.find(part) != std::string_view::npos; };
  if (has("Compil")) return Invalidity::kCompile;
  if (has("Constraint") || has("Invalid")) return Invalidity::kConstraints;
  if (has("Correct") || has("Verif")) return Invalidity::kCorrectness;
  if (has("imeout")) return Invalidity::kTimeout;
  return Invalidity::kRuntime;
}

std::string_view error_of(Invalidity invalidity) {
  switch (invalidity) {
    case Invalidity::kCompile: return "CompilationFailedConfig";
    case Invalidity::kConstraints: return "InvalidConfig";
    default: return "RuntimeFailedConfig";
  }
}

/// What stands in an entry beside tunables and the objective.
constexpr std::string_view kMeasurements[] = {"times", "compile_time", "__error__", "verification_time", "benchmark_time", "strategy_time", "framework_time"};
/// Of a parameter: a Point's numbers are no larger.
constexpr size_t kMostOfOne = 65'535;

Measured measured_of(const Json& entry, const std::string& objective) {
  Measured m;
  if (const auto times = entry.find("times"); times != entry.end() && times->is_array())
    for (const Json& time : *times)
      if (time.is_number()) m.times.push_back(time.get<double>());
  if (const auto compile = entry.find("compile_time"); compile != entry.end() && compile->is_number()) m.compile_ms = compile->get<double>();
  if (const auto error = entry.find("__error__"); error != entry.end()) {
    m.invalidity = invalidity_of(error->is_string() ? error->get<std::string>() : "");
    return m;
  }
  const auto cost = entry.find(objective);
  if (cost != entry.end() && cost->is_number() && cost->get<double>() > 0 && cost->get<double>() < kNoTime) {
    m.cost = cost->get<double>();
  } else {
    m.invalidity = invalidity_of(cost != entry.end() && cost->is_string() ? cost->get<std::string>() : "");
  }
  return m;
}

/// Kernel Tuner appends to its cache and closes the brackets at the end: an interrupted one lacks them.
Result<Json> parse_even_if_cut(std::string_view text, std::string_view name) {
  auto whole = base::parse_json(text, name);
  if (whole) return whole;
  const size_t end = text.find_last_not_of(" \t\r\n");
  if (end == std::string_view::npos || text.find("\"cache\"") == std::string_view::npos) return whole;
  std::string closed(text.substr(0, end + 1));
  if (closed.back() == ',') closed.pop_back();
  auto again = base::parse_json(closed + "}}", name);
  return again ? std::move(again) : std::move(whole);
}

}  // namespace

std::string_view name_of(Invalidity invalidity) {
  constexpr std::string_view kNames[] = {"correct", "compile", "runtime", "correctness", "timeout", "constraints"};
  return kNames[static_cast<size_t>(invalidity)];
}

Experience TuningCache::experience() const {
  Experience all{parameters, points, {}};
  for (const Measured& m : measured) all.costs.push_back(m.cost);
  return all;
}

Result<TuningCache> parse_cache(std::string_view text, std::string_view name) {
  const auto wrong = [&](std::string message, std::string hint = "") {
    return fail(ErrorCode::kInput, std::move(message), std::move(hint), std::string(name));
  };
  HONE_TRY(const Json file, parse_even_if_cut(text, name));
  const std::string expected = "a Kernel Tuner cache holds tune_params_keys, tune_params and cache";
  if (!file.is_object()) return wrong("not an object", expected);
  for (const char* key : {"cache", "tune_params_keys", "tune_params"})
    if (!file.contains(key)) return wrong(fmt::format("there is no \"{}\"", key), expected);
  const Json& entries = file["cache"];
  const Json& names = file["tune_params_keys"];
  const Json& lists = file["tune_params"];
  if (!entries.is_object() || !names.is_array() || !lists.is_object()) return wrong("\"cache\", \"tune_params_keys\" or \"tune_params\" has the wrong type", expected);
  TuningCache cache;
  const auto text_at = [&](const char* key) { return file.contains(key) && file[key].is_string() ? file[key].get<std::string>() : std::string(); };
  cache.device = text_at("device_name");
  cache.kernel = text_at("kernel_name");
  cache.subject = text_at("hone_subject");
  if (file.contains("problem_size")) cache.problem_size = base::canonical_json(file["problem_size"]);
  if (const std::string objective = text_at("objective"); !objective.empty()) cache.objective = objective;
  for (const Json& parameter : names) {
    if (!parameter.is_string() || !lists.contains(parameter.get<std::string>()))
      return wrong(fmt::format("\"tune_params\" lacks {}", parameter.dump()), expected);
    Parameter made{parameter.get<std::string>(), {}};
    if (made.name == cache.objective || std::find(std::begin(kMeasurements), std::end(kMeasurements), made.name) != std::end(kMeasurements))
      return wrong(fmt::format("a tunable is called {}, as a measurement is", made.name));
    if (std::any_of(cache.parameters.begin(), cache.parameters.end(), [&](const Parameter& other) { return other.name == made.name; }))
      return wrong(fmt::format("\"tune_params_keys\" names {} twice", made.name));
    const Json& list = lists[made.name];
    for (const Json& value : list.is_array() ? list : Json::array({list})) {
      const auto read = value_of(value);
      if (!read) return wrong(fmt::format("tune_params.{}: {} is no number and no text", made.name, value.dump()));
      made.values.push_back(*read);
    }
    if (made.values.size() > kMostOfOne) return wrong(fmt::format("tune_params.{} has more than {} values", made.name, kMostOfOne));
    cache.parameters.push_back(std::move(made));
  }
  if (cache.parameters.empty()) return wrong("no tunables", expected);
  for (const auto& [key, entry] : entries.items()) {
    if (!entry.is_object()) return wrong(fmt::format("cache entry \"{}\" is not an object", key));
    Point point;
    for (Parameter& parameter : cache.parameters) {
      const auto found = entry.find(parameter.name);
      const auto value = found == entry.end() ? std::nullopt : value_of(*found);
      if (!value) return wrong(fmt::format("cache entry \"{}\" lacks {}", key, parameter.name));
      const auto at = std::find_if(parameter.values.begin(), parameter.values.end(), [&](const Value& v) { return same_value(v, *value); });
      if (at == parameter.values.end()) return wrong(fmt::format("cache entry \"{}\": tune_params.{} does not list {}", key, parameter.name, text_of(*value)));
      point.push_back(static_cast<uint16_t>(at - parameter.values.begin()));
    }
    cache.points.push_back(std::move(point));
    cache.keys.push_back(key);
    cache.measured.push_back(measured_of(entry, cache.objective));
  }
  if (cache.points.empty()) return wrong("\"cache\" is empty");
  if (PointSet(cache.points.begin(), cache.points.end()).size() != cache.points.size()) return wrong("\"cache\" holds a configuration twice");
  return cache;
}

std::string cache_text(const TuningCache& cache) {
  nlohmann::ordered_json file;
  file["device_name"] = cache.device;
  file["kernel_name"] = cache.kernel;
  file["problem_size"] = cache.problem_size.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json::parse(cache.problem_size);
  if (!cache.subject.empty()) file["hone_subject"] = cache.subject;
  file["tune_params_keys"] = nlohmann::ordered_json::array();
  file["tune_params"] = nlohmann::ordered_json::object();
  for (const Parameter& p : cache.parameters) {
    file["tune_params_keys"].push_back(p.name);
    auto& list = file["tune_params"][p.name] = nlohmann::ordered_json::array();
    for (const Value& value : p.values) list.push_back(json_of(value));
  }
  file["objective"] = cache.objective;
  auto& entries = file["cache"] = nlohmann::ordered_json::object();
  for (size_t n = 0; n < cache.points.size(); ++n) {
    auto& entry = entries[cache.keys[n]] = nlohmann::ordered_json::object();
    for (size_t p = 0; p < cache.parameters.size(); ++p) entry[cache.parameters[p].name] = json_of(cache.parameters[p].values[cache.points[n][p]]);
    const Measured& m = cache.measured[n];
    if (m.cost) entry[cache.objective] = *m.cost;
    else entry[cache.objective] = error_of(m.invalidity);
    entry["times"] = m.times;
    entry["compile_time"] = m.compile_ms;
    for (const char* none : {"verification_time", "benchmark_time", "strategy_time", "framework_time"}) entry[none] = 0;
  }
  return file.dump(1) + "\n";
}

std::string t4_text(const TuningCache& cache) {
  nlohmann::ordered_json file;
  file["schema_version"] = "1.0.0";
  auto& results = file["results"] = nlohmann::ordered_json::array();
  for (size_t n = 0; n < cache.points.size(); ++n) {
    const Measured& m = cache.measured[n];
    nlohmann::ordered_json result;
    auto& configuration = result["configuration"] = nlohmann::ordered_json::object();
    for (size_t p = 0; p < cache.parameters.size(); ++p) configuration[cache.parameters[p].name] = json_of(cache.parameters[p].values[cache.points[n][p]]);
    result["times"] = {{"compilation", m.compile_ms}, {"runtimes", m.times}, {"framework", 0}, {"search_algorithm", 0}, {"validation", 0}};
    result["invalidity"] = name_of(m.invalidity);
    result["correctness"] = m.cost ? 1 : 0;
    result["measurements"] = nlohmann::ordered_json::array();
    if (m.cost) result["measurements"].push_back({{"name", cache.objective}, {"value", *m.cost}, {"unit", "ms"}});
    result["objectives"] = {cache.objective};
    results.push_back(std::move(result));
  }
  return file.dump(1) + "\n";
}

}  // namespace hone::search::tune
