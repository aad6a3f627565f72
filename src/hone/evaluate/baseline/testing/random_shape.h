// Rearranging and making tensors.
#pragma once
#include "hone/evaluate/baseline/testing/random_case.h"

namespace hone::evaluate::testing {
namespace shape {

inline int64_t product(const Shape& shape) { return task::element_count(shape); }

/// The result of the row's text or of `torch`; x of any type.
inline Shape any(Draft& d, int least = 0, int most = 4) {
  Shape s = d.shape(least, most);
  d.tensor("x", d.any(), s);
  return s;
}

inline void reshape(Draft& d) {
  const Shape from = any(d);
  // The factors of the extents, dealt out anew.
  Shape to(static_cast<size_t>(d.between(from.empty() ? 0 : 1, 4)), 1);
  for (int64_t e : from)
    for (int64_t f = 2; e > 1; ++f)
      while (e % f == 0) {
        if (to.empty()) to.push_back(1);
        to[static_cast<size_t>(d.between(0, static_cast<int64_t>(to.size()) - 1))] *= f;
        e /= f;
      }
  if (!to.empty() && d.chance(0.4))
    to[static_cast<size_t>(d.between(0, static_cast<int64_t>(to.size()) - 1))] = -1;
  d.compare(fmt::format("{}(x, {})", d.name(), list(to)), fmt::format("x.reshape({})", tuple_text(to)));
}

inline void flatten(Draft& d) {
  const Shape s = any(d);
  std::string args;
  if (!s.empty() && d.chance(0.7)) {
    int64_t a = d.between(0, static_cast<int64_t>(s.size()) - 1),
            b = d.between(0, static_cast<int64_t>(s.size()) - 1);
    if (a > b) std::swap(a, b);
    args = fmt::format(", {}", d.chance() ? a : a - static_cast<int64_t>(s.size()));
    if (d.chance(0.7)) args += fmt::format(", {}", d.chance() ? b : b - static_cast<int64_t>(s.size()));
  }
  d.compare(fmt::format("flatten(x{})", args), fmt::format("torch.flatten(x{})", args));
}

inline void squeeze(Draft& d) {
  Shape s = d.shape(1, 4);
  std::vector<int64_t> axes;
  for (size_t i = 0; i < s.size(); ++i)
    if (d.chance(0.4)) {
      s[i] = 1;
      if (d.chance(0.8)) axes.push_back(static_cast<int64_t>(i));
    }
  d.tensor("x", d.any(), s);
  if (axes.empty() || d.chance(0.3)) return d.compare("squeeze(x)", "x.squeeze()");
  d.compare(fmt::format("squeeze(x, {})", tuple_text(axes)), fmt::format("x.squeeze({})", tuple_text(axes)));
}

inline void unsqueeze(Draft& d) {
  const Shape s = any(d);
  const int64_t axis = d.axis(s.size() + 1);
  d.compare(fmt::format("{}(x, {})", d.name(), axis), fmt::format("x.unsqueeze({})", axis));
}

inline void transpose(Draft& d) {
  const Shape s = any(d, 1, 4);
  switch (d.between(0, 3)) {
    case 0:
      return d.compare("transpose(x)", "x.permute(*range(x.dim() - 1, -1, -1))");
    case 1:
      return d.compare("x.T", "x.permute(*range(x.dim() - 1, -1, -1))");
    case 2: {
      const auto perm = d.permutation(s.size());
      return d.compare(fmt::format("transpose(x, {})", list(perm)),
                       fmt::format("x.permute({})", tuple_text(perm)));
    }
    default: {
      const int64_t a = d.axis(s.size()), b = d.axis(s.size());
      return d.compare(fmt::format("{}(x, {}, {})", d.name(), a, b),
                       fmt::format("x.transpose({}, {})", a, b));
    }
  }
}

inline void permute(Draft& d) {
  const Shape s = any(d, 1, 4);
  auto perm = d.permutation(s.size());
  for (int64_t& a : perm)
    if (d.chance(0.3)) a -= static_cast<int64_t>(s.size());
  d.compare(fmt::format("permute(x, {})", list(perm)), fmt::format("x.permute({})", tuple_text(perm)));
}

inline void movedim(Draft& d) {
  const Shape s = any(d, 1, 4);
  const int64_t a = d.axis(s.size()), b = d.axis(s.size());
  d.compare(fmt::format("{}(x, {}, {})", d.name(), a, b), fmt::format("x.movedim({}, {})", a, b));
}

inline void broadcast_to(Draft& d) {
  Shape to = d.shape();
  d.tensor("x", d.any(), d.part_of(to, 0.1));
  const Shape& from = d.input(0).shape;
  const std::string torch = fmt::format("x.expand({})", tuple_text(to));
  for (size_t i = 0; i < from.size(); ++i)
    if (d.chance(0.2) && from[from.size() - 1 - i] == to[to.size() - 1 - i]) to[to.size() - 1 - i] = -1;
  d.compare(fmt::format("{}(x, {})", d.name(), list(to)), torch);
}

inline void tile(Draft& d) {
  const Shape s = any(d, 0, 3);
  std::vector<int64_t> reps(static_cast<size_t>(d.between(1, 4)));
  for (int64_t& r : reps) r = d.between(1, 3);
  d.compare(fmt::format("{}(x, {})", d.name(), list(reps)),
            fmt::format("torch.tile(x, {})", tuple_text(reps)));
}

inline void repeat_interleave(Draft& d) {
  const Shape s = any(d, 1, 4);
  const int64_t repeats = d.between(1, 4), axis = d.axis(s.size());
  d.compare(fmt::format("repeat_interleave(x, {}, {})", repeats, axis),
            fmt::format("torch.repeat_interleave(x, {}, {})", repeats, axis));
}

/// Parts of one shape but along the axis.
inline void concat(Draft& d) {
  const Shape s = d.shape(1, 4);
  const DType type = d.any();
  const int64_t axis = d.axis(s.size());
  const auto k = static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(s.size()) : axis);
  std::vector<std::string> names;
  for (int64_t i = d.between(1, 4); i > 0; --i) {
    Shape part = s;
    part[k] = d.extent();
    names.push_back(std::string(1, static_cast<char>('a' + i)));
    d.tensor(names.back(), type, part);
  }
  const bool given = axis != 0 || d.chance();
  d.compare(fmt::format("{}([{}]{})", d.name(), fmt::join(names, ", "),
                        given ? fmt::format(", axis={}", axis) : ""),
            fmt::format("torch.cat([{}], {})", fmt::join(names, ", "), axis));
}

inline void stack(Draft& d) {
  const Shape s = d.shape(0, 3);
  const DType type = d.any();
  const int64_t axis = d.axis(s.size() + 1);
  std::vector<std::string> names;
  for (int64_t i = d.between(1, 4); i > 0; --i) {
    names.push_back(std::string(1, static_cast<char>('a' + i)));
    d.tensor(names.back(), type, s);
  }
  d.compare(fmt::format("stack([{}], axis={})", fmt::join(names, ", "), axis),
            fmt::format("torch.stack([{}], {})", fmt::join(names, ", "), axis));
}

inline void pad(Draft& d) {
  const Shape s = d.shape(1, 4);
  const DType type = d.numeric();
  d.tensor("x", type, s);
  std::vector<int64_t> low(s.size()), high(s.size()), pairs;
  for (size_t i = 0; i < s.size(); ++i) {
    low[i] = d.between(0, 2);
    high[i] = d.between(0, 2);
    pairs.insert(pairs.begin(), {low[i], high[i]});
  }
  std::string value = "0", hone = fmt::format("pad(x, low={}, high={}", list(low), list(high));
  if (d.chance()) hone += ", value=" + (value = std::to_string(d.between(-3, 3)));
  d.compare(hone + ")", fmt::format("F.pad(x, {}, value={})", tuple_text(pairs), value));
}

inline void flip(Draft& d) {
  const Shape s = any(d, 1, 4);
  const auto axes = d.axes(s.size());
  const bool one = axes.size() == 1 && d.chance();
  d.compare(fmt::format("flip(x, {})", one ? std::to_string(axes[0]) : tuple_text(axes)),
            fmt::format("torch.flip(x, {})", tuple_text(axes)));
}

inline void unfold(Draft& d) {
  const int64_t kernel = d.between(1, 3), dilation = d.between(1, 2), padding = d.between(0, 1), stride = d.between(1, 3);
  const int64_t least = std::max<int64_t>(1, dilation * (kernel - 1) + 1 - 2 * padding);
  d.tensor("x", d.real(), {d.extent(3), d.extent(3), least + d.between(0, 4), least + d.between(0, 4)});
  const std::string options = fmt::format("{}, dilation={}, padding={}, stride={}", kernel, dilation, padding, stride);
  d.compare(fmt::format("unfold(x, {})", options), fmt::format("F.unfold(x, {})", options));
}

inline void windows(Draft& d) {
  const Shape s = any(d, 1, 4);
  const int64_t axis = d.axis(s.size()), size = d.between(1, s[static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(s.size()) : axis)]), step = d.between(1, 3);
  d.compare(fmt::format("windows(x, {}, {}, {})", axis, size, step), fmt::format("x.unfold({}, {}, {})", axis, size, step));
}

