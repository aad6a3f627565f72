// A finished run as one text that travels: what it was asked, every event, every kernel it looked at and every
// question to a model in full. JSON lines (docs/agents.md), the first {"hone_transcript": 1, …}. It replays on any
// machine, without archive, network, compiler or device. Thread-safe.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "hone/archive/store.h"
#include "hone/engine/event/event.h"
#include "hone/engine/run.h"
#include "hone/search/recorded.h"

namespace hone::engine {

/// Of a run in the archive. kInput where it has not come to an end.
[[nodiscard]] Result<std::string> transcript_of(archive::Store& store, const archive::RunInfo& run);

/// The search's own decisions, as a log tells them, for search::recorded_strategy().
[[nodiscard]] Result<std::vector<search::RecordedStep>> recorded_steps(const std::vector<LoggedEvent>& events, archive::Store& store);

struct TranscriptReplay {
  RunResult result;
  int events = 0, questions = 0, kernels = 0;   ///< kernels: that models wrote
};
/// Goes through it once more: every question to a model is formed anew from the documents of that day and must be the
/// one on record, to the letter; every answer is taken in anew and must give the kernel that was looked at; races,
/// promotion and champion must follow from the recorded verdicts. What the built-in search proposed is taken as
/// written: so a better search or other patterns do not make old transcripts worthless. kCorrupt where something
/// differs, kInput for what is no transcript.
[[nodiscard]] Result<TranscriptReplay> replay_transcript(std::string_view text);

}  // namespace hone::engine
