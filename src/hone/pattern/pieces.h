// What a concatenation feeds, taken apart: one element-wise computation a piece, each the whole computation on a
// segment of one axis of the result. So [a, b] * c becomes a * c[:n] and b * c[n:], and no concatenation is left. Pure.
#pragma once
#include <vector>

#include "hone/pattern/nest.h"
#include "hone/task/task.h"

namespace hone::pattern {

struct Piece {
  task::Task task;          ///< the inputs it needs; its output is the segment, dense
  Placement placed;         ///< where that lies in the whole task's output
};

/// In order along the axis. kUnavailable: not one output, or no concatenation whose axis is one of the output's.
[[nodiscard]] Result<std::vector<Piece>> pieces_of(const task::Task& task);

/// Pieces of equal shapes, made by the same loops: what several of them read or compute is there once.
struct JoinedPieces {
  task::Task task;                ///< the inputs that they need; an output for each, all of the whole task's output's name
  std::vector<Placement> placed;  ///< of each output
};
[[nodiscard]] Result<std::vector<JoinedPieces>> joined_pieces(const task::Task& task);

}  // namespace hone::pattern
