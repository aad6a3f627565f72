// Runs of memory that stand in shared memory for a while, element for element: lines of a few elements side by side (the channels of
// pixels), written one line's place at a time and moved as words, or the other way round.
#pragma once
#include "hone/gpu/tile.h"

namespace hone::gpu {

/// Where a run of at most Most elements may stand, however it stands on words of 16 bytes.
template <class T, int Most>
struct alignas(16) RunRoom {
  T at[Most + 16 / static_cast<int>(sizeof(T)) - 1];
};

/// `count` elements from `memory` on. In shared memory they stand on boundaries of words as they do there, so that words of one are
/// words of the other.
template <class T>
class StagedRun {
 public:
  static constexpr int kWord = 16 / static_cast<int>(sizeof(T));

  template <int Most>
  HONE_DEVICE StagedRun(RunRoom<T, Most>& room, const T* memory, int count)
      : room_(room.at), lead_(static_cast<int>(reinterpret_cast<uintptr_t>(memory) / sizeof(T) % kWord)), count_(count) {}

  HONE_DEVICE T& operator[](int i) const { return room_[lead_ + i]; }

  /// A barrier has to follow.
  template <int Threads>
  HONE_DEVICE void load(const T* memory, int thread) const {
    constexpr int kBatch = 4;
    for (int first = thread; first * kWord < lead_ + count_; first += kBatch * Threads) {
      // All loads are on their way before the first is stored.
      Pack<T, kWord> held[kBatch];
      HONE_UNROLL
      for (int b = 0; b < kBatch; ++b)
        each_part(first + b * Threads, [&](int at) { held[b] = *reinterpret_cast<const Pack<T, kWord>*>(memory + at); },
                  [&](int at, int e) { held[b][e] = memory[at + e]; });
      HONE_UNROLL
      for (int b = 0; b < kBatch; ++b)
        each_part(first + b * Threads, [&](int at) { *reinterpret_cast<Pack<T, kWord>*>(room_ + lead_ + at) = held[b]; },
                  [&](int at, int e) { room_[lead_ + at + e] = held[b][e]; });
    }
  }

  /// A barrier has to come before it.
  template <int Threads>
  HONE_DEVICE void store(T* memory, int thread) const {
    for (int word = thread; word * kWord < lead_ + count_; word += Threads)
      each_part(word, [&](int at) { *reinterpret_cast<Pack<T, kWord>*>(memory + at) = *reinterpret_cast<const Pack<T, kWord>*>(room_ + lead_ + at); },
                [&](int at, int e) { memory[at + e] = room_[lead_ + at + e]; });
  }

 private:
  /// Word number `word`, which begins at element `at` of the run: whole(at), or element by element where it is not all of it the run's.
  template <class Whole, class Element>
  HONE_DEVICE void each_part(int word, Whole whole, Element element) const {
    const int at = word * kWord - lead_;
    if (at >= 0 && at + kWord <= count_) {
      whole(at);
    } else {
      HONE_UNROLL
      for (int e = 0; e < kWord; ++e)
        if (at + e >= 0 && at + e < count_) element(at, e);
    }
  }

  T* room_;
  int lead_, count_;
};

}  // namespace hone::gpu
