// Running results and how threads bring theirs together. Merging is a tree over lanes, then over waves, in an order
// that depends on the launch alone: the same bits every time.
#pragma once
#include "hone/gpu/tile.h"

namespace hone::gpu {

template <class T> constexpr T kHighest = __builtin_inff();
template <> constexpr double kHighest<double> = __builtin_inf();
template <> constexpr int64_t kHighest<int64_t> = 9223372036854775807LL;
template <> constexpr int32_t kHighest<int32_t> = 2147483647;
template <class T> constexpr T kLowest = -__builtin_inff();
template <> constexpr double kLowest<double> = -__builtin_inf();
template <> constexpr int64_t kLowest<int64_t> = -9223372036854775807LL - 1;
template <> constexpr int32_t kLowest<int32_t> = -2147483647 - 1;

/// Integers wrap around, as products of parts may where the whole does not.
template <class T>
HONE_DEVICE T sum_of(T a, T b) {
  if constexpr (T(1) / T(2) == T(0)) return whole_add<T>(a, b);
  else return a + b;
}
template <class T>
HONE_DEVICE T product_of(T a, T b) {
  if constexpr (T(1) / T(2) == T(0)) return whole_mul<T>(a, b);
  else return a * b;
}

#define HONE_ACCUMULATOR(NAME, START, TAKE)                                   \
  template <class T>                                                          \
  struct NAME {                                                               \
    T value = START;                                                          \
    HONE_DEVICE void take(T x) { value = TAKE; }                              \
    HONE_DEVICE void merge(const NAME& other) { take(other.value); }          \
    HONE_DEVICE NAME moved(int lanes) const { return {shuffle_xor(value, lanes)}; } \
  };
HONE_ACCUMULATOR(Sum, 0, sum_of(value, x))
HONE_ACCUMULATOR(Prod, 1, product_of(value, x))
HONE_ACCUMULATOR(Max, kLowest<T>, max(value, x))
HONE_ACCUMULATOR(Min, kHighest<T>, min(value, x))
#undef HONE_ACCUMULATOR

/// The first place of the largest (Sign 1) or smallest (-1) value; a NaN beats all others. take() is given places in
/// ascending order. Where nothing beats what it began with, all values are that, and the first place is 0.
template <class T, int Sign>
struct ArgBest {
  static constexpr int64_t kNowhere = 9223372036854775807LL;
  T value = Sign > 0 ? kLowest<T> : kHighest<T>;
  int64_t at = kNowhere;
  HONE_DEVICE void take(T x, int64_t j) {
    const bool beats = Sign > 0 ? !(x <= value) : !(x >= value);   // or one of them is NaN
    if (beats && value == value) value = x, at = j;
  }
  HONE_DEVICE void merge(const ArgBest& other) {
    const bool mine_nan = value != value, its_nan = other.value != other.value;
    const bool beats = Sign > 0 ? other.value > value : other.value < value, equal = other.value == value || (mine_nan && its_nan);
    if ((its_nan && !mine_nan) || (!mine_nan && beats) || (equal && other.at < at)) *this = other;
  }
  HONE_DEVICE ArgBest moved(int lanes) const { return {shuffle_xor(value, lanes), shuffle_xor(at, lanes)}; }
  HONE_DEVICE int64_t place() const { return at == kNowhere ? 0 : at; }
};
template <class T> using ArgMax = ArgBest<T, 1>;
template <class T> using ArgMin = ArgBest<T, -1>;

/// The largest of some values, and the sum of exp(value - largest). Finite however large they are. Many are brought
/// together in two steps, first() of all and then under() that: of plain results, cheaper than one by one.
template <class T>
struct ExpSum {
  T value = kLowest<T>, second = 0;
  HONE_DEVICE Max<T> first() const { return {value}; }
  HONE_DEVICE Sum<T> under(const Max<T>& all) const { return {mended(all.value)}; }
  HONE_DEVICE static ExpSum both(const Max<T>& all, const Sum<T>& sum) { return {all.value, sum.value}; }
  HONE_DEVICE static ExpSum of(T largest, T sum, T) { return {largest, sum}; }
  HONE_DEVICE void merge(const ExpSum& other) {
    const T largest = max(value, other.value);
    second = mended(largest) + other.mended(largest);
    value = largest;
  }
  /// The sum under another maximum. Where all values are -infinity the local sum means nothing.
  HONE_DEVICE T mended(T largest) const { return value == kLowest<T> ? T(0) : value == largest ? second : second * exp(value - largest); }
};

/// The sum of `count` values.
template <class T>
struct Counted {
  T value = 0, count = 0;
  HONE_DEVICE void merge(const Counted& other) { value += other.value, count += other.count; }
  HONE_DEVICE Counted moved(int lanes) const { return {shuffle_xor(value, lanes), shuffle_xor(count, lanes)}; }
};

/// The sum of `count` values, and the sum of their squared distances from their mean. Many in two steps, as ExpSum.
template <class T>
struct Moments {
  T value = 0, second = 0, count = 0;
  HONE_DEVICE Counted<T> first() const { return {value, count}; }
  HONE_DEVICE Sum<T> under(const Counted<T>& all) const {
    if (count == 0) return {};
    const T apart = value / count - all.value / all.count;
    return {second + apart * apart * count};
  }
  HONE_DEVICE static Moments both(const Counted<T>& all, const Sum<T>& squares) { return {all.value, squares.value, all.count}; }
  HONE_DEVICE static Moments of(T sum, T squares, T count) { return {sum, squares, count}; }
  HONE_DEVICE void merge(const Moments& other) {
    if (other.count == 0) return;
    if (count == 0) { *this = other; return; }
    const T apart = other.value / other.count - value / count, both = count + other.count;
    second += other.second + apart * apart * (count * (other.count / both));
    value += other.value;
    count = both;
  }
};

/// Running results that many threads bring together in two steps.
template <class A> constexpr bool kTwoSteps = false;
template <class T> constexpr bool kTwoSteps<ExpSum<T>> = true;
template <class T> constexpr bool kTwoSteps<Moments<T>> = true;

/// Shared memory through which the waves of a group speak: two turns, so that one barrier a merge is enough.
template <int Threads, int Rows>
struct Scratch {
  static constexpr int kWaves = Threads > kWave ? Threads / kWave : 1;
  alignas(16) unsigned char bytes[kWaves > 1 ? 2 * Rows * kWaves * 32 : 16];
};

/// The Threads threads (threadIdx.x) that work on one row; Rows such groups a block (threadIdx.y). Threads is a power
/// of two, and a block whole waves. Every thread of the block comes to every merge.
template <int Threads, int Rows>
struct ThreadGroup {
  static constexpr int kWaves = Scratch<Threads, Rows>::kWaves;
  Scratch<Threads, Rows>& scratch;
  int turn = 0;

