// A run without compiler, device or waiting: kernels whose speed and verdict follow from their hash and
// configuration (no noise), an evaluator that knows them and moves a fake clock by what each step
// costs, and a bench that puts a run together from them. For tests. build() may be called from several
// threads, everything else from one.
#pragma once
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hone/archive/store.h"
#include "hone/base/clock.h"
#include "hone/base/file.h"
#include "hone/base/hash.h"
#include "hone/engine/run.h"
#include "hone/evaluate/evaluator.h"
#include "hone/search/strategy.h"

namespace hone::engine::testing {

/// The value, or the test ends with the error's text.
template <class T>
T must(Result<T> result) {
  if (!result) {
    ADD_FAILURE() << result.error().to_string();
    throw std::runtime_error(result.error().to_string());
  }
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

/// In [0, 1), from a text.
inline double draw(const std::string& text) {
  return static_cast<double>(std::stoull(base::content_hash(text).substr(0, 12), nullptr, 16)) * 0x1p-48;
}

/// What is true of the fake kernels of one seed.
struct Truth {
  uint64_t seed = 1;
  /// Share of all kernels that are wrong.
  double wrong = 0;
  /// Share of the logarithm of a time that is a kernel's own, beside the effects of its tunables' values.
  double ruggedness = 0;
  /// Share of the effects that a source has in common with those of its note in other tasks (1: all).
  double kinship = 0;
  /// What was measured, instead of all that: nanoseconds, 0 for a wrong one.
  std::function<double(const kernel::Kernel&)> measured_ns = {};

  [[nodiscard]] double time_ns(const kernel::Kernel& kernel) const {
    if (measured_ns) return measured_ns(kernel);
    double log_time = 0;
    for (const auto& [share, text] : {std::pair(1 - kinship, base::content_hash(kernel.source)), std::pair(kinship, "kin of " + kernel.header.note)}) {
      if (share == 0) continue;
      log_time += share * (draw(fmt::format("{} {}", seed, text)) - 0.5);
      for (const auto& [name, value] : kernel.config) log_time += share * (draw(fmt::format("{} {} {} {}", seed, text, name, value)) - 0.5);
    }
    log_time += ruggedness * (draw(fmt::format("{} own {}", seed, kernel.hash())) - 0.5);
    return 1e6 * std::exp(log_time);
  }
  [[nodiscard]] bool right(const kernel::Kernel& kernel) const {
    if (measured_ns) return measured_ns(kernel) > 0;
    return draw(fmt::format("{} wrong {}", seed, kernel.hash())) >= wrong;
  }
};

/// What steps cost (nanoseconds); odd numbers, so that times are not round by luck.
struct Costs {
  int64_t build = 1'234'567'891, screen = 345'678'917, yardstick = 56'789'123, promote = 3'456'789'013;
  double dispatch = 0;  ///< of every opponent, nanoseconds
};

class FakeEvaluator final : public evaluate::Evaluator {
 public:
  /// What happens around the evaluator's calls; tests count, refuse and kill here.
  struct Hooks {
    std::function<void(const char* call, const kernel::Kernel& kernel)> before, after;
    std::function<std::chrono::milliseconds(const kernel::Kernel&)> slow_build;  ///< real time, beside other builds
    std::function<std::string(const kernel::Kernel&)> code;  ///< that it is built into; null: nobody knows
    std::function<bool(const kernel::Kernel&)> refuse_promotion;
    std::function<bool(const kernel::Kernel&)> refuse_race;  ///< what was accepted before, when screened again
  };

  FakeEvaluator(base::FakeClock& clock, Truth truth, Hooks hooks, Costs costs, double bound_ns)
      : clock_(clock), truth_(truth), hooks_(std::move(hooks)), costs_(costs), bound_ns_(bound_ns) {}

  Result<target::BuildOutcome> build(const kernel::Kernel& kernel) override {
    if (hooks_.slow_build) std::this_thread::sleep_for(hooks_.slow_build(kernel));
    const std::scoped_lock lock(mutex_);
    const Around around(*this, "build", kernel);
    clock_.advance_ns(costs_.build);
    target::Build build;
    if (hooks_.code) build.code = hooks_.code(kernel);
    return build;
  }

  Result<evaluate::Screening> screen(const kernel::Kernel& kernel) override {
    const Around around(*this, "screen", kernel);
    clock_.advance_ns(costs_.screen);
    evaluate::Screening screening;
    screening.toolchain = "fake";
    screening.spent.verify = costs_.screen;
    const bool again = !screened_.insert(kernel.hash()).second;
    if (!truth_.right(kernel) || (again && hooks_.refuse_race && hooks_.refuse_race(kernel))) {
      screening.verdict = {evaluate::VerdictKind::kWrong, "so says the fake truth", {}, {}};
      return screening;
    }
    const double time = truth_.time_ns(kernel);
    screening.median_ns = {time};
    screening.score = yardstick_ ? truth_.time_ns(*yardstick_) / time : 1;
    screening.ratio = {screening.score};
    screening.repetitions = 3;
    return screening;
  }

  Status set_yardstick(const kernel::Kernel& kernel) override {
    const Around around(*this, "yardstick", kernel);
    EXPECT_TRUE(truth_.right(kernel)) << "a wrong kernel for a yardstick";
    clock_.advance_ns(costs_.yardstick);
    yardstick_ = kernel;
    return {};
  }

  Result<evaluate::Promotion> promote(const kernel::Kernel& kernel,
                                      const std::vector<evaluate::Opponent>& opponents) override {
    const Around around(*this, "promote", kernel);
    clock_.advance_ns(costs_.promote);
    evaluate::Promotion promotion;
    promotion.spent.run = costs_.promote;
    if (hooks_.refuse_promotion && hooks_.refuse_promotion(kernel)) {
      promotion.verdict = {evaluate::VerdictKind::kLessAccurate, "refused by the test", {}, {}};
      return promotion;
    }
    evaluate::WorkloadResult workload;
    workload.workload = "w0";
    workload.bound_ns = bound_ns_;
    workload.candidate_ns = truth_.time_ns(kernel);
    workload.sol_fraction = bound_ns_ / workload.candidate_ns;
    for (const evaluate::Opponent& opponent : opponents) {
      evaluate::OpponentResult result;
      result.opponent = opponent.name;
      result.opponent_ns = 2e6;
      result.candidate_ns = workload.candidate_ns;
      result.dispatch_ns = costs_.dispatch;
      const double ratio = result.opponent_ns / result.candidate_ns;
      result.ratio = {ratio, 0.99 * ratio, 1.01 * ratio};
      result.comparison = ratio > 1 ? evaluate::Comparison::kFaster : evaluate::Comparison::kSlower;
      workload.opponents.push_back(result);
    }
    promotion.workloads.push_back(workload);
    promotion.seeds = {0xffff'ffff'ffff'fff1};
    return promotion;
  }

  std::vector<double> bounds_ns() const override { return {bound_ns_}; }
  std::vector<evaluate::LightBound> light_bounds() const override { return {{2'048'000, 256'000, bound_ns_, 0}}; }

 private:
  struct Around {
    Around(FakeEvaluator& e, const char* c, const kernel::Kernel& k) : evaluator(e), call(c), kernel(k) {
      if (evaluator.hooks_.before) evaluator.hooks_.before(call, kernel);
    }
    ~Around() {
      if (evaluator.hooks_.after) evaluator.hooks_.after(call, kernel);
    }
    FakeEvaluator& evaluator;
    const char* call;
    const kernel::Kernel& kernel;
  };

  base::FakeClock& clock_;
  Truth truth_;
  Hooks hooks_;
  Costs costs_;
  double bound_ns_;
  std::mutex mutex_;
  std::optional<kernel::Kernel> yardstick_;
  std::set<std::string> screened_;
};

/// Source number `n` with tunables A, B and C (24 configurations, kAllowedOfASource of them allowed), as written for the task
/// that `suffix` stands for.
inline search::Seed fake_seed(int n, const std::string& suffix = "") {
  const std::string source = fmt::format(R"(/* hone
language = "c++"
tunables = {{ A = [1, 2, 4, 8], B = [1, 2, 3], C = [0, 1] }}
constraints = ["A * B <= 16"]
note = "source {}"
[[launch]]
kernel = "f"
grid = ["1"]
args = ["x", "y"]
*/
void f{}{}() {{}}
)", n, n, suffix);
  search::Seed seed{must(kernel::parse_kernel(source, "fake")), fmt::format("pattern{}", n), "look"};
  seed.kernel.author = "pattern:fake";
  return seed;
}

inline constexpr int kAllowedOfASource = 22;

/// Everything around a run: scratch archive, clock, evaluator, seeds.
struct Bench {
  base::ScratchDirectory scratch = must(base::ScratchDirectory::create("run-test"));
  std::filesystem::path archive = scratch.path() / "archive.db";
  task::Task task = must(task::task_from_expressions("y = exp(x)", {"x=f32[256,1000]"}, {}));
  base::FakeClock clock;
  Truth truth;
  Costs costs;
  FakeEvaluator::Hooks hooks;
  double bound_ns = 1e3;
  int64_t prepare_ns = 0;  ///< what making an evaluator costs
  int sources = 2;
  bool ahead = false;      ///< builds go on beside screenings; let them cost nothing where times are compared: they come when they come
  int batch = 2;
  std::string suffix;      ///< of the sources' texts
  std::vector<search::Seed> own_seeds;   ///< instead of fake_seed()s
  std::optional<search::Seed> last_resort;
  kernel::Limits limits;
  std::function<bool()> interrupted;
  std::function<void(const Progress&)> progress;
  std::string run_id = "0123456789ab";

  [[nodiscard]] archive::Store open() const { return must(archive::Store::open(archive)); }

  [[nodiscard]] Services services(archive::Store& store) {
    Services all;
    all.clock = &clock;
    all.store = &store;
    all.evaluator = [this]() -> Result<std::unique_ptr<evaluate::Evaluator>> {
      clock.advance_ns(prepare_ns);
      return std::make_unique<FakeEvaluator>(clock, truth, hooks, costs, bound_ns);
    };
    all.seeds = own_seeds, all.last_resort = last_resort, all.limits = limits;
    for (int n = 0; n < sources && own_seeds.empty(); ++n) all.seeds.push_back(fake_seed(n, suffix));
    for (const char* name : {"naive", "library"}) {
      evaluate::Opponent opponent;
      opponent.name = name;
      all.opponents.push_back(std::move(opponent));
    }
    all.toolchain = "fake";
    all.builds_aside = ahead;
    all.batch = batch;
    all.run_id = run_id;
    all.champions = scratch.path() / "champions";
    all.interrupted = interrupted;
    all.progress = progress;
    return all;
  }

  Result<RunResult> start(const RunOptions& options) {
    archive::Store store = open();
    return start_run(task, options, services(store));
  }
  Result<RunResult> resume() {
    archive::Store store = open();
    return resume_run(must(store.run(run_id)), task, services(store));
  }
  [[nodiscard]] archive::RunInfo info() const { return must(open().run(run_id)); }
  [[nodiscard]] std::vector<archive::Event> events() const { return must(open().events(run_id)); }

  /// Bodies of the events of one kind, in order.
  [[nodiscard]] std::vector<nlohmann::json> events(std::string_view kind) const {
    std::vector<nlohmann::json> all;
    for (const archive::Event& event : events())
      if (event.kind == kind) all.push_back(nlohmann::json::parse(event.json));
    return all;
  }

  /// Every allowed kernel of every source.
  [[nodiscard]] std::vector<kernel::Kernel> all_kernels() const {
    std::vector<kernel::Kernel> all;
    for (int n = 0; n < sources; ++n) {
      kernel::Kernel kernel = fake_seed(n, suffix).kernel;
      for (const int64_t a : kernel.header.tunables[0].values)
        for (const int64_t b : kernel.header.tunables[1].values)
          for (const int64_t c : kernel.header.tunables[2].values) {
            kernel.config = {{"A", a}, {"B", b}, {"C", c}};
            if (must(kernel::allowed(kernel.header, kernel.config, {}))) all.push_back(kernel);
          }
    }
    return all;
  }
};

}  // namespace hone::engine::testing
