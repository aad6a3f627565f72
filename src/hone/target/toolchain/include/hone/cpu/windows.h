// Where windows of a convolution or a pool look, and the patches that they see as panels of a matrix product
// (hone/cpu/pack.h). A place is a point of the result's space, a tap a point of the window's.
//
//   using Windows = hone::Windows<false, hone::Each<1, 2>, hone::Each<1, 1>, hone::Each<1, 1>>;  // stride, dilation, padding
//   const Windows windows{{H, W}, {H, W / 2}, {3, 3}};          // extents of the operand, of the result, of the window
//   hone::pack_patches<COLUMNS>(to, x, windows, {low, end}, place, count);
#pragma once
#include "hone/cpu/integer.h"
#include "hone/cpu/loops.h"
#include "hone/cpu/scan.h"

namespace hone {

/// Numbers, one for each dimension of space.
template <int64_t... N>
struct Each {
  static constexpr int kCount = sizeof...(N);
  static constexpr int64_t at[kCount] = {N...};  // older clangs do not see a bound that is left out
};

/// Of a run of places side by side along the last dimension, those that a tap shows an element to: first, first + every, … below
/// end; the first sees element `from` of the operand's line, the others those `step` apart behind it.
struct Sight {
  int64_t first, end, every, from, step;
};

/// TRANSPOSED: element q of the operand meets place q * stride + tap * dilation - padding; else place p meets element
/// p * stride + tap * dilation - padding.
template <bool TRANSPOSED, class Stride, class Dilation, class Padding>
struct Windows {
  static constexpr int kSpace = Stride::kCount, kLast = kSpace - 1;
  int64_t from[kSpace], to[kSpace], window[kSpace];

  [[nodiscard]] static HONE_INLINE int64_t product(const int64_t (&extents)[kSpace]) {
    int64_t all = 1;
    for (const int64_t extent : extents) all *= extent;
    return all;
  }
  /// Coordinates of linear index `at`.
  static HONE_INLINE void split(int64_t at, const int64_t (&extents)[kSpace], int64_t (&out)[kSpace]) {
    HONE_UNROLL(3)
    for (int d = kLast; d > 0; --d) out[d] = at % extents[d], at /= extents[d];
    out[0] = at;
  }
  /// Elements of the operand before the line that a tap shows to a place, in all dimensions but the last; -1: it looks beyond the edge or between.
  [[nodiscard]] HONE_INLINE int64_t line(const int64_t (&place)[kSpace], const int64_t (&tap)[kSpace]) const {
    int64_t all = 0;
    HONE_UNROLL(3)
    for (int d = 0; d < kLast; ++d) {
      int64_t at;
      if constexpr (TRANSPOSED) {
        at = place[d] + Padding::at[d] - tap[d] * Dilation::at[d];
        if (at < 0 || at % Stride::at[d] != 0) return -1;
        at /= Stride::at[d];
      } else {
        at = place[d] * Stride::at[d] + tap[d] * Dilation::at[d] - Padding::at[d];
      }
      if (at < 0 || at >= from[d]) return -1;
      all = all * from[d] + at;
    }
    return all * from[kLast];
  }
  /// What tap `tap` of the last dimension shows to `run` places from `place` on.
  [[nodiscard]] HONE_INLINE Sight sight(int64_t place, int64_t tap, int64_t run) const {
    constexpr int64_t kStride = Stride::at[kLast];
    if constexpr (TRANSPOSED) {
      const int64_t at = place + Padding::at[kLast] - tap * Dilation::at[kLast];  // of the first place, in strides
      const int64_t begin = max<int64_t>(ceil_div(at, kStride), 0);
      return {begin * kStride - at, min<int64_t>(run, from[kLast] * kStride - at), kStride, begin, 1};
    } else {
      const int64_t at = place * kStride + tap * Dilation::at[kLast] - Padding::at[kLast];
      const int64_t begin = max<int64_t>(ceil_div(-at, kStride), 0);
      return {begin, min<int64_t>(run, ceil_div(from[kLast] - at, kStride)), 1, at + begin * kStride, kStride};
    }
  }
  /// Whether neighbours in the result see neighbours.
  static constexpr bool kSideBySide = Stride::at[kLast] == 1;
};

/// A run of a line of patches: what is seen, and zeros.
template <class W, class T>
HONE_INLINE void pack_sight(float* HONE_RESTRICT to, const T* line, const Sight& sight, int64_t run) {
  const auto zeros = [&](int64_t from, int64_t end) HONE_BODY {
    for_each<f32v, 1>(end - from, [&](int64_t j, auto n) HONE_BODY { store_n(to + from + j, f32v{}, n); });
  };
  if constexpr (W::kSideBySide) {
    const int64_t first = min(sight.first, run), end = max(sight.end, first);
    if (first > 0) zeros(0, first);
    for_each<f32v, 1>(end - first, [&](int64_t j, auto n) HONE_BODY { store_n(to + first + j, load_n<f32v>(line + sight.from + j, n), n); });
    if (end < run) zeros(end, run);
  } else {
    if (sight.every > 1 || sight.first > 0 || sight.end < run) zeros(0, run);
    for (int64_t j = sight.first, at = sight.from; j < sight.end; j += sight.every, at += sight.step) to[j] = load<float>(line + at);
  }
}

/// What a tap shows to a run of places.
struct Seen {
  int64_t line;  ///< Windows::line()
  Sight sight;
};
/// Of one tap after another from the first on.
template <class W>
struct Looking {
  const W& windows;
  const int64_t (&at)[W::kSpace];
  int64_t run;
  int64_t tap[W::kSpace] = {};

