// A run that never was, for tests and for looking at the page: an rms norm on a CPU, written into an
// archive as the engine would write it. The same options give the same run.
#pragma once
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "hone/archive/store.h"
#include "hone/base/hash.h"
#include "hone/base/json.h"
#include "hone/base/random.h"
#include "hone/evaluate/verdict.h"
#include "hone/face/report/testing/synthetic_texts.h"

namespace hone::face::testing {

struct Synthetic {
  std::string id = "5ca1ab1e0001";
  int evaluations = 60;
  bool finished = true;
  bool champion = true;    ///< false: promotions are refused
  bool accepting = true;   ///< false: every candidate is refused
  bool operations = true;  ///< false: the task only moves data
  std::string hostile;     ///< put into every text that comes from outside
};

class SyntheticRun {
 public:
  SyntheticRun(archive::Store& store, Synthetic options) : store_(store), options_(std::move(options)) {}

  archive::RunInfo write() {
    run_.id = options_.id;
    run_.task_name = "rmsnorm" + options_.hostile;
    run_.task_hash = base::content_hash("rmsnorm");
    run_.target = "cpu";
    run_.options_json = R"({"seed":7})";
    run_.task_toml = kSyntheticTask;
    if (!options_.hostile.empty()) run_.task_toml += "# " + options_.hostile + "\nno key\n";
    run_.created_unix_ms = run_.updated_unix_ms = 1'767'861'720'000;
    run_.status = "running";
    must(store_.create_run(run_));
    start();
    for (int n = 1; n <= options_.evaluations; ++n) evaluate(n);
    if (options_.finished) finish();
    return *store_.run(run_.id);
  }

 private:
  using Json = nlohmann::json;
  static constexpr double kBytes[] = {268.5e6, 557e3, 6.22e6};
  static constexpr double kBoundNs[] = {5.31e6, 8.9e3, 88e3};
  static constexpr double kBestShare[] = {0.94, 0.71, 0.83};  ///< of the bound, at most

  /// One kernel as the search knows it.
  struct Candidate {
    std::string hash, parent, pattern, action;
    evaluate::Verdict verdict;
    std::map<std::string, int64_t> config;
    double speed = 0;  ///< share of the best that is possible
  };

  static void must(const Status& status) {
    HONE_CHECK(status.has_value(), status ? "" : status.error().message);
  }
  void event(std::string_view kind, const Json& json) {
    must(store_.append_event(run_.id, seq_++, kind, base::canonical_json(json)));
  }
  [[nodiscard]] std::string outside(std::string text) const { return text + options_.hostile; }

  void start() {
    Json workloads = Json::array();
    workloads.push_back({{"name", "large"}, {"bindings", {{"B", 4096}, {"D", 8192}}}, {"weight", 1.0}});
    workloads.push_back({{"name", "decode"}, {"bindings", {{"B", 8}, {"D", 8192}}}, {"weight", 3.0}});
    workloads.push_back({{"name", "odd"}, {"bindings", {{"B", 777}, {"D", 1000}}}, {"weight", 1.0}});
    event("started",
          {{"task", "rmsnorm"},
           {"task_hash", run_.task_hash},
           {"target", "cpu"},
           {"track", "strict"},
           {"toolchain", outside("g++ 12.2.0 -O3 -march=native")},
           {"machine",
            {{"model", outside("AMD EPYC 9575F 64-Core Processor")},
             {"isa", "avx512"},
             {"threads", 16},
             {"l2_bytes", 1 << 20},
             {"l3_bytes", 32 << 20},
             {"memory_bytes", 128LL << 30}}},
           {"options",
            {{"strategy", "beam"}, {"seed", 7}, {"budget_seconds", 300}, {"budget_evaluations", 500}}},
           {"workloads", workloads},
           {"opponents", {"naive", "pytorch eager", "pytorch compiled"}},
           {"hone", "0.1.0"}});
    event("calibrated", {{"bounds_ns", kBoundNs}, {"at", 3.2}});
    seconds_ = 3.2;
  }

