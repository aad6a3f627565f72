//@ fp64
// Sums of what is stored as f64, and plain loops, need double. Devices without it refuse the kernel here.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

//@ fp_contract
// Nothing is fused: in x * c - max(x * c) the difference of what is rounded is zero at the maximum; as a fused
// multiply-add it would be the rounding error, which for large x is anything. Where a fused one is wanted, it says fma.
#pragma OPENCL FP_CONTRACT OFF

//@ PASTE
// float and 8 make float8.
#define PASTE_2(a, b) a##b
#define PASTE(a, b) PASTE_2(a, b)

//@ WIDTH
// What a type or function of VEC lanes ends in; nothing for one lane.
#if VEC == 1
#define WIDTH
#else
#define WIDTH VEC
#endif

//@ FLOATS
// VEC floats of a row at a time.
#define FLOATS PASTE(float, WIDTH)

//@ INTS
// VEC integers; also what a comparison of FLOATS gives: all bits set where it holds.
#define INTS PASTE(int, WIDTH)

//@ TO_FLOATS
#define TO_FLOATS(x) PASTE(convert_float, WIDTH)(x)

//@ TO_INTS
// Truncated, and held to the ends of the type; NaN becomes 0.
#define TO_INTS(x) PASTE(PASTE(convert_int, WIDTH), _sat)(x)

//@ GET
// VEC elements from p on, which needs the alignment of one element only; and back.
#if VEC == 1
#define GET(p) (*(p))
#define PUT(x, p) (*(p) = (x))
#else
#define GET(p) PASTE(vload, VEC)(0, p)
#define PUT(x, p) PASTE(vstore, VEC)(x, 0, p)
#endif

//@ GET_BF16
// A bf16 is the upper half of a float.
#define GET_BF16(p) PASTE(as_float, WIDTH)(PASTE(convert_uint, WIDTH)(GET(p)) << 16)

//@ BF16_BITS
// The bits of floats rounded to bf16, halves to even, NaN kept, in the upper half.
#define BF16_BITS(x) \
  (PASTE(as_uint, WIDTH)(x) + 0x7fff + (PASTE(as_uint, WIDTH)(x) >> 16 & 1))
#define ROUND_BF16(x) ((x) != (x) ? (x) : PASTE(as_float, WIDTH)(BF16_BITS(x) & 0xffff0000))

//@ PUT_BF16
#define PUT_BF16(x, p) PUT(PASTE(convert_ushort, WIDTH)(PASTE(as_uint, WIDTH)(ROUND_BF16(x)) >> 16), p)

//@ GET_F16
#define GET_F16(p) PASTE(vload_half, WIDTH)(0, p)

//@ to_f16
// The bits of x rounded to f16: to nearest, halves to even, which not every vstore_half_rte() does. Below the normal
// numbers the addition of 0.5 rounds; above 65520 there is infinity.
ushort to_f16(float x) {
  const uint bits = as_uint(x), size = bits & 0x7fffffff, sign = bits >> 16 & 0x8000;
  const uint normal = (size + 0xfff + (size >> 13 & 1) - 0x38000000) >> 13, small = as_uint(as_float(size) + 0.5f) - 0x3f000000;
  return (ushort)(sign | (size > 0x7f800000 ? 0x7e00 : size >= 0x477ff000 ? 0x7c00 : size < 0x38800000 ? small : normal));
}

//@ to_odd
// x as a float that is to be rounded to 16 bits next: inexact ones become odd, so that both roundings together are one.
float to_odd(double x) {
  const float near = (float)x;
  const uint bits = as_uint(near);
  const double back = near;
  return back == x || x != x || (bits & 1) ? near : as_float(fabs(x) > fabs(back) ? bits + 1 : bits - 1);
}

//@ put_f16
void put_f16(FLOATS x, __global half* p) {
  float lane[VEC];
  PUT(x, lane);
  for (int k = 0; k < VEC; ++k) ((__global ushort*)p)[k] = to_f16(lane[k]);
}

//@ from_bf16
float from_bf16(ushort x) { return as_float((uint)x << 16); }

