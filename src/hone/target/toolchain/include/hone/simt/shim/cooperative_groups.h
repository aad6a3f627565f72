// CUDA's cooperative groups on the emulator: the block, tiles of a warp, the lanes that are here. Grids and clusters that
// wait for each other are hone::prim's (docs/emulator.md).
#pragma once

namespace cooperative_groups {

/// The whole block.
class thread_block {
 public:
  static unsigned thread_rank() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }
  static unsigned num_threads() { return blockDim.x * blockDim.y * blockDim.z; }
  static unsigned size() { return num_threads(); }
  static dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  static dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  static dim3 group_dim() { return blockDim; }
  static dim3 dim_threads() { return blockDim; }
  static void sync(HONE_LINE) { __syncthreads(line); }
};
inline thread_block this_thread_block() { return {}; }

namespace detail {

/// Lanes of one warp, `width` of them that begin where the mask does.
class Lanes {
 public:
  unsigned thread_rank() const { return static_cast<unsigned>(__builtin_popcountll(mask_ & ((uint64_t{1} << hone_simt_lane()) - 1))); }
  unsigned num_threads() const { return static_cast<unsigned>(__builtin_popcountll(mask_)); }
  unsigned size() const { return num_threads(); }
  void sync(HONE_LINE) const { __syncwarp(mask_, line); }
  template <class T> T shfl(T v, int rank, HONE_LINE) const { return __shfl_sync(mask_, v, lane_of(rank), warpSize, line); }
  template <class T> T shfl_up(T v, int delta, HONE_LINE) const {
    const int from = static_cast<int>(thread_rank()) - delta;
    return __shfl_sync(mask_, v, from < 0 ? hone_simt_lane() : lane_of(from), warpSize, line);
  }
  template <class T> T shfl_down(T v, int delta, HONE_LINE) const {
    const int from = static_cast<int>(thread_rank()) + delta;
    return __shfl_sync(mask_, v, from >= static_cast<int>(num_threads()) ? hone_simt_lane() : lane_of(from), warpSize, line);
  }
  template <class T> T shfl_xor(T v, int lanes, HONE_LINE) const {
    return __shfl_sync(mask_, v, lane_of(static_cast<int>(thread_rank()) ^ lanes), warpSize, line);
  }
  int any(int p, HONE_LINE) const { return __any_sync(mask_, p, line); }
  int all(int p, HONE_LINE) const { return __all_sync(mask_, p, line); }
  unsigned ballot(int p, HONE_LINE) const { return ranks(__ballot_sync(mask_, p, line)); }
  template <class T> unsigned match_any(T v, HONE_LINE) const { return ranks(__match_any_sync(mask_, v, line)); }
  template <class T> unsigned match_all(T v, int& same, HONE_LINE) const { return ranks(__match_all_sync(mask_, v, &same, line)); }

 protected:
  explicit Lanes(uint64_t mask) : mask_(mask) {}

 private:
  /// The lane of the warp that is number `rank` of the group.
  int lane_of(int rank) const {
    uint64_t left = mask_;
    for (int k = 0; k < rank && left; ++k) left &= left - 1;
    return left ? __builtin_ctzll(left) : hone_simt_lane();
  }
  /// Bits of lanes as bits of ranks.
  unsigned ranks(uint64_t lanes) const {
    unsigned all = 0, rank = 0;
    for (uint64_t left = mask_; left; left &= left - 1, ++rank) all |= static_cast<unsigned>(lanes >> __builtin_ctzll(left) & 1) << rank;
    return all;
  }
  uint64_t mask_;
};

}  // namespace detail

/// `Size` neighbours, a power of two up to a warp.
template <unsigned Size, class Parent = void>
class thread_block_tile : public detail::Lanes {
  static_assert(Size > 0 && Size <= warpSize && (Size & (Size - 1)) == 0, "a tile has a power of two of threads, a warp at most");

 public:
  thread_block_tile() : Lanes((Size == 64 ? ~uint64_t{0} : (uint64_t{1} << Size % 64) - 1) << (hone_simt_lane() / Size * Size)) {}
  static constexpr unsigned num_threads() { return Size; }
  static constexpr unsigned size() { return Size; }
  static unsigned thread_rank() { return static_cast<unsigned>(hone_simt_lane()) % Size; }
  static unsigned meta_group_rank() { return thread_block::thread_rank() / Size; }
  static unsigned meta_group_size() { return (thread_block::num_threads() + Size - 1) / Size; }
};
template <unsigned Size>
thread_block_tile<Size> tiled_partition(const thread_block&) { return {}; }
template <unsigned Size, unsigned Of, class Parent>
thread_block_tile<Size> tiled_partition(const thread_block_tile<Of, Parent>&) {
  static_assert(Size <= Of, "a tile is cut into smaller ones");
  return {};
}

/// The lanes that have come here together.
class coalesced_group : public detail::Lanes {
 public:
  explicit coalesced_group(uint64_t mask) : Lanes(mask) {}
};
inline coalesced_group coalesced_threads(HONE_LINE) { return coalesced_group(__activemask(line)); }

template <class Group>
void sync(const Group& group, HONE_LINE) { group.sync(line); }
template <class Group>
unsigned thread_rank(const Group& group) { return group.thread_rank(); }
template <class Group>
unsigned group_size(const Group& group) { return group.num_threads(); }

}  // namespace cooperative_groups
