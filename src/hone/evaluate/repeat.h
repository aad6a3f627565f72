// What a second call on the same inputs shows that one call does not: results that differ though the task is
// `deterministic`, and elements that nobody writes, in integers of which every one may be right. One thread.
#pragma once
#include <chrono>
#include <span>

#include "hone/evaluate/stage.h"

namespace hone::evaluate {

/// Whether a second call would tell anything.
[[nodiscard]] bool is_repeated(const Stage& stage);

/// Calls again, `times` times, what has just been called and accepted in these slots. Where is_repeated() says so; else nothing is done.
[[nodiscard]] Verdict check_repeated(Stage& stage, target::Session& session, std::span<const int> slots, int times,
                                     std::chrono::nanoseconds deadline);

/// Whether a call that was wrong with its blocks in another order is right in the usual one.
[[nodiscard]] bool is_right_in_usual_order(Stage& stage, target::Session& session, int slot, std::chrono::nanoseconds deadline);

/// Calls on equal inputs in all slots of a stage, each of which has addresses of its own, where the task is `deterministic`: sums must not go by
/// where tensors lie. Draws all contents anew.
[[nodiscard]] Verdict check_moved(Stage& stage, target::Session& session, std::chrono::nanoseconds deadline);

/// Refuses a promotion whose calls on equal inputs differed to the bit, where the task is `deterministic`.
void require_repeatable(const task::Task& task, Promotion& promotion);

}  // namespace hone::evaluate