  HONE_INLINE Seen next() {
    const int64_t line = windows.line(at, tap);
    const Seen seen{max<int64_t>(line, 0), line < 0 ? Sight{run, run, 1, 0, 1} : windows.sight(at[W::kLast], tap[W::kLast], run)};
    int d = W::kLast;
    while (d >= 0 && ++tap[d] == windows.window[d]) tap[d--] = 0;
    return seen;
  }
};

/// A panel of COLUMNS places from `place` on, `count` of them there and zeros behind: of lines low to end of the depth, which is channels
/// by taps, the last tap changing fastest. `x`: the first channel. Every channel sees alike: where a window has few taps, they are
/// looked up once for all channels.
template <int COLUMNS, class W, class T>
HONE_INLINE void pack_patches(float* HONE_RESTRICT to, const T* x, const W& windows, int64_t low, int64_t end, int64_t place, int64_t count) {
  constexpr int S = W::kSpace, kLast = W::kLast;
  const int64_t channel = W::product(windows.from), taps = W::product(windows.window);
  for (int64_t column = 0; column < COLUMNS;) {
    if (column >= count) {
      for (int64_t k = low; k < end; ++k)
        for (int64_t j = column; j < COLUMNS; ++j) to[(k - low) * COLUMNS + j] = 0;
      break;
    }
    int64_t at[S];
    W::split(place + column, windows.to, at);
    const int64_t run = min(count - column, windows.to[kLast] - at[kLast]);
    const T* from = x + low / taps * channel;
    float* line = to + column;
    Looking<W> looking{windows, at, run};
    int64_t tap = low % taps;
    constexpr int64_t kFewTaps = 128;
    if (taps <= kFewTaps) {
      Seen seen[kFewTaps];
      for (int64_t t = 0; t < taps; ++t) seen[t] = looking.next();
      for (int64_t k = low; k < end; ++k, line += COLUMNS) {
        const Seen& now = seen[tap];
        if (W::kSideBySide && run == COLUMNS && now.sight.first == 0 && now.sight.end == COLUMNS) {
          HONE_UNROLL(8)
          for (int j = 0; j < COLUMNS; j += width<f32v>) store(line + j, load<f32v>(from + now.line + now.sight.from + j));
        } else {
          pack_sight<W>(line, from + now.line, now.sight, run);
        }
        if (++tap == taps) tap = 0, from += channel;
      }
    } else {
      W::split(tap, windows.window, looking.tap);
      for (int64_t k = low; k < end; ++k, line += COLUMNS) {
        const Seen now = looking.next();
        pack_sight<W>(line, from + now.line, now.sight, run);
        if (++tap == taps) tap = 0, from += channel;
      }
    }
    column += run;
  }
}

/// OP (Sum or Max) over what the windows of `count` places from `place` on see of x; nothing is seen beyond the edge. `total`: room for as
/// many sums; those of many taps are added up there, in segments, so that the error does not grow with the window.
template <class OP, class W, class T>
HONE_INLINE void pool_places(float* HONE_RESTRICT to, double* HONE_RESTRICT total, const T* x, const W& windows, int64_t place, int64_t count) {
  constexpr int S = W::kSpace, kLast = W::kLast;
  constexpr int64_t kSegment = 32;
  const int64_t taps = W::product(windows.window);
  const f32v neutral = OP::template State<f32v, 1>::neutral();
  const auto fill = [&](float* at, int64_t run) HONE_BODY {
    for_each<f32v, 1>(run, [&](int64_t j, auto n) HONE_BODY { store_n(at + j, neutral, n); });
  };
  for (int64_t column = 0, run; column < count; column += run) {
    int64_t at[S], tap[S]{};
    W::split(place + column, windows.to, at);
    run = min(count - column, windows.to[kLast] - at[kLast]);
    float* part = to + column;
    fill(part, run);
    for (int64_t k = 1; k <= taps; ++k) {
      const int64_t begin = windows.line(at, tap);
      const Sight sight = windows.sight(at[kLast], tap[kLast], run);
      if (begin >= 0)
        for_each<f32v, 2>(sight.end - sight.first, [&](int64_t j, auto n) HONE_BODY {
          const T* from = x + begin + sight.from + j * sight.step;
          f32v seen;
          if constexpr (W::kSideBySide) seen = load_n<f32v>(from, n);
          else seen = load_apart<f32v>(from, sight.step, n);
          float* sum = part + sight.first + j;
          store_n(sum, detail::Joined<OP>::join(load_n<f32v>(sum, n), seen), n);
        });
      if constexpr (Same<OP, Sum>)
        if (taps > kSegment && (k % kSegment == 0 || k == taps)) {
          double* sums = total + column;
          const bool first = k == kSegment;
          for (int64_t j = 0; j < run; ++j) sums[j] = (first ? 0.0 : sums[j]) + static_cast<double>(part[j]);
          if (k < taps) fill(part, run);
          else
            for (int64_t j = 0; j < run; ++j) part[j] = static_cast<float>(sums[j]);
        }
      int d = kLast;
      while (d >= 0 && ++tap[d] == windows.window[d]) tap[d--] = 0;
    }
  }
}

}  // namespace hone
