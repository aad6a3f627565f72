// draw() of inputs.h where a card's memory is, by a program of hone's own (draw.cu), to the same bits: gigabytes take
// milliseconds, and nothing is uploaded. Thread-safe.
#pragma once
#include <string>

#include "hone/evaluate/verify/inputs.h"
#include "hone/target/card.h"
#include "hone/task/task.h"

namespace hone::evaluate {

/// The program as one text: draw.cu with draw_formulas.inc in it.
[[nodiscard]] std::string draw_source();
/// The card's own copy of it. kUnavailable where the card's toolchain does not build it.
[[nodiscard]] Result<target::CardProgram*> draw_program(target::Card& card);

/// Whether a card draws such tensors: not f64, not simplexes, none that may be known, and indices of integer types that hold them all.
[[nodiscard]] bool card_draws(const task::InputSpec& spec, const DrawBounds& bounds, Family family = Family::kNormal);

/// As draw(): the whole tensor, at `address` of the card whose program it is.
void draw_on_card(target::CardProgram& program, const task::InputSpec& spec, const task::Shape& shape, const DrawBounds& bounds, Family family,
                  uint64_t seed, uint64_t address);

}  // namespace hone::evaluate
