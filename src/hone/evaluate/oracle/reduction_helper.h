// Reductions over more than the host can read in no time, done by somebody who has the inputs nearer: a card. Which nodes those are
// is fixed before anything is evaluated, so that what they read need not be drawn here; a few elements of each are looked
// over here all the same. Thread-safe.
#pragma once
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "hone/evaluate/oracle/box.h"
#include "hone/evaluate/oracle/tensor.h"

namespace hone::evaluate {

/// A reduction that is done elsewhere, whole.
struct CoveredReduction {
  std::vector<int> given;  ///< nodes whose whole results it is given
  Box spot;                ///< of its operand: what is computed here, too
};
/// By node.
using Coverage = std::map<int, CoveredReduction>;

class ReductionHelper {
 public:
  explicit ReductionHelper(Coverage coverage) : coverage_(std::move(coverage)) {}
  virtual ~ReductionHelper() = default;
  [[nodiscard]] const Coverage& coverage() const { return coverage_; }

  /// The operand of node `id`, which is covered, over `box` of it, reduced along the node's axes, without what comes after
  /// (combine_partials). `given`: whole results of CoveredReduction::given, in its order. The same answer each time.
  [[nodiscard]] virtual Tensor reduce(int id, const Box& box, Arithmetic arithmetic, bool want_scale, std::span<const Tensor> given) = 0;

  /// What make() gave for this node when it was first asked for, which belongs to no thread. Others wait meanwhile.
  [[nodiscard]] const Tensor& once(int id, Arithmetic arithmetic, bool want_scale, const std::function<Tensor()>& make) {
    Entry* entry;
    {
      const std::lock_guard lock(mutex_);
      entry = &entries_[{id, arithmetic, want_scale}];
    }
    std::call_once(entry->flag, [&] { entry->result = make(); });
    return entry->result;
  }

 private:
  struct Entry {
    std::once_flag flag;
    Tensor result;
  };
  Coverage coverage_;
  std::mutex mutex_;
  std::map<std::tuple<int, Arithmetic, bool>, Entry> entries_;
};

}  // namespace hone::evaluate
