/* hone
language = "cuda"
note     = "the grader's own: reductions of the oracle and of the anchor where the inputs lie"
[[launch]]
kernel = "fold_parts"
grid   = ["1"]
block  = ["128"]
args   = ["x", "x", "x", "x", "x", "x", "x", "x", "x", "y", "y"]
[[launch]]
kernel = "combine_parts"
grid   = ["1"]
block  = ["128"]
args   = ["x", "x", "y", "y", "i64:N", "i64:N", "i32:N", "i32:N", "i32:N"]
*/
// What step_elementwise.cc and step_reduce.cc do, on a card: an interpreter of programs (program.inc) by the host's own
// formulas. No thread hears of another, so that results are the same however threads are scheduled. Launched by hone's own
// process (card_reductions.cc), never beside a candidate; the plan above only names what there is and how many
// arguments it takes.

#define HONE_ORACLE_FUNCTION __device__ __forceinline__
#ifndef HONE_UNROLLED
#define HONE_UNROLLED _Pragma("unroll")
#define HONE_ROLLED _Pragma("unroll 1")
#endif
HONE_ORACLE_FUNCTION double as_double(uint64_t bits) { return __longlong_as_double((long long)bits); }
HONE_ORACLE_FUNCTION uint64_t as_bits(double v) { return (uint64_t)__double_as_longlong(v); }
HONE_ORACLE_FUNCTION double infinity() { return as_double(0x7FF0000000000000u); }
HONE_ORACLE_FUNCTION double not_a_number() { return as_double(0x7FF8000000000000u); }
HONE_ORACLE_FUNCTION double absolute(double x) { return fabs(x); }
HONE_ORACLE_FUNCTION double copy_sign(double x, double y) { return copysign(x, y); }
HONE_ORACLE_FUNCTION double root_of(double x) { return sqrt(x); }
HONE_ORACLE_FUNCTION double floor_of(double x) { return floor(x); }
HONE_ORACLE_FUNCTION double ceiling_of(double x) { return ceil(x); }
HONE_ORACLE_FUNCTION double nearest_of(double x) { return rint(x); }
HONE_ORACLE_FUNCTION double whole_of(double x) { return trunc(x); }
HONE_ORACLE_FUNCTION double fused(double a, double b, double c) { return fma(a, b, c); }
HONE_ORACLE_FUNCTION double sine_of(double x) { return sin(x); }
HONE_ORACLE_FUNCTION double cosine_of(double x) { return cos(x); }
HONE_ORACLE_FUNCTION double tangent_of(double x) { return tan(x); }
HONE_ORACLE_FUNCTION double arc_sine_of(double x) { return asin(x); }
HONE_ORACLE_FUNCTION double arc_cosine_of(double x) { return acos(x); }
HONE_ORACLE_FUNCTION double arc_tangent_of(double x) { return atan(x); }
HONE_ORACLE_FUNCTION double hyperbolic_sine_of(double x) { return sinh(x); }
HONE_ORACLE_FUNCTION double hyperbolic_cosine_of(double x) { return cosh(x); }
HONE_ORACLE_FUNCTION double error_function_of(double x) { return erf(x); }
HONE_ORACLE_FUNCTION double natural_log_of(double x) { return log(x); }
HONE_ORACLE_FUNCTION double power_of(double a, double b) { return pow(a, b); }
HONE_ORACLE_FUNCTION double angle_of(double a, double b) { return atan2(a, b); }
HONE_ORACLE_FUNCTION double remainder_of(double a, double b) { return fmod(a, b); }

// As in kernels.h.
constexpr double kUnit = 0x1p-24, kUnderflow = 0x1p-126 / kUnit, kAmbiguous = 16 * kUnit;

#include "../kernels/vector_math.inc"
#include "../kernels/scale_rules.inc"
#include "program.inc"

// As in types.h.
enum class Type { kF64, kF32, kBF16, kF16, kF8E4M3, kF8E5M2, kI64, kI32, kI16, kI8, kBool };

constexpr int kThreads = 128;
/// Elements that a thread takes through the program at a time: an instruction is looked at once for all of them.
constexpr int kElements = 4;
/// Parts that a thread folds into one.
constexpr int kCombined = 16;

struct Registers {
  double value[kMostRegisters][kElements], scale[kMostRegisters][kElements];
};

// ---- numbers, as in number.cc ----

