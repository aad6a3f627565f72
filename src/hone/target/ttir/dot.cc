// Products of tiles.
#include <array>
#include <cmath>

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

}  // namespace

void Program::dot(const Op& op) {
  const Value &a = operand(op, 0), &b = operand(op, 1), &c = operand(op, 2);
  const size_t rank = c.type.shape.size();
  if ((rank != 2 && rank != 3) || a.type.shape.size() != rank || b.type.shape.size() != rank) unknown("tt.dot of this rank");
  const auto extent = [](const Value& v, size_t d) { return static_cast<size_t>(v.type.shape[d]); };
  const Sizes s{rank == 3 ? extent(c, 0) : 1, extent(c, rank - 2), extent(c, rank - 1), extent(a, rank - 1)};
  if (extent(b, rank - 2) != s.k || extent(a, rank - 2) != s.m || extent(b, rank - 1) != s.n) unknown("tt.dot of these shapes");
  if (rank == 3 && (extent(a, 0) != s.batch || extent(b, 0) != s.batch)) unknown("tt.dot of these shapes");
  const auto it = op.attributes.find("inputPrecision");
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
    float_products(a, b, c, it == op.attributes.end() ? "ieee" : it->second, s, value);
  }
  if (!a.bad.empty() || !b.bad.empty()) {
    if (value.bad.empty()) value.bad.assign(value.lanes.size(), 0);
    each_product([&](size_t to, size_t i, size_t j) { value.bad[to] |= a.bad_at(i) | b.bad_at(j); });
  }
  result(op, std::move(value));
}

}  // namespace hone::target::ttir