  /// The next proposal: a change to one of the better kernels, or a new pattern now and then.
  Candidate propose(int n) {
    static const char* const kPatterns[] = {"rows", "rows_split", "rows_twopass"};
    Candidate c;
    const Candidate* parent = nullptr;
    for (int tries = 0; tries < 3 && !accepted_.empty(); ++tries) {
      const Candidate& pick = accepted_[rng_.below(accepted_.size())];
      if (!parent || pick.speed > parent->speed) parent = &pick;
    }
    if (!parent || n % 9 == 2) {
      c.pattern = kPatterns[static_cast<size_t>(n / 9) % 3];
      c.action = "start";
      c.config = {{"AHEAD", 0}, {"ROWS", 1}, {"STREAM", 0}, {"UNROLL", 1}};
    } else {
      c.pattern = parent->pattern;
      c.parent = parent->hash;
      c.config = parent->config;
      switch (rng_.below(5)) {
        case 0:
          c.action = "stream stores", c.config["STREAM"] ^= 1;
          break;
        case 1:
          c.action = "prefetch ahead", c.config["AHEAD"] = static_cast<int64_t>(rng_.below(3));
          break;
        case 2:
          c.action = "unroll", c.config["UNROLL"] = 1 << rng_.below(4);
          break;
        case 3:
          c.action = "rows per block", c.config["ROWS"] = 1 << rng_.below(6);
          break;
        default:
          c.action = "retune", c.config["ROWS"] = 1 << rng_.below(5), c.config["UNROLL"] = 1 << rng_.below(3);
      }
    }
    double speed = c.pattern == "rows" ? 0.15 : c.pattern == "rows_split" ? 0.19 : 0.11;
    speed *= c.config["STREAM"] ? 1.55 : 1;
    speed *= 1 +
             0.42 * std::log2(static_cast<double>(c.config["UNROLL"])) * (c.config["UNROLL"] > 4 ? 0.6 : 1);
    speed *= c.config["AHEAD"] == 1 ? 1.28 : c.config["AHEAD"] == 2 ? 1.11 : 1;
    speed *= 1 + 0.06 * std::log2(static_cast<double>(c.config["ROWS"]));
    c.speed = std::min(0.985, speed) * (0.99 + 0.02 * rng_.uniform());
    c.action = outside(c.action);
    return c;
  }

  evaluate::Verdict judge() {
    using K = evaluate::VerdictKind;
    evaluate::Verdict verdict;
    const evaluate::Accuracy fine{"y",     "shifted", "B=777 D=1000", 1.9e-7 + 5e-8 * rng_.uniform(),
                                  2.41e-7, 9.64e-7};
    const uint64_t dice = options_.accepting ? rng_.below(100) : rng_.below(38);
    if (dice >= 38 || (options_.accepting && accepted_.empty())) {
      verdict.accuracy = fine;
    } else if (dice < 10) {
      verdict = {K::kDoesNotCompile, "error: no matching function for call to 'load_n'", synthetic_log(), {}};
    } else if (dice < 20) {
      const double error = 3e-6 * (1 + rng_.uniform());
      verdict = {K::kLessAccurate,
                 fmt::format("y: scaled error {:.2e} where {:.2e} is allowed", error, 9.64e-7), "",
                 evaluate::Accuracy{"y", "mantissa", "B=4096 D=8192", error, 2.41e-7, 9.64e-7}};
    } else if (dice < 27) {
      verdict = {K::kWrong,
                 fmt::format("y[{}] is 0.{} where 1.25 is right", rng_.below(99999), 1 + rng_.below(98)),
                 "",
                 {}};
    } else if (dice < 32) {
      verdict = {K::kOutOfBounds, "SIGSEGV: write 16 bytes beyond y (hidden shape B=3 D=37)", "", {}};
    } else if (dice < 35) {
      verdict = {K::kLaunchFails, "the grid's extent is 0 where B=1", "", {}};
    } else if (dice < 37) {
      verdict = {K::kDoesNotFinish, "no answer within 5.4 s", "", {}};
    } else {
      verdict = {K::kCheating, "SIGSYS: the kernel asked for openat", "", {}};
    }
    if (!verdict.accepted())
      verdict.reason = outside(verdict.reason), verdict.detail = outside(verdict.detail);
    return verdict;
  }

  void evaluate(int n) {
    Candidate c = propose(n);
    c.verdict = judge();
    const Json config(c.config);
    const std::string source = synthetic_source(c.pattern, options_.hostile) + fmt::format("// {}\n", n);
    c.hash = base::content_hash(source + config.dump());
    must(store_.put_kernel({c.hash, "c++", source, base::canonical_json(config), c.parent,
                            "pattern:" + c.pattern, c.action, "", run_.task_hash}));
    evaluate::Screening s;
    s.verdict = c.verdict;
    s.toolchain = "g++";
    s.repetitions = 3;
    s.spent = {static_cast<int64_t>(1.4e9 + 8e8 * rng_.uniform()),
               c.verdict.accepted() ? 900'000'000 : 300'000'000, c.verdict.accepted() ? 700'000'000 : 0};
    for (int w = 0; w < 3 && c.verdict.accepted(); ++w) {
      s.ratio.push_back(c.speed);
      s.median_ns.push_back(kBoundNs[w] / (kBestShare[w] * c.speed) * (0.98 + 0.04 * rng_.uniform()));
    }
    seconds_ += 1e-9 * static_cast<double>(s.spent.all()) +
                0.15 * rng_.uniform();
    if (n % 8 == 0)
      event("considered", {{"constraint", 1}, {"duplicate", 5}, {"predicted_slower", 9}, {"at", seconds_}});
    if (c.verdict.accepted() && accepted_.empty()) first_speed_ = c.speed;
    const double score = c.verdict.accepted() ? c.speed / first_speed_ : 0;
    event("screened",
          {{"n", n},
           {"kernel", c.hash},
           {"parent", c.parent},
           {"author", "pattern:" + c.pattern},
           {"pattern", c.pattern},
           {"action", c.action},
           {"reason", outside(c.parent.empty() ? "covers the graph" : "moves less than it could")},
           {"note", outside("a note")},
           {"config", config},
           {"screening", evaluate::to_json(s)},
           {"score", score},
           {"at", seconds_}});
    if (!c.verdict.accepted()) return;
    accepted_.push_back(c);
    if (c.speed <= best_.speed) return;
    best_ = c;
    best_score_ = score;
    event("yardstick", {{"kernel", c.hash}, {"score", score}, {"at", seconds_}});
    if (n * 3 > options_.evaluations) promote();
  }

