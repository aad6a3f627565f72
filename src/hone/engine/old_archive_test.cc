// An archive of an older program: its runs replay, and the one that was killed is resumed. What the search of that day decided is
// taken as written, as a search and patterns may get better.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "hone/engine/testing/old_archive.h"
#include "hone/engine/transcript.h"

namespace hone::engine {
namespace {

using testing::must;

/// The recorded decisions, and the diagnoses that were asked for between them.
class OldSearch final : public search::Strategy {
 public:
  OldSearch(const std::vector<LoggedEvent>& events, archive::Store& store) : steps_(search::recorded_strategy(must(recorded_steps(events, store)))) {
    size_t step = 0;
    for (const LoggedEvent& logged : events) {
      if (logged.is<event::Stopped>()) break;
      if (const auto* const diagnosed = logged.as<event::Diagnosed>()) wanted_[step] = diagnosed->kernel;
      step += logged.is<event::Screened>() || logged.is<event::Duplicate>() || logged.is<event::Waited>();
    }
  }
  std::vector<search::Proposal> next(int most) override {
    ++step_;
    return steps_->next(std::min(most, 1));   // as these runs were made: steps are counted
  }
  void observe(const search::Proposal& proposal, const search::Outcome& outcome) override { steps_->observe(proposal, outcome); }
  bool add(search::Seed seed, bool at_once) override { return steps_->add(std::move(seed), at_once); }
  void remember(const search::Memory& memory) override { steps_->remember(memory); }
  std::string wants_diagnosis() const override {
    const auto at = wanted_.find(step_);
    return at == wanted_.end() ? std::string() : at->second;
  }
  search::Skipped take_skipped() override { return steps_->take_skipped(); }

 private:
  std::unique_ptr<search::Strategy> steps_;
  std::map<size_t, std::string> wanted_;   ///< before the n-th step
  size_t step_ = 0;
};

struct OldArchive {
  testing::Bench bench;
  archive::Store store = must(archive::Store::open(testing::unpack_old_archive(bench.scratch.path())));

  Services services(const std::string& run) {
    const std::vector<LoggedEvent> events = read_events(must(store.events(run)));
    const event::Started started = *events.at(0).as<event::Started>();
    Services all = bench.services(store);
    all.seeds.clear();
    all.target = started.target;
    all.device = started.device;
    all.toolchain = started.toolchain;
    all.machine_json = started.machine.dump();
    all.strategy = [this, events] { return std::make_unique<OldSearch>(events, store); };
    return all;
  }
  task::Task task(const archive::RunInfo& run) { return must(task::parse_task(run.task_toml, run.id)); }
};

TEST(OldArchiveTest, its_runs_replay_to_the_same_end) {
  OldArchive old;
  for (const char* const id : {testing::kOldPlain, testing::kOldModel, testing::kOldRecalling}) {
    SCOPED_TRACE(id);
    const archive::RunInfo run = must(old.store.run(id));
    const RunResult result = must(replay_run(run, old.task(run), old.services(id)));
    EXPECT_NE(result.champion, "");
    EXPECT_EQ(result.champion, run.champion);
    EXPECT_EQ(result.summary_json, run.summary_json);
  }
}

TEST(OldArchiveTest, their_transcripts_do) {
  OldArchive old;
  for (const auto& [id, questions] : {std::pair(testing::kOldPlain, 0), std::pair(testing::kOldModel, 6)}) {
    SCOPED_TRACE(id);
    const archive::RunInfo run = must(old.store.run(id));
    const TranscriptReplay replay = must(replay_transcript(must(transcript_of(old.store, run))));
    EXPECT_EQ(replay.result.champion, run.champion);
    EXPECT_EQ(replay.questions, questions);
  }
}

TEST(OldArchiveTest, the_run_that_was_killed_goes_on_to_its_end) {
  OldArchive old;
  const archive::RunInfo run = must(old.store.run(testing::kOldKilled));
  const std::vector<archive::Event> before = must(old.store.events(run.id));
  int screened = 0;
  old.bench.hooks.before = [&](const char* call, const kernel::Kernel&) { screened += std::string_view(call) == "screen"; };
  const RunResult result = must(resume_run(run, old.task(run), old.services(run.id)));
  EXPECT_EQ(result.reason, "exhausted") << "its search has no more to say than was written down";
  EXPECT_NE(result.champion, "");
  const std::vector<archive::Event> after = must(old.store.events(run.id));
  ASSERT_GT(after.size(), before.size());
  for (size_t i = 0; i < before.size(); ++i) EXPECT_EQ(after[i].json, before[i].json);
  EXPECT_EQ(after.back().kind, event::Finished::kKind);
  EXPECT_LE(screened, 2) << "the finalists, in their race; what was screened before is not again";
  EXPECT_GE(read_event(after.back()).at, read_event(before.back()).at);
  EXPECT_EQ(must(old.store.run(run.id)).status, "finished");
}

}  // namespace
}  // namespace hone::engine
