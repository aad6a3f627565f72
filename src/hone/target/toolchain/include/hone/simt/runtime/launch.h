// A launch from start to finish: room for its blocks, shared memory, and which block has its turn.
#pragma once
#include "hone/simt/runtime/groups.h"

// The launch's dynamic shared memory: the linker puts it behind all other shared memory.
extern "C" __attribute__((visibility("hidden"), section(".bss.hone_shared_dynamic"), aligned(1024))) char hone_simt_dynamic[];
char hone_simt_dynamic[hone::simt::kMostDynamic];

namespace hone::simt {

/// Hands out parts of the arena, cache lines each; null when it is used up.
struct Arena {
  char *at, *end;
  template <class T>
  T* take(int64_t count) {
    char* p = at;
    const int64_t bytes = (count * static_cast<int64_t>(sizeof(T)) + 63) / 64 * 64;
    if (bytes > end - at) return nullptr;
    at += bytes;
    return reinterpret_cast<T*>(p);
  }
};

inline bool take_shadow(Arena& arena, Shadow& s, int64_t bytes) {
  s.words = (bytes + 3) / 4;
  s.cells = arena.take<Cell>(s.words);
  s.valid = arena.take<uint8_t>(s.words + 8);
  s.released = arena.take<uint32_t>(s.words);
  return s.released != nullptr;
}

inline Arena kept_arena;      ///< what is left of the arena behind what lives through all launches
inline uint64_t known_call;

/// Once for the process: shadows of memory, whose sizes stay.
inline bool begin_process(const Context& c) {
  Arena arena{c.arena, c.arena + c.arena_bytes};
#if !defined(HONE_SIMT_ASAN)
  if (!take_shadow(arena, m.shared_shadow, m.static_bytes + kMostDynamic)) return false;
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

/// A block that can be run: its threads, warps, and what shared memory holds for it.
inline bool make_block(Arena& arena, Block& b, int64_t shared) {
  b.threads = arena.take<Thread>(m.threads);
  b.warps = arena.take<Warp>(m.warps);
  b.saved = arena.take<char>(shared);
  b.saved_valid = arena.take<uint8_t>(shared / 4 + 8);
  return b.saved_valid != nullptr;
}

inline void begin_block(Block& b, int64_t index) {
  b.index = index;
  b.x = static_cast<uint32_t>(index % m.grid[0]);
  b.y = static_cast<uint32_t>(index / m.grid[0] % m.grid[1]);
  b.z = static_cast<uint32_t>(index / (m.grid[0] * m.grid[1]));
  b.live = m.threads;
  b.at_barrier = b.count = b.result = 0;
  b.time = m.clock++;
  b.acquired = b.pending_acquired = m.began;
  b.fence = 0;
  b.phases_count = b.flights_count = 0;
  b.active = true;
  uint16_t x = 0, y = 0, z = 0;
  for (int i = 0; i < m.threads; ++i) {
    Thread& t = b.threads[i];
    t.state = State::kNew;
    t.spins = false;
    t.acquired = t.fence = t.warp_time = t.phase_time = 0;
    t.waits_pc = 0;
    t.line = 0;
    t.pc = 0;
    t.stack = nullptr;
    t.x = x, t.y = y, t.z = z;
    if (++x == m.dims[0]) {
      x = 0;
      if (++y == m.dims[1]) y = 0, ++z;
    }
  }
  for (int k = 0; k < m.warps; ++k) {
    const int lanes = m.threads - k * kWave < kWave ? m.threads - k * kWave : kWave;
    const uint64_t all = lanes == 64 ? ~uint64_t{0} : (uint64_t{1} << lanes) - 1;
    b.warps[k].ready = all;
    b.warps[k].gone = ~all;
    b.warps[k].slots = 0;
    b.warps[k].products = b.warps[k].products_mark = 0;
  }
}

/// Shared memory as a new block finds it: rubbish, and known to be.
inline void clear_shared(int64_t shared) {
#if defined(HONE_SIMT_ASAN)
  fill_words(m.shared, ~uint64_t{0}, shared);
#else
  fill_words(m.shared, 0xffffdeadffffdead, shared);
  fill_words(m.shared_shadow.valid, 0, (shared / 4 + 7) / 8 * 8);
#endif
}

inline void put_away(Block& b, int64_t shared) {
  copy_words(b.saved, m.shared, shared);
#if !defined(HONE_SIMT_ASAN)
  copy_words(b.saved_valid, m.shared_shadow.valid, (shared / 4 + 7) / 8 * 8);
#endif
}
inline void bring_back(const Block& b, int64_t shared) {
  copy_words(m.shared, b.saved, shared);
#if !defined(HONE_SIMT_ASAN)
  copy_words(m.shared_shadow.valid, b.saved_valid, (shared / 4 + 7) / 8 * 8);
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

constexpr int64_t kWindow = 16;       ///< blocks begin in a random order among so many
constexpr int kHopelessTurns = 40;    ///< of all blocks without anything happening

/// The k-th block to begin.
inline int64_t block_at(int64_t k, int64_t total, uint64_t twist) {
  const int64_t base = k / kWindow * kWindow;
  const int64_t n = total - base < kWindow ? total - base : kWindow;
  return n == kWindow ? base + static_cast<int64_t>((static_cast<uint64_t>(k - base) * (2 * (twist & 7) + 1) + (twist >> 3)) % kWindow)
                      : base + (static_cast<int64_t>(static_cast<uint64_t>(k - base) + (twist >> 3) % static_cast<uint64_t>(n))) % n;
}

/// Blocks with a lower number than what was found, still to begin in this window, run on; no others.
inline int64_t last_wanted(int64_t total) { return m.found ? found_block() : total; }

inline void run_blocks(Block* blocks, int64_t resident, int64_t shared, int64_t total) {
  int64_t next = 0, at = 0, active = 0;
  Block* in_shared = nullptr;
  uint64_t progress = 0;
  int hopeless = 0;
  bool more = true;
  const uint64_t twist = random64() & 0xffff;
  while (more || active > 0) {
    if (more) {
      // One more, where there is room for it.
      int64_t index = -1;
      while (next < total && index < 0) {
        index = block_at(next++, total, twist);
        if (index >= last_wanted(total)) index = -1;
        if (m.found && next % kWindow == 0 && index < 0) next = total;
      }
      more = index >= 0;
      if (more) {
        int64_t i = 0;
        while (blocks[i].active) ++i;
        if (in_shared) put_away(*in_shared, shared);
        begin_block(blocks[i], index);
        in_shared = &blocks[i];
        clear_shared(shared);
        ++active;
        at = i;
      }
    }
    if (active == 0) break;
    while (!blocks[at].active) at = (at + 1) % resident;
    Block& b = blocks[at];
    if (in_shared != &b) {
      if (in_shared) put_away(*in_shared, shared);
      bring_back(b, shared);
      in_shared = &b;
    }
    const Turn turn = run_block(b);
    if (turn == Turn::kStuck) stuck(b);
    if (turn == Turn::kDone && !found_in(b)) compare_groups(b);
    if (turn != Turn::kSpinning) {
      if (turn == Turn::kStuck)
        for (int i = 0; i < m.threads; ++i)
          if (Thread& t = b.threads[i]; t.stack) {
            stack_is_free(t.stack, kStackBytes);
            m.free_stacks[m.free_count++] = t.stack;
            t.stack = nullptr;
          }
      b.active = false;
      in_shared = nullptr;
      --active;
      hopeless = 0;
      more = next < total;
      continue;
    }
    // Spinning: others first. Nothing has happened since all of them had several turns: nothing will.
    const bool room = active < resident && m.free_count >= m.threads;
    more = room && next < total;
    if (!more) {
      if (progress != m.progress) progress = m.progress, hopeless = 0;
      else if (++hopeless > kHopelessTurns * active) {
        Text text;
        text << "waits for something that never happens";
        if (next < total) text << ": " << active << " blocks are resident, " << total - next << " wait for one of them to end";
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
  const int64_t total = m.grid[0] * m.grid[1] * m.grid[2];
  Arena arena = kept_arena;
  int64_t resident = c.resident < total ? c.resident : total;
  const int64_t a_block = m.threads * (static_cast<int64_t>(sizeof(Thread)) + static_cast<int64_t>(sizeof(char*)) +
                                       static_cast<int64_t>(kStackBytes)) +
                          m.warps * static_cast<int64_t>(sizeof(Warp)) + shared * 5 / 4 + static_cast<int64_t>(sizeof(Block)) + 1024;
  const int64_t fits = (arena.end - arena.at - (1 << 20)) / a_block;
  if (fits < resident) resident = fits;
  if (resident < 1) no_room();
  auto* blocks = arena.take<Block>(resident);
  m.free_stacks = arena.take<char*>(resident * m.threads);
  for (int64_t i = 0; i < resident; ++i) {
    blocks[i].active = false;
    if (!make_block(arena, blocks[i], shared)) no_room();
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
  m.began = m.clock++;
  run_blocks(blocks, resident, shared, total);
  m.block = nullptr;
  m.context->report->instructions = m.count;
  if (m.found) stop();
}

}  // namespace hone::simt
