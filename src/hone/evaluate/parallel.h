// A loop over independent parts on a few threads. The parts are handed out one by one, so uneven ones
// balance; the call returns when all are done. `body` must not throw.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace hone::evaluate {

template <class Body>
void parallel_for(int64_t parts, int threads, Body&& body) {
  const int64_t workers = std::clamp<int64_t>(threads, 1, std::max<int64_t>(parts, 1));
  std::atomic<int64_t> next{0};
  const auto work = [&] {
    for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < parts;) body(i);
  };
  std::vector<std::jthread> others;
  for (int64_t i = 1; i < workers; ++i) others.emplace_back(work);
  work();
}

}  // namespace hone::evaluate
