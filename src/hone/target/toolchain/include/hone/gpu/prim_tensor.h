// Tiles of tensors, copied into shared memory by the copy engine (TMA); sm_90a. One thread asks for a whole tile; the engine works
// out the addresses, writes zeros for what is beyond the tensor, and lays the tile out as the matrix units read it.
//
// What the engine has to know of a tensor is a map of 128 bytes in global memory. Here a block makes its own, in a workspace: so a
// launch needs nothing from the host but pointers, and one map serves the whole of a block's life (that costs it a microsecond).
//
//   __shared__ TensorMap::Scratch scratch;
//   if (warp == 0) map.make(scratch, {x, {columns, rows, batch}, {2 * columns, 2 * rows * columns}}, 64);       all its lanes
//   full.arrive_expecting(64 * TensorMap::kRowBytes);                                                           one of them
//   full.tensor_copy(tile, map, column, row, number);
//
// Blocks of a cluster (prim_cluster.h) that need the same tile read it once: each asks for a part of it and has it sent to all of them
// (multicast), so that the second-level cache is asked for each byte once for all blocks. In each block the parts arrive at its own barrier. Who sends writes
// into others' memory, so these have to let go of it first, at a barrier of the sender's. A ring of slots in blocks of a cluster of N:
//
//   if (threadIdx.x == 0) full[s].init(1), empty[s].init(N);      then cluster_sync(): nobody arrives at what is not initialised
//   one thread of each block:
//     empty[s].wait(…);                                           all N blocks have read what was in slot s
//     full[s].arrive_expecting(bytes of all N parts);             those that others send too, whether they have come already or not
//     full[s].tensor_copy_to((1 << N) - 1, part(s, rank), map, …);
//   readers:
//     full[s].wait(…); …; empty[s].arrive_at(r)                   for r from 0 to N - 1: each sender waits for all
//   all threads, at the end:
//     cluster_sync();                                             no block ends while others send to it or arrive at its barriers
#pragma once
#include "hone/gpu/prim_phases.h"

namespace hone::prim {

/// A tensor of numbers of `size` bytes, 1 or 2, in global memory: element (x, y, z) is at base + size x + y step[0] + z step[1] bytes.
/// Base and steps are multiples of 16.
struct Tensor {
  const void* base;
  int64_t extent[3];
  int64_t step[2];
  int size = 2;
};

class alignas(128) TensorMap {
 public:
  static constexpr int kRowBytes = 128;   ///< of a tile's row
  struct alignas(128) Scratch {
    uint32_t word[32];
  };

  /// For tiles of so many rows (1 to 256) of 128 bytes, one after the other from a boundary of 1024 bytes on,
  /// piece c of 16 bytes of row r at c ^ (r % 8), as GroupFactor::swizzled and GroupFactorAcross read them. By a whole warp, whose
  /// threads alone use it; `scratch` is shared memory, free again afterwards.
  HONE_DEVICE void make([[maybe_unused]] Scratch& scratch, const Tensor& tensor, int rows) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#if HONE_EMULATED
    if (lane == 0) tensor_ = tensor, rows_ = rows;
    __syncwarp();
#else
    scratch.word[lane] = 0;
    __syncwarp();
    const uint32_t at = shared_address(&scratch);
    if (lane == 0) {
      asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(at), "l"(tensor.base) : "memory");
      // Fields that count from 0: a rank of three. Types by number: bytes, or two of them without a sign, as bits are all that is copied.
      asm volatile(
          "tensormap.replace.tile.rank.shared::cta.b1024.b32 [%0], 2;\n"
          "tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%0], 0;\n"
          "tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%0], 3;\n"
          "tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%0], 0;" ::"r"(at) : "memory");
      // The type is a constant of the instruction.
      if (tensor.size == 1) asm volatile("tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%0], 0;" ::"r"(at) : "memory");
      else asm volatile("tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%0], 1;" ::"r"(at) : "memory");
      asm volatile(
          "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%0], 0, %1;\n"
          "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%0], 1, %2;\n"
          "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%0], 2, %3;\n"
          "tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%0], 0, %3;\n"
          "tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%0], 1, %3;\n"
          "tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%0], 2, %3;" ::"r"(at), "r"(kRowBytes / tensor.size), "r"(rows), "r"(1) : "memory");
      asm volatile(
          "tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 0, %1;\n"
          "tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 1, %2;\n"
          "tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 2, %3;" ::"r"(at), "r"(static_cast<uint32_t>(tensor.extent[0])),
          "r"(static_cast<uint32_t>(tensor.extent[1])), "r"(static_cast<uint32_t>(tensor.extent[2])) : "memory");
      asm volatile(
          "tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%0], 0, %1;\n"
          "tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%0], 1, %2;" ::"r"(at), "l"(tensor.step[0]), "l"(tensor.step[1]) : "memory");
    }
    __syncwarp();
    asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;" ::"l"(this), "r"(at) : "memory");
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(this) : "memory");
#endif
  }

 private:
#if HONE_EMULATED
  friend struct TensorMapReader;
  Tensor tensor_;
  int rows_;
#else
  char bytes_[128];
#endif
};
static_assert(sizeof(TensorMap) == 128, "as the hardware has it");

#if HONE_EMULATED
/// What the emulator has to know of the tile at (x, y, z).
struct TensorMapReader {
  static hone::simt::TensorTile tile(const TensorMap& map, int x, int y, int z) {
    const Tensor& tensor = map.tensor_;
    const auto inside = [](int64_t left, int64_t most) { return static_cast<int32_t>(left < 0 ? 0 : left < most ? left : most); };
    const bool there = x >= 0 && y >= 0 && z >= 0 && z < tensor.extent[2];
    return {static_cast<const char*>(tensor.base) + tensor.size * int64_t{x} + y * tensor.step[0] + z * tensor.step[1], tensor.step[0],
            map.rows_, there ? inside(tensor.extent[1] - y, map.rows_) : 0, tensor.size * inside(tensor.extent[0] - x, TensorMap::kRowBytes / tensor.size)};
  }
};
#endif

HONE_DEVICE void PhaseBarrier::tensor_copy(void* to, const TensorMap& map, int x, int y, int z) {
#if HONE_EMULATED
  const hone::simt::TensorTile tile = TensorMapReader::tile(map, x, y, z);
  hone_simt_tensor_copy(to, &tile, &word_, 1u << hone_simt_cluster(0));
  asm volatile("" ::: "memory");
#else
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(shared_address(to)),
      "l"(&map), "r"(x), "r"(y), "r"(z), "r"(shared_address(&word_)) : "memory");
#endif
}

HONE_DEVICE void PhaseBarrier::tensor_copy_to(uint32_t blocks, void* to, const TensorMap& map, int x, int y, int z) {
#if HONE_EMULATED
  const hone::simt::TensorTile tile = TensorMapReader::tile(map, x, y, z);
  hone_simt_tensor_copy(to, &tile, &word_, blocks);
  asm volatile("" ::: "memory");
#else
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3, %4}], [%5], %6;" ::"r"(
          shared_address(to)), "l"(&map), "r"(x), "r"(y), "r"(z), "r"(shared_address(&word_)), "h"(static_cast<uint16_t>(blocks)) : "memory");
#endif
}

}  // namespace hone::prim
