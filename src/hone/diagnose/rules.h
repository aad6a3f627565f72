// The built-in diagnoser: from metrics to one bottleneck, its evidence and actions worth trying, each with the gain that
// arithmetic promises. docs/diagnosis.md has the formulas. Pure: what cannot be told from the metrics given is not said.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "hone/diagnose/metrics.h"
#include "hone/kernel/kernel.h"

namespace hone::diagnose {

struct Action {
  enum class Kind : uint8_t {
    kTunable,   ///< set `name` to `to`
    kPattern,   ///< the library's kernel `name`
    kCompiler,  ///< build with `name`
    kRewrite,   ///< a proposer's work, `name` says which: "vectorise", "fuse passes", …
  };
  Kind kind = Kind::kRewrite;
  std::string name;
  int64_t from = 0, to = 0;  ///< of a tunable
  double saved = 0;          ///< share of the time that goes if the cause is repaired as far as this action does
  double gain = 1;           ///< predicted: time before / time after
  std::string cause, why;    ///< which cause it repairs; the reckoning in words and numbers
  /// "STREAM 0 -> 1", "pattern split", "compiler clang", "vectorise"
  [[nodiscard]] std::string to_string() const;
};
[[nodiscard]] std::string_view name_of(Action::Kind kind);  ///< "tunable", "pattern", "compiler", "rewrite"

/// What holds a kernel back: the cause whose repair would save most.
struct Diagnosis {
  std::string bottleneck;  ///< one of kCauses below
  std::string says;        ///< a sentence
  std::vector<Metric> evidence;
  std::vector<Action> actions;  ///< best first
  bool redesign = false;        ///< no retuning promises much, and light is far
  double light = 0;             ///< fraction of the speed of light; 0: not known
};

/// Causes, as `bottleneck` and Action::cause name them.
inline constexpr std::string_view kLight = "speed of light", kMemory = "memory bandwidth", kLatency = "memory latency",
                                  kStores = "write traffic", kDependencies = "dependent instructions", kInstructions = "instructions",
                                  kScalar = "scalar code", kSpills = "register spills", kBalance = "balance",
                                  kPasses = "passes over memory", kRedundant = "redundant reads", kBlocks = "small blocks", kUnknown = "unknown";
/// Those of cards beside kLight, kMemory, kSpills, kPasses, kRedundant and kUnknown.
inline constexpr std::string_view kUncoalesced = "uncoalesced access", kBanks = "bank conflicts",
                                  kOccupancy = "low occupancy", kFewBytes = "too few bytes in flight", kDivergence = "divergence",
                                  kTail = "serial tail", kLaunches = "launches", kBarriers = "barriers", kIssue = "instruction issue",
                                  kArithmetic = "arithmetic units", kMatrix = "matrix units", kAtomics = "atomics";

/// What a diagnosis may propose for a kernel.
struct Subject {
  const kernel::Header& header;
  const kernel::Config& config;
  kernel::Limits limits;
  std::vector<std::string> patterns = {};   ///< other kernels of the library for the task
  std::vector<std::string> compilers = {};  ///< others than the one it was built with
  /// The workload's part in the score: a gain there counts to this power.
  double share = 1;
  /// Those of `patterns` that take more launches than it does: no promise without evidence for it.
  std::vector<std::string> longer = {};
};

[[nodiscard]] Diagnosis diagnose(const Metrics& metrics, const Subject& subject);

[[nodiscard]] nlohmann::json to_json(const Action& action);
[[nodiscard]] nlohmann::json to_json(const Diagnosis& diagnosis);
/// Forgiving, for logs.
[[nodiscard]] Diagnosis diagnosis_from(const nlohmann::json& value);
inline void read_json(const nlohmann::json& value, Diagnosis& diagnosis, base::Notes&) { diagnosis = diagnosis_from(value); }

}  // namespace hone::diagnose
