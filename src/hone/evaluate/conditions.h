// One accepted kernel timed under several conditions on one workload: cold and hot caches, all threads and one, beside
// the stream twin. What a diagnosis is reckoned from; no comparison with any other kernel.
#pragma once
#include <map>
#include <string>

#include "hone/base/random.h"
#include "hone/evaluate/measure/workload.h"

namespace hone::evaluate {

/// Nanoseconds a call, medians of interleaved rounds; 0: not measured.
struct Conditions {
  Verdict verdict;  ///< not accepted: no times
  std::string workload;
  task::Bindings bindings;
  int threads = 1;
  double cold_ns = 0;                                ///< inputs and outputs in no cache, as candidates are timed
  double cold_least_ns = 0;                          ///< the least of those
  int rounds = 0;                                    ///< of which cold_ns is the median
  double hot_ns = 0;                                 ///< the same buffers over and over
  double one_thread_ns = 0;                          ///< cold, on one thread
  double memory_ns = 0;                              ///< the fastest stream twin in the same rounds: the memory side of the speed of light
  double memory_stream_ns = 0, memory_plain_ns = 0;  ///< the fastest twin that stores past the caches, and through them
  double compute_ns = 0;                             ///< least multiply-adds at the peaks; 0: none (modelled)
  task::Cost cost;
  /// Events of target::hardware_events() over cold calls, all threads; `counters_absent` says why there are none.
  std::map<std::string, double> counters;
  std::string counters_absent;
};

/// `single`: a loader with one thread, for one_thread_ns; null leaves that out. Not `thorough`: fewer rounds, and the
/// twin's time is the one taken when the workload was prepared.
[[nodiscard]] Result<Conditions> time_conditions(Playing& play, const kernel::Kernel& kernel, Loader& loader, Loader* single, bool thorough,
                                                 base::Rng& rng, Spent& spent);

}  // namespace hone::evaluate
