// Rules of types and shapes that many ops share. Pure; a broken rule is an Error without a position:
// whoever knows the position adds it.
#pragma once
#include <span>
#include <string>

#include "hone/task/graph/op_table.h"

namespace hone::task {

[[nodiscard]] tl::unexpected<Error> wrong(std::string message, std::string hint = {});

/// The type two or more operands meet in: bool < integers < floats, within a kind the wider, bf16
/// with f16 and the two floats of one byte give f32. Weak operands count only where they are of a higher kind than all others
/// (then f32 or i64); all weak: f64 or i64.
[[nodiscard]] DType common_dtype(std::span<const Operand> operands);
/// Operations that hand elements on as they are; all others widen floats of one byte to f32 before they compute.
[[nodiscard]] bool keeps_elements(const Op& op);
/// As it is for floats; f32 for integers and bool.
[[nodiscard]] DType float_dtype(const Operand& operand);

/// NumPy's rule; dimensions that may or may not be equal are taken as equal (workloads decide).
[[nodiscard]] Result<Dims> broadcast_dims(const Dims& a, const Dims& b);
/// False where the two are certainly different.
[[nodiscard]] bool may_equal(const IntExpr& a, const IntExpr& b);
[[nodiscard]] std::string dims_text(const Dims& dims);  ///< "[B, D]"
[[nodiscard]] IntExpr product(std::span<const IntExpr> dims);

/// `axes` reduced away, or to 1 with keepdims.
[[nodiscard]] Dims reduced_dims(const Dims& dims, std::span<const int64_t> axes, bool keepdims);

/// A negative axis counts from the end; fails outside the rank.
[[nodiscard]] Result<int64_t> normal_axis(int64_t axis, int rank);

// Inference for whole classes of rows.
[[nodiscard]] Result<TensorType> infer_float_unary(Call& call);   ///< exp: integers give f32
[[nodiscard]] Result<TensorType> infer_same_unary(Call& call);    ///< abs: the type stays
[[nodiscard]] Result<TensorType> infer_binary(Call& call);        ///< add
[[nodiscard]] Result<TensorType> infer_float_binary(Call& call);  ///< div: integers give f32
[[nodiscard]] Result<TensorType> infer_compare(Call& call);
[[nodiscard]] Result<TensorType> infer_logical(Call& call);  ///< bool operands only

}  // namespace hone::task
