// compute-sanitizer at a card's promotion: the candidate's own binary on small and odd shapes, watched by memcheck,
// racecheck and synccheck. Finds what outputs and guards cannot show, on the hardware's own instructions.
#pragma once
#include <span>
#include <string>

#include "hone/evaluate/sanitize.h"

namespace hone::evaluate {

/// One call on drawn inputs at each of `shapes`, all of them in one process a tool. For a loader with a card. What a tool
/// does not finish in time, and a machine without compute-sanitizer, is `unavailable`; so is what racecheck names in a
/// kernel that has barriers with phases, while the other tools' shapes count.
[[nodiscard]] Result<Sanitized> sanitize_on_card(const kernel::Kernel& kernel, std::span<const task::Bindings> shapes, Loader& loader, Spent& spent);

/// What a report of compute-sanitizer found first.
struct CardFinding {
  std::string text;      ///< "Invalid __global__ write of size 4 bytes at k in kernel.cu:4, thread (255,0,0), block (0,0,0)"; empty: nothing
  bool outside = false;  ///< an access to memory that is not the kernel's
};
/// Warnings and errors of the driver's functions count as nothing. Pure.
[[nodiscard]] CardFinding first_card_finding(std::string_view report);

}  // namespace hone::evaluate
