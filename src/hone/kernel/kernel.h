// A kernel: one readable source file in its language whose comment header (TOML) carries launch plan
// and tunables. Owns: parsing and writing that header, names by content, the plan bound to shapes.
// Plain values; a header that does not parse is an Error with line and column.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/result.h"
#include "hone/kernel/language.h"
#include "hone/task/language/int_expr.h"
#include "hone/task/task.h"

namespace hone::kernel {

/// One argument of a device function, in order:
///   "x"            a task input or output, or a workspace, by name: pointer to its elements ("tensor:shared" for one of that name)
///   "i64:EXPR"     an integer (i32:, i64:) computed from shape symbols, tunables and limits
///   "shared"       CPU: pointer to the launch's `shared` bytes, private to the worker thread, 64-byte aligned
/// Triton only, "=EXPR" TileLang too:
///   "f32:EXPR"     a number: a literal, EXPR, 1/EXPR, sqrt(EXPR) or 1/sqrt(EXPR)
///   "=EXPR"        a constant of the build (tl.constexpr): integers from shapes and tunables; True, "text", 1e-5, None
///   "null"         a null pointer
/// Never written, added where the compiler asks for it:
///   kScratch       pointer to bytes of the launch's own, so many a block as the build says
struct Argument {
  enum class Kind : uint8_t { kTensor, kI32, kI64, kShared, kF32, kConstant, kNull, kScratch };
  Kind kind = Kind::kTensor;
  std::string tensor;                     ///< kConstant: the text of what is no integer, as Python has it
  task::IntExpr value;
  double number = 0;                      ///< kF32: the literal, if `value` is not taken
  enum class Form : uint8_t { kLiteral, kValue, kOver, kRoot, kOverRoot } form = Form::kValue;  ///< kF32
};

/// Blocks of a cluster: every card with clusters takes 8, Hopper and Blackwell up to 16 of those that ask for it.
constexpr int64_t kMostClusterBlocks = 16;

/// One launch of a device function.
struct Launch {
  std::string function;                   ///< TOML key `kernel`: "rows", or "part_2::rows" in a namespace
  std::vector<task::IntExpr> grid;        ///< 1 to 3 extents, x first; TileLang: 1, until the compiler says it
  std::vector<task::IntExpr> block;       ///< GPU: threads; absent on a CPU
  std::vector<task::IntExpr> cluster;     ///< CUDA, sm_90: blocks that run together, at most kMostClusterBlocks; absent: each alone
  task::IntExpr shared = 0;               ///< bytes
  task::IntExpr warps = 4, stages = 3, ctas = 1;      ///< Triton: threads of a block in warps, depth of its pipelines, blocks of a cluster
  std::vector<Argument> args;
  std::optional<task::IntExpr> when;      ///< launched only where non-zero
  std::optional<task::IntExpr> repeat;    ///< GPU: so many times in a row, STEP counting from 0 in its expressions
};

/// Scratch tensor that lives across the launches of one call; contents are poison at its start.
struct Workspace {
  std::string name;
  task::TensorType type;
  bool zero = false;                      ///< zero-filled before each call
};

struct Tunable {
  std::string name;                       ///< reaches the source as a macro
  std::vector<int64_t> values;            ///< allowed values, in order; the first is the default
};

/// Where a kernel was accepted, as its file says. Text for people and for a warning: whoever uses the kernel
/// verifies it anew, as anybody can edit a file.
struct Verified {
  std::string task, task_hash;            ///< name, hash of the content
  std::string target;                     ///< "cpu"
  std::string device;                     ///< "AMD EPYC 9575F 64-Core Processor, avx512, 2 threads"
  std::string toolchain;                  ///< "g++ 12.2.0"
  std::vector<std::string> shapes;        ///< workloads in full: "B=4096 D=4096"
  std::string date;                       ///< UTC, "2026-11-22"
  std::string hone;                       ///< version
};

/// Everything the header says.
struct Header {
  Language language = Language::kCpp;
  std::string compiler;                   ///< C++ only: "g++" or "clang"; empty: whichever hone prefers
  std::vector<task::IntExpr> require;     ///< `requires`: each non-zero, or the kernel does not apply
  std::vector<Tunable> tunables;
  std::vector<task::IntExpr> constraints; ///< over tunables and limits: configurations that make sense
  std::vector<std::string> specialise;    ///< symbols baked in at build time as macros: a loss of generality
  std::vector<Workspace> workspaces;
  std::vector<Launch> launches;
  std::string pattern;                    ///< the pattern it came from, if any
  std::string action;                     ///< the last action taken on it
  std::string note;                       ///< a sentence for people
  std::optional<Verified> verified;       ///< TOML table [verified]; no part of the kernel's hash
};

using Config = std::map<std::string, int64_t, std::less<>>;  ///< tunable -> value

struct Kernel {
  std::string source;                     ///< the whole file, header included
  Header header;
  Config config;                          ///< one value per tunable
  std::string parent;                     ///< hash of the kernel it came from, or empty
  std::string author;                     ///< "pattern:rows", "tuner", "user", a model's name