HONE_ORACLE_FUNCTION double of_f16(uint16_t bits) {
  const uint64_t sign = (uint64_t)(bits & 0x8000u) << 48, magnitude = bits & 0x7FFFu;
  if (magnitude >= 0x7C00) return as_double(sign | 0x7FF0000000000000u | (magnitude & 0x3FF) << 42);
  if (magnitude < 0x400) return copysign((double)magnitude * 0x1p-24, sign ? -1.0 : 1.0);
  return as_double(sign | ((magnitude << 42) + ((uint64_t)(1023 - 15) << 52)));
}
HONE_ORACLE_FUNCTION double of_bf16(uint16_t bits) { return __uint_as_float((uint32_t)bits << 16); }

HONE_ORACLE_FUNCTION double rounded_to_bits(double v, int bits, int least_exponent) {
  if (v == 0 || !(fabs(v) < infinity())) return v;
  const int biased = (int)(as_bits(v) >> 52 & 0x7FF), exponent = biased - 1023 > least_exponent ? biased - 1023 : least_exponent;
  // Two halves of the exponent, as a large number's unit and its reciprocal need not both be normal.
  const double up = exponent - (bits - 1), half = floor(up * 0.5);
  const double scaled = v * power_of_two(-half) * power_of_two(half - up);
  return rint(scaled) * power_of_two(half) * power_of_two(up - half);
}

HONE_ORACLE_FUNCTION double to_whole(double v, double low, double high) {
  if (v != v) return 0;
  return v <= low ? low : v >= high ? high : trunc(v);
}

/// As wrapped() of integer_range.h.
HONE_ORACLE_FUNCTION double modulo_into(double v, double half) {
  if (!(fabs(v) < infinity()) || (v >= -half && v < half)) return v;
  return v - floor((v + half) / (2 * half)) * 2 * half;
}

HONE_ORACLE_FUNCTION double fp32(double v) { return (double)(float)v; }

// ---- instructions ----

/// Places are counted in 64 bits, but most divisions need no more than 32.
HONE_ORACLE_FUNCTION void divide(int64_t& left, int64_t by, int64_t& rest) {
  if ((((uint64_t)left | (uint64_t)by) >> 32) == 0) {
    const uint32_t q = (uint32_t)left / (uint32_t)by;
    rest = (uint32_t)left - q * (uint32_t)by;
    left = q;
    return;
  }
  const int64_t q = left / by;
  rest = left - q * by;
  left = q;
}

HONE_ORACLE_FUNCTION double operand_scale(const Instruction& i, int32_t exact, double v, double s) {
  return i.flags & exact ? (i.term == 0 ? 0 : i.term * rounded_part(v)) : s;
}

HONE_ORACLE_FUNCTION double rounded_result(const Instruction& i, double v) { return i.flags & kRounds ? fp32(v) : v; }
HONE_ORACLE_FUNCTION double held_result(const Instruction& i, double v) { return i.half != 0 ? modulo_into(v, i.half) : v; }

HONE_ORACLE_FUNCTION double result_scale(const Instruction& i, double moved, double v) {
  return i.least > 0 ? narrowed_scale(v, i.own, i.least, scale_of(moved, v, 0.0)) : scale_of(moved, v, i.own);
}

/// Written out once for each element; of others that would take the compiler seconds.
template <Op op>
constexpr bool kIsUnrolled = op == Op::kAdd || op == Op::kSub || op == Op::kMul || op == Op::kMaximum || op == Op::kAbs;

template <Op op, class Do>
HONE_ORACLE_FUNCTION void for_elements(Do what) {
  if constexpr (kIsUnrolled<op>) {
    HONE_UNROLLED
    for (int e = 0; e < kElements; ++e) what(e);
  } else {
    HONE_ROLLED
    for (int e = 0; e < kElements; ++e) what(e);
  }
}

/// Which elements have a lost operand, a bit each. Asked before the result is there, which may lie where an operand lay.
HONE_ORACLE_FUNCTION unsigned lost_elements(const Instruction& i, const Registers& r, int operand, int32_t exact) {
  unsigned lost = 0;
  if ((i.flags & (kKeepsLost | exact)) != kKeepsLost) return lost;
  HONE_ROLLED
  for (int e = 0; e < kElements; ++e) lost |= (unsigned)is_lost_number(r.value[operand][e], r.scale[operand][e]) << e;
  return lost;
}

/// As Kernels::keep_lost.
HONE_ORACLE_FUNCTION void keep_lost(const Instruction& i, Registers& r, unsigned lost_ones) {
  HONE_ROLLED
  for (int e = 0; e < kElements; ++e) {
    if (!(lost_ones >> e & 1)) continue;
    r.value[i.out][e] = kept_lost_value(r.value[i.out][e]);
    r.scale[i.out][e] = lost();
  }
}

