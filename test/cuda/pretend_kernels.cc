#include "pretend_kernels.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace hone::pretend {
namespace {

using target::cuda::kIllegalAddress;
using target::cuda::kSuccess;
using Arguments = std::span<const uint64_t>;

template <class T>
T* at(uint64_t address) {
  return reinterpret_cast<T*>(address);
}

/// y[i] = f(x[i]) for the first `count` of n elements.
template <class F>
Result map(const Memory& memory, Arguments a, int64_t count, F f) {
  const size_t bytes = static_cast<size_t>(count) * sizeof(float);
  if (!memory.allows(a[0], bytes, false) || !memory.allows(a[1], bytes, true)) return kIllegalAddress;
  for (int64_t i = 0; i < count; ++i) at<float>(a[1])[i] = f(at<const float>(a[0])[i]);
  return kSuccess;
}
int64_t elements(Arguments a) { return static_cast<int64_t>(a[2]); }

Result negate(const Memory& memory, Arguments a) {
  return map(memory, a, elements(a), [](float x) { return -x; });
}
Result wrong(const Memory& memory, Arguments a) {
  return map(memory, a, elements(a), [](float x) { return x; });
}
/// Leaves the last element.
Result partial(const Memory& memory, Arguments a) {
  return map(memory, a, elements(a) - 1, [](float x) { return -x; });
}
/// One element too many, which is the guard's where the output does not end with its memory.
Result outside(const Memory& memory, Arguments a) {
  if (const Result result = negate(memory, a); result != kSuccess) return result;
  const uint64_t next = a[1] + a[2] * sizeof(float);
  if (!memory.allows(next, sizeof(float), true)) return kIllegalAddress;
  *at<float>(next) = 0;
  return kSuccess;
}
Result far(const Memory&, Arguments) { return kIllegalAddress; }
Result input(const Memory& memory, Arguments a) {
  if (!memory.allows(a[0], sizeof(float), true)) return kIllegalAddress;
  *at<float>(a[0]) = 0;
  return negate(memory, a);
}
Result hang(const Memory&, Arguments) {
  for (;;) pause();
}
Result slow(const Memory& memory, Arguments a) {
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  return negate(memory, a);
}
Result die(const Memory&, Arguments) {
  (void)raise(SIGKILL);
  return kSuccess;
}
/// A device's assert: the driver prints a line a thread before it says so.
Result complain(const Memory&, Arguments) {
  const std::string line = "kernel.cu:3: void pretend_assert(): block: [0,0,0], thread: [0,0,0] Assertion `n < 0` failed.\n";
  for (int i = 0; i < 4096; ++i)
    if (write(STDERR_FILENO, line.data(), line.size()) < 0) break;
  return kAssert;
}
/// (x, y, w, n): y = -x where w is zeroed, else w's first word everywhere.
Result workspace(const Memory& memory, Arguments a) {
  if (!memory.allows(a[2], sizeof(float), true)) return kIllegalAddress;
  float* const w = at<float>(a[2]);
  uint32_t bits = 0;
  std::memcpy(&bits, w, sizeof bits);
  const uint64_t plain[] = {a[0], a[1], a[3]};
  const float found = *w;
  *w = 1;
  return map(memory, plain, elements(plain), [&](float x) { return bits == 0 ? -x : found; });
}

template <class Word>
uint64_t count(const void* from, int64_t n, uint64_t bits, uint64_t exponent) {
  const Word wanted = static_cast<Word>(bits), mask = static_cast<Word>(exponent);
  uint64_t found = 0;
  for (int64_t i = 0; i < n; ++i) {
    Word word;
    std::memcpy(&word, static_cast<const char*>(from) + i * static_cast<int64_t>(sizeof word), sizeof word);
    found += mask ? (word & mask) == mask : word == wanted;
  }
  return found;
}
/// grader.cu: (data, found, offset, n, width, bits, exponent).
Result count_words(const Memory& memory, Arguments a) {
  const uint64_t from = a[0] + a[2];
  const auto n = static_cast<int64_t>(a[3]);
  if (!memory.allows(from, a[3] * a[4], false) || !memory.allows(a[1], 8, true)) return kIllegalAddress;
  uint64_t found = 0;
  switch (a[4]) {
    case 1: found = count<uint8_t>(at<const void>(from), n, a[5], a[6]); break;
    case 2: found = count<uint16_t>(at<const void>(from), n, a[5], a[6]); break;
    case 4: found = count<uint32_t>(at<const void>(from), n, a[5], a[6]); break;
    case 8: found = count<uint64_t>(at<const void>(from), n, a[5], a[6]); break;
    default: return kInvalidValue;
  }
  *at<uint64_t>(a[1]) += found;
  return kSuccess;
}
/// grader.cu: (data, table, packed, width, count).
Result gather_pieces(const Memory& memory, Arguments a) {
  if (!memory.allows(a[1], a[4] * 24, false)) return kIllegalAddress;
  for (uint64_t i = 0; i < a[4]; ++i) {
    const auto* const piece = at<const int64_t>(a[1]) + 3 * i;
    const uint64_t from = a[0] + static_cast<uint64_t>(piece[0]), to = a[2] + static_cast<uint64_t>(piece[1]);
    const size_t bytes = static_cast<size_t>(piece[2]) * a[3];
    if (!memory.allows(from, bytes, false) || !memory.allows(to, bytes, true)) return kIllegalAddress;
    std::memcpy(at<void>(to), at<const void>(from), bytes);
  }
  return kSuccess;
}
/// grader.cu: (ticks). Four multiprocessors at 1980 MHz, the fourth of which nobody has asked.
Result read_clocks(const Memory& memory, Arguments a) {
  if (!memory.allows(a[0], 4 * 16, true)) return kIllegalAddress;
  const auto now = static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
  for (uint64_t m = 0; m < 3; ++m) {
    at<uint64_t>(a[0])[2 * m] = now * 198 / 100 + m;
    at<uint64_t>(a[0])[2 * m + 1] = now;
  }
  return kSuccess;
}
/// baseline/stream_twin.cc for a task of one input and one output: (x, bytes, y, bytes).
Result stream_twin(const Memory& memory, Arguments a) {
  if (!memory.allows(a[0], a[1], false) || !memory.allows(a[2], a[3], true)) return kIllegalAddress;
  std::memcpy(at<void>(a[2]), at<const void>(a[0]), std::min(a[1], a[3]));
  return kSuccess;
}
/// cuda_read.h: (from, bytes). A flush has left equal words; a look at two of them keeps the pretended card quick.
Result read(const Memory& memory, Arguments a) {
  if (!memory.allows(a[0], a[1], true) || a[1] % 16 != 0) return kIllegalAddress;
  return std::memcmp(at<const void>(a[0]), at<const void>(a[0] + a[1] - 4), 4) == 0 ? kSuccess : kAssert;
}

/// cuda_read.h: (from, bytes), and writes nothing.
Result warm(const Memory& memory, Arguments a) { return memory.allows(a[0], a[1], false) ? kSuccess : kIllegalAddress; }
/// Knows an input by its ends, and keeps the answer.
Result remember(const Memory& memory, Arguments a) {
  static std::vector<float> kept;
  static float first = 0, last = 0;
  const auto n = static_cast<size_t>(a[2]);
  if (!memory.allows(a[0], n * sizeof(float), false) || !memory.allows(a[1], n * sizeof(float), true)) return kIllegalAddress;
  const float* const x = at<const float>(a[0]);
  if (kept.size() == n && first == x[0] && last == x[n - 1]) return std::copy(kept.begin(), kept.end(), at<float>(a[1])), kSuccess;
  if (const Result result = negate(memory, a); result != kSuccess) return result;
  kept.assign(at<const float>(a[1]), at<const float>(a[1]) + n);
  first = x[0], last = x[n - 1];
  return kSuccess;
}
/// One call in thirty leaves the second half as it is, which may be somebody's answer.
Result sometimes(const Memory& memory, Arguments a) {
  static int calls = 0;
  return map(memory, a, ++calls % 30 == 0 ? elements(a) / 2 : elements(a), [](float x) { return -x; });
}

constexpr Kernel kKernels[] = {
    {"count_words", 7, count_words}, {"gather_pieces", 5, gather_pieces}, {"read_clocks", 1, read_clocks}, {"stream_twin", 4, stream_twin}, {"hone_read", 2, read}, {"hone_warm", 2, warm}, {"pretend_negate", 3, negate},
    {"pretend_wrong", 3, wrong},     {"pretend_partial", 3, partial}, {"pretend_outside", 3, outside},
    {"pretend_far", 3, far},         {"pretend_input", 3, input},     {"pretend_hang", 3, hang},
    {"pretend_slow", 3, slow},       {"pretend_dies", 3, die},        {"pretend_assert", 3, complain},
    {"pretend_workspace", 4, workspace}, {"pretend_remembers", 3, remember}, {"pretend_sometimes", 3, sometimes}, {"pretend_lost", 3, negate}, {"pretend_last", 3, negate},
};

}  // namespace

const Kernel* find_kernel(std::string_view function) {
  for (const Kernel& kernel : kKernels)
    if (function.find(kernel.name) != std::string_view::npos) return &kernel;
  return nullptr;
}

bool dies_when_found(std::string_view function) { return function.find("pretend_lost") != std::string_view::npos; }
bool dies_when_unloaded(std::string_view function) { return function.find("pretend_last") != std::string_view::npos; }

}  // namespace hone::pretend
