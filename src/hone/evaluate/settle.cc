#include "hone/evaluate/settle.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "hone/base/trace.h"
#include "hone/evaluate/measure/batch.h"
#include "hone/evaluate/verify/near_bound.h"

namespace hone::evaluate {
namespace {

/// Contents that are drawn for a round: more of them would go beyond what decides.
constexpr int kTogether = 6;

int contents_used(const Stage& stage) { return std::min(stage.contents(), kTogether); }

/// A slot of each content that is used.
std::vector<int> slot_of_each(const Stage& stage) {
  std::vector<int> slots;
  std::set<int> seen;
  for (int slot = 0; slot < stage.calls(); ++slot)
    if (stage.content_of(slot) < contents_used(stage) && seen.insert(stage.content_of(slot)).second) slots.push_back(slot);
  return slots;
}

/// One more round of inputs of `family`: adds what each loses to `question`. A verdict that ends it, or accepted.
Verdict draw_more(Stage& stage, target::Session& session, Family family, std::chrono::nanoseconds deadline, NearBound& question, Verdict& last) {
  const std::vector<int> slots = slot_of_each(stage);
  for (int content = 0; content < contents_used(stage); ++content) stage.draw(content, family, stage.telling_seed(family));
  stage.poison(slots);
  std::vector<target::Call> calls;
  for (const int slot : slots) calls.push_back(stage.call(slot));
  const auto outcome = session.run(calls, deadline);
  if (outcome.how != target::BatchOutcome::How::kDone) return verdict_of(outcome);
  for (const int slot : slots) {
    Verdict verdict = stage.check(slot);
    // Far beyond the bound once is enough, here as anywhere.
    if (!verdict.accepted() && !is_near_bound(verdict)) return verdict;
    if (!verdict.accuracy) continue;
    question.add(share_of_bound(*verdict.accuracy));
    if (!verdict.accepted() || last.reason.empty()) last = std::move(verdict);
  }
  return {};
}

Verdict settle_one(Stage& stage, target::Session& session, Family family, const Verdict& first, std::chrono::nanoseconds deadline) {
  stage.refine_bounds(family);
  NearBound question;
  Verdict last = first;
  NearBound::Says says = NearBound::Says::kMore;
  while (says == NearBound::Says::kMore) {
    const int before = question.draws();
    if (Verdict verdict = draw_more(stage, session, family, deadline, question, last); !verdict.accepted()) return verdict;
    if (question.draws() == before) break;
    says = question.says();
  }
  last.accuracy->draws = question.draws();
  if (says == NearBound::Says::kBeyond) {
    if (last.accepted()) last.reason = fmt::format("{}: its scaled error is above the bound", last.accuracy->output);
    last.kind = VerdictKind::kLessAccurate;
    last.reason += fmt::format("; so on average of {} draws", question.draws());
    return last;
  }
  Verdict accepted;
  accepted.accuracy = last.accuracy;
  accepted.accuracy->open = says != NearBound::Says::kWithin;
  return accepted;
}

}  // namespace

Verdict settle(Stage& stage, target::Session& session, const std::vector<NearVerdict>& near, std::chrono::nanoseconds deadline) {
  Verdict closest;
  if (near.empty()) return closest;
  const base::Span span("near the bound");
  std::vector<Family> families;
  for (int content = 0; content < stage.contents(); ++content) families.push_back(stage.family_of(content));
  std::set<Family> settled;
  for (const NearVerdict& one : near) {
    const Family family = families[static_cast<size_t>(one.content)];
    if (!settled.insert(family).second) continue;
    Verdict verdict = settle_one(stage, session, family, one.verdict, deadline);
    const bool refused = !verdict.accepted();
    if (refused || nearer(verdict, closest)) closest = std::move(verdict);
    if (refused) break;
  }
  for (int content = 0; content < contents_used(stage); ++content)
    stage.draw(content, families[static_cast<size_t>(content)], stage.telling_seed(families[static_cast<size_t>(content)]));
  return closest;
}

}  // namespace hone::evaluate