template <Op op, class Value, class Moved>
HONE_ORACLE_FUNCTION void unary(const Instruction& i, Registers& r, Value value, Moved moved) {
  for_elements<op>([&](int e) {
    const double x = r.value[i.a][e], d = r.scale[i.a][e], v = rounded_result(i, value(x));
    r.value[i.out][e] = held_result(i, v);
    if (i.flags & kScaled) r.scale[i.out][e] = i.flags & kExactA && i.least == 0 ? at_least_own(v, i.own, 0.0) : result_scale(i, i.flags & kExactA ? 0.0 : moved(x, d, v), v);
  });
}

template <Op op, class Value, class Moved>
HONE_ORACLE_FUNCTION void binary(const Instruction& i, Registers& r, Value value, Moved moved) {
  for_elements<op>([&](int e) {
    const double p = r.value[i.a][e], q = r.value[i.b][e], s = r.scale[i.a][e], t = r.scale[i.b][e], v = rounded_result(i, value(p, q));
    r.value[i.out][e] = held_result(i, v);
    if (!(i.flags & kScaled)) return;
    const double d = operand_scale(i, kExactA, p, s), result = result_scale(i, moved(p, d, q, operand_scale(i, kExactB, q, t), v), v);
    r.scale[i.out][e] = i.flags & kLessExtreme ? less_extreme_scale(p, d, q, result) : result;
  });
}

HONE_ORACLE_FUNCTION void where(const Instruction& i, Registers& r) {
  for_elements<Op::kWhere>([&](int e) {
    const double c = r.value[i.c][e], p = r.value[i.a][e], q = r.value[i.b][e];
    const double sc = i.flags & kExactC ? 0 : r.scale[i.c][e];
    const double s = operand_scale(i, kExactA, p, r.scale[i.a][e]), t = operand_scale(i, kExactB, q, r.scale[i.b][e]);
    r.value[i.out][e] = pick(c != 0, p, q);
    if (i.flags & kScaled) r.scale[i.out][e] = choice_scale(c, sc, p, s, q, t);
  });
}

HONE_ORACLE_FUNCTION double cast_value(const Instruction& i, double x) {
  switch ((CastTo)i.detail) {
    case CastTo::kF32: return fp32(x);
    case CastTo::kNarrow: {
      const double y = rounded_to_bits(x, i.bits, i.least_exponent);
      return fabs(y) >= i.high ? copysign(infinity(), x) : y;
    }
    case CastTo::kWhole: return to_whole(i.half != 0 ? modulo_into(x, i.half) : x, i.low, i.high);
    case CastTo::kTruth: return x != 0;
    case CastTo::kOverflow: return fabs(rounded_to_bits(x, i.bits, i.least_exponent)) >= i.high ? copysign(infinity(), x) : x;
    default: return x;
  }
}

/// As cast_step().
HONE_ORACLE_FUNCTION void cast(const Instruction& i, Registers& r) {
  for_elements<Op::kCast>([&](int e) {
    const double x = r.value[i.a][e], s = i.flags & kExactA ? 0 : r.scale[i.a][e], y = cast_value(i, x);
    r.value[i.out][e] = y;
    if (!(i.flags & kScaled)) return;
    // To floats at least a rounding; from floats to whole numbers sure, or one off where one is near.
    double moved = s;
    if (i.own > 0) {
      moved = i.least > 0 ? narrowed_scale(y, i.own, i.least, s) : at_least_own(y, i.own, s);
    } else if (i.flags & kFromFloat) {
      const double nearest = (CastTo)i.detail == CastTo::kTruth ? 0 : rint(x);
      moved = s > 0 && fabs(x - nearest) <= kAmbiguous * s ? larger(1.0, ceil(s * kUnit)) / kUnit : 0.0;
    }
    r.scale[i.out][e] = moved;
  });
}

template <class T, class Convert>
HONE_ORACLE_FUNCTION void load_as(const void* from, const int64_t* place, double* to, Convert convert) {
  HONE_UNROLLED
  for (int e = 0; e < kElements; ++e) to[e] = convert(((const T*)from)[place[e]]);
}

