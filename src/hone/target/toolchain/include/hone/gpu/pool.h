// Pooling: maxima and sums over windows of up to three dimensions. Of the dimensions one lies across (along memory); a
// group of threads marches along another, and beside both may lie a third. The group takes up the lines of a plane with
// words side by side, each thread its own columns: what lies in the way of the march or beside it is brought together
// in registers, and a line that several windows on the way cover serves them all. A window on the march that is complete
// goes through a line of shared memory, where the windows across are taken, neighbouring threads side by side again. So
// loads and stores are runs of memory whatever the boundaries of rows, and no window's elements are fetched twice by a
// group but for those that two lines beside share.
#pragma once
#include "hone/gpu/reduce.h"

/// Bodies are large: once is enough.
#define HONE_ONCE _Pragma("unroll 1")

namespace hone::gpu {

/// Windows along one dimension: window w covers places w * Stride - Low + k * Dilation, k < Kernel. At most High places
/// behind the last element are covered.
template <int Kernel, int Stride, int Dilation, int Low, int High>
struct Windows {
  static constexpr int kKernel = Kernel, kStride = Stride, kDilation = Dilation, kLow = Low, kHigh = High;
  static constexpr int kReach = (Kernel - 1) * Dilation + 1;
  /// Windows that a place lies in at most, counting those that pass over it.
  static constexpr int kOpen = (kReach - 1) / Stride + 1;
  /// From the first place of the first to the last place of the last of `Count` windows.
  template <int Count>
  static constexpr int kSpan = (Count - 1) * Stride + kReach;
  /// Whether a window has the place so far behind its beginning.
  HONE_DEVICE static constexpr bool has(int behind) { return behind < kReach && behind % Dilation == 0; }
};

/// Extents of what is pooled and of the result; `images` of both lie one behind the other.
struct PoolShape {
  int64_t images, march, beside, across;
  int64_t march_windows, beside_windows, across_windows;
};

/// What a group of Threads works on across: a run of columns, and the windows that lie in it. Rows that are short enough
/// are one tile. Hold windows side by side are a thread's; 1: windows go to threads in turn.
template <class Across, int Threads, int Vec, int Words, int Hold>
struct PoolTile {
  static constexpr int kColumns = Threads * Vec * Words;
  /// Most windows that a tile has where a row takes several.
  static constexpr int kFit = (kColumns - Vec + 1 - Across::kReach) / Across::kStride + 1;
  static constexpr int kMost = Hold > 1 && Hold * Threads < kFit ? Hold * Threads : kFit;
  /// The line in shared memory: padding, the columns, padding; words on their boundaries.
  static constexpr int kBefore = (Across::kLow + 15) / 16 * 16;
  static constexpr int kLine = (kBefore + kColumns + Across::kHigh + (Hold - 1) * Across::kStride + 15) / 16 * 16;

  int64_t window, column;   ///< the first of each
  int windows, columns;     ///< how many
  int shift;                ///< where in the line the first window begins

