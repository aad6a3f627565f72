// Transcripts of runs.
#include "fuzz.h"
#include "hone/engine/transcript.h"

namespace hone::engine {
namespace {

HONE_FUZZ(transcript) {
  if (input.size() <= fuzz::kMostBytes) static_cast<void>(replay_transcript(input));
}

}  // namespace
}  // namespace hone::engine
