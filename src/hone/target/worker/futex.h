// Waiting for a word of shared memory to change, without spinning.
#pragma once
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace hone::target::worker {

/// Returns when woken, or at once where the word is no longer `seen`; now and then for no reason.
inline void futex_wait(std::atomic<uint32_t>& word, uint32_t seen) { syscall(SYS_futex, &word, FUTEX_WAIT, seen, nullptr, nullptr, 0); }
inline void futex_wake(std::atomic<uint32_t>& word) { syscall(SYS_futex, &word, FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0); }

}  // namespace hone::target::worker