  void promote() {
    evaluate::Promotion p;
    p.verdict = best_.verdict;
    if (!options_.champion)
      p.verdict = {evaluate::VerdictKind::kWrong, outside("y differs on fresh inputs"), "", {}};
    for (size_t w = 0; w < 3 && options_.champion; ++w) {
      evaluate::WorkloadResult r;
      r.workload = w == 0 ? "large" : w == 1 ? "decode" : "odd";
      r.bytes = kBytes[w], r.flops = options_.operations ? kBytes[w] / 2 : 0;
      r.bound_ns = kBoundNs[w] * 1.01, r.bound_by = "copy";
      r.candidate_ns = kBoundNs[w] / (kBestShare[w] * best_.speed);
      r.hot_ns = w == 0 ? 0 : r.candidate_ns * 0.71;
      r.sol_fraction = r.bound_ns / r.candidate_ns;
      const double eager = w == 0 ? 2.94 : w == 1 ? 1.006 : 1.82, naive = w == 0 ? 6.1 : w == 1 ? 3.3 : 4.7;
      r.opponents.push_back({"naive",
                             evaluate::Comparison::kFaster,
                             {naive, naive * 0.985, naive * 1.02},
                             r.candidate_ns * naive,
                             r.candidate_ns,
                             40,
                             5});
      r.opponents.push_back({"pytorch eager",
                             w == 1 ? evaluate::Comparison::kInconclusive : evaluate::Comparison::kFaster,
                             {eager, eager * 0.987, eager * 1.013},
                             r.candidate_ns * eager,
                             r.candidate_ns,
                             w == 1 ? 60 : 41,
                             w == 1 ? 8 : 6});
      for (int i = 0; i < 80; ++i)
        r.samples_ns.push_back(r.candidate_ns * (1 + 0.012 * rng_.normal() + (i % 19 ? 0 : 0.06)));
      p.workloads.push_back(std::move(r));
    }
    p.absent = {outside("pytorch compiled: torch.compile needs a C++ compiler with OpenMP, none was found")};
    for (int i = 0; i < 6; ++i) p.seeds.push_back(rng_.next_u64());
    p.spent = {2'100'000'000, 1'300'000'000, 9'600'000'000, 300'000'000, 100'000'000};
    seconds_ += 13.4;
    event("promoted", {{"kernel", best_.hash}, {"promotion", evaluate::to_json(p)}, {"at", seconds_}});
    if (!options_.champion) return;
    event("champion", {{"kernel", best_.hash}, {"score", best_score_}, {"at", seconds_}});
    champion_ = best_.hash;
  }

  void finish() {
    if (champion_.empty() && !accepted_.empty()) promote();
    event("stopped", {{"reason", "budget"}, {"at", seconds_}});
    for (size_t i = 0; i < accepted_.size() && i < 4; ++i) {
      evaluate::Screening s;
      s.score = accepted_[i].speed / best_.speed;
      event("raced",
            {{"kernel", accepted_[i].hash}, {"screening", evaluate::to_json(s)}, {"at", seconds_ += 0.7}});
    }
    seconds_ += 0.4;
    event("finished",
          {{"reason", "budget"}, {"champion", champion_}, {"summary", Json::object()}, {"at", seconds_}});
    must(store_.update_run(run_.id, "finished", champion_, "{}"));
  }

  archive::Store& store_;
  Synthetic options_;
  archive::RunInfo run_;
  base::Rng rng_{11};
  std::vector<Candidate> accepted_;
  Candidate best_;
  std::string champion_;
  int64_t seq_ = 0;
  double seconds_ = 0, first_speed_ = 1, best_score_ = 0;
};

}  // namespace hone::face::testing