HONE_ORACLE_FUNCTION void load_input(int32_t type, const void* from, const int64_t* place, double* to) {
  const auto plain = [](auto v) { return (double)v; };
  switch ((Type)type) {
    case Type::kF64: return load_as<double>(from, place, to, plain);
    case Type::kF32: return load_as<float>(from, place, to, plain);
    case Type::kBF16: return load_as<uint16_t>(from, place, to, [](uint16_t v) { return of_bf16(v); });
    case Type::kF16: return load_as<uint16_t>(from, place, to, [](uint16_t v) { return of_f16(v); });
    case Type::kI64: return load_as<int64_t>(from, place, to, plain);
    case Type::kI32: return load_as<int32_t>(from, place, to, plain);
    case Type::kI16: return load_as<int16_t>(from, place, to, plain);
    case Type::kI8: return load_as<int8_t>(from, place, to, plain);
    case Type::kBool: return load_as<uint8_t>(from, place, to, [](uint8_t v) { return v != 0 ? 1.0 : 0.0; });
  }
}

/// The thread's own part of the work.
struct Part {
  const Program& program;
  const double* kept;
  const void* inputs[kMostInputs];
  int64_t start[kMostLoads];              ///< places of the result's first element
  int64_t at[kMostAtoms][kElements];      ///< coordinates folded away
  Registers r;

  HONE_ORACLE_FUNCTION Part(const Program& of, const double* of_kept) : program(of), kept(of_kept) {}

  /// `result`: its number, row-major.
  HONE_ORACLE_FUNCTION void begin(int64_t result) {
    for (int l = 0; l < program.load_count; ++l) start[l] = program.load[l].base;
    for (int a = program.kept_atoms - 1; a >= 0; --a) {
      int64_t coordinate;
      divide(result, program.extent[a], coordinate);
      for (int l = 0; l < program.load_count; ++l) start[l] += coordinate * program.load[l].coefficient[a];
    }
  }

  HONE_ORACLE_FUNCTION void go_to(int e, int64_t element) {
    for (int a = program.atoms - 1; a > program.kept_atoms; --a) divide(element, program.extent[a], at[a][e]);
    at[program.kept_atoms][e] = element;
  }

  HONE_ORACLE_FUNCTION void load(const Instruction& i) {
    const Load& l = program.load[i.detail];
    int64_t place[kElements];
    HONE_UNROLLED
    for (int e = 0; e < kElements; ++e) place[e] = start[i.detail];
    for (int a = program.kept_atoms; a < program.atoms; ++a)
      HONE_UNROLLED
      for (int e = 0; e < kElements; ++e) place[e] += at[a][e] * l.coefficient[a];
    double* const to = r.value[i.out];
    double* const scale = r.scale[i.out];
    if (l.source == kFromIndex) {
      for (int e = 0; e < kElements; ++e) to[e] = (double)place[e];
    } else if (l.source == kFromKept) {
      for (int e = 0; e < kElements; ++e) to[e] = kept[place[e]];
      if (i.flags & kScaled)
        for (int e = 0; e < kElements; ++e) scale[e] = kept[place[e] + l.scale_distance];
    } else {
      load_input(l.type, inputs[l.source], place, to);
      if (i.flags & kScaled)
        for (int e = 0; e < kElements; ++e) scale[e] = i.own * rounded_part(to[e]);
    }
  }

  HONE_ORACLE_FUNCTION void run(const Instruction& i) {
    const unsigned lost_ones = lost_elements(i, r, i.a, kExactA) | lost_elements(i, r, i.b, kExactB);
    compute(i);
    if (lost_ones != 0) keep_lost(i, r, lost_ones);
  }

  HONE_ORACLE_FUNCTION void compute(const Instruction& i) {
    switch (i.op) {
      case Op::kLoad: return load(i);
      case Op::kConstant:
        for (int e = 0; e < kElements; ++e) r.value[i.out][e] = i.low, r.scale[i.out][e] = i.high;
        return;
      case Op::kCast: return cast(i, r);
      case Op::kWhere: return where(i, r);
#define HONE_UNARY(op, value, moved)                                        \
  case Op::op:                                                              \
    return unary<Op::op>(                                                   \
        i, r, [](double x) -> double { return value; },                     \
        [](double x [[maybe_unused]], double d [[maybe_unused]], double v [[maybe_unused]]) -> double { return moved; });
#define HONE_BINARY(op, value, moved)                                       \
  case Op::op:                                                              \
    return binary<Op::op>(                                                  \
        i, r, [](double p, double q) -> double { return value; },           \
        [](double p [[maybe_unused]], double d [[maybe_unused]], double q [[maybe_unused]], double e [[maybe_unused]], \
           double v [[maybe_unused]]) -> double { return moved; });
#include "../kernels/operations.inc"
#undef HONE_UNARY
#undef HONE_BINARY
    }
  }
};

/// A part of a result: its value, and what its scales come to.
struct Folded {
  double value, scale;
};