  HONE_DEVICE static bool whole(const PoolShape& shape) {
    return shape.across <= kColumns && (Hold == 1 || shape.across_windows <= Hold * Threads);
  }
  /// Tiles of a row.
  HONE_DEVICE static int64_t count(const PoolShape& shape) {
    return whole(shape) ? 1 : (shape.across_windows + kMost - 1) / kMost;
  }
  HONE_DEVICE PoolTile(const PoolShape& shape, int64_t number) {
    const int64_t most = whole(shape) ? shape.across_windows : kMost;
    window = number * most;
    windows = static_cast<int>(min(most, shape.across_windows - window));
    const int64_t begin = window * Across::kStride - Across::kLow;
    column = begin < 0 ? 0 : begin / Vec * Vec;
    columns = static_cast<int>(max(int64_t{0}, min(int64_t{kColumns}, shape.across - column)));
    shift = static_cast<int>(begin - column) + kBefore;
  }
};

/// Two lines of shared memory: one is written while the other may still be read.
template <class V, int Size>
struct PoolLines {
  alignas(16) V at[2][Size];
};

/// What a window without elements has, as an element of T.
template <class Take, class T>
HONE_DEVICE T outside() {
  const auto start = Take().value;
  if constexpr (sizeof(T) < sizeof(start) && static_cast<decltype(start)>(0.5) == 0) {
    return start < 0 ? static_cast<T>(-(int64_t{1} << (8 * sizeof(T) - 1))) : T(0);
  } else {
    return stored<T>(start);
  }
}

/// All threads of a group, which is a part of a wave or as many waves as the block has.
template <int Threads>
HONE_DEVICE void thread_group_barrier() {
#if !defined(__HIP__) && !defined(__HIP_PLATFORM_AMD__)
  if constexpr (Threads <= kWave) return __syncwarp();
#endif
  __syncthreads();
}

/// A group's work: Segment windows of the march, number `segment` of them, with window `beside`, over one tile across.
/// epilogue(m, a, value) takes the value of window m of the march and a across. Neighbouring segments are marched in
/// opposite directions, so that two that run at the same time come to the planes they share at the same time: one of
/// them finds those in a cache. `some`: the group has work; one that has none keeps its block company at barriers.
template <class March, class Beside, class Across, class Take, int Threads, int Vec, int Words, int Segment, int Hold, int Ahead>
struct PoolGroup {
  using Place = PoolTile<Across, Threads, Vec, Words, Hold>;
  using V = decltype(Take().value);
  using Lines = PoolLines<V, Place::kLine>;
  /// Planes of a step: behind the last that a window has there is nothing to see.
  static constexpr int kPlanes = March::kReach < March::kStride ? March::kReach : March::kStride;

  Lines& lines;
  const PoolShape& shape;
  const Place& place;
  bool some;

  template <class T, class Epilogue>
  HONE_DEVICE void pool(const T* image, int64_t segment, int64_t beside, Epilogue epilogue) const {
    clear_borders();
    if (shape.across % Vec == 0)
      march<Fit::kPacks>(image, segment, beside, epilogue);
    else
      march<Fit::kSingles>(image, segment, beside, epilogue);
  }

 private:
  HONE_DEVICE static int thread() { return static_cast<int>(threadIdx.x); }

  /// What no column is written to is padding, once and for all.
  HONE_DEVICE void clear_borders() const {
    for (int p = thread(); p < Place::kLine; p += Threads) {
      if (p >= Place::kBefore && p < Place::kBefore + place.columns) continue;
      lines.at[0][p] = Take().value;
      lines.at[1][p] = Take().value;
    }
  }

  template <Fit Shape, class T, class Epilogue>
  HONE_DEVICE void march(const T* image, int64_t segment, int64_t beside, Epilogue epilogue) const {
    const bool back = segment % 2 != 0;
    const int64_t plane0 = segment * Segment * March::kStride - March::kLow, line0 = beside * Beside::kStride - Beside::kLow;
    using Plane = Packs<T, Vec, Words>[Beside::kKernel];
    // A step brings the planes from the beginning of one window to that of the next.
    const auto load = [&](Plane& lines_of_plane, int step, int s) {
      const int plane = step * March::kStride + s;
      const int64_t m = plane0 + (back ? March::template kSpan<Segment> - 1 - plane : plane);
      const bool wanted = some && m >= 0 && m < shape.march && has(step, s);
      HONE_UNROLL
      for (int k = 0; k < Beside::kKernel; ++k) {
        const int64_t b = line0 + k * Beside::kDilation;
        const bool inside = wanted && b >= 0 && b < shape.beside;
        const T* const line = image + (inside ? (m * shape.beside + b) * shape.across : 0) + place.column;
        const Tile<Threads, Vec, Words, Shape> tile{0, inside ? place.columns : 0, thread()};
        lines_of_plane[k] = tile.template full<T>(outside<Take, T>());
        HONE_UNROLL
        for (int u = 0; u < Words; ++u) tile.load_word(lines_of_plane[k][u], line, u);
      }
    };
    Plane held[Ahead + 1][kPlanes];        // of this step and of those after it
    Take open[March::kOpen][Words][Vec];   // of the window that began with this step, and of those before it
    HONE_UNROLL
    for (int a = 0; a < Ahead; ++a) {
      HONE_UNROLL
      for (int s = 0; s < kPlanes; ++s) load(held[a][s], a, s);
    }
    HONE_ONCE
    for (int step = 0; step < Segment + March::kOpen - 1; ++step) {
      HONE_UNROLL
      for (int s = 0; s < kPlanes && Ahead > 0; ++s) load(held[Ahead][s], step + Ahead, s);
      HONE_UNROLL
      for (int s = 0; s < kPlanes; ++s) {
        if constexpr (Ahead == 0) load(held[0][s], step, s);
        HONE_UNROLL
        for (int u = 0; u < Words; ++u) {
          HONE_UNROLL
          for (int e = 0; e < Vec; ++e) {
            Take all{value(held[0][s][0][u][e])};
            HONE_UNROLL
            for (int k = 1; k < Beside::kKernel; ++k) all.take(value(held[0][s][k][u][e]));
            HONE_UNROLL
            for (int w = 0; w < March::kOpen; ++w) {
              if (w + s == 0) open[0][u][e] = all;
              else if (March::has(w * March::kStride + s)) open[w][u][e].merge(all);
            }
          }
        }
      }
      const int w = step - (March::kOpen - 1);
      if (w >= 0) {
        const int64_t m = segment * Segment + (back ? Segment - 1 - w : w);
        across<Shape>(open[March::kOpen - 1], lines.at[w % 2], m < shape.march_windows, [&](int64_t a, V v) { epilogue(m, a, v); });
      }
      HONE_UNROLL
      for (int a = March::kOpen - 1; a > 0; --a) copy(open[a], open[a - 1]);
      HONE_UNROLL
      for (int a = 0; a < Ahead; ++a) copy(held[a], held[a + 1]);
    }
  }

