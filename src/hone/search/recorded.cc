#include "hone/search/recorded.h"

#include <set>
#include <string>

namespace hone::search {
namespace {

class Recorded final : public Strategy {
 public:
  explicit Recorded(std::vector<RecordedStep> steps) : steps_(std::move(steps)) {}

  std::vector<Proposal> next(int most) override {
    std::vector<Proposal> batch;
    for (; at_ < steps_.size() && static_cast<int>(batch.size()) < most; ++at_) {
      RecordedStep& step = steps_[at_];
      if (!batch.empty() && step.apart) break;
      if (step.proposal && step.proposal->kernel.author.starts_with("model:") && !added_.contains(step.proposal->kernel.source)) break;
      if (batch.empty()) skipped_ = step.skipped;
      if (!step.proposal) {
        ++at_;
        break;
      }
      seen_.insert(step.proposal->kernel.source);
      batch.push_back(std::move(*step.proposal));
    }
    return batch;
  }
  void observe(const Proposal&, const Outcome&) override {}
  void remember(const Memory&) override {}
  bool add(Seed seed, bool) override {
    if (seen_.contains(seed.kernel.source)) return false;
    return added_.insert(std::move(seed.kernel.source)).second;
  }
  Skipped take_skipped() override { return std::exchange(skipped_, {}); }

 private:
  std::vector<RecordedStep> steps_;
  size_t at_ = 0;
  Skipped skipped_;
  std::set<std::string> added_, seen_;
};

}  // namespace

std::unique_ptr<Strategy> recorded_strategy(std::vector<RecordedStep> steps) { return std::make_unique<Recorded>(std::move(steps)); }

}  // namespace hone::search