  /// Names the kernel: code, what its header means, config; not layout, parent, author, or where it was
  /// verified. So a champion and the file it was written to have one name.
  [[nodiscard]] std::string hash() const;
};

/// Parses a kernel file: finds the header comment, checks every name it uses. A line
/// `config = { TILE = 64 }` in the header fixes the configuration; else defaults hold.
[[nodiscard]] Result<Kernel> parse_kernel(std::string_view source, const std::string& path);

/// The source with its header's `config` set to `config`: what a champion's file looks like.
[[nodiscard]] std::string with_config(const Kernel& kernel, const Config& config);

/// The source (that parses) with its header's [verified] set.
[[nodiscard]] std::string with_verified(std::string_view source, const Verified& verified);

/// The source (as it is, where it does not parse) without what hone alone writes: `pattern`, `action` and [verified]. What somebody
/// sends back of what hone handed out.
[[nodiscard]] std::string without_marks(std::string_view source);

/// The kernel with its header's `compiler` set. Another header, so another kernel.
[[nodiscard]] Kernel with_compiler(const Kernel& kernel, std::string_view compiler);

/// Symbols that plan expressions may use beside shapes and tunables: THREADS, L1_BYTES, L2_BYTES,
/// L3_BYTES, VECTOR_BYTES on a CPU; SMS, SHARED_MAX, WAVE on a GPU.
using Limits = task::Bindings;

/// A plan with numbers put in.
struct BoundArgument {
  Argument::Kind kind;
  int tensor = -1;     ///< index into: inputs, then outputs, then workspaces
  int64_t value = 0;
};
struct BoundWorkspace {
  task::DType dtype;
  task::Shape shape;
  bool zero = false;
};
struct BoundLaunch {
  int launch = 0;      ///< index among the header's launches; several with one where it is repeated
  std::string function;
  std::vector<int64_t> grid, block;
  std::vector<int64_t> cluster; ///< empty: none; divides the grid
  int64_t shared = 0;
  std::vector<BoundArgument> args;
};
struct BoundPlan {
  std::vector<BoundLaunch> launches;        ///< those whose `when` held
  std::vector<BoundWorkspace> workspaces;
};

/// Fails (kInput) where a tensor is unknown, an extent is not positive, a grid is no multiple of its cluster or a
/// requirement does not hold; the message says which.
[[nodiscard]] Result<BoundPlan> bind(const Kernel& kernel, const task::Task& task,
                                     const task::Bindings& bindings, const Limits& limits);

/// True where every `requires` holds, no launch has more blocks along an axis than any card takes (grid_limits.h), and there are 256 launches
/// at most.
[[nodiscard]] Result<bool> applies(const Kernel& kernel, const task::Bindings& bindings,
                                   const Limits& limits);

/// True where the tunables' constraints hold for `config`.
[[nodiscard]] Result<bool> allowed(const Header& header, const Config& config,
                                   const Limits& limits);

/// The configuration nearest to `config` that the constraints allow, by places in the header's lists: the first values are those of a large
/// device, and a smaller one has fewer registers. Constraints that nothing in the lists meets stay unmet.
[[nodiscard]] Config fitted(const Header& header, Config config, const Limits& limits);

}  // namespace hone::kernel