  HONE_DEVICE explicit ThreadGroup(Scratch<Threads, Rows>& s) : scratch(s) {}
  HONE_DEVICE static int row() { return Rows == 1 ? 0 : static_cast<int>(threadIdx.y); }

  /// All that the group's threads have, in each of them.
  template <class A>
  HONE_DEVICE void merge(A& a) {
    static_assert(sizeof(A) <= 32, "a running result of at most 32 bytes");
    if constexpr (kTwoSteps<A>) {
      auto first = a.first();
      merge(first);
      auto second = a.under(first);
      merge(second);
      a = A::both(first, second);
    } else {
      HONE_UNROLL
      for (int lanes = (Threads < kWave ? Threads : kWave) / 2; lanes > 0; lanes /= 2) a.merge(a.moved(lanes));
      if constexpr (kWaves > 1) {
        A* const slots = reinterpret_cast<A*>(scratch.bytes + (turn * Rows + row()) * kWaves * 32);
        turn ^= 1;
        if (lane() == 0) slots[threadIdx.x / kWave] = a;
        __syncthreads();
        a = slots[lane() % kWaves];
        HONE_UNROLL
        for (int lanes = kWaves / 2; lanes > 0; lanes /= 2) a.merge(a.moved(lanes));
      }
    }
  }
};

/// Shared memory of a block of Across columns of threads and Down rows of them, for running results of Slot bytes at most.
template <int Across, int Down, int Vec, int Slot>
struct ColumnScratch {
  static constexpr int kSlot = Slot;
  alignas(16) unsigned char bytes[Down > 1 ? Across * Down * Vec * Slot : 16];
};

/// Brings together what the Down threads of each column have, in each of them.
template <int Across, int Down, int Vec, int Slot, class A>
HONE_DEVICE void merge_columns(ColumnScratch<Across, Down, Vec, Slot>& scratch, A (&a)[Vec]) {
  static_assert(sizeof(A) <= Slot, "a running result larger than its slot");
  if constexpr (Down > 1) {
    A* const slots = reinterpret_cast<A*>(scratch.bytes);
    HONE_UNROLL
    for (int e = 0; e < Vec; ++e) slots[(threadIdx.y * Vec + e) * Across + threadIdx.x] = a[e];
    __syncthreads();
    HONE_UNROLL
    for (int e = 0; e < Vec; ++e) {
      a[e] = slots[e * Across + threadIdx.x];
      for (int y = 1; y < Down; ++y) a[e].merge(slots[(y * Vec + e) * Across + threadIdx.x]);
    }
    __syncthreads();
  }
}

}  // namespace hone::gpu
