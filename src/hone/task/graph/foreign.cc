#include "hone/task/graph/foreign.h"

#include <fmt/format.h>

#include <cctype>

namespace hone::task {
namespace {

struct ForeignRow {
  std::string_view name, hint;
};

constexpr std::string_view kDrawn = "a computation is deterministic: what is random is an input";
constexpr std::string_view kCopies =
    "leave it out: tensors are never changed in place, and layout is not part of a task";
constexpr std::string_view kNoShape = "the shape of its result would depend on values";

constexpr ForeignRow kOps[] = {
    {"to", "f16(x), i32(x), … convert"},
    {"type", "f16(x), i32(x), … convert"},
    {"astype", "f16(x), i32(x), … convert"},
    {"float", "f32(x) converts"},
    {"double", "f64(x) converts"},
    {"half", "f16(x) converts"},
    {"bfloat16", "bf16(x) converts"},
    {"int", "i32(x) converts"},
    {"long", "i64(x) converts"},
    {"dot", "x @ y, or vecdot(x, y) along an axis"},
    {"inner", "x @ y, or vecdot(x, y) along an axis"},
    {"tensordot", "einsum says which dimensions meet"},
    {"average", "mean(x)"},
    {"median", "sort(x) and select the middle"},
    {"bce", "bce_loss(x, targets)"},
    {"swiglu", "silu(a) * b"},
    {"geglu", "gelu(a) * b"},
    {"square", "x * x"},
    {"masked_fill", "where(mask, value, x)"},
    {"len", "x.shape[0]"},
    {"size", "x.shape"},
    {"range", "arange(n)"},
    {"linspace", "arange(n) * step + start"},
    {"dropout", kDrawn},
    {"rand", kDrawn},
    {"randn", kDrawn},
    {"randint", kDrawn},
    {"bernoulli", kDrawn},
    {"contiguous", kCopies},
    {"clone", kCopies},
    {"copy", kCopies},
    {"detach", kCopies},
    {"nonzero", kNoShape},
    {"unique", kNoShape},
    {"masked_select", kNoShape},
    {"scatter", "scatter_add adds; of indices that meet nobody says which one would stay"},
    {"scatter_reduce", "scatter_add adds"},
    {"bincount", "scatter_add(zeros([N]), 0, ids, ones_like(ids, dtype=f32))"},
    {"print", "a computation prints nothing; give what you want to see as an output"},
};

constexpr ForeignRow kDTypes[] = {
    {"float", "f32"},     {"float32", "f32"}, {"fp32", "f32"},  {"single", "f32"},  {"double", "f64"},
    {"float64", "f64"},   {"fp64", "f64"},    {"half", "f16"},  {"float16", "f16"}, {"fp16", "f16"},
    {"float8_e4m3fn", "f8e4m3"}, {"float8_e5m2", "f8e5m2"}, {"e4m3", "f8e4m3"}, {"e5m2", "f8e5m2"}, {"f8", "f8e4m3"}, {"fp8", "f8e4m3"}, {"float8", "f8e4m3"},
    {"bfloat16", "bf16"}, {"bfloat", "bf16"}, {"int", "i32"},   {"int32", "i32"},   {"long", "i64"},
    {"int64", "i64"},     {"short", "i16"},   {"int16", "i16"}, {"char", "i8"},     {"int8", "i8"},
    {"boolean", "bool"},  {"bool_", "bool"},  {"i1", "bool"},
};

}  // namespace

std::string_view foreign_op_hint(std::string_view name) {
  for (const ForeignRow& row : kOps)
    if (row.name == name) return row.hint;
  return "";
}

std::string foreign_dtype_hint(std::string_view name) {
  std::string lower(name);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const std::string_view own : {"f64", "f32", "bf16", "f16", "f8e4m3", "f8e5m2", "i64", "i32", "i16", "i8", "bool"})
    if (lower == own) return fmt::format("did you mean '{}'?", own);
  for (const ForeignRow& row : kDTypes)
    if (row.name == lower) return fmt::format("did you mean '{}'?", row.hint);
  const bool other = lower.size() > 1 &&
                     (lower[0] == 'u' || lower.substr(0, 2) == "f8" || lower.substr(0, 3) == "fp8" ||
                      lower.substr(0, 6) == "float8" || lower.substr(0, 7) == "complex");
  const bool digits = lower.find_first_of("0123456789") != std::string::npos;
  return other && digits ? "element types: f64, f32, bf16, f16, f8e4m3, f8e5m2, i64, i32, i16, i8, bool" : "";
}

}  // namespace hone::task
