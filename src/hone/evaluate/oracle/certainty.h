// Whether a NaN or an infinity of the oracle's is sure: whether every program that rounds as it may has one there, and not a
// number. Where it is, a candidate must have it too. An infinity that was a pole met by chance of rounding, 1 / (a - b)
// with computed a and b, is not sure. Nor is what comes of an overflow on the way, exp(1000) beyond even the oracle's range,
// of which a better formula may make a number. Written into the scale of such a value: 0 where it is sure, as good as 0 after
// an overflow, so that numbers made of it are judged as ever, infinite elsewhere.
#pragma once
#include <span>

#include "hone/evaluate/oracle/step.h"

namespace hone::evaluate {

/// NaN, an infinity of either sign, or a number.
[[nodiscard]] bool same_class(double a, double b);

/// For element-wise operations of one operand or two (`y` null: of one): sure where the class stays when operands move by
/// their scales `sx` and `sy` (null: exact). Changes the scales of values that are not finite, and of zeros: those that are
/// exact have none, so that poles there are sure, but for what a sum or difference of other numbers leaves.
void settle_elementwise(const Step& step, int64_t count, const double* x, const double* sx, const double* y, const double* sy,
                        const double* value, double* scale);

/// Whether operand `k` of a step that decides (a rounding to whole numbers, a comparison) is a product, sum or difference of exact
/// numbers: one of them that its type holds is what every program has there, and halves are rounded as the step says.
[[nodiscard]] bool is_once_computed(const Step& step, size_t k);
[[nodiscard]] bool is_held(task::DType type, double value);

/// Whether operand `k` of a step that decides is whole in every program. It moves by one or not at all then: a scale below half of
/// that is what an operation counts for its own rounding, which leaves such a number as it is. (A number too large for its type to have
/// its neighbours counts half of one, and a rounding that may go either way a whole one.)
[[nodiscard]] bool is_whole_before(const Step& step, size_t k);
[[nodiscard]] bool stays_whole(double scale);

/// For reductions, scans, contractions and the like: sure where no operand holds anything that is unsure.
[[nodiscard]] Tensor settled(const Step& step, const Tensor& result, std::span<const Tensor> operands);

/// Nothing is known of what they come from.
[[nodiscard]] Tensor unsettled(const Step& step, const Tensor& result);

}  // namespace hone::evaluate
