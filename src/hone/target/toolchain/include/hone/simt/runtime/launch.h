// A launch from start to finish: room for its blocks, and which block has its turn.
#pragma once
#include "hone/simt/runtime/blocks.h"

// The launch's dynamic shared memory: the linker puts it behind all other shared memory.
extern "C" __attribute__((visibility("hidden"), section(".bss.hone_shared_dynamic"), aligned(1024))) char hone_simt_dynamic[];
char hone_simt_dynamic[hone::simt::kMostDynamic];

namespace hone::simt {

inline Arena kept_arena;      ///< what is left of the arena behind what lives through all launches
inline uint64_t known_call;

/// Once for the process: shadows of memory, whose sizes stay.
inline bool begin_process(const Context& c) {
  Arena arena{c.arena, c.arena + c.arena_bytes};
#if !defined(HONE_SIMT_ASAN)
  if (!take_shadow(arena, m.one_shadow, m.static_bytes + kMostDynamic)) return false;
  for (uint32_t i = 0; i < c.buffers; ++i)
    if (c.buffer[i].kind != BufferKind::kInput && !take_shadow(arena, m.shadow[i], c.buffer[i].bytes)) return false;
#endif
  kept_arena = arena;
  m.random = 0x9e3779b97f4a7c15 ^ c.seed * 0xd1342543de82ef95;
  if (m.random == 0) m.random = 1;
  m.clock = 1;
  return true;
}

inline void begin_call(const Context& c) {
  known_call = c.call;
#if !defined(HONE_SIMT_ASAN)
  if (m.clock > 0xC0000000u) m.clock = 1;  // old times are in the past whatever they are: see begin_launch
  for (uint32_t i = 0; i < c.buffers; ++i) {
    if (!m.shadow[i].cells) continue;
    fill_words(m.shadow[i].valid, c.buffer[i].kind == BufferKind::kZeroed ? 0x0f0f0f0f0f0f0f0f : 0, (m.shadow[i].words + 7) / 8 * 8);
    fill_words(m.shadow[i].cells, 0, m.shadow[i].words * static_cast<int64_t>(sizeof(Cell)));
    fill_words(m.shadow[i].released, 0, m.shadow[i].words / 2 * 8);
  }
#endif
}

[[noreturn]] inline void stop() {
  m.context->report->instructions = m.count;
  __builtin_trap();
}

[[noreturn]] inline void no_room() {
  Text text;
  text << "the emulator's memory does not hold one block of this launch";
  Report& r = *m.context->report;
  text.put(r.text);
  r.finding = Finding::kEmulator;
  __builtin_trap();
}

/// Shared memory that lies aside begins on such a boundary, with at least such a gap behind it (bytes).
constexpr int64_t kAsideUnit = 4096, kAsideGap = 4096;
constexpr int kHopelessTurns = 40;    ///< of all blocks without anything happening

/// The k-th cluster to begin.
inline int64_t block_at(int64_t k, int64_t total, uint64_t twist) {
  const int64_t base = k / kWindow * kWindow;
  const int64_t n = total - base < kWindow ? total - base : kWindow;
  return n == kWindow ? base + static_cast<int64_t>((static_cast<uint64_t>(k - base) * (2 * (twist & 7) + 1) + (twist >> 3)) % kWindow)
                      : base + (static_cast<int64_t>(static_cast<uint64_t>(k - base) + (twist >> 3) % static_cast<uint64_t>(n))) % n;
}

/// Clusters with a lower number than that of what was found, still to begin in this window, run on; no others.
inline int64_t last_wanted(int64_t total) { return m.found ? m.found_cluster : total; }

/// Nothing happens any more. Where something was found in the cluster, that is why: threads that were lost do not come.
[[noreturn]] inline void hopeless_wait(const Block& b, int64_t active, int64_t waiting) {
  if (found_in(*b.cluster)) stop();
  Text text;
  text << "waits for something that never happens";
  if (waiting > 0) text << ": " << active << " blocks are resident, " << waiting << " wait for one of them to end";
  if (waiting > 0 && m.context->fewer) text << " (a grid that grows with the shape may count on no more than " << kWindow << " at a time)";
  const Thread* who = &b.threads[0];
  for (int i = 0; i < m.threads; ++i)
    if (b.threads[i].spins && b.threads[i].state != State::kGone) {
      who = &b.threads[i];
      break;
    }
  if (who->waits_pc) describe(b.phases[who->waits_for], text);
  found(Finding::kDeadlock, text, who, who->waits_pc, who->line);
  stop();
}

/// `resident` and `total` count clusters; without clusters each block is one.
inline void run_clusters(Cluster* clusters, int64_t resident, int64_t shared, int64_t total) {
  int64_t next = 0, at = 0, active = 0;
  Block* in_shared = nullptr;
  uint64_t progress = 0;
  int hopeless = 0;
  bool more = true;
  const uint64_t twist = random64() & 0xffff;
  while (more || active > 0) {
    if (more) {
      // One more, where there is room for it.
      int64_t number = -1;
      while (next < total && number < 0) {
        number = block_at(next++, total, twist);
        if (number >= last_wanted(total)) number = -1;
        if (m.found && next % kWindow == 0 && number < 0) next = total;
      }
      more = number >= 0;
      if (more) {
        int64_t i = 0;
        while (clusters[i].active) ++i;
        if (in_shared) put_away(*in_shared, shared);
        begin_cluster(clusters[i], number, shared);
        in_shared = m.cluster == 1 ? &clusters[i].blocks[0] : nullptr;
        ++active;
        at = i;
      }
    }
    if (active == 0) break;
    while (!clusters[at].active) at = (at + 1) % resident;
    Cluster& c = clusters[at];
    Block& b = next_block(c);
    if (in_shared != &b) {
      if (in_shared) put_away(*in_shared, shared);
      bring_back(b, shared);
      in_shared = &b;
    }
    const Turn turn = run_block(b);
    if (turn == Turn::kStuck) stuck(b);
    if (turn == Turn::kDone && !found_in(b)) compare_groups(b);
    if (turn == Turn::kDone || turn == Turn::kStuck) {
      b.active = false;
      in_shared = nullptr;
      --c.unfinished;
      hopeless = 0;
    }
    if (turn == Turn::kStuck) end_cluster(c);
    else if (turn != Turn::kSpinning && c.unfinished > 0 && !can_run(c)) cluster_stuck(c), end_cluster(c), in_shared = nullptr;
    if (c.unfinished == 0) {
      c.active = false;
      --active;
      more = next < total;
      continue;
    }
    if (turn != Turn::kSpinning) {
      more = false;
      continue;
    }
    // Spinning: others first. Nothing has happened since all of them had several turns: nothing will.
    const bool room = active < resident && m.free_count >= m.threads * m.cluster;
    more = room && next < total;
    if (!more) {
      if (progress != m.progress) progress = m.progress, hopeless = 0;
      else if (++hopeless > kHopelessTurns * active * m.cluster) hopeless_wait(b, active * m.cluster, (total - next) * m.cluster);
      at = (at + 1) % resident;
    }
  }
}

inline void launch(Context* context, const uint64_t* args, int count, int extents, const int64_t* grid, void (*call)(const uint64_t*)) {
  m.context = context;
  const Context& c = *m.context;
  m.call = call;
  m.threads = 1;
  for (int d = 0; d < 3; ++d) {
    m.grid[d] = grid[d];
    m.dims[d] = d < extents ? static_cast<int64_t>(args[count + d]) : 1;
    m.threads *= static_cast<int>(m.dims[d]);
  }
  m.warps = (m.threads + kWave - 1) / kWave;
  m.cluster = 1;
  for (int d = 0; d < 3; ++d) m.cluster *= static_cast<int>(m.cluster_dims[d] = c.cluster[d]);
  m.rank_bits = 0;
  while (1 << m.rank_bits < m.cluster) ++m.rank_bits;
  for (int i = 0; i < count; ++i) arguments[i] = args[i];
  m.shared = hone_shared_begin;
  m.dynamic = hone_simt_dynamic;
  m.static_bytes = hone_simt_dynamic - hone_shared_begin;
  m.dynamic_bytes = c.shared_bytes;
  if (known_call == 0 && !begin_process(c)) no_room();
  if (c.call != known_call) begin_call(c);
  const int64_t shared = (m.static_bytes + m.dynamic_bytes + 7) / 8 * 8;
#if defined(HONE_SIMT_ASAN)
  __asan_unpoison_memory_region(m.dynamic, static_cast<size_t>(kMostDynamic));
  __asan_poison_memory_region(m.dynamic + m.dynamic_bytes, static_cast<size_t>(kMostDynamic - m.dynamic_bytes));
#endif
  m.shared_shadow = m.one_shadow;
  const int64_t total = m.grid[0] * m.grid[1] * m.grid[2];
  Arena arena = kept_arena;
  int64_t resident = c.resident < total ? c.resident : total;
  m.aside_step = (shared + kAsideGap + kAsideUnit - 1) / kAsideUnit * kAsideUnit;
  const int64_t a_block = m.threads * (static_cast<int64_t>(sizeof(Thread)) + static_cast<int64_t>(sizeof(char*)) +
                                       static_cast<int64_t>(kStackBytes)) +
                          m.warps * static_cast<int64_t>(sizeof(Warp)) + m.aside_step + shared * (m.cluster > 1 ? 10 : 1) +
                          static_cast<int64_t>(sizeof(Block) + sizeof(Cluster)) + 1024;
  const int64_t fits = (arena.end - arena.at - (1 << 20)) / a_block;
  if (fits < resident) resident = fits;
  resident = resident / m.cluster * m.cluster;
  if (resident < 1) no_room();
  auto* clusters = arena.take<Cluster>(resident / m.cluster);
  auto* blocks = m.blocks = arena.take<Block>(resident);
  m.free_stacks = arena.take<char*>(resident * m.threads);
  arena.at = reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(arena.at) + kAsideUnit - 1) / kAsideUnit * kAsideUnit);
  m.aside_bytes = resident * m.aside_step;
  m.aside = arena.take<char>(m.aside_bytes);
  if (!m.aside) no_room();
  for (int64_t i = 0; i < resident; ++i) {
    blocks[i].active = false;
    clusters[i / m.cluster].active = false;
    clusters[i / m.cluster].blocks = &blocks[i / m.cluster * m.cluster];
    if (!make_block(arena, blocks[i], m.aside + i * m.aside_step, shared)) no_room();
  }
  arena.at = reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(arena.at) + 4095) / 4096 * 4096);
  m.stacks = arena.take<char>(resident * m.threads * static_cast<int64_t>(kStackBytes));
  if (!m.stacks) no_room();
  m.stacks_end = m.stacks + resident * m.threads * static_cast<int64_t>(kStackBytes);
  m.free_count = 0;
  for (int64_t i = resident * m.threads; i-- > 0;) m.free_stacks[m.free_count++] = m.stacks + i * static_cast<int64_t>(kStackBytes);
  m.budget = kShare;
  m.found = false;
  m.held = false;
  m.old_bytes = 0;
  m.began = m.clock++;
  run_clusters(clusters, resident / m.cluster, shared, total / m.cluster);
  m.block = nullptr;
  m.context->report->instructions = m.count;
  if (m.found) stop();
}

}  // namespace hone::simt