HONE_ORACLE_FUNCTION Folded nothing_of(Fold fold) { return {fold == Fold::kMax ? -infinity() : fold == Fold::kMin ? infinity() : 0.0, 0.0}; }

HONE_ORACLE_FUNCTION void add(Fold fold, bool rounds, Folded& to, double v, double s) {
  switch (fold) {
    case Fold::kSum:
      to.value = rounds ? fp32(to.value + fp32(v)) : to.value + v;
      to.scale += s;
      return;
    case Fold::kMax: to.value = pick(v > to.value || v != v, v, to.value); return;
    case Fold::kMin: to.value = pick(v < to.value || v != v, v, to.value); return;
    case Fold::kMaxScale:
    case Fold::kMinScale: to.scale = larger(s, to.scale); return;
  }
}

/// A thread for each part of each result: its elements are folded one after another.
extern "C" __global__ void __launch_bounds__(kThreads) fold_parts(const void* program, const void* kept, const void* in0, const void* in1,
                                                                  const void* in2, const void* in3, const void* in4, const void* in5,
                                                                  const void* extremes, void* values, void* scales) {
  const Program& p = *(const Program*)program;
  const int64_t id = (int64_t)blockIdx.x * kThreads + threadIdx.x;
  if (id >= p.results * p.parts) return;
  int64_t number = id, rest;
  divide(number, p.results_first ? p.results : p.parts, rest);
  const int64_t result = p.results_first ? rest : number, part = p.results_first ? number : rest;
  Part mine(p, (const double*)kept);
  const void* const inputs[kMostInputs] = {in0, in1, in2, in3, in4, in5};
  for (int k = 0; k < kMostInputs; ++k) mine.inputs[k] = inputs[k];
  mine.begin(result);
  const int64_t first = part / p.lanes * p.lanes * p.run + part % p.lanes;
  const bool max_scale = p.fold == Fold::kMaxScale, min_scale = p.fold == Fold::kMinScale;
  const double extreme = max_scale || min_scale ? ((const double*)extremes)[result] : 0.0;
  Folded folded = nothing_of(p.fold);
  for (int64_t k = 0; k < p.run; k += kElements) {
    const int64_t from = first + k * p.lanes;
    if (from >= p.length) break;
    // Beyond the end the last element is read again, and left out below.
    for (int e = 0; e < kElements; ++e) {
      const int64_t element = from + e * p.lanes;
      mine.go_to(e, element < p.length ? element : p.length - 1);
    }
    for (int c = 0; c < p.code_count; ++c) mine.run(p.code[c]);
    for (int e = 0; e < kElements; ++e) {
      if (k + e >= p.run || from + e * p.lanes >= p.length) break;
      const double v = mine.r.value[p.result_register][e];
      double s = p.scaled ? (p.exact ? absolute(v) : mine.r.scale[p.result_register][e]) : 0.0;
      if (max_scale && !(v + kAmbiguous * s >= extreme)) s = 0;
      if (min_scale && !(-v + kAmbiguous * s >= -extreme)) s = 0;
      add(p.fold, p.rounds != 0, folded, v, s);
    }
  }
  ((double*)values)[id] = folded.value;
  ((double*)scales)[id] = folded.scale;
}

/// Folds each kCombined neighbouring parts of a result into one, sums pairwise.
extern "C" __global__ void __launch_bounds__(kThreads) combine_parts(const void* values, const void* scales, void* to_values,
                                                                     void* to_scales, int64_t results, int64_t parts, int32_t results_first,
                                                                     int32_t fold, int32_t rounds) {
  const int64_t combined = (parts + kCombined - 1) / kCombined;
  const int64_t id = (int64_t)blockIdx.x * kThreads + threadIdx.x;
  if (id >= results * combined) return;
  int64_t number = id, rest;
  divide(number, results_first ? results : combined, rest);
  const int64_t result = results_first ? rest : number, first = (results_first ? number : rest) * kCombined;
  Folded part[kCombined];
  for (int j = 0; j < kCombined; ++j) {
    part[j] = nothing_of((Fold)fold);
    if (first + j >= parts) continue;
    const int64_t at = results_first ? (first + j) * results + result : result * parts + first + j;
    part[j] = {((const double*)values)[at], ((const double*)scales)[at]};
  }
  for (int width = kCombined / 2; width > 0; width /= 2)
    for (int j = 0; j < width; ++j) add((Fold)fold, rounds != 0, part[j], part[j + width].value, part[j + width].scale);
  ((double*)to_values)[id] = part[0].value;
  ((double*)to_scales)[id] = part[0].scale;
}
