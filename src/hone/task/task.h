// A task: what to compute, on what inputs, in which shapes and at which accuracy. Read from TOML or
// built from command-line expressions; written back as canonical TOML. Errors carry file, line and
// column and say what was expected. Plain values.
#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hone/base/result.h"
#include "hone/task/graph/graph.h"
#include "hone/task/known_values.h"
#include "hone/task/types.h"

namespace hone::task {

/// Values an input may take.
enum class Domain : uint8_t {
  kReal,      ///< any finite value
  kPositive,  ///< > 0
  kSimplex,   ///< non-negative, sums to 1 along the last axis
  kIndex,     ///< integers in [0, index_bound)
  kSign,      ///< -1 or +1
  kNearOne,   ///< 1 plus small noise (norm weights, variances)
  kUnit,      ///< in [0, 1]
};
enum class Structure : uint8_t { kNone, kTriu, kTril, kSymmetric };

struct InputSpec {
  std::string name;
  TensorType type;
  Domain domain = Domain::kReal;
  IntExpr index_bound;  ///< kIndex only
  Structure structure = Structure::kNone;
  bool constant = false;  ///< does not change between calls: a prepare phase may use it
  std::optional<KnownValues> values;  ///< in their shape it holds these and no others
};

struct Workload {
  std::string name;  ///< given, or "w0", "w1", …
  Bindings bindings;
  double weight = 1;
};

/// "B=4 D=5"; "as declared" where there are no symbols.
[[nodiscard]] std::string bindings_text(const Bindings& bindings);

/// Which accuracy a candidate is held to: docs/how_we_measure.md.
enum class Track : uint8_t { kStrict, kAsPytorch, kTf32, kBf16, kF16 };
[[nodiscard]] std::string_view name_of(Track track);

struct Task {
  std::string name;
  std::vector<InputSpec> inputs;
  std::vector<std::pair<std::string, TensorType>> outputs;  ///< types as inferred (declared ones agree)
  std::string compute;                                      ///< the source text
  Graph surface;
  Graph primitive;                  ///< lower(surface)
  std::vector<Workload> workloads;  ///< at least one
  std::vector<std::string> default_workloads;  ///< those meant when none is asked for; empty: all
  Track track = Track::kStrict;
  bool nan_policy = false;           ///< NaN and Inf inputs are part of the contract
  bool deterministic = false;        ///< outputs must be bitwise reproducible
  std::optional<std::string> start;  ///< path of a kernel to begin from, relative to the task file

  [[nodiscard]] std::vector<std::string> symbols() const;  ///< of all input shapes, sorted
  /// Hash of what decides correctness: inputs, computation, track, policies; not name or workloads.
  [[nodiscard]] std::string hash() const;
  /// Parses back to an equal task. Known values are in it, or in the files that `file_of` names, where it names one.
  [[nodiscard]] std::string to_toml(const std::function<std::string(const InputSpec&)>& file_of = {}) const;
};

/// `path` is used in error contexts ("softmax.toml:3:9") only; files that hold inputs' values are looked for in `folder`, and
/// refused without one.
[[nodiscard]] Result<Task> parse_task(std::string_view toml, const std::string& path, const std::optional<std::filesystem::path>& folder = std::nullopt);
[[nodiscard]] Result<Task> load_task(const std::filesystem::path& path);

/// The task with the named workloads only, in the file's order; without names its default ones, and
/// all where it has none. kUsage for a name that it does not have: the message lists those it has.
[[nodiscard]] Result<Task> select_workloads(Task task, const std::vector<std::string>& names);

/// The task on the track of that name ("f32", "tf32", …); an empty name leaves it on its own. kUsage for a name that is none.
[[nodiscard]] Result<Task> select_track(Task task, const std::string& name);

/// hone optimize -e 'y = softmax(x, axis=-1)' -i 'x=f32[16384,4096]' [-w 'B=4,D=8']…
/// Outputs are the names assigned that nothing later uses.
[[nodiscard]] Result<Task> task_from_expressions(const std::string& compute,
                                                 const std::vector<std::string>& inputs,
                                                 const std::vector<std::string>& workloads);

/// Multiply-adds of contractions and convolutions, by the least type that holds both operands: values
/// that are bf16 or i8 before a widening cast count as such, f16 as f32. Integers wider than i8 are
/// not counted.
struct Products {
  double f64 = 0, f32 = 0, bf16 = 0, i8 = 0;
  double convolved_f32 = 0;   ///< those of f32 that convolutions have
  [[nodiscard]] double all() const { return f64 + f32 + bf16 + i8; }
};

/// The least the computation can cost at one workload.
struct Cost {
  double bytes_read = 0;      ///< every input element that the outputs depend on, once
  double bytes_written = 0;   ///< every output element, once
  double flops = 0;           ///< arithmetic operations of the primitive graph (fma counts 2)
  double transcendental = 0;  ///< exp, log, sin, tanh, erf, pow, … among them
  Products products;          ///< the multiply-adds among them, and those of i8
};
[[nodiscard]] Cost minimal_cost(const ConcreteGraph& graph);

}  // namespace hone::task
