// Products of tiles.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "hone/target/ttir/program.h"

namespace hone::target::ttir {
namespace {

/// The units read the upper 19 bits; `nearest`: where a product is made of several, parts are rounded before.
float to_tf32(float value, bool nearest) {
  return std::isfinite(value) ? std::bit_cast<float>((std::bit_cast<uint32_t>(value) + (nearest ? 0x1000u : 0u)) & 0xffffe000u) : value;
}

/// A row of sums in the order of the depth, so many columns at a time as fit registers: row + a[x] * b[x * n + j].
template <size_t kColumns>
[[gnu::always_inline]] inline void add_columns(float* row, const float* a, const float* b, size_t k, size_t n) {
  std::array<float, kColumns> sum;
  for (size_t j = 0; j < kColumns; ++j) sum[j] = row[j];
  for (size_t x = 0; x < k; ++x)
    for (size_t j = 0; j < kColumns; ++j) sum[j] = std::fma(a[x], b[x * n + j], sum[j]);
  for (size_t j = 0; j < kColumns; ++j) row[j] = sum[j];
}
[[gnu::always_inline]] inline void add_row_by(float* row, const float* a, const float* b, size_t k, size_t n) {
  size_t j = 0;
  for (; j + 32 <= n; j += 32) add_columns<32>(row + j, a, b + j, k, n);
  for (; j + 8 <= n; j += 8) add_columns<8>(row + j, a, b + j, k, n);
  for (; j < n; ++j) add_columns<1>(row + j, a, b + j, k, n);
}

using AddRow = void (*)(float* row, const float* a, const float* b, size_t k, size_t n);
void add_row(float* row, const float* a, const float* b, size_t k, size_t n) { add_row_by(row, a, b, k, n); }
#if defined(__x86_64__)
// Without the instruction each multiply-add is a call.
[[gnu::target("avx2,fma")]] void add_row_fma(float* row, const float* a, const float* b, size_t k, size_t n) { add_row_by(row, a, b, k, n); }
AddRow fastest_add_row() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? add_row_fma : add_row; }
#else
AddRow fastest_add_row() { return add_row; }
#endif

/// An f32 as a precision has it: so many numbers of fewer bits, the large one first, each a tensor of its own.
std::vector<std::vector<float>> parts_of(const Value& value, const std::string& precision, size_t parts) {
  const bool whole = value.type.elem != Elem::kF32 || precision == "ieee", tf32 = precision.starts_with("tf32");
  std::vector<std::vector<float>> all(parts, std::vector<float>(value.lanes.size()));
  for (size_t i = 0; i < value.lanes.size(); ++i) {
    float rest = value.f32(i);
    for (size_t p = 0; p < parts; ++p) {
      all[p][i] = whole ? rest : tf32 ? to_tf32(rest, parts > 1) : rounded(rest, Elem::kBF16);
      if (p + 1 < parts) rest -= tf32 ? to_tf32(rest, true) : rounded(rest, Elem::kBF16);
    }
  }
  return all;
}

/// batch x m x k times batch x k x n.
struct Sizes {
  size_t batch, m, n, k;
};

void float_products(const Value& a, const Value& b, const Value& c, const std::string& precision, const Sizes& s, Value& value) {
  static const AddRow add = fastest_add_row();
  // Products of part i and part j with i + j below `parts` are summed.
  const size_t parts = a.type.elem != Elem::kF32 || precision == "ieee" || precision == "tf32" ? 1 : precision == "bf16x6" ? 3 : 2;
  const auto fa = parts_of(a, precision, parts), fb = parts_of(b, precision, parts);
  std::vector<float> row(s.n);
  for (size_t line = 0; line < s.batch * s.m; ++line) {
    const auto add_parts = [&](size_t p, size_t q) { add(row.data(), &fa[p][line * s.k], &fb[q][line / s.m * s.k * s.n], s.k, s.n); };
    // As Triton makes them of parts: the small products first, a NaN among them (of an infinity's parts) left out, then the large
    // ones, and what there was before last. (So its text for sm_90 has it.)
    for (size_t j = 0; j < s.n; ++j) row[j] = parts > 1 ? 0 : c.f32(line * s.n + j);
    for (size_t small = parts - 1; small > 0; --small)
      for (size_t p = small + 1; p-- > 0;) add_parts(p, small - p);
    if (parts > 1)
      for (float& sum : row) sum = std::isnan(sum) ? 0 : sum;
    add_parts(0, 0);
    for (size_t j = 0; j < s.n; ++j) value.lanes[line * s.n + j] = lane_of(rounded(parts > 1 ? row[j] + c.f32(line * s.n + j) : row[j], c.type.elem));
  }
}

constexpr std::array<float, 8> kE2M1{0, 0.5f, 1, 1.5f, 2, 3, 4, 6};

/// A factor of a scaled product, rows x columns, widened to 16 bits and multiplied by what each group along the depth shares. Four-bit
/// numbers lie two in a byte along the depth, the lower half first.
Value scaled_factor(const Value& packed, const Value* scale, const std::string& format, bool half, bool depth_last) {
  const bool four = format == "e2m1";
  Value value{packed.type, {}, {}};
  value.type.elem = half ? Elem::kF16 : Elem::kBF16;
  int64_t& depth = value.type.shape[depth_last ? 1 : 0];
  depth *= four ? 2 : 1;
  const auto rows = static_cast<size_t>(value.type.shape[0]), columns = static_cast<size_t>(value.type.shape[1]);
  const auto groups = scale ? static_cast<size_t>(scale->type.shape[1]) : 1;
  if (scale && (scale->type.shape[0] != value.type.shape[depth_last ? 0 : 1] || static_cast<size_t>(depth) % groups)) unknown("tt.dot_scaled by scales of this shape");
  const size_t group = static_cast<size_t>(depth) / groups;
  value.lanes.resize(rows * columns);
  value.bad.assign(value.lanes.size(), 0);
  for (size_t i = 0; i < value.lanes.size(); ++i) {
    const size_t row = i / columns, column = i % columns, deep = depth_last ? column : row, wide = depth_last ? row : column;
    const size_t from = !four ? i : depth_last ? row * (columns / 2) + column / 2 : row / 2 * columns + column;
    double number = 0;
    if (four) {
      const uint64_t code = packed.lanes[from] >> (deep % 2 * 4) & 15;
      number = static_cast<double>(code & 8 ? -kE2M1[code & 7] : kE2M1[code & 7]);
    } else {
      number = packed.number(from);
    }
    value.bad[i] = packed.bad_at(from);
    if (scale) {
      const size_t at = wide * groups + deep / group;
      const uint64_t code = scale->lanes[at] & 255;
      // An exponent alone, of which 255 is NaN; or an 8-bit float.
      number *= is_float(scale->type.elem) ? scale->number(at) : code == 255 ? std::numeric_limits<double>::quiet_NaN() : code == 0 ? 0 : std::ldexp(1.0, static_cast<int>(code) - 127);
      value.bad[i] |= scale->bad_at(at);
    }
    value.lanes[i] = lane_of(rounded(number, value.type.elem));
  }
  if (std::all_of(value.bad.begin(), value.bad.end(), [](uint8_t why) { return why == 0; })) value.bad.clear();
  return value;
}

}  // namespace

