// The patterns for GPUs, one function each: files of patterns/gpu/ filled for a program. Pure. Every function fails
// with kUnavailable where its pattern does not suit the program.
#pragma once
#include <string>
#include <vector>

#include <fmt/format.h>

#include "hone/base/result.h"
#include "hone/pattern/library.h"
#include "hone/pattern/program.h"

namespace hone::pattern::gpu {

/// A few of each row's first in sorted order, their places or both; rows sorted, their places, or the first of either.
[[nodiscard]] Result<kernel::Kernel> topk(const task::Task& task, kernel::Language language);
[[nodiscard]] Result<kernel::Kernel> sort(const task::Task& task, kernel::Language language);
[[nodiscard]] Result<kernel::Kernel> scatter(const task::Task& task, kernel::Language language);
/// Element-wise work on and behind one concatenation.
[[nodiscard]] Result<kernel::Kernel> concat(const task::Task& task, kernel::Language language);
[[nodiscard]] Result<kernel::Kernel> map(const Program& program, kernel::Language language);
/// Tensors whose lines run across each other's: the axis along which results lie, the one along which others do, and those.
struct Turned {
  int along = -1, down = -1;
  std::vector<int> across;
};
[[nodiscard]] Result<Turned> turned(const Program& program);
/// Turned in shared memory.
[[nodiscard]] Result<kernel::Kernel> transposed(const Program& program, kernel::Language language);
[[nodiscard]] Result<kernel::Kernel> rows(const Program& program, kernel::Language language);
[[nodiscard]] Result<kernel::Kernel> split(const Program& program, kernel::Language language);
[[nodiscard]] Result<kernel::Kernel> resident_rows(const Program& program, kernel::Language language);
[[nodiscard]] Result<kernel::Kernel> shared_rows(const Program& program, kernel::Language language);
[[nodiscard]] Result<kernel::Kernel> specialised_cluster(const Program& program, kernel::Language language);
[[nodiscard]] Result<kernel::Kernel> specialised_rows(const Program& program, kernel::Language language);
[[nodiscard]] Result<kernel::Kernel> columns(const Program& program, kernel::Language language);
[[nodiscard]] Result<kernel::Kernel> split_columns(const Program& program, kernel::Language language);
[[nodiscard]] Result<kernel::Kernel> scans(const Program& program, kernel::Language language);
[[nodiscard]] Result<kernel::Kernel> scan_columns(const Program& program, kernel::Language language);
[[nodiscard]] Result<kernel::Kernel> split_scans(const Program& program, kernel::Language language);

// What they share.

/// Elements of a row that a thread holds: more, and registers run out.
constexpr int64_t kMostHeld = 32;
constexpr int64_t kMostThreads = 1024;

[[nodiscard]] inline std::string bracketed(const task::IntExpr& e) { return fmt::format("({})", e.to_cpp()); }
/// "B * " before another factor; nothing for 1.
[[nodiscard]] inline std::string factor(const task::IntExpr& e) { return is_one(e) ? "" : fmt::format("({}) * ", e.to_string()); }
[[nodiscard]] inline std::string in_plan(const task::IntExpr& e) { return e.is_constant() ? e.to_string() : fmt::format("({})", e.to_string()); }

[[nodiscard]] std::string arguments_with(const task::Task& task, const std::vector<std::string>& more);
/// "4, 2, 1": `best` first, then the others that are not it.
[[nodiscard]] std::string choices(int64_t best, const std::vector<int64_t>& others);
/// The least power of two that is not below `value`.
[[nodiscard]] int64_t power_of_two(int64_t value);

}  // namespace hone::pattern::gpu
