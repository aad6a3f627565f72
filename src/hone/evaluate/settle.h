// What a kernel loses where one draw leaves it open (verify/near_bound.h): further draws, run and judged on a stage.
#pragma once
#include <chrono>
#include <vector>

#include "hone/evaluate/stage.h"
#include "hone/target/device/session.h"

namespace hone::evaluate {

/// A content of a stage and what its check said.
struct NearVerdict {
  int content = 0;
  Verdict verdict;
};

/// Settles each content's verdict that is near its bound. Draws contents of the stage anew: nothing of it may wait to
/// be checked, and at the end each of them holds inputs of the family that it held. The first refusal, or the verdict nearest to its
/// bound, marked where it stayed open.
[[nodiscard]] Verdict settle(Stage& stage, target::Session& session, const std::vector<NearVerdict>& near, std::chrono::nanoseconds deadline);

}  // namespace hone::evaluate