  /// Whether a window of this segment has plane s of a step.
  HONE_DEVICE static bool has(int step, int s) {
    bool any = false;
    HONE_UNROLL
    for (int w = 0; w < March::kOpen; ++w)
      any = any || (March::has(w * March::kStride + s) && step >= w && step - w < Segment);
    return any;
  }

  template <class A>
  HONE_DEVICE static void copy(A& to, const A& from) {
    to = from;
  }
  template <class A, int Length>
  HONE_DEVICE static void copy(A (&to)[Length], const A (&from)[Length]) {
    HONE_UNROLL
    for (int i = 0; i < Length; ++i) copy(to[i], from[i]);
  }

  /// The windows across of one complete line of columns: epilogue(window, value).
  template <Fit Shape, class Epilogue>
  HONE_DEVICE void across(const Take (&columns)[Words][Vec], V* line, bool wanted, Epilogue epilogue) const {
    Packs<V, Vec, Words> words;
    HONE_UNROLL
    for (int u = 0; u < Words; ++u) {
      HONE_UNROLL
      for (int e = 0; e < Vec; ++e) words[u][e] = columns[u][e].value;
    }
    if constexpr (Hold > 1) line = lines.at[0];
    Tile<Threads, Vec, Words, Shape>{0, place.columns, thread()}.store(line + Place::kBefore, words);
    thread_group_barrier<Threads>();
    const int end = some && wanted ? place.windows : 0;
    if constexpr (Hold > 1) {
      held_windows(line + place.shift, lines.at[1], end);
      thread_group_barrier<Threads>();
      for (int j = thread(); j < end; j += Threads) epilogue(place.window + j, lines.at[1][j]);
    } else {
      for (int j = thread(); j < end; j += Threads) {
        const V* const window = line + place.shift + j * Across::kStride;
        Take all{window[0]};
        HONE_UNROLL
        for (int k = 1; k < Across::kKernel; ++k) all.take(window[k * Across::kDilation]);
        epilogue(place.window + j, all.value);
      }
    }
  }

  /// Hold windows side by side, whose elements are read once: from `line`, back to `results`. An odd distance between
  /// threads keeps their banks apart.
  HONE_DEVICE void held_windows(const V* line, V* results, int end) const {
    const int first = thread() * Hold;
    if (first >= end) return;
    constexpr int kSpan = Across::template kSpan<Hold>;
    V x[kSpan];
    HONE_UNROLL
    for (int p = 0; p < kSpan; ++p) x[p] = line[first * Across::kStride + p];
    HONE_UNROLL
    for (int j = 0; j < Hold; ++j) {
      Take all{x[j * Across::kStride]};
      HONE_UNROLL
      for (int k = 1; k < Across::kKernel; ++k) all.take(x[j * Across::kStride + k * Across::kDilation]);
      if (first + j < end) results[first + j] = all.value;
    }
  }
};

}  // namespace hone::gpu
