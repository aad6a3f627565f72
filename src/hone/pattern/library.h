// The pattern library: kernels that hone can write by itself. Each pattern says whether it covers a
// task and gives readable kernels with tunables, most promising first. Pure.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "hone/base/result.h"
#include "hone/kernel/kernel.h"
#include "hone/task/task.h"

namespace hone::pattern {

struct Offer {
  kernel::Kernel kernel;      ///< default configuration
  std::string pattern;        ///< "rows", "map", "columns", …
  std::string action;         ///< what sets it apart: "one pass over memory", "keep exp in scratch"
  double plain_share = 0;     ///< of the task's least time (least_time.h): what plain loops do of it, 0 to 1
};

/// All offers for C++ on a CPU. Empty when no pattern covers the task: then `why_not` holds a line for
/// each pattern.
[[nodiscard]] std::vector<Offer> offers_cpp(const task::Task& task, std::vector<std::string>& why_not);

/// The task without fusion: the same patterns, a part for each operation of the computation as it is written (softmax
/// is one, x * y another), in between through memory. What fusion is measured against. kUnavailable for a task of
/// one operation.
[[nodiscard]] Result<Offer> unfused_cpp(const task::Task& task);

/// The same for a GPU: `language` is kCuda or kHip, one text for both but for its header. plain_gpu (plain_gpu.h) is
/// not among them: it is what is left where there are none.
[[nodiscard]] std::vector<Offer> offers_gpu(const task::Task& task, kernel::Language language, std::vector<std::string>& why_not);

/// The same in Triton, one text for all cards; plain_triton (plain.h) is not among them.
[[nodiscard]] std::vector<Offer> offers_triton(const task::Task& task, std::vector<std::string>& why_not);

/// Offers whose requirements hold at all of the task's workloads come before the others.
void put_fitting_first(std::vector<Offer>& offers, const task::Task& task);
/// The library's offers in that language, fitting ones first; none for one that it does not write.
[[nodiscard]] std::vector<Offer> offers(const task::Task& task, kernel::Language language, std::vector<std::string>& why_not);
/// Plain loops, which take every task; nothing for a language that the library does not write.
[[nodiscard]] std::optional<Offer> plain_offer(const task::Task& task, kernel::Language language);

/// Offer::plain_share of a kernel that the library wrote for the task; 0 for any other.
[[nodiscard]] double plain_share(const kernel::Kernel& kernel, const task::Task& task);

/// Plain loops as a programmer would write them first, compiled -O3: the trusted opponent and the
/// kernel that a search starts from. One function where the task is one loop nest, else plain_cpp (plain.h),
/// which writes every task.
[[nodiscard]] kernel::Kernel naive_cpp(const task::Task& task);

}  // namespace hone::pattern
