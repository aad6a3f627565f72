// Rows sorted, and the first of a row. An element becomes an entry: its key as a whole number whose order is the sort's, above
// its place, so that one comparison decides, equal keys keep their order, and of a NaN nothing is asked. NaN counts as the largest.
#pragma once
#include "hone/cpu/loops.h"

namespace hone {

namespace detail {
template <unsigned BYTES>
struct EntryOf {
  using Image = uint32_t;
  using Type = uint64_t;
};
template <>
struct EntryOf<8> {
  using Image = uint64_t;
  using Type = unsigned __int128;
};
}  // namespace detail

/// A key of type T and its place, which is below 2^32.
template <class T>
using Entry = typename detail::EntryOf<sizeof(T)>::Type;

template <bool DESCENDING, class T>
HONE_INLINE Entry<T> entry_of(T key, int64_t place) {
  using Image = typename detail::EntryOf<sizeof(T)>::Image;
  constexpr Image kSign = Image{1} << (8 * sizeof(T) - 1);
  Image bits;
  if constexpr (FloatScalar<T>) {
    bits = bit_cast<Image>(key + T(0));                     // zeros of both signs are one number
    bits = key != key ? kSign - 1 : bits;
    bits ^= (bits & kSign) != 0 ? ~Image{0} : kSign;        // of negative numbers the larger bits are the smaller number
  } else {
    bits = bit_cast<Image>(key) ^ kSign;
  }
  return Entry<T>{DESCENDING ? ~bits : bits} << 32 | static_cast<uint32_t>(place);
}

template <class E>
HONE_INLINE int64_t place_of(E entry) { return static_cast<int64_t>(entry & 0xffffffffu); }

/// From entry `sorted` on, each goes where it belongs among those before it.
template <class E>
HONE_INLINE void insert_entries(E* entries, int64_t sorted, int64_t count) {
  for (int64_t k = sorted; k < count; ++k) {
    const E entry = entries[k];
    int64_t at = k;
    for (; at > 0 && entry < entries[at - 1]; --at) entries[at] = entries[at - 1];
    entries[at] = entry;
  }
}

/// So few entries are sorted by insertion: counting digits takes as long however few there are.
constexpr int64_t kFewEntries = 40;

/// Sorts entries whose equal keys are in order, digit by digit from the last one on; a digit that all have in common costs nothing. `spare`
/// has room for as many. Gives whichever of the two holds the result.
template <int BITS, class E>
inline E* sort_entries(E* entries, E* spare, int64_t count) {
  if (count <= kFewEntries) {
    insert_entries(entries, 1, count);
    return entries;
  }
  constexpr int kDigits = (8 * static_cast<int>(sizeof(E) / 2) + BITS - 1) / BITS, kValues = 1 << BITS;
  const auto digit = [](E entry, int d) HONE_BODY { return static_cast<uint32_t>(entry >> (32 + d * BITS)) & (kValues - 1); };
  uint32_t counts[kDigits][kValues] = {};
  for (int64_t k = 0; k < count; ++k) {
    HONE_UNROLL(8)
    for (int d = 0; d < kDigits; ++d) ++counts[d][digit(entries[k], d)];
  }
  for (int d = 0; d < kDigits; ++d) {
    uint32_t* next = counts[d];
    if (next[digit(entries[0], d)] == count) continue;
    uint32_t before = 0;
    for (int v = 0; v < kValues; ++v) {
      const uint32_t here = next[v];
      next[v] = before;
      before += here;
    }
    for (int64_t k = 0; k < count; ++k) spare[next[digit(entries[k], d)]++] = entries[k];
    E* const sorted = spare;
    spare = entries;
    entries = sorted;
  }
  return entries;
}

/// A row of `length` keys in order. `entries` and `spare` have room for as many; V is a vector of the type that keys are compared in.
template <bool DESCENDING, int BITS, class V, class S>
inline const Entry<Lane<V>>* sorted_row(const S* row, int64_t length, Entry<Lane<V>>* entries, Entry<Lane<V>>* spare) {
  for (int64_t j = 0; j < length; ++j) entries[j] = entry_of<DESCENDING>(load<Lane<V>>(row + j), j);
  return sort_entries<BITS>(entries, spare, length);
}

/// Lanes that may come before `last`: no other does.
template <bool DESCENDING, class V>
HONE_INLINE Mask<V> may_come_before(V v, Lane<V> last) {
  return DESCENDING ? ~(v <= last) : ~(v >= last);   // NaN may
}

/// The first `kept` of a row, in order. Vectors of the row are compared with the last of those kept so far; what comes before it waits behind
/// them, and more than MORE that wait are put in order, and all but the first `kept` forgotten. `entries` and `spare` have room for
/// kept + MORE and a vector. Gives whichever of the two holds the result.
template <bool DESCENDING, int MORE, int UNROLL, class V, class S>
inline const Entry<Lane<V>>* first_of_row(const S* row, int64_t length, int64_t kept, Entry<Lane<V>>* entries, Entry<Lane<V>>* spare) {
  using T = Lane<V>;
  using E = Entry<T>;
  constexpr int kWidth = width<V>;
  int64_t held = kept < length ? kept : length;
  for (int64_t j = 0; j < held; ++j) entries[j] = entry_of<DESCENDING>(load<T>(row + j), j);
  E* sorted = sort_entries<8>(entries, spare, held);
  spare = sorted == entries ? spare : entries;
  entries = sorted;
  if (kept >= length) return entries;
  E last{};
  T last_key{};
  const auto settle = [&]() HONE_BODY {
    if (held - kept <= kFewEntries) {
      insert_entries(entries, kept, held);
    } else {
      sorted = sort_entries<8>(entries, spare, held);
      spare = sorted == entries ? spare : entries;
      entries = sorted;
    }
    held = kept;
    last = entries[kept - 1];
    last_key = load<T>(row + place_of(last));
  };
  settle();
  const auto take = [&](T key, int64_t j) HONE_BODY {
    const E entry = entry_of<DESCENDING>(key, j);
    entries[held] = entry;
    held += entry < last;
  };
  int64_t j = kept;
  for (; j + UNROLL * kWidth <= length; j += UNROLL * kWidth) {
    unsigned some = 0;
    HONE_UNROLL(8)
    for (int u = 0; u < UNROLL; ++u) some |= mask_bits(may_come_before<DESCENDING>(load<V>(row + j + u * kWidth), last_key));
    if (some == 0) [[likely]] continue;
    for (int u = 0; u < UNROLL; ++u) {
      const int64_t at = j + u * kWidth;
      unsigned lanes_left = mask_bits(may_come_before<DESCENDING>(load<V>(row + at), last_key));
      for (; lanes_left != 0; lanes_left &= lanes_left - 1) {
        const int64_t place = at + __builtin_ctz(lanes_left);
        take(load<T>(row + place), place);
      }
      if (held - kept > MORE) settle();
    }
  }
  for (; j < length; ++j) {
    take(load<T>(row + j), j);
    if (held - kept > MORE) settle();
  }
  settle();
  return entries;
}

}  // namespace hone
