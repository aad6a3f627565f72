// The captured graph in the form that cutting and tasks want: no copies that only change strides, no tuples of views, heads
// shared where the program repeats them, dropout that drops nothing gone, dead nodes gone, loops over time written out
// (recurrent.h). But for those values stay what they were, bit for bit; only strides and memory shared between tensors differ. Pure.
#pragma once
#include "hone/program/program.h"

namespace hone::program {

/// kInput where forward() draws random numbers: the message names the operator.
[[nodiscard]] Result<Program> normalise(Program program);

/// Whether a node only looks at its first operand's elements in another order or shape: it moves no bytes where its user
/// can read them so.
[[nodiscard]] bool is_view(const Node& node);
/// Makes a tensor of numbers alone: zeros, arange, ...
[[nodiscard]] bool is_creation(const Node& node);

}  // namespace hone::program
