// Operations that rearrange elements or make new ones. Most of the former are views: they say whether
// the result may share memory with an argument and whether it may be strided.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "hone/evaluate/baseline/pytorch_emit.h"

namespace hone::evaluate {
namespace {

std::string dtype_keyword(const Site& site) {
  return fmt::format(", dtype=torch.{}", task::numpy_name_of(site.node().type.dtype));
}

/// A view of operand 0 by a method call.
Term view(const Site& site, std::string_view call) {
  const std::string x = site.operand(0).number ? site.tensor(0) : bracket(site.operand(0), Binding::kPrimary);
  Term term = call_term(fmt::format("{}.{}", x, call));
  term.alias = site.operand(0).alias;
  return term;
}

/// Of a strided tensor reshape makes a copy, as a rule; the exceptions are strided and not dense, or
/// are caught when the opponent is tried out.
Term reshaping(const Site& site, std::string_view call) {
  Term term = view(site, call);
  term.alias = site.operand(0).alias && !site.operand(0).strided;
  return term;
}

Result<Term> reshape(const Site& site, std::string_view) {
  return reshaping(site, fmt::format("reshape({})", extents(site.result_shape())));
}

Result<Term> flatten(const Site& site, std::string_view) {
  if (site.rank(0) == 0) return reshape(site, {});
  const int64_t start = site.integer("start"), end = site.integer("end");
  if (end != site.rank(0) - 1) return reshaping(site, fmt::format("flatten({}, {})", start, end));
  return reshaping(site, start == 0 ? "flatten()" : fmt::format("flatten({})", start));
}

Result<Term> squeeze(const Site& site, std::string_view) {
  return view(site, fmt::format("squeeze({})", one_or_tuple(site.integers("axis"))));
}

Result<Term> unsqueeze(const Site& site, std::string_view) {
  const int64_t axis = site.integer("axis");
  return view(site, fmt::format("unsqueeze({})", axis == site.rank(0) ? -1 : axis));
}

Result<Term> permute(const Site& site, std::string_view) {
  const std::vector<int64_t> perm = site.integers("perm");
  std::vector<int64_t> moved;
  for (size_t i = 0; i < perm.size(); ++i)
    if (perm[i] != static_cast<int64_t>(i)) moved.push_back(static_cast<int64_t>(i));
  Term term;
  if (perm.size() == 2 && moved.size() == 2) {
    term = view(site, "T");
  } else if (moved.size() == 2) {
    term = view(site, fmt::format("transpose({}, {})", moved[0], moved[1]));
  } else {
    term = view(site, fmt::format("permute({})", fmt::join(perm, ", ")));
  }
  term.strided = true;
  return term;
}

Result<Term> broadcast_to(const Site& site, std::string_view) {
  Term term = view(site, fmt::format("expand({})", extents(site.result_shape())));
  term.strided = true;
  return term;
}

Result<Term> tile(const Site& site, std::string_view) {
  return call_term(fmt::format("torch.tile({}, {})", site.tensor(0), tuple(site.integers("reps"))));
}

Result<Term> repeat_interleave(const Site& site, std::string_view) {
  return call_term(fmt::format("torch.repeat_interleave({}, {}, dim={})", site.tensor(0),
                               site.integer("repeats"), site.axis("axis")));
}

/// detail: the function, of several tensors.
Result<Term> join(const Site& site, std::string_view detail) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < site.size(); ++i) parts.push_back(site.in_result_type(i).text);
  const auto rank = static_cast<int64_t>(site.node().type.dims.size());
  const int64_t axis = site.integer("axis");
  return call_term(fmt::format("{}(({}{}), dim={})", detail, fmt::join(parts, ", "),
                               parts.size() == 1 ? "," : "", axis == rank - 1 ? -1 : axis));
}

/// PyTorch counts from the last dimension; leading dimensions without padding are left out.
Result<Term> pad(const Site& site, std::string_view) {
  const std::vector<int64_t> low = site.integers("low"), high = site.integers("high");
  std::vector<int64_t> pairs;
  for (size_t i = low.size(); i-- > 0;) {
    pairs.push_back(low[i]);
    pairs.push_back(high[i]);
  }
  while (pairs.size() > 2 && pairs[pairs.size() - 1] == 0 && pairs[pairs.size() - 2] == 0)
    pairs.resize(pairs.size() - 2);
  return call_term(fmt::format("F.pad({}, {}{})", site.tensor(0), tuple(pairs), site.keyword("value", 0)));
}

