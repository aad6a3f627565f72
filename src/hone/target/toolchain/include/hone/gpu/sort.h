// Sorting rows: tiles of a row in shared memory by a bitonic network, sorted segments of long rows merged by merge paths. Stable,
// in either direction; NaN counts as the largest. An element is a key and where it was, so that equals keep their order, and
// what comes out are keys, places or both.
#pragma once
#include "hone/gpu/math.h"

namespace hone::gpu {

/// Where an element that fills a tile up was.
constexpr int32_t kNowhere = 0x7fffffff;

/// Whether (a, i) comes before (b, j); places differ, but those of what fills up, which comes last.
template <bool Descending, class T>
HONE_DEVICE bool sorts_before(T a, int32_t i, T b, int32_t j) {
  if (i == kNowhere || j == kNowhere) return i < j;
  const bool nan_a = a != a, nan_b = b != b;
  const bool below = nan_b ? !nan_a : a < b, above = nan_a ? !nan_b : b < a;
  return Descending ? above || (!below && i < j) : below || (!above && i < j);
}

/// Rows x length elements in shared memory, each row sorted. By all Threads of the block; `length` is a power of two.
template <bool Descending, int Threads, int Rows, class T>
HONE_DEVICE void sort_tiles(T* keys, int32_t* places, int length) {
  for (int size = 2; size <= length; size *= 2)
    for (int stride = size / 2; stride > 0; stride /= 2) {
      __syncthreads();
      for (int pair = static_cast<int>(threadIdx.x); pair < Rows * length / 2; pair += Threads) {
        const int i = pair / stride * 2 * stride + pair % stride, j = i + stride;
        const bool forward = (i & size & (length - 1)) == 0;   // segments of `size` alternate; the last one of a row is forward
        if (sorts_before<Descending>(keys[j], places[j], keys[i], places[i]) != forward) continue;
        const T key = keys[i];
        const int32_t place = places[i];
        keys[i] = keys[j], places[i] = places[j];
        keys[j] = key, places[j] = place;
      }
    }
  __syncthreads();
}

/// The first Kept elements, in the order of the sort, of what a block's threads bring tile by tile: Each elements a thread. What may be among
/// them is kept in shared memory until there is no room for another tile of such. Every thread of the block comes to each call.
/// Shared: Room keys and places, Room a power of two that holds Kept and a tile, and a counter.
template <bool Descending, int Threads, int Each, int Kept, int Room, class T>
struct First {
  static constexpr int kTile = Threads * Each;
  static_assert(Kept + kTile <= Room);
  T* keys;
  int32_t* places;
  int* more;   ///< elements behind the first Kept

  HONE_DEVICE explicit First(unsigned char* memory)
      : keys(reinterpret_cast<T*>(memory)), places(reinterpret_cast<int32_t*>(keys + Room)), more(places + Room) {
    for (int k = static_cast<int>(threadIdx.x); k < Room; k += Threads) keys[k] = T{};
    forget_from(0);
  }

  /// Elements with place kNowhere are none.
  HONE_DEVICE void take(const T (&key)[Each], const int32_t (&place)[Each]) {
    const T last = keys[Kept - 1];
    const int32_t last_place = places[Kept - 1];
    for (int e = 0; e < Each; ++e) {
      if (place[e] == kNowhere || !sorts_before<Descending>(key[e], place[e], last, last_place)) continue;
      const int to = Kept + atomicAdd(more, 1);   // in any order: places tell equals apart
      keys[to] = key[e], places[to] = place[e];
    }
    __syncthreads();
    const bool full = *more > Room - Kept - kTile;
    __syncthreads();   // nobody adds before everybody has read
    if (full) settle();
  }

  /// The first Kept of all that came are in order. Nothing waits to be added.
  HONE_DEVICE void settle() {
    int used = 1;
    while (used < Kept + *more) used *= 2;
    sort_tiles<Descending, Threads, 1>(keys, places, used);
    forget_from(Kept);
  }

 private:
  HONE_DEVICE void forget_from(int begin) {
    for (int k = begin + static_cast<int>(threadIdx.x); k < Room; k += Threads) places[k] = kNowhere;
    if (threadIdx.x == 0) *more = 0;
    __syncthreads();
  }
};

/// How many of the first `at` elements of two sorted segments together come from the first one.
template <bool Descending, class T>
HONE_DEVICE int64_t merge_path(const T* a, const int32_t* of_a, int64_t in_a, const T* b, const int32_t* of_b, int64_t in_b, int64_t at) {
  int64_t low = at > in_b ? at - in_b : 0, high = at < in_a ? at : in_a;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (sorts_before<Descending>(a[middle], of_a[middle], b[at - 1 - middle], of_b[at - 1 - middle])) low = middle + 1;
    else high = middle;
  }
  return low;
}

}  // namespace hone::gpu