inline void roll(Draft& d) {
  const Shape s = any(d, 1, 4);
  const auto axes = d.axes(s.size());
  std::vector<int64_t> shifts(axes.size());
  for (int64_t& shift : shifts) shift = d.between(-7, 7);
  d.compare(fmt::format("roll(x, {}, {})", tuple_text(shifts), tuple_text(axes)),
            fmt::format("torch.roll(x, {}, {})", tuple_text(shifts), tuple_text(axes)));
}

// Creation.

inline std::string type_option(Draft& d, std::string& torch_type, const char* fallback) {
  torch_type = fallback;
  if (!d.chance(0.7)) return "";
  torch_type = task::name_of(d.any());
  return ", dtype=" + torch_type;
}

inline void filled(Draft& d) {
  const Shape s = d.shape();
  std::string type, value = d.op() == "ones" ? "1" : "0";
  std::string hone = fmt::format("{}({}", d.op(), list(s));
  if (d.op() == "full") hone += ", " + (value = std::to_string(d.between(-3, 3)));
  hone += type_option(d, type, "f32");
  d.keep_types();
  d.compare_made(hone + ")", fmt::format("torch.full({}, {}, dtype=f64).to({})", tuple_text(s), value, type));
}

inline void like(Draft& d) {
  any(d);
  std::string type, value = d.op() == "ones_like" ? "1" : "0";
  std::string hone = d.op() + "(x";
  if (d.op() == "full_like") hone += ", " + (value = std::to_string(d.between(-3, 3)));
  hone += type_option(d, type, "x.dtype");
  d.keep_types();
  d.compare(hone + ")", fmt::format("torch.full(x.shape, {}, dtype=f64).to({})", value, type));
}