Result<Term> flip(const Site& site, std::string_view) {
  return call_term(fmt::format("torch.flip({}, dims={})", site.tensor(0), tuple(site.integers("axis"))));
}

Result<Term> roll(const Site& site, std::string_view) {
  return call_term(fmt::format("torch.roll({}, shifts={}, dims={})", site.tensor(0),
                               tuple(site.integers("shifts")), tuple(site.integers("axis"))));
}

/// detail: the value, where there is no attribute for it.
Result<Term> full(const Site& site, std::string_view detail) {
  const task::DType type = site.node().type.dtype;
  std::string value(detail);
  if (site.has("value")) {
    value = literal(site.number("value"));
    if (type == task::DType::kBool) value = site.number("value") != 0 ? "True" : "False";
    if (task::is_int(type)) value = std::to_string(static_cast<int64_t>(site.number("value")));
  }
  const std::vector<int64_t> shape = site.result_shape();
  if (value == "0" || value == "1")
    return call_term(
        fmt::format("torch.{}({}{})", value == "0" ? "zeros" : "ones", tuple(shape), dtype_keyword(site)));
  return call_term(fmt::format("torch.full({}, {}{})", tuple(shape), value, dtype_keyword(site)));
}

Result<Term> arange(const Site& site, std::string_view) {
  const int64_t start = site.integer("start"), step = site.integer("step");
  std::string range = std::to_string(site.integer("stop"));
  if (start != 0 || step != 1) range = fmt::format("{}, {}", start, range);
  if (step != 1) range += fmt::format(", {}", step);
  return call_term(fmt::format("torch.arange({}{})", range, dtype_keyword(site)));
}

Result<Term> iota(const Site& site, std::string_view) {
  const std::vector<int64_t> shape = site.result_shape();
  const auto axis = static_cast<size_t>(site.integer("axis"));
  Term term = call_term(fmt::format("torch.arange({})", shape[axis]));
  if (axis + 1 != shape.size())
    term.text += fmt::format(".reshape({}{})", shape[axis],
                             fmt::join(std::vector<std::string>(shape.size() - 1 - axis, ", 1"), ""));
  if (shape.size() > 1) {
    term.text += fmt::format(".expand({})", fmt::join(shape, ", "));
    term.strided = true;
  }
  return term;
}

Result<Term> eye(const Site& site, std::string_view) {
  const std::vector<int64_t> shape = site.result_shape();
  return call_term(fmt::format("torch.eye({}, {}{})", shape[0], shape[1], dtype_keyword(site)));
}

Result<Term> unfold(const Site& site, std::string_view) {
  return call_term(fmt::format("F.unfold({}, {}{}{}{})", site.tensor(0), one_or_tuple(site.integers("kernel")), site.keyword_ints("dilation", 1),
                               site.keyword_ints("padding", 0), site.keyword_ints("stride", 1)));
}

Result<Term> windows(const Site& site, std::string_view) {
  Term term = call_term(fmt::format("{}.unfold({}, {}, {})", bracket(site.operand(0), Binding::kPrimary), site.axis("axis"), site.integer("size"), site.integer("step")));
  term.strided = term.alias = true;
  return term;
}

constexpr WriterRow kShapeWriters[] = {
    {"reshape", reshape},
    {"flatten", flatten},
    {"squeeze", squeeze},
    {"unsqueeze", unsqueeze},
    {"transpose", permute},
    {"permute", permute},
    {"movedim", permute},
    {"broadcast_to", broadcast_to},
    {"tile", tile},
    {"repeat_interleave", repeat_interleave},
    {"concat", join, "torch.cat"},
    {"stack", join, "torch.stack"},
    {"pad", pad},
    {"unfold", unfold},
    {"windows", windows},
    {"flip", flip},
    {"roll", roll},
    {"zeros", full, "0"},
    {"ones", full, "1"},
    {"full", full},
    {"zeros_like", full, "0"},
    {"ones_like", full, "1"},
    {"full_like", full},
    {"arange", arange},
    {"iota", iota},
    {"eye", eye},
};

}  // namespace

std::span<const WriterRow> shape_writers() { return kShapeWriters; }

}  // namespace hone::evaluate
