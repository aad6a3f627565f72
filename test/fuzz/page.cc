// JSON that pages and commands read back: benches, evidence, options of runs.
#include "fuzz.h"
#include "hone/agent/model/config.h"
#include "hone/engine/run.h"
#include "hone/face/bench/page.h"
#include "hone/face/evidence/evidence.h"
#include "hone/face/evidence/replay.h"

namespace hone::face {
namespace {

HONE_FUZZ(page) {
  if (input.size() > fuzz::kMostBytes) return;
  const std::string text(input);
  if (const auto state = face::bench::state_from(text, "bench")) {
    const auto again = face::bench::state_from(face::bench::to_text(*state), "again");
    fuzz::require(again.has_value() && face::bench::to_text(*again) == face::bench::to_text(*state), "a bench is read back as it was kept");
    static_cast<void>(face::bench::html_page(*state)), static_cast<void>(face::bench::markdown_page(*state));
  }
  if (const auto evidence = face::evidence::evidence_from(text, "evidence")) {
    fuzz::require(face::evidence::evidence_from(face::evidence::to_text(*evidence), "again").has_value(), "evidence is read back as it was written");
    static_cast<void>(face::evidence::check_parts(*evidence));
  }
  static_cast<void>(engine::RunOptions::from_json(text)), static_cast<void>(agent::ModelsConfig::from_json(text));
}

}  // namespace
}  // namespace hone::face
