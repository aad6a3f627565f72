// How a convolution's input lies in channel slices (conv_channel_slices.h says what for), and the launch that lays it out.
#pragma once
#include "hone/gpu/conv_wgmma.h"

namespace hone::gpu {

/// a / b rounded down, b > 0.
HONE_DEVICE constexpr int64_t floor_of_ratio(int64_t a, int64_t b) { return a / b - (a % b < 0); }

/// How channel slices lie: those of a group, a stage of Depths depths, a class (of all dimensions) are neighbours, `lines` lines apart. Folded:
/// the outer dimensions' taps are depths too (conv_runs.h), their dimensions have the result's extents and one class.
template <int S, bool Folded, int Depths>
struct ChannelSlices {
  int64_t pitch[S], step[S];   ///< positions of a row, a plane, …, zeros included; and lines from one to the next
  int scale[S], classes[S], all_classes;
  int64_t stages, front, positions, lines;   ///< stages of depths; zeros before the first position; positions of all images; all lines

  /// Of tiles of Lines positions, of which Held lines are read.
  HONE_DEVICE ChannelSlices(const Convolution<S>& of, int tile_lines, int held) : all_classes(1), stages(RunWeights<Folded, S, Depths>(of).stages), front(0) {
    int64_t all = 1, back = held - tile_lines;
    HONE_UNROLL
    for (int s = S - 1; s >= 0; --s) {
      const bool folded = Folded && s < S - 1;
      const int64_t last = (of.window[s] - 1) * of.dilation[s];
      // Lines that a tap is at most before its position, and behind it.
      int64_t before = of.transposed ? last - of.padding[s] : of.padding[s], behind = of.transposed ? of.stride[s] - 1 + of.padding[s] : last - of.padding[s];
      before = folded ? 0 : -floor_of_ratio(-before, of.stride[s]), behind = folded ? 0 : floor_of_ratio(behind, of.stride[s]);
      before = before < 0 ? 0 : before, behind = behind < 0 ? 0 : behind;
      const int apart = RunTaps<S>::apart(of, s);
      scale[s] = of.transposed || folded ? 1 : of.stride[s];
      classes[s] = of.transposed || folded ? 1 : of.window[s] < apart ? static_cast<int>(of.window[s]) : apart;
      const int64_t extent = (of.y[s] + of.phases(s) - 1) / of.phases(s) + behind, data = folded ? of.y[s] : (of.x[s] + scale[s] - 1) / scale[s] + before;
      pitch[s] = extent < data ? data : extent;
      step[s] = all;
      front += before * all, back += behind * all;
      all *= pitch[s];
      all_classes *= classes[s];
    }
    positions = all * of.images;
    lines = front + (positions + tile_lines - 1) / tile_lines * tile_lines + back;
  }
  /// A class's first element of x in a row: the rest of its taps' shift by the stride.
  HONE_DEVICE int rest(const Convolution<S>& of, int s, int klass) const {
    const int64_t shift = int64_t{klass} * of.dilation[s] - of.padding[s];
    return of.transposed ? 0 : static_cast<int>(shift - floor_of_ratio(shift, of.stride[s]) * of.stride[s]);
  }
  /// Where `position` is: its image, and at[] along each dimension.
  HONE_DEVICE int64_t place(int64_t position, int64_t (&at)[S]) const {
    HONE_UNROLL
    for (int s = S - 1; s >= 0; --s) {
      const int64_t row = quotient(position, pitch[s]);
      at[s] = position - row * pitch[s];
      position = row;
    }
    return position;
  }
  /// Elements of one channel's result before `position`, of all images; and whether it is one itself. Of a convolution of one phase.
  HONE_DEVICE int64_t element(const Convolution<S>& of, int64_t position, bool& inside) const {
    int64_t at[S];
    const int64_t image = place(position, at);
    inside = position < positions;
    if (!inside) return of.images * Convolution<S>::product(of.y);
    int64_t all = image;
    HONE_UNROLL
    for (int s = 0; s < S; ++s) {
      const int64_t before = !inside ? 0 : at[s] < of.y[s] ? at[s] : of.y[s];
      all = all * of.y[s] + before;
      inside = inside && at[s] < of.y[s];
    }
    return all;
  }
};

constexpr int kLayThreads = 256, kTogether = 2;   ///< of a block that lays out; channel slices of a thread: more reads on their way

/// Blocks that lay x out.
template <class Math, int S, bool Folded, int Depths>
HONE_DEVICE int64_t slice_blocks(const Convolution<S>& of, const ChannelSlices<S, Folded, Depths>& slices) {
  return of.groups * slices.stages * (Depths / (kTogether * Math::kBeside)) * (slices.all_classes / slices.classes[S - 1]) * ((slices.lines + kLayThreads - 1) / kLayThreads);
}

/// Block `block` of slice_blocks: a line of a thread in kTogether channel slices, of all classes along the last dimension, which read the same
/// of x. Neighbours read neighbours of x, channel after channel, and write words of 16 bytes side by side.
template <class Math, int S, bool Folded, int Depths, class T>
HONE_DEVICE void lay_slices(const Convolution<S>& of, const ChannelSlices<S, Folded, Depths>& slices, const T* x, char* to, int64_t block) {
  constexpr int kEach = Math::kBeside, kCores = Depths / kEach;
  const int64_t across = (slices.lines + kLayThreads - 1) / kLayThreads;
  int64_t slice = quotient(block, across);
  const int64_t line = (block - slice * across) * kLayThreads + threadIdx.x;
  if (line >= slices.lines) return;
  const int last_classes = slices.classes[S - 1], outer_classes = slices.all_classes / last_classes;
  constexpr int kPieces = kCores / kTogether;
  const int core = static_cast<int>(slice % kPieces) * kTogether, klass = static_cast<int>(slice / kPieces % outer_classes);
  slice /= kPieces * outer_classes;   // now group and stage
  const int64_t group = quotient(slice, slices.stages), depth0 = (slice - group * slices.stages) * Depths + core * kEach;

  const int64_t position = line - slices.front, plane = Convolution<S>::product(of.x), depths = of.channels * RunWeights<Folded, S, Depths>(of).outer;
  int64_t place[S], from[S];
  const int64_t image = slices.place(position < 0 ? 0 : position, place);
  bool inside = position >= 0 && position < slices.positions;
  int rest = klass;
  HONE_UNROLL
  for (int s = S - 2; s >= 0; --s) {
    from[s] = place[s] * (Folded ? of.stride[s] : slices.scale[s]) + (Folded ? -of.padding[s] : slices.rest(of, s, rest % slices.classes[s]));
    rest /= slices.classes[s];
    if constexpr (!Folded) inside = inside && from[s] < of.x[s];
  }
  const T* const channels = x + (image * of.groups + group) * of.plane();
  for (int c = 0; c < last_classes; ++c) {
    from[S - 1] = place[S - 1] * slices.scale[S - 1] + slices.rest(of, S - 1, c);
    const bool along = inside && from[S - 1] < of.x[S - 1];
    T numbers[kTogether][kEach];
    int64_t row = 0;
    HONE_UNROLL
    for (int s = 0; s < S; ++s) row = row * of.x[s] + from[s];
    const T* const first = channels + (Folded ? row : row + depth0 * plane);
    HONE_UNROLL
    for (int i = 0; i < kTogether * kEach; ++i) {
      bool some = along && depth0 + i < depths;
      int64_t at = i * plane;
      if constexpr (Folded) {
        int64_t tap = quotient(depth0 + i, of.channels), extent = of.x[S - 1];
        at = (depth0 + i - tap * of.channels) * plane;
        HONE_UNROLL
        for (int s = S - 2; s >= 0; --s) {
          const int64_t further = tap % of.window[s] * of.dilation[s];
          tap /= of.window[s];
          some = some && from[s] + further >= 0 && from[s] + further < of.x[s];
          at += further * extent, extent *= of.x[s];
        }
      }
      numbers[i / kEach][i % kEach] = some ? first[at] : T(0.0f);
    }
    const int64_t number = (slice * slices.all_classes + klass * last_classes + c) * kCores + core;
    HONE_UNROLL
    for (int t = 0; t < kTogether; ++t) {
      uint4 parts[1];
      Math::split(numbers[t], parts);
      *reinterpret_cast<uint4*>(to + ((number + t) * slices.lines + line) * 16) = parts[0];
    }
  }
}

}  // namespace hone::gpu
