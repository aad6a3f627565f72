// What kernels ask the emulator, by the names that their headers declare (simt/language.h): where they are,
// barriers, collectives, atomics, fences, a pause, a launch.
#pragma once
#include "hone/simt/runtime/launch.h"

struct HoneIndex {
  uint32_t x, y, z;
};

HONE_SIMT_API HoneIndex hone_simt_thread() {
  const hone::simt::Thread& t = *hone::simt::m.thread;
  return {t.x, t.y, t.z};
}
HONE_SIMT_API HoneIndex hone_simt_block() {
  const hone::simt::Block& b = *hone::simt::m.block;
  return {b.x, b.y, b.z};
}
HONE_SIMT_API HoneIndex hone_simt_dims(int grid) {
  const int64_t* d = grid ? hone::simt::m.grid : hone::simt::m.dims;
  return {static_cast<uint32_t>(d[0]), static_cast<uint32_t>(d[1]), static_cast<uint32_t>(d[2])};
}
HONE_SIMT_API int hone_simt_lane() { return hone::simt::m.lane; }
HONE_SIMT_API uint64_t hone_simt_clock(int line) {
  hone::simt::Text text;
  text << "it asks for the time: a kernel computes, and nothing else";
  hone::simt::found(hone::simt::Finding::kUndefined, text, hone::simt::m.thread, 0, line);
  return hone::simt::m.count;
}

/// Before an atomic access.
HONE_SIMT_API void hone_simt_atomic(const void* p, int bytes, int write, int read) {
#if defined(HONE_SIMT_ASAN)
  if (hone::simt::m.thread && (hone::simt::m.budget -= 64) <= 0) hone::simt::give_way(read != 0);
  // The access itself is the header's, and instrumented.
  hone::simt::m.held = write && read;
  static_cast<void>(p), static_cast<void>(bytes);
#else
  hone::simt::aligned(p, bytes, __builtin_return_address(0));
  hone::simt::access(p, bytes, write != 0, read != 0, hone::simt::Access::kAtomic, __builtin_return_address(0));
#endif
}
/// Before a load by __ldg, and before an atomic access of the block's scope.
HONE_SIMT_API void hone_simt_read_only(const void* p, int bytes) {
#if defined(HONE_SIMT_ASAN)
  static_cast<void>(p), static_cast<void>(bytes);
#else
  hone::simt::read_only(p, bytes, __builtin_return_address(0));
#endif
}
HONE_SIMT_API void hone_simt_for_the_block(const void* p, int bytes) {
#if defined(HONE_SIMT_ASAN)
  static_cast<void>(p), static_cast<void>(bytes);
#else
  hone::simt::for_the_block(p, bytes, __builtin_return_address(0));
#endif
}
/// After an atomic access; `changed`: memory holds something else now.
HONE_SIMT_API void hone_simt_atomic_done(int changed) {
  hone::simt::m.held = false;
  if (changed) ++hone::simt::m.progress;
}

HONE_SIMT_API void hone_simt_fence() { hone::simt::m.thread->fence = hone::simt::m.clock++; }
/// For its block alone.
HONE_SIMT_API void hone_simt_near_fence() { hone::simt::m.thread->near_fence = hone::simt::m.clock++; }
HONE_SIMT_API void hone_simt_pause() {
  if (hone::simt::m.thread) hone::simt::give_way(true);
}
HONE_SIMT_API void hone_simt_trap(int line) {
  hone::simt::Text text;
  text << "it traps (assert, __trap)";
  hone::simt::found(hone::simt::Finding::kUndefined, text, hone::simt::m.thread, 0, line);
  hone::simt::lose_thread();
}
HONE_SIMT_API int64_t hone_simt_dynamic_bytes() { return hone::simt::m.dynamic_bytes; }
HONE_SIMT_API void hone_simt_exit() { hone::simt::end_thread(); }
HONE_SIMT_API int hone_simt_barrier(int predicate, int line) { return hone::simt::come_to_barrier(predicate, line); }
HONE_SIMT_API uint64_t hone_simt_collective(int kind, uint64_t mask, uint64_t value, int param, int width, int line) {
  return hone::simt::come_to_collective(kind, mask, value, param, width, line, __builtin_return_address(0));
}
HONE_SIMT_API int hone_simt_cluster(int size) { return size ? hone::simt::m.cluster : hone::simt::m.block->rank; }
/// `wait` 1: waits; 0: comes to it.
HONE_SIMT_API void hone_simt_cluster_barrier(int wait, int line) {
  if (wait) hone::simt::wait_for_cluster(line);
  else hone::simt::come_to_cluster(line);
}
HONE_SIMT_API void* hone_simt_map_shared(const void* p, int rank) { return hone::simt::map_shared(p, rank, __builtin_return_address(0)); }
/// One operation on a barrier with phases; kTest: whether the phase of parity `value` is complete; kArriveAt: at that of block `value`.
HONE_SIMT_API int hone_simt_phase(int op, void* barrier, int64_t value) {
  const void* const where = __builtin_return_address(0);
  switch (static_cast<hone::simt::PhaseOp>(op)) {
    case hone::simt::PhaseOp::kInit: hone::simt::init_barrier(barrier, value, where); break;
    case hone::simt::PhaseOp::kArrive: hone::simt::arrive(barrier, value, where); break;
    case hone::simt::PhaseOp::kTest: return hone::simt::test_phase(barrier, value, where);
    case hone::simt::PhaseOp::kInvalidate: hone::simt::invalidate_barrier(barrier, where); break;
    case hone::simt::PhaseOp::kArriveAt: hone::simt::arrive_at(barrier, value, where); break;
  }
  return 0;
}
HONE_SIMT_API void hone_simt_issue_copy(const void* to, int64_t bytes) {
#if defined(HONE_SIMT_ASAN)
  static_cast<void>(to), static_cast<void>(bytes);
#else
  hone::simt::issue_copy(to, bytes, __builtin_return_address(0));
#endif
}
HONE_SIMT_API void hone_simt_bulk_copy(void* to, const void* from, int64_t bytes, void* barrier) {
  hone::simt::bulk_copy(to, from, bytes, barrier, __builtin_return_address(0));
}
HONE_SIMT_API void hone_simt_tensor_copy(void* to, const hone::simt::TensorTile* tile, void* barrier, uint32_t blocks) {
  hone::simt::tensor_copy(to, *tile, barrier, blocks, __builtin_return_address(0));
}
HONE_SIMT_API void hone_simt_group(int op, hone::simt::GroupState* state, const hone::simt::GroupProduct* product, int value) {
  hone::simt::group_operation(static_cast<hone::simt::GroupOp>(op), *state, product, value, __builtin_return_address(0));
}
/// Runs a launch. `args`: the plan's arguments, then the block's extents.
HONE_SIMT_API void hone_simt_launch(void* context, const uint64_t* args, int count, int extents, const int64_t* grid,
                                    void (*call)(const uint64_t*)) {
  hone::simt::launch(static_cast<hone::simt::Context*>(context), args, count, extents, grid, call);
}
