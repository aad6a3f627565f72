// What is known of one kernel on one workload, in values that mean the same on every target: shares and ratios where
// there is one, plain counts else. Each says where it comes from; what nobody knows is absent, with the reason.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/json.h"

namespace hone::diagnose {

enum class Origin : uint8_t { kMeasured, kModelled, kAbsent };
[[nodiscard]] std::string_view name_of(Origin origin);  ///< "measured", "modelled", "absent"

struct Metric {
  std::string name;
  double value = 0;  ///< 0 where absent
  Origin origin = Origin::kAbsent;
  std::string about;  ///< what it is; absent: why nobody knows
};

/// Metrics in the order they were added; a name stands once, and what is known replaces what was absent.
class Metrics {
 public:
  void measured(std::string_view name, double value, std::string_view about);
  void modelled(std::string_view name, double value, std::string_view about);
  void absent(std::string_view name, std::string_view why);
  void add(Metric metric);

  [[nodiscard]] const std::vector<Metric>& all() const { return all_; }
  [[nodiscard]] const Metric* find(std::string_view name) const;
  /// Its value, where it is not absent.
  [[nodiscard]] std::optional<double> get(std::string_view name) const;
  [[nodiscard]] double get_or(std::string_view name, double otherwise) const { return get(name).value_or(otherwise); }

 private:
  std::vector<Metric> all_;
};

/// Whether a card's counters were read: nothing else tells this share.
[[nodiscard]] inline bool counted(const Metrics& metrics) { return metrics.get("dram_share").has_value(); }

/// {"NAME": {"value": …, "origin": "measured", "about": "…"}}: value null where absent.
[[nodiscard]] nlohmann::json to_json(const Metrics& metrics);
/// Forgiving: what is no metric is passed over.
[[nodiscard]] Metrics metrics_from(const nlohmann::json& value);
inline void read_json(const nlohmann::json& value, Metrics& metrics, base::Notes&) { metrics = metrics_from(value); }

}  // namespace hone::diagnose
