// How a group of warps hands over the sums of a convolution's tile: positions of an image are neighbours in each channel of the result,
// so they go through shared memory, some channels at a time, and from there in words of four. (Element by element as they leave the
// units, handing over a tile took forty instructions an element: as long as multiplying 700 of the depth.)
#pragma once
#include "hone/gpu/words.h"

namespace hone::gpu {

/// Elements that a thread hands over at once.
constexpr int kWord = 4;

/// Of a group's tile of Lines positions and Columns channels: what is in shared memory at a time.
template <int Lines, int Columns>
struct ChannelPiece {
  static constexpr int kChannels = Columns % 32 == 0 ? 32 : Columns % 16 == 0 ? 16 : 8;
  // A channel begins four banks further than the one before: what a warp writes, two channels a lane, meets no bank twice.
  static constexpr int kPitch = Lines + kWord, kFloats = kChannels * kPitch;
  static_assert(kPitch % 16 == 4 && Columns % kChannels == 0);
};

/// The elements that a group's positions are: from `first`, on a word's boundary, those from `skip` on and before `end`, all counted
/// through the images of one channel; and of this thread's positions, two in each 64, where they are there; below 0: nowhere.
template <int Blocks>
struct PositionBand {
  int64_t first;
  int skip, end, at[Blocks][2];
  /// begin, end: element_of(position, inside), elements before a position.
  template <class ElementOf>
  HONE_DEVICE PositionBand(int64_t position, ElementOf element_of) {
    bool inside;
    const int64_t begin = element_of(position, inside);
    first = begin / kWord * kWord;
    skip = static_cast<int>(begin - first);
    end = static_cast<int>(element_of(position + Blocks * 64, inside) - first);
    HONE_UNROLL
    for (int b = 0; b < Blocks; ++b)
      HONE_UNROLL
      for (int half = 0; half < 2; ++half) {
        const int line = b * 64 + static_cast<int>(threadIdx.x) / 32 % 4 * 16 + half * 8 + lane() / 4;
        const int element = static_cast<int>(element_of(position + line, inside) - first);
        at[b][half] = inside ? element : -1;
      }
  }
};

/// one(image, channel, column, sum) or many(image, channel, column, kWord sums beside each other) for the sums of a group's positions and
/// channels from `channel0` on, below `outputs`. `image_elements`: of a channel in an image. `piece`: the group's ChannelPiece. meet():
/// a barrier of the group. Ahead: words of a thread of which what else is read is on its way at a time.
template <int Columns, int Ahead, int Blocks, int Sums, class Meet, class One, class Many>
HONE_DEVICE void hand_over_words(const float (&total)[Blocks][Sums], const PositionBand<Blocks>& band, int64_t image_elements, int64_t channel0, int64_t outputs,
                                 float* piece, Meet meet, One one, Many many) {
  using Piece = ChannelPiece<Blocks * 64, Columns>;
  const int warp = static_cast<int>(threadIdx.x) / 32 % 4, in_warp = lane();
  const bool words = image_elements % kWord == 0;
  const int units = words ? (band.end + kWord - 1) / kWord : band.end;
  HONE_UNROLL
  for (int begin = 0; begin < Columns; begin += Piece::kChannels) {
    if (channel0 + begin >= outputs) return;   // all threads of the group alike
    meet();
    HONE_UNROLL
    for (int b = 0; b < Blocks; ++b)
      HONE_UNROLL
      for (int half = 0; half < 2; ++half) {
        float* const to = piece + in_warp % 4 * 2 * Piece::kPitch + band.at[b][half];
        if (band.at[b][half] < 0) continue;
        HONE_UNROLL
        for (int c = 0; c < Piece::kChannels; c += 8) {
          to[c * Piece::kPitch] = total[b][(begin + c) / 2 + 2 * half];
          to[(c + 1) * Piece::kPitch] = total[b][(begin + c) / 2 + 2 * half + 1];
        }
      }
    meet();
    const int channels = outputs - channel0 - begin < Piece::kChannels ? static_cast<int>(outputs - channel0 - begin) : Piece::kChannels;
    // A warp hands over neighbours of one channel, then of the next.
    for (int unit = in_warp; unit < units; unit += 32) {
      const int at = words ? unit * kWord : unit;
      const int64_t image = quotient(band.first + at, image_elements), column = band.first + at - image * image_elements;
      const float* const from = piece + at;
      if (words && at >= band.skip && at + kWord <= band.end) {
        HONE_UNROLL_BY(Ahead)
        for (int c = warp; c < channels; c += 4) {
          const float4 four = *reinterpret_cast<const float4*>(from + c * Piece::kPitch);
          const float sums[kWord] = {four.x, four.y, four.z, four.w};
          many(image, channel0 + begin + c, column, sums);
        }
      } else {
        const int first = at < band.skip ? band.skip - at : 0, last = words && at + kWord < band.end ? kWord : words ? band.end - at : 1;
        HONE_UNROLL_BY(2)
        for (int c = warp; c < channels; c += 4)
          HONE_UNROLL_BY(1)
          for (int e = first; e < last; ++e) one(image, channel0 + begin + c, column + e, from[c * Piece::kPitch + e]);
      }
    }
  }
}

}  // namespace hone::gpu