//@ to_bf16
// Rounded to nearest, halves to even; NaN stays one.
ushort to_bf16(float x) {
  const uint bits = as_uint(x);
  return (ushort)(x != x ? bits >> 16 | 64 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

//@ round_bf16
float round_bf16(float x) { return from_bf16(to_bf16(x)); }

//@ round_f16
float round_f16(float x) {
  const ushort bits = to_f16(x);
  return vload_half(0, (const half*)&bits);
}

//@ round_f16_lanes
FLOATS round_f16_lanes(FLOATS x) {
  float lane[VEC];
  PUT(x, lane);
  for (int k = 0; k < VEC; ++k) lane[k] = round_f16(lane[k]);
  return GET(lane);
}

//@ LARGER
// Of two scalars, or lane by lane; NaN goes through, which fmax() would drop.
#define LARGER(a, b) (((a) > (b)) | ((a) != (a)) ? (a) : (b))

//@ SMALLER
#define SMALLER(a, b) (((a) < (b)) | ((a) != (a)) ? (a) : (b))

//@ PLUS
#define PLUS(a, b) ((a) + (b))

//@ ADD
// sum + x, and what its rounding leaves off added to `lost` (D. Knuth, The Art of Computer Programming 2, 4.2.2). `type`: of
// all three, scalars or lanes.
#define ADD(type, sum, lost, x)                              \
  {                                                          \
    const type both = (sum) + (x), added = both - (sum);     \
    lost += ((sum) - (both - added)) + ((x) - added);        \
    sum = both;                                              \
  }

//@ TIMES
#define TIMES(a, b) ((a) * (b))

//@ COMBINE
// The items' `mine` folded to one, which every item gets. `share`: local memory, one place an item. Each step halves the
// number of items that still hold something, so ITEMS is a power of two; the last barrier keeps the next COMBINE from
// writing what slower items still read.
#define COMBINE(share, mine, fold)                                                 \
  share[item] = mine;                                                              \
  barrier(CLK_LOCAL_MEM_FENCE);                                                    \
  for (int half_of = ITEMS / 2; half_of > 0; half_of /= 2) {                       \
    if (item < half_of) share[item] = fold(share[item], share[item + half_of]);    \
    barrier(CLK_LOCAL_MEM_FENCE);                                                  \
  }                                                                                \
  mine = share[0];                                                                 \
  barrier(CLK_LOCAL_MEM_FENCE);

//@ BEFORE
// What ABOVE and BELOW have in common: `beats` says that x is further out than y.
#define BEFORE(beats, x, i, y, k)                                              \
  ((k) == LONG_MAX || ((i) != LONG_MAX && ((beats) || ((x) != (x) && (y) == (y)) || \
                                           (((x) == (y) || ((x) != (x) && (y) != (y))) && (i) < (k)))))

//@ ABOVE
// Whether x at place i comes before y at place k in the search for the largest (BELOW: smallest): NaN counts as that, and
// of equals the first is wanted. Place LONG_MAX: there is none.
#define ABOVE(x, i, y, k) BEFORE((x) > (y), x, i, y, k)

//@ BELOW
#define BELOW(x, i, y, k) BEFORE((x) < (y), x, i, y, k)

//@ COMBINE_PLACES
// The same for values with their places.
#define COMBINE_PLACES(share, places, mine, at, before)                                                      \
  share[item] = mine;                                                                                        \
  places[item] = at;                                                                                         \
  barrier(CLK_LOCAL_MEM_FENCE);                                                                              \
  for (int half_of = ITEMS / 2; half_of > 0; half_of /= 2) {                                                 \
    if (item < half_of && before(share[item + half_of], places[item + half_of], share[item], places[item])) { \
      share[item] = share[item + half_of];                                                                   \
      places[item] = places[item + half_of];                                                                 \
    }                                                                                                        \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                            \
  }                                                                                                          \
  mine = share[0];                                                                                           \
  at = places[0];                                                                                            \
  barrier(CLK_LOCAL_MEM_FENCE);

//@ least
long least(long a, long b) { return a < b ? a : b; }

//@ most
long most(long a, long b) { return a > b ? a : b; }

//@ ceil_div
// Rounding up; divisors are positive.
long ceil_div(long a, long b) { return a / b + (a % b > 0 ? 1 : 0); }

//@ hone_floor_div
// Arithmetic of shapes, as launch plans have it.
long hone_floor_div(long a, long b) { return b == 0 ? 0 : a / b - (a % b != 0 && (a % b < 0) != (b < 0) ? 1 : 0); }

//@ hone_mod
long hone_mod(long a, long b) { return b == 0 ? 0 : a - hone_floor_div(a, b) * b; }

//@ hone_ceil_div
long hone_ceil_div(long a, long b) { return -hone_floor_div(-a, b); }

//@ hone_min
long hone_min(long a, long b) { return a < b ? a : b; }

//@ hone_max
long hone_max(long a, long b) { return a > b ? a : b; }

//@ hone_abs
long hone_abs(long a) { return a < 0 ? -a : a; }

//@ whole_modulo
// Remainder with the divisor's sign, and the quotient that goes with it; by zero, which has no answer, 0.
long whole_modulo(long a, long b) {
  if (b == 0 || b == -1) return 0;
  const long rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

//@ whole_quotient
long whole_quotient(long a, long b) {
  if (b == 0) return 0;
  if (b == -1) return (long)(-(ulong)a);
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

//@ modulo
double modulo(double a, double b) {
  const double rest = fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

//@ floor_quotient
double floor_quotient(double a, double b) {
  const double q = floor(a / b);
  const double rest = fma(-q, b, a);  // its sign tells whether the division rounded up
  return rest != 0 && (rest < 0) != (b < 0) ? q - 1 : q;
}

//@ log_add_exp
// log(exp(a) + exp(b)) without overflow or underflow on the way.
double log_add_exp(double a, double b) {
  const double larger = a > b || a != a ? a : b;
  if (!(fabs(larger) < INFINITY)) return b != b ? b : larger;
  return larger + log1p(exp(-fabs(a - b)));
}
