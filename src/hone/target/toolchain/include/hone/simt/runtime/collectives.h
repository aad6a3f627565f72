// What warp collectives give: shuffles, votes, matches, reductions, once all lanes that take part are there.
#pragma once
#include "hone/simt/runtime/memory.h"
#include "hone/simt/runtime/mfma.h"

namespace hone::simt {

inline const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::kShuffle: return "__shfl";
    case Kind::kShuffleUp: return "__shfl_up";
    case Kind::kShuffleDown: return "__shfl_down";
    case Kind::kShuffleXor: return "__shfl_xor";
    case Kind::kBallot: return "a vote";
    case Kind::kMatchAny: return "__match_any";
    case Kind::kMatchAll: return "__match_all";
    case Kind::kSync: return "__syncwarp";
    case Kind::kActive: return "__activemask";
    case Kind::kMatrix: return "a matrix operation";
    default: return "a warp reduction";
  }
}

inline Thread& lane_of(Block& b, const Warp& w, int lane) { return b.threads[(&w - b.warps) * kWave + lane]; }

inline uint64_t reduce(Kind kind, uint64_t a, uint64_t b) {
  const auto s = [](uint64_t v) { return static_cast<int32_t>(v); };
  const auto u = [](uint64_t v) { return static_cast<uint32_t>(v); };
  switch (kind) {
    case Kind::kAdd: return u(a) + u(b);
    case Kind::kMinS: return static_cast<uint32_t>(s(a) < s(b) ? s(a) : s(b));
    case Kind::kMaxS: return static_cast<uint32_t>(s(a) > s(b) ? s(a) : s(b));
    case Kind::kMinU: return u(a) < u(b) ? u(a) : u(b);
    case Kind::kMaxU: return u(a) > u(b) ? u(a) : u(b);
    case Kind::kAnd: return a & b;
    case Kind::kOr: return a | b;
    default: return a ^ b;
  }
}

/// Which lane a shuffle of `lane` reads; its own where the width's end is passed.
inline int source_of(Kind kind, int lane, int param, int width) {
  const int base = lane & ~(width - 1);
  switch (kind) {
    case Kind::kShuffle: return base + (param & (width - 1));
    case Kind::kShuffleUp: return lane - param < base ? lane : lane - param;
    case Kind::kShuffleDown: return lane + param >= base + width ? lane : lane + param;
    default: return (lane ^ param) >= base + width ? lane : lane ^ param;
  }
}

/// A matrix operation, for which every lane of the wave must be there with the same. `given`: their calls, by address.
inline void operate(Block& b, const Warp& w, const Slot& s, const uint64_t* given) {
  constexpr uint64_t kAll = kWave == 64 ? ~uint64_t{0} : (uint64_t{1} << kWave % 64) - 1;
  const Thread& first = lane_of(b, w, __builtin_ctzll(s.arrived));
  Text text;
  if (const uint64_t missing = ~s.arrived & kAll) {
    text << "a matrix operation without lane " << __builtin_ctzll(missing);
    found(Finding::kDivergent, text, &first, first.pc, s.line);
    return;
  }
  const auto of = [&](int lane) -> const MatrixCall& { return *reinterpret_cast<const MatrixCall*>(given[lane]); };
  for (int lane = 1; lane < kWave; ++lane)
    if (of(lane).op != of(0).op || of(lane).size != of(0).size || of(lane).each != of(0).each || of(lane).line != of(0).line) {
      text << "divergent matrix operations: lane " << lane << " comes to another one (line " << of(lane).line << ") than lane 0";
      found(Finding::kDivergent, text, &first, 0, of(0).line);
      return;
    }
  if constexpr (kWave == 32) operate_warp(given);
  else operate_wave(given);
}

/// All who count are there: gives each its result and lets it go on.
inline void complete(Block& b, Warp& w, int number) {
  const Slot s = w.slot[number];
  w.slot[number] = w.slot[--w.slots];
  uint64_t given[kWave];
  uint64_t all = 0, first = 0;
  bool same = true, any = false;
  for (uint64_t rest = s.arrived; rest; rest &= rest - 1) {
    const int lane = __builtin_ctzll(rest);
    const uint64_t v = given[lane] = lane_of(b, w, lane).value;
    if (s.kind == Kind::kBallot) {
      if (v) all |= uint64_t{1} << lane;
    } else if (!any) {
      all = first = v;
    } else {
      same &= v == first;
      all = reduce(s.kind, all, v);
    }
    any = true;
  }
  if (s.kind == Kind::kMatrix) operate(b, w, s, given);
  const bool orders = s.kind == Kind::kSync || kWave == 64;
  const uint32_t stamp = m.clock;
  uint32_t acquired = 0, phase_time = 0, fence = 0, cluster_time = 0, cluster_before = 0;
  uint32_t reached[kMostCluster] = {};
  if (orders) {
    // What one of them has waited for, all have; what one of them has published, all may.
    ++m.clock;
    for (uint64_t rest = s.arrived; rest; rest &= rest - 1) {
      const Thread& t = lane_of(b, w, __builtin_ctzll(rest));
      if (t.acquired > acquired) acquired = t.acquired;
      if (t.phase_time > phase_time) phase_time = t.phase_time;
      if (t.fence > fence) fence = t.fence;
      if (t.cluster_time > cluster_time) cluster_time = t.cluster_time, cluster_before = t.cluster_before;
      if (m.cluster > 1) raise_reached(reached, t.reached, m.cluster);
    }
  }
  for (uint64_t rest = s.arrived; rest; rest &= rest - 1) {
    const int lane = __builtin_ctzll(rest);
    Thread& t = lane_of(b, w, lane);
    switch (s.kind) {
      case Kind::kShuffle:
      case Kind::kShuffleUp:
      case Kind::kShuffleDown:
      case Kind::kShuffleXor: {
        const int from = source_of(s.kind, lane, t.param, t.width);
        if (s.arrived >> from & 1) {
          t.value = given[from];
        } else {
          Text text;
          text << name_of(s.kind) << " reads lane " << from << ", which does not take part";
          found(Finding::kDivergent, text, &t, 0, s.line);
          t.value = 0x7ff8dead7fc0dead;
        }
        break;
      }
      case Kind::kMatchAny: {
        uint64_t mask = 0;
        for (uint64_t others = s.arrived; others; others &= others - 1) {
          const int other = __builtin_ctzll(others);
          if (given[other] == given[lane]) mask |= uint64_t{1} << other;
        }
        t.value = mask;
        break;
      }
      case Kind::kMatchAll: t.value = same ? s.arrived : 0; break;
      case Kind::kSync:
      case Kind::kActive: t.value = s.arrived; break;
      default: t.value = all; break;
    }
    if (orders) {
      t.warp_time = stamp, t.acquired = acquired, t.phase_time = phase_time, t.fence = fence;
      t.cluster_time = cluster_time, t.cluster_before = cluster_before;
      if (m.cluster > 1) raise_reached(t.reached, reached, m.cluster);
    }
    t.state = State::kReady;
  }
  w.ready |= s.arrived;
}

}  // namespace hone::simt
