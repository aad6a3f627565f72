// Plans launched once under a tool, and what is made of a profiler's words, on the pretend card.
#include <fstream>

#include "bench.h"
#include "hone/diagnose/profile/card.h"
#include "hone/diagnose/rules.h"
#include "hone/evaluate/launch_case.h"
#include "hone/target/bundle.h"
#include "hone/target/gpu/launch.h"
#include "hone/target/toolchain/cuda_tools.h"

namespace hone::pretend {
namespace {

using target::LaunchJob;

class Launch : public Bench {
 protected:
  void SetUp() override {
    Bench::SetUp();
    if (IsSkipped()) return;
    folder_.emplace(base::ScratchDirectory::create("test").value());
    tensors_ = evaluate::write_tensors(task_, {{"N", kCount}}, evaluate::Family::kNormal, 1, folder_->path(), "x").value();
  }
  LaunchJob job(std::string_view function) { return {build_, plan(function), tensors_}; }
  target::Launched launch(const std::vector<LaunchJob>& jobs) {
    auto launched = target::launch_under(card_->info(), {"/usr/bin/env"}, jobs, true, std::chrono::seconds(30));
    EXPECT_TRUE(launched) << launched.error().to_string();
    return launched ? std::move(*launched) : target::Launched{};
  }
  std::optional<base::ScratchDirectory> folder_;
  std::vector<target::LaunchTensor> tensors_;
};

TEST_F(Launch, EachJobOnceAndInOrder) {
  ASSERT_EQ(tensors_.size(), 2);
  EXPECT_EQ(std::filesystem::file_size(tensors_[0].contents), kCount * 4);
  EXPECT_TRUE(tensors_[1].contents.empty());
  const auto launched = launch({job("pretend_negate"), job("pretend_workspace"), job("pretend_negate")});
  EXPECT_TRUE(launched.exit.ok()) << launched.exit.describe() << launched.exit.err;
  EXPECT_THAT(launched.problems, testing::ElementsAre("", "", ""));
}

TEST_F(Launch, AFaultEndsItAndWhatIsBehindIsNotLaunched) {
  const auto launched = launch({job("pretend_negate"), job("pretend_far"), job("pretend_negate")});
  EXPECT_FALSE(launched.exit.ok());
  EXPECT_THAT(launched.problems, testing::ElementsAre("", testing::HasSubstr("ILLEGAL_ADDRESS"), testing::HasSubstr("not launched")));
}

/// A tensor is an allocation of its own, so that one step too far is outside.
TEST_F(Launch, AStepBeyondATensorIsOutside) {
  const auto launched = launch({job("pretend_outside")});
  EXPECT_THAT(launched.problems, testing::ElementsAre(testing::HasSubstr("ILLEGAL_ADDRESS")));
}

TEST_F(Launch, ADriverThatTakesItsProcessWithIt) {
  const auto launched = launch({job("pretend_dies")});
  EXPECT_THAT(launched.problems, testing::ElementsAre(testing::HasSubstr("not launched")));
}

TEST_F(Launch, ContentsThatAreMissing) {
  LaunchJob broken = job("pretend_negate");
  broken.tensors[0].contents = folder_->path() / "nothing";
  EXPECT_THAT(launch({broken}).problems, testing::ElementsAre(testing::HasSubstr("cannot be read")));
}

TEST_F(Launch, SeveralTimesByTheClock) {
  const std::string ptx = "//\n.version 9.0\n.target sm_90a\n.global .u64 hone_counts[2];\n.visible .entry pretend_negate(\n)\n{ ret; }\n";
  const std::vector<target::TimedJob> jobs = {{job("pretend_negate"), "", 3}, {job("pretend_slow"), "", 3}, {job("pretend_far"), "", 3},
                                              {job("pretend_hang"), "", 3},   {job("pretend_dies"), "", 3}, {job("pretend_negate"), ptx, 0}};
  const auto timed = target::time_plans(card_->info(), jobs, 512, 1s);
  ASSERT_TRUE(timed) << timed.error().to_string();
  ASSERT_EQ(timed->size(), jobs.size());
  EXPECT_THAT(timed->at(0).problem, testing::IsEmpty());
  EXPECT_GT(timed->at(0).ns, 0);
  EXPECT_THAT(timed->at(0).counts, testing::IsEmpty());
  EXPECT_GT(timed->at(1).ns, 2 * timed->at(0).ns);
  EXPECT_THAT(timed->at(2).problem, testing::HasSubstr("ILLEGAL_ADDRESS"));
  EXPECT_THAT(timed->at(3).problem, testing::HasSubstr("does not finish"));
  EXPECT_THAT(timed->at(4).problem, testing::HasSubstr("does not finish"));
  EXPECT_THAT(timed->at(5).problem, testing::IsEmpty());
  EXPECT_EQ(timed->at(5).ns, 0);
  EXPECT_THAT(timed->at(5).counts, testing::ElementsAre(7, 11));
}

/// Each function is asked of the module that has it, and of no other: a tool ends a process of whose calls one failed.
TEST_F(Launch, ABundleIsSeveralModules) {
  const auto text = [](const std::string& function) { return ".version 9.0\n.target sm_90a\n.visible .entry " + function + "(\n)\n{ ret; }\n"; };
  const std::vector<std::string> images = {text("pretend_slow"), text("pretend_negate")};
  LaunchJob second = job("pretend_negate"), first = job("pretend_slow"), neither = job("pretend_far"), damaged = second;
  second.build.artifact = first.build.artifact = neither.build.artifact = folder_->path() / "bundle";
  damaged.build.artifact = folder_->path() / "damaged";
  const std::string file = target::bundled(images);
  ASSERT_TRUE(base::write_file_atomic(second.build.artifact, file));
  ASSERT_TRUE(base::write_file_atomic(damaged.build.artifact, file.substr(0, file.size() / 2)));
  const std::vector<LaunchJob> jobs = {first, second, damaged};
  const auto launched = target::launch_under(card_->info(), {"/usr/bin/env", "HONE_PRETEND_WATCHED=1"}, jobs, true, std::chrono::seconds(30));
  ASSERT_TRUE(launched) << launched.error().to_string();
  EXPECT_THAT(launched->problems, testing::ElementsAre("", "", testing::HasSubstr("a damaged bundle")));
  EXPECT_THAT(launch({neither}).problems, testing::ElementsAre(testing::HasSubstr("no function pretend_far")));
}

TEST_F(Launch, ToolsAreFoundOrNot) {
  setenv("HONE_NCU", "none", 1);
  EXPECT_EQ(target::find_card_tool("ncu", "HONE_NCU").error().code, ErrorCode::kUnavailable);
  setenv("HONE_NCU", HONE_CUDA_TESTS "/pretend_ncu.sh", 1);
  EXPECT_EQ(target::find_card_tool("ncu", "HONE_NCU").value().filename(), "pretend_ncu.sh");
  EXPECT_FALSE(target::find_card_tool("no-such-tool-of-nvidia", "HONE_NO_SUCH_VARIABLE"));
}

class Counted : public Launch {
 protected:
  std::vector<diagnose::Metrics> profile(const char* ncu) {
    setenv("HONE_NCU", ncu, 1);
    std::shared_ptr<target::Toolchain> toolchain = target::cuda_toolchain("sm_90a").value();
    diagnose::CardCounters counters(card_->info(), toolchain);
    const std::string file = std::string(HONE_CUDA_TESTS) + "/pretend_negate.cu";
    kernel_ = kernel::parse_kernel(base::read_file(file).value(), file).value();
    const std::vector<diagnose::CardCase> cases(2, {kernel_, &task_, {{"N", kCount}}});
    auto metrics = diagnose::profile_counted(counters, cases);
    EXPECT_TRUE(metrics) << metrics.error().to_string();
    return metrics ? std::move(*metrics) : std::vector<diagnose::Metrics>(2);
  }
  kernel::Kernel kernel_;
};

TEST_F(Counted, CountersBecomeADiagnosis) {
  const auto metrics = profile(HONE_CUDA_TESTS "/pretend_ncu.sh");
  ASSERT_EQ(metrics.size(), 2);
  for (const auto& m : metrics) {
    EXPECT_EQ(m.find("dram_share")->origin, diagnose::Origin::kMeasured);
    EXPECT_EQ(m.get("dram_share"), 0.1);
    EXPECT_EQ(m.get("dram_read_ratio"), 1);
    EXPECT_EQ(m.find("lane_share")->origin, diagnose::Origin::kAbsent);
    EXPECT_EQ(m.find("registers")->origin, diagnose::Origin::kModelled);
    const auto found = diagnose::diagnose(m, {kernel_.header, kernel_.config, {}});
    EXPECT_EQ(found.bottleneck, diagnose::kFewBytes) << found.says;
  }
}

TEST_F(Counted, WithoutNcuTheCodeStandsInAndSaysSo) {
  const auto metrics = profile("none");
  ASSERT_EQ(metrics.size(), 2);
  EXPECT_EQ(metrics[0].find("dram_share")->origin, diagnose::Origin::kAbsent);
  EXPECT_THAT(metrics[0].find("dram_share")->about, testing::HasSubstr("nothing was counted"));
  EXPECT_EQ(metrics[0].find("occupancy_modelled")->origin, diagnose::Origin::kModelled);
}

/// The pretend card does the same work for every text, and its modules count 7 threads' instructions of 11.
TEST_F(Counted, WithoutNcuStagesAreLeftOut) {
  for (const auto& m : profile("none")) {
    for (const char* stage : {"without_loads", "without_stores", "without_memory", "without_work"}) {
      ASSERT_TRUE(m.find(stage)) << stage;
      EXPECT_EQ(m.find(stage)->origin, diagnose::Origin::kMeasured) << m.find(stage)->about;
      EXPECT_GT(m.get_or(stage, 0), 0) << stage;
    }
    EXPECT_EQ(m.find("without_barriers")->origin, diagnose::Origin::kModelled) << "it has none";
    EXPECT_EQ(m.get("without_barriers"), 1);
    EXPECT_EQ(m.find("lane_share")->origin, diagnose::Origin::kMeasured);
    EXPECT_DOUBLE_EQ(m.get_or("lane_share", 0), 7.0 / 11);
    EXPECT_EQ(m.find("time_ns")->origin, diagnose::Origin::kMeasured);
    EXPECT_TRUE(m.get("light"));
    EXPECT_FALSE(diagnose::diagnose(m, {kernel_.header, kernel_.config, {}}).says.empty());
  }
}

/// What cannot tell anything is said to be absent, whatever it printed.
TEST_F(Counted, AToolThatPrintsNoTable) {
  const auto metrics = profile("/bin/true");
  EXPECT_THAT(metrics[0].find("dram_share")->about, testing::HasSubstr("measured nothing"));
}

}  // namespace
}  // namespace hone::pretend
