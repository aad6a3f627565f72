// Bulk copies into shared memory, and of tensors' tiles: what is looked at when they are issued. They are on their way then, and land
// as phases.h says.
#pragma once
#include "hone/simt/runtime/phases.h"

namespace hone::simt {

[[noreturn]] inline void copy_finding(const char* what, const void* where) {
  Text text;
  text << what;
  phase_finding(text, where);
}

/// A copy of `bytes` to where `b` has what the running block has at `to` is on its way; it arrives at the barrier that `b` has at p.
inline void depart(Block& b, void* to, int64_t bytes, const char* from, const TensorTile& tile, void* p, const void* where) {
  Text text;
  const int64_t offset = shared_offset(to, bytes);
  note(&b == m.block || offset < 0 ? to : b.saved + offset, bytes, true, false, Access::kPlain, where);
  if (offset < 0) {
    text << "a bulk copy writes " << bytes << " bytes outside shared memory";
    found(Finding::kOutOfBounds, text, m.thread, offset_of(where), 0);
    lose_thread();
  }
  for (int i = 0; i < b.flights_count; ++i)
    if (offset < b.flights[i].offset + b.flights[i].bytes && b.flights[i].offset < offset + bytes) {
      text << "a bulk copy goes where another one has yet to arrive";
      phase_finding(text, where, b.flights[i].pc);
    }
  if (b.flights_count == kMostFlights) {
    text << "the emulator has no room for more than " << kMostFlights << " bulk copies on their way";
    found(Finding::kEmulator, text, m.thread, offset_of(where), 0);
    lose_thread();
  }
  const Phases& barrier = barrier_of(b, p, "copies to", where);
  b.flights[b.flights_count++] = {from, offset, bytes, barrier.offset, m.me, offset_of(where), m.block->rank, tile};
#if !defined(HONE_SIMT_ASAN)
  const Shadow& shadow = &b == m.block ? m.shared_shadow : b.shadow;
  for (int64_t word = offset / 4; word < (offset + bytes) / 4; ++word) shadow.valid[word] = 0;
#endif
  ++m.progress;
}

/// `bytes` from global memory to shared memory, which arrive at the barrier.
inline void bulk_copy(void* to, const void* from, int64_t bytes, void* p, const void* where) {
  const auto all = reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from) | static_cast<uintptr_t>(bytes);
  if (all % kBulkUnit != 0 || bytes <= 0) {
    Text text;
    text << "a bulk copy of " << bytes << " bytes: addresses and length have to be multiples of " << kBulkUnit;
    phase_finding(text, where);
  }
  if (shared_offset(from, 1) >= 0 || is_aside(from)) copy_finding("a bulk copy reads shared memory: it copies from global memory", where);
  barrier_of(p, "copies to", where);
  note(from, bytes, false, true, Access::kPlain, where);
  depart(*m.block, to, bytes, static_cast<const char*>(from), {}, p, where);
}

/// A tensor's tile from global memory to the shared memory of `blocks` of the cluster, a bit each, swizzled; in each it arrives at the barrier that
/// block has there.
inline void tensor_copy(void* to, const TensorTile& tile, void* p, uint32_t blocks, const void* where) {
  constexpr uintptr_t kSwizzled = 1024;
  if (reinterpret_cast<uintptr_t>(to) % kSwizzled != 0) copy_finding("a copy of a tensor's tile goes to a multiple of 1024 bytes", where);
  if (tile.rows < 1 || tile.rows > 256) copy_finding("a tensor's tile has 1 to 256 rows", where);
  if ((reinterpret_cast<uintptr_t>(tile.from) | static_cast<uintptr_t>(tile.step)) % kBulkUnit != 0)
    copy_finding("a tensor that is copied in tiles begins on a multiple of 16 bytes, and so does each of its rows", where);
  if (shared_offset(tile.from, 1) >= 0 || is_aside(tile.from)) copy_finding("a tensor's tile is read from shared memory: it has to be global memory", where);
  barrier_of(p, "copies to", where);
  for (int64_t r = 0; r < tile.inside_rows && tile.inside_bytes > 0; ++r) note(tile.from + r * tile.step, tile.inside_bytes, false, true, Access::kPlain, where);
  const TensorTile kept = tile;
  if (blocks == 0) copy_finding("a tensor's tile is copied to no block of the cluster", where);
  if (blocks >> m.cluster != 0) {
    Text text;
    text << "a tensor's tile is copied to block " << 31 - __builtin_clz(blocks) << " of a cluster of " << m.cluster;
    found(Finding::kOutOfBounds, text, m.thread, offset_of(where), 0);
    lose_thread();
  }
  for (int rank = 0; rank < m.cluster; ++rank)
    if (blocks >> rank & 1) depart(m.block->cluster->blocks[rank], to, int64_t{kept.rows} * kTileRow, nullptr, kept, p, where);
}

}  // namespace hone::simt
