// Matrix products, attention and scans.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/evaluate/baseline/pytorch_emit.h"

namespace hone::evaluate {
namespace {

Term infix_product(const Term& a, const Term& b) {
  Term term;
  term.text = fmt::format("{} @ {}", bracket(a, Binding::kProduct), bracket(b, Binding::kUnary));
  term.binding = Binding::kProduct;
  return term;
}

/// A product of two matrices of bytes as the helper that has it, where its units take the shapes: multiples of 16, and more than 16 rows
/// of int8. https://docs.pytorch.org/docs/stable/: torch._scaled_mm and torch._int_mm check them.
std::optional<Term> byte_product(const Site& site) {
  if (site.rank(0) != 2 || site.rank(1) != 2) return std::nullopt;
  const auto a = site.kept(0), b = site.kept(1);
  if (!a || !b) return std::nullopt;
  for (const int64_t extent : {site.shape(0)[1], site.shape(1)[1]})
    if (extent % 16 != 0) return std::nullopt;
  const bool floats = task::is_f8(a->dtype) && task::is_f8(b->dtype) && !(a->dtype == b->dtype && a->dtype == task::DType::kF8E5M2) &&
                      site.node().type.dtype == task::DType::kF32;
  const bool whole = a->dtype == task::DType::kI8 && b->dtype == task::DType::kI8 && site.node().type.dtype == task::DType::kI32 && site.shape(0)[0] > 16;
  if (!floats && !whole) return std::nullopt;
  return call_term(fmt::format("{}{}, {})", floats ? kF8Product : kI8Product, a->text, b->text));
}

Result<Term> matmul(const Site& site, std::string_view) {
  if (auto bytes = byte_product(site)) return std::move(*bytes);
  return infix_product(site.in_result_type(0), site.in_result_type(1));
}

/// detail: the function, of two operands.
Result<Term> product(const Site& site, std::string_view detail) {
  return call_term(
      fmt::format("{}({}, {})", detail, site.in_result_type(0).text, site.in_result_type(1).text));
}

Result<Term> linear(const Site& site, std::string_view) {
  const auto bias = site.find("bias");
  return call_term(fmt::format("F.linear({}, {}{})", site.in_result_type(0).text, site.in_result_type(1).text,
                               bias ? ", " + site.in_result_type(*bias).text : ""));
}

/// x + a @ b in one call for matrices and batches of them.
Result<Term> addmm(const Site& site, std::string_view) {
  const Term x = site.in_result_type(0), a = site.in_result_type(1), b = site.in_result_type(2);
  const int rank = site.rank(1);
  const bool whole = rank == site.rank(2) && static_cast<int>(site.node().type.dims.size()) == rank;
  if (whole && (rank == 2 || rank == 3))
    return call_term(fmt::format("torch.{}({}, {}, {}{}{})", rank == 2 ? "addmm" : "baddbmm", x.text, a.text,
                                 b.text, site.keyword("beta", 1), site.keyword("alpha", 1)));
  Term term;
  term.text = fmt::format("{} * {} + {} * ({})", literal(site.number("beta")), bracket(x, Binding::kUnary),
                          literal(site.number("alpha")), infix_product(a, b).text);
  term.binding = Binding::kSum;
  return term;
}

/// ", dtype=…" for narrow integers, which PyTorch adds in int64.
std::string summed_type(const Site& site) {
  const task::DType type = site.node().type.dtype;
  if (!task::is_int(type) || type == task::DType::kI64) return "";
  return fmt::format(", dtype=torch.{}", task::numpy_name_of(type));
}

Result<Term> vecdot(const Site& site, std::string_view) {
  const auto rank = static_cast<int64_t>(site.node().type.dims.size()) + 1;
  const int64_t axis = site.integer("axis") - rank;
  const Term a = site.in_result_type(0), b = site.in_result_type(1);
  // It takes no operands that broadcast along the axis, and no integers.
  const auto extent = [&](size_t i) {
    const std::vector<int64_t> shape = site.shape(i);
    const auto from_end = static_cast<size_t>(-axis);
    return from_end > shape.size() ? 1 : shape[shape.size() - from_end];
  };
  if (task::is_float(site.node().type.dtype) && extent(0) == extent(1))
    return call_term(fmt::format("torch.linalg.vecdot({}, {}, dim={})", a.text, b.text, axis));
  return call_term(fmt::format("torch.sum({} * {}, dim={}{})", bracket(a, Binding::kProduct),
                               bracket(b, Binding::kUnary), axis, summed_type(site)));
}

Result<Term> einsum(const Site& site, std::string_view) {
  std::vector<std::string> operands;
  // Of narrow integers PyTorch makes int64 on the way, and may then refuse the next operand.
  const bool narrow = !summed_type(site).empty();
  for (size_t i = 0; i < site.size(); ++i)
    operands.push_back(narrow ? bracket(site.operand(i), Binding::kPrimary) + ".to(torch.int64)"
                              : site.in_result_type(i).text);
  Term term = call_term(fmt::format("torch.einsum('{}', {})", site.word("spec"), fmt::join(operands, ", ")));
  if (narrow)
    term.text += fmt::format(".to(torch.{})", task::numpy_name_of(site.node().type.dtype));
  return term;
}

/// The mask as PyTorch takes it: two dimensions at least, in the result's type if it is added.
Term mask_of(const Site& site, size_t mask) {
  const bool truth = site.type(mask).dtype == task::DType::kBool;
  Term term = truth ? site.operand(mask) : site.in_result_type(mask);
  if (site.rank(mask) >= 2) return term;
  const std::vector<int64_t> q = site.shape(0), k = site.shape(1);
  return call_term(fmt::format("{}.expand({}, {})", bracket(term, Binding::kPrimary), q[q.size() - 2],
                               k[k.size() - 2]));
}

/// PyTorch takes a mask or causality, not both: the two become one mask. Its scale is a number.
Result<Term> attention(const Site& site, std::string_view) {
  const std::vector<int64_t> q = site.shape(0), k = site.shape(1);
  const auto mask = site.find("mask"), scale = site.find("scale");
  std::string options;
  if (mask && site.flag("causal")) {
    const std::string visible = fmt::format("torch.ones({}, {}, dtype=torch.bool).tril()", q[q.size() - 2],
                                            k[k.size() - 2]);
    options += site.type(*mask).dtype == task::DType::kBool
                   ? fmt::format(", attn_mask={} & {}", bracket(mask_of(site, *mask), Binding::kAnd), visible)
                   : fmt::format(", attn_mask=torch.where({}, {}, float('-inf'))", visible,
                                 mask_of(site, *mask).text);
  } else if (mask) {
    options += ", attn_mask=" + mask_of(site, *mask).text;
  } else if (site.flag("causal")) {
    options += ", is_causal=True";
  }
  std::string query = site.in_result_type(0).text;
  if (scale && site.operand(*scale).number) {
    options += fmt::format(", scale={}", site.argument(*scale));
  } else if (scale) {
    query = fmt::format("{} * {}", bracket(site.in_result_type(0), Binding::kProduct),
                        bracket(site.in_result_type(*scale), Binding::kUnary));
    options += ", scale=1.0";
  }
  if (q.size() > 2 && q[q.size() - 3] != k[k.size() - 3]) options += ", enable_gqa=True";
  return call_term(fmt::format("F.scaled_dot_product_attention({}, {}, {}{})", query,
                               site.in_result_type(1).text, site.in_result_type(2).text, options));
}

/// detail: the function. PyTorch scans forward and includes the element itself: backward is flipped,
/// exclusive is shifted by one neutral element.
Result<Term> scan(const Site& site, std::string_view detail) {
  const int64_t axis = site.axis("axis");
  std::string x = detail == "torch.logcumsumexp" ? site.real(0) : site.tensor(0);
  const std::string flip = fmt::format("torch.flip({{}}, dims=({},))", axis);
  if (site.flag("reverse")) x = fmt::format(fmt::runtime(flip), x);
  Term shifted = call_term(x);
  if (!site.flag("reverse")) shifted.binding = site.operand(0).binding;
  if (site.flag("exclusive")) {
    const int64_t extent = site.shape(0).at(static_cast<size_t>(site.integer("axis")));
    x = fmt::format("{}.narrow({}, 0, {})", bracket(shifted, Binding::kPrimary), axis, extent - 1);
  }
  std::string text = fmt::format("{}({}, dim={})", detail, x, axis);
  if (detail == "torch.cummax" || detail == "torch.cummin") text += ".values";
  if (site.flag("exclusive")) {
    std::vector<int64_t> pad(2 * static_cast<size_t>(site.rank(0) - site.integer("axis")), 0);
    pad[pad.size() - 2] = 1;
    text = fmt::format("F.pad({}, {}{})", text, tuple(pad), detail == "torch.cumprod" ? ", value=1" : "");
  }
  if (site.flag("reverse")) text = fmt::format(fmt::runtime(flip), text);
  return call_term(std::move(text));
}

/// PyTorch has no operator for it; the scan that it has over pairs takes any step that may be bracketed anyhow. 16-bit types are
/// computed in fp32, as in the language.
Result<Term> linear_scan(const Site& site, std::string_view) {
  const task::DType type = site.node().type.dtype;
  const bool narrow = task::size_of(type) == 2;
  std::string operands[2];
  for (size_t i = 0; i < 2; ++i) {
    Term term = site.in_result_type(i);
    if (narrow) term = call_term(bracket(term, Binding::kPrimary) + ".float()");
    const std::vector<int64_t> shape = site.result_shape();
    operands[i] = site.shape(i) == shape ? term.text : fmt::format("{}.expand({})", bracket(term, Binding::kPrimary), extents(shape));
    // A number by itself has a type of its own, which a product with a tensor does not take over.
    if (site.shape(i).empty()) operands[i] = term.text;
  }
  for (const size_t i : {0, 1})
    if (site.shape(i).empty()) operands[i] = fmt::format("{} * torch.ones_like({})", operands[i], operands[1 - i]);
  const int64_t axis = site.integer("axis"), last = static_cast<int64_t>(site.node().type.dims.size()) - 1;
  return call_term(fmt::format("torch._higher_order_ops.associative_scan(lambda p, q: (p[0] * q[0], q[0] * p[1] + q[1]), ({}, {}), dim={}{}, "
                               "combine_mode=\"generic\")[1]{}",
                               operands[0], operands[1], axis == last ? -1 : axis, site.flag("reverse") ? ", reverse=True" : "",
                               narrow ? fmt::format(".to(torch.{})", task::numpy_name_of(type)) : ""));
}

constexpr WriterRow kProductWriters[] = {
    {"matmul", matmul},
    {"bmm", product, "torch.bmm"},
    {"linear", linear},
    {"addmm", addmm},
    {"outer", product, "torch.outer"},
    {"vecdot", vecdot},
    {"einsum", einsum},
    {"attention", attention},
    {"cumsum", scan, "torch.cumsum"},
    {"cumprod", scan, "torch.cumprod"},
    {"cummax", scan, "torch.cummax"},
    {"cummin", scan, "torch.cummin"},
    {"logcumsumexp", scan, "torch.logcumsumexp"},
    {"linear_scan", linear_scan},
};

}  // namespace

std::span<const WriterRow> product_writers() { return kProductWriters; }

}  // namespace hone::evaluate
