#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "hone/evaluate/oracle/attributes.h"
#include "hone/evaluate/oracle/contraction.h"
#include "hone/evaluate/oracle/kernels/kernels.h"
#include "hone/evaluate/oracle/number.h"
#include "hone/evaluate/oracle/product_range.h"
#include "hone/evaluate/oracle/region.h"
#include "hone/evaluate/oracle/step.h"

namespace hone::evaluate {
namespace {

using task::Shape;

/// One index letter: its extent and how far a step along it goes in each tensor (0 where absent).
struct Letter {
  char name;
  int64_t extent, a, b, c;
};

int64_t stride_in(const std::string& letters, const Tensor& t, char letter) {
  const size_t at = letters.find(letter);
  return at == std::string::npos || t.box.extent[at] == 1 ? 0 : t.stride[at];
}

/// Letters of one role, outermost first; those that walk as one with the innermost are merged into it.
struct Group {
  std::vector<Letter> loops;
  Letter run{' ', 1, 0, 0, 0};

  void add_innermost_last(const std::vector<Letter>& letters) {
    size_t at = letters.size();
    if (at > 0) run = letters[--at];
    for (; at > 0; --at) {
      const Letter& next = letters[at - 1];
      const bool merges = next.a == run.a * run.extent && next.b == run.b * run.extent &&
                          next.c == run.c * run.extent;
      if (!merges) break;
      run.extent *= next.extent;
    }
    loops.assign(letters.begin(), letters.begin() + static_cast<std::ptrdiff_t>(at));
  }
};

void accumulate_by(const Summation& summation, const Product& p) {
  for (int64_t i = 0; i < p.m; ++i)
    for (int64_t j = 0; j < p.n; ++j) {
      double& to = p.value[i * p.c_row + j * p.c_column];
      to = static_cast<float>(to + summation.dot(p.depth, p.a.value + i * p.a.outer, p.a.contracted,
                                                 p.b.value + j * p.b.outer, p.b.contracted));
    }
}

/// `value` with so many bits behind its first one, cut towards zero.
double cut_bits(double value, int behind) {
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  return std::isfinite(value) ? std::bit_cast<double>(bits >> (52 - behind) << (52 - behind)) : value;
}

/// As Hopper's units multiply floats of one byte (and as PyTorch's _scaled_mm has them do): 32 products and the running sum are
/// aligned to the largest of them, cut 13 bits behind its first one, added, and the sum is cut to as many; after 128 of the depth
/// it is added to a sum in fp32. That about 14 bits are kept: DeepSeek-V3 Technical Report (arXiv:2412.19437), section 3.3.2.
void accumulate_bytes(const Product& p) {
  constexpr int kBits = 13;
  constexpr int64_t kAtOnce = 32, kRun = 128;
  for (int64_t i = 0; i < p.m; ++i)
    for (int64_t j = 0; j < p.n; ++j) {
      const double* const a = p.a.value + i * p.a.outer;
      const double* const b = p.b.value + j * p.b.outer;
      double& to = p.value[i * p.c_row + j * p.c_column];
      double running = 0;
      for (int64_t k = 0; k < p.depth; k += kAtOnce) {
        if (k % kRun == 0) to = static_cast<float>(to + std::exchange(running, 0.0));
        const int64_t count = std::min(kAtOnce, p.depth - k);
        double products[kAtOnce], largest = std::fabs(running), plain = running;
        for (int64_t l = 0; l < count; ++l) {
          products[l] = a[(k + l) * p.a.contracted] * b[(k + l) * p.b.contracted];
          largest = std::max(largest, std::fabs(products[l]));
          plain += products[l];
        }
        if (!(largest > 0) || !std::isfinite(plain)) {
          running = plain;
          continue;
        }
        const double unit = std::ldexp(1.0, std::ilogb(largest) - kBits), units = 1 / unit;
        double sum = std::trunc(running * units);
        for (int64_t l = 0; l < count; ++l) sum += std::trunc(products[l] * units);
        running = cut_bits(sum * unit, kBits);
      }
      to = static_cast<float>(to + running);
    }
}

/// The type of a factor before it was widened and laid out.
task::DType kept_type(const Step& step, int operand) {
  const task::Graph& graph = step.graph.graph;
  const task::Node* node = &graph.node(step.node().operands[static_cast<size_t>(operand)]);
  const auto passes = [&] {
    switch (node->prim) {
      case task::Prim::kReshape: case task::Prim::kTranspose: case task::Prim::kBroadcast: case task::Prim::kSlice: return true;
      case task::Prim::kCast: return task::is_f8(graph.node(node->operands[0]).type.dtype);
      default: return false;
    }
  };
  while (passes()) node = &graph.node(node->operands[0]);
  return node->type.dtype;
}

/// A product of two floats of one byte: what one is cut by counts as a rounding of 13 bits.
bool bytes_factors(const Step& step) {
  return step.node().prim == task::Prim::kDot && task::is_f8(kept_type(step, 0)) && task::is_f8(kept_type(step, 1));
}

/// An element that is lost (is_lost_number() of scale_rules.inc) is so for every result that it has a part in, whatever it is multiplied by: NaN times
/// zero is NaN.
void lose_lines(const Matrix& m, int64_t lines, int64_t depth, double* results, int64_t line, int64_t other_lines, int64_t other) {
  if (!m.scale) return;
  for (int64_t i = 0; i < lines; ++i) {
    bool lost = false;
    for (int64_t k = 0; k < depth && !lost; ++k) {
      const int64_t at = i * m.outer + k * m.contracted;
      lost = is_range_lost(m.scale[at]) && std::abs(m.value[at]) < 0x1p200;
    }
    for (int64_t j = 0; lost && j < other_lines; ++j) results[i * line + j * other] += kRangeLost;
  }
}

}  // namespace

void accumulate_product(const ProductRules& rules, const Product& p) {
  if (rules.summation && rules.f32) return accumulate_by(*rules.summation, p);
  const Kernels& k = kernels();
  const auto plain = [](const double* data, const Matrix& m) {
    return GemmOperand{data, m.outer, m.contracted};
  };
  const auto magnitude = [](const double* data, const Matrix& m) {
    return GemmOperand{data, m.outer, m.contracted, GemmOperand::kMagnitude};
  };
  thread_local std::vector<double> scratch;
  if (const auto size = static_cast<size_t>(std::max(kGemmScratch, p.depth)); scratch.size() < size)
    scratch.resize(size);
  GemmOperand a = plain(p.a.value, p.a), b = plain(p.b.value, p.b);
  a.as = b.as = rules.operands;
  if (rules.f32 && rules.bytes) accumulate_bytes(p);
  else k.gemm(p.m, p.n, p.depth, a, b, !rules.f32 ? GemmSums::kExact : rules.cut ? GemmSums::kCut : GemmSums::kRounded, p.value, p.c_row, p.c_column, scratch.data());
  if (!p.scale) return;
  const auto add = [&](const GemmOperand& x, const GemmOperand& y) {
    k.gemm(p.m, p.n, p.depth, x, y, GemmSums::kExact, p.scale, p.c_row, p.c_column, scratch.data());
  };
  // |a| s_b + s_a |b|; at least one unit for every product.
  if (!p.a.scale && !p.b.scale) add(magnitude(p.a.value, p.a), magnitude(p.b.value, p.b));
  if (p.b.scale) add(magnitude(p.a.value, p.a), plain(p.b.scale, p.b));
  if (p.a.scale) add(plain(p.a.scale, p.a), magnitude(p.b.value, p.b));
  lose_lines(p.a, p.m, p.depth, p.scale, p.c_row, p.n, p.c_column);
  lose_lines(p.b, p.n, p.depth, p.scale, p.c_column, p.m, p.c_row);
}

ProductRules product_rules(const Step& step) {
  ProductRules rules;
  rules.f32 = step.rounds();
  rules.summation = step.summation;
  const auto is_half = [&](int k) {
    const task::DType dtype = step.graph.graph.node(step.node().operands[static_cast<size_t>(k)]).type.dtype;
    return dtype == task::DType::kBF16 || dtype == task::DType::kF16;
  };
  rules.cut = is_half(0) && is_half(1);
  rules.bytes = bytes_factors(step);
  const bool convolves = step.node().prim != task::Prim::kDot;
  switch (step.arithmetic) {
    case Arithmetic::kTf32: rules.operands = GemmOperand::kTf32; break;
    case Arithmetic::kAsPytorch:
      if (convolves) rules.operands = GemmOperand::kTf32;
      break;
    case Arithmetic::kBf16: rules.operands = GemmOperand::kBf16; break;
    case Arithmetic::kF16: rules.f16 = true; break;
    case Arithmetic::kExact:
    case Arithmetic::kF32: break;
  }
  if (!rules.f32) {
    rules.operands = GemmOperand::kPlain;
    rules.f16 = false;
  }
  return rules;
}

Tensor with_rounding(const Tensor& t, double units, Pool& pool) {
  if (units == 0) return t;
  Fresh copy = make_dense(t.box, true, pool);
  const int64_t count = t.box.count();
  std::copy_n(t.value, count, copy.value);
  if (t.scale) std::copy_n(t.scale, count, copy.scale);
  else std::fill_n(copy.scale, count, 0.0);
  kernels().at_least(count, copy.value, units, copy.scale);
  return copy.tensor;
}

Tensor rounded_to_f16(const Tensor& t, Pool& pool) {
  Fresh copy = make_dense(t.box, false, pool);
  const int64_t count = t.box.count();
  Walk(t).read(t.value, 0, count, copy.value);
  for (int64_t i = 0; i < count; ++i) copy.value[i] = round_to(task::DType::kF16, copy.value[i]);
  return copy.tensor;
}

void finish_products(const Step& step, const Fresh& out) {
  const int64_t count = step.box.count();
  round_to_track(step, count, out.value);
  if (!out.scale) return;
  if (!step.operand_fact(0).has_scale() && !step.operand_fact(1).has_scale() && step.fact().operands == 0) {
    const double unit = bytes_factors(step) ? 0x1p-13 / kUnit : std::min(step.fact().unit, 1.0);
    for (int64_t i = 0; i < count; ++i) out.scale[i] *= unit;
  }
  kernels().at_least(count, out.value, step.fact().unit, out.scale);
  for (int64_t i = 0; i < count; ++i)
    if (std::isnan(out.scale[i])) out.scale[i] = HUGE_VAL;
}

namespace {

void accumulate_dot(const Step& step, const Tensor& a_given, const Tensor& b_given, const Fresh& out) {
  const ProductRules rules = product_rules(step);
  const Tensor a = rules.f16 ? rounded_to_f16(a_given, step.pool) : a_given;
  const Tensor b = rules.f16 ? rounded_to_f16(b_given, step.pool) : b_given;
  const EinsumSpec spec = einsum_spec(step.node());
  std::vector<Letter> batch, rows, columns, contracted;
  // Letters of extent 1 go nowhere.
  const auto add_letter = [](std::vector<Letter>& to, const Letter& letter) {
    if (letter.extent > 1) to.push_back(letter);
  };
  const auto letter_of = [&](char name, int64_t extent) {
    return Letter{name, extent, stride_in(spec.a, a, name), stride_in(spec.b, b, name),
                  stride_in(spec.result, out.tensor, name)};
  };
  for (size_t d = 0; d < spec.result.size(); ++d) {
    const char name = spec.result[d];
    const bool in_a = spec.a.find(name) != std::string::npos;
    const bool in_b = spec.b.find(name) != std::string::npos;
    add_letter(in_a && in_b ? batch : in_a ? rows : columns, letter_of(name, step.box.extent[d]));
  }
  for (size_t d = 0; d < spec.a.size(); ++d)
    if (spec.result.find(spec.a[d]) == std::string::npos)
      add_letter(contracted, letter_of(spec.a[d], a.box.extent[d]));
  for (size_t d = 0; d < spec.b.size(); ++d)
    if (spec.result.find(spec.b[d]) == std::string::npos && spec.a.find(spec.b[d]) == std::string::npos)
      add_letter(contracted, letter_of(spec.b[d], b.box.extent[d]));

  Group m, n, k;
  m.add_innermost_last(rows);
  n.add_innermost_last(columns);
  k.add_innermost_last(contracted);
  std::vector<Letter> loops = batch;
  for (const Group* g : {&m, &n, &k}) loops.insert(loops.end(), g->loops.begin(), g->loops.end());

  int64_t total = 1;
  for (const Letter& l : loops) total *= l.extent;
  for (int64_t i = 0; i < total; ++i) {
    int64_t rest = i, in_a = 0, in_b = 0, in_c = 0;
    for (size_t l = loops.size(); l-- > 0;) {
      const int64_t at = rest % loops[l].extent;
      rest /= loops[l].extent;
      in_a += at * loops[l].a;
      in_b += at * loops[l].b;
      in_c += at * loops[l].c;
    }
    const auto moved = [](const double* data, int64_t by) { return data ? data + by : nullptr; };
    accumulate_product(
        rules, {.m = m.run.extent, .n = n.run.extent, .depth = k.run.extent,
                .a = {moved(a.value, in_a), moved(a.scale, in_a), m.run.a, k.run.a},
                .b = {moved(b.value, in_b), moved(b.scale, in_b), n.run.b, k.run.b},
                .value = out.value + in_c, .scale = out.scale ? out.scale + in_c : nullptr,
                .c_row = m.run.c, .c_column = n.run.c});
  }
}

/// Pairs of elements that every element of the result sums over.
int64_t contracted_terms(const EinsumSpec& spec, const Box& a, const Box& b) {
  int64_t terms = 1;
  const auto count = [&](const std::string& letters, const Box& box, const std::string& seen) {
    for (size_t d = 0; d < letters.size(); ++d)
      if (spec.result.find(letters[d]) == std::string::npos && seen.find(letters[d]) == std::string::npos)
        terms *= box.extent[d];
  };
  count(spec.a, a, "");
  count(spec.b, b, spec.a);
  return terms;
}

}  // namespace

Contracted longest_contracted(const EinsumSpec& spec, const Box& a, const Box& b) {
  Contracted longest;
  const auto consider = [&](const std::string& letters, const Box& box) {
    for (size_t d = 0; d < letters.size(); ++d)
      if (spec.result.find(letters[d]) == std::string::npos && box.extent[d] > longest.length)
        longest = {letters[d], box.extent[d]};
  };
  consider(spec.a, a);
  consider(spec.b, b);
  return longest;
}

Box cut_along(char letter, int64_t first, int64_t length, Box box, const std::string& letters) {
  const size_t d = letters.find(letter);
  if (d == std::string::npos) return box;
  box.start[d] += first;
  box.extent[d] = length;
  return box;
}

void DotSums::add(const Tensor& a, const Tensor& b) {
  const EinsumSpec spec = einsum_spec(step_.node());
  const auto [letter, length] = longest_contracted(spec, a.box, b.box);
  const int64_t others = contracted_terms(spec, a.box, b.box) / length;
  const bool limited = step_.rounds() && !step_.summation;
  const int64_t most = limited ? std::clamp<int64_t>(kLongestRun / others, 1, length) : length;
  for (int64_t k = 0; k < length; k += most) {
    const int64_t deep = std::min(most, length - k);
    if (limited && terms_ > 0 && terms_ + deep * others > kLongestRun) end_run();
    accumulate_dot(step_, restrict_to(a, cut_along(letter, k, deep, a.box, spec.a)),
                   restrict_to(b, cut_along(letter, k, deep, b.box, spec.b)), run_);
    terms_ += deep * others;
  }
}

void DotSums::end_run() {
  terms_ = 0;
  if (!total_.value) {
    total_ = std::exchange(run_, zero_products(step_));
    return;
  }
  const int64_t count = step_.box.count();
  for (int64_t i = 0; i < count; ++i)
    total_.value[i] = static_cast<float>(total_.value[i] + std::exchange(run_.value[i], 0.0));
  if (!run_.scale) return;
  for (int64_t i = 0; i < count; ++i) total_.scale[i] += std::exchange(run_.scale[i], 0.0);
}

Fresh DotSums::finish() {
  if (total_.value) end_run();
  const Fresh& result = total_.value ? total_ : run_;
  finish_products(step_, result);
  return result;
}

Fresh zero_products(const Step& step) {
  Fresh out = step.fresh();
  std::fill_n(out.value, step.box.count(), 0.0);
  if (out.scale) std::fill_n(out.scale, step.box.count(), 0.0);
  return out;
}

Tensor dot_step(const Step& step) {
  DotSums sums(step);
  sums.add(restrict_to(step.operands[0], operand_box(step.graph, step.id, 0, step.box)),
           restrict_to(step.operands[1], operand_box(step.graph, step.id, 1, step.box)));
  return sums.finish().tensor;
}

}  // namespace hone::evaluate