inline void arange(Draft& d) {
  const int64_t start = d.between(-5, 10), count = d.between(1, 40), step = d.between(1, 4);
  const std::string type = d.pick({"i64", "i32", "f32", "f64"});
  std::string hone, torch;
  if (d.chance(0.3)) {
    hone = fmt::format("arange({}", count);
    torch = fmt::format("[i for i in range({})]", count);
  } else {
    const int64_t stop = start + (count - 1) * step + d.between(1, step);
    hone = fmt::format("arange({}, {}", start, stop);
    const bool stepped = step != 1 || d.chance();
    if (stepped) hone += fmt::format(", {}", step);
    torch = fmt::format("[i for i in range({}, {}, {})]", start, stop, step);
  }
  if (type != "i64" || d.chance()) hone += ", dtype=" + type;
  d.keep_types();
  d.compare_made(hone + ")", fmt::format("torch.tensor({}, dtype={})", torch, type));
}

inline void iota(Draft& d) {
  const Shape s = d.shape(1, 4);
  const int64_t axis = d.axis(s.size());
  d.compare_made(fmt::format("iota({}, {})", list(s), axis),
                 fmt::format("iota({}, {})", tuple_text(s), axis));
}

inline void eye(Draft& d) {
  const int64_t n = d.extent(12), m = d.chance() ? n : d.extent(12);
  std::string type;
  std::string hone = fmt::format("eye({}", n);
  if (m != n || d.chance()) hone += fmt::format(", {}", m);
  hone += type_option(d, type, "f32");
  d.keep_types();
  d.compare_made(
      hone + ")",
      fmt::format("torch.tensor([[1 if i == j else 0 for j in range({})] for i in range({})]).to({})", m, n,
                  type));
}

inline constexpr Generator kRows[] = {
    {"reshape", reshape},
    {"flatten", flatten},
    {"squeeze", squeeze},
    {"unsqueeze", unsqueeze},
    {"transpose", transpose},
    {"permute", permute},
    {"movedim", movedim},
    {"broadcast_to", broadcast_to},
    {"tile", tile},
    {"repeat_interleave", repeat_interleave},
    {"concat", concat},
    {"stack", stack},
    {"pad", pad},
    {"flip", flip},
    {"roll", roll},
    {"unfold", unfold},
    {"windows", windows},
};
inline constexpr Generator kCreationRows[] = {
    {"zeros", filled},   {"ones", filled},   {"full", filled}, {"zeros_like", like}, {"ones_like", like},
    {"full_like", like}, {"arange", arange}, {"iota", iota},   {"eye", eye},
};

}  // namespace shape
}  // namespace hone::evaluate::testing