void Program::dot(const Op& op) {
  const auto it = op.attributes.find("inputPrecision");
  multiply(op, operand(op, 0), operand(op, 1), operand(op, 2), it == op.attributes.end() ? "ieee" : it->second);
}

void Program::multiply(const Op& op, const Value& a, const Value& b, const Value& c, const std::string& precision) {
  const size_t rank = c.type.shape.size();
  if ((rank != 2 && rank != 3) || a.type.shape.size() != rank || b.type.shape.size() != rank) unknown(op.name + " of this rank");
  const auto extent = [](const Value& v, size_t d) { return static_cast<size_t>(v.type.shape[d]); };
  const Sizes s{rank == 3 ? extent(c, 0) : 1, extent(c, rank - 2), extent(c, rank - 1), extent(a, rank - 1)};
  if (extent(b, rank - 2) != s.k || extent(a, rank - 2) != s.m || extent(b, rank - 1) != s.n) unknown(op.name + " of these shapes");
  if (rank == 3 && (extent(a, 0) != s.batch || extent(b, 0) != s.batch)) unknown(op.name + " of these shapes");
  const Elem in = a.type.elem;
  Value value{c.type, c.lanes, c.bad};
  const auto each_product = [&](auto add) {
    for (size_t to = 0; to < value.lanes.size(); ++to)
      for (size_t x = 0; x < s.k; ++x) add(to, to / s.n * s.k + x, (to / s.n / s.m * s.k + x) * s.n + to % s.n);
  };
  if (in == Elem::kF64) {
    each_product([&](size_t to, size_t i, size_t j) { value.lanes[to] = lane_of(std::fma(a.number(i), b.number(j), value.number(to))); });
  } else if (is_int(in)) {
    each_product([&](size_t to, size_t i, size_t j) { value.lanes[to] += a.lanes[i] * b.lanes[j]; });
    for (uint64_t& lane : value.lanes) lane = static_cast<uint64_t>(wrapped(static_cast<int64_t>(lane), c.type.elem));
  } else {
    float_products(a, b, c, precision, s, value);
  }
  if (!a.bad.empty() || !b.bad.empty()) {
    if (value.bad.empty()) value.bad.assign(value.lanes.size(), 0);
    each_product([&](size_t to, size_t i, size_t j) { value.bad[to] |= a.bad_at(i) | b.bad_at(j); });
  }
  result(op, std::move(value));
}

/// As Triton does it where the hardware has no such product: factors widened to bf16 (f16 where one is) and scaled there.
void Program::dot_scaled(const Op& op) {
  size_t at = 0;
  const Value* factors[2];
  const Value* scales[2];
  for (const size_t f : {0, 1}) {
    factors[f] = &operand(op, at++);
    scales[f] = op.attributes.count("scale " + std::to_string(at)) ? &operand(op, at++) : nullptr;
  }
  const auto word = [&](const char* key) {
    const auto it = op.attributes.find(key);
    return it == op.attributes.end() ? std::string() : it->second;
  };
  if (word("lhs_k_pack").starts_with("false") || word("rhs_k_pack").starts_with("false")) unknown("tt.dot_scaled of numbers packed across the depth");
  if (factors[0]->type.shape.size() != 2) unknown("tt.dot_scaled of batches");
  const bool half = word("lhs") == "fp16" || word("rhs") == "fp16";
  const auto widened = [&](size_t f) {
    const std::string format = word(f ? "rhs" : "lhs");
    if (format != "e2m1" && format != "e4m3" && format != "e5m2" && format != "bf16" && format != "fp16") unknown("tt.dot_scaled of " + format);
    return scaled_factor(*factors[f], scales[f], format, half, f == 0);
  };
  multiply(op, widened(0), widened(1), operand(op, at), "ieee");
}

}  // namespace hone::target::ttir
