#include "hone/engine/judging.h"

#include <algorithm>
#include <utility>

namespace hone::engine {
namespace {

/// What models are told of a verdict, instead of what it says: nothing that was drawn secretly.
Result<event::Told> told_of(evaluate::Evaluator& evaluator, const LookOrder& order, const evaluate::Verdict& verdict) {
  evaluate::Explanation said = evaluate::told(verdict);
  if (!verdict.accepted() && order.awaited) {
    HONE_TRY(said, evaluator.explain(order.kernel, verdict));
  }
  return event::Told{std::move(said.reason), std::move(said.detail)};
}

}  // namespace

Result<Judgement> judge(evaluate::Evaluator& evaluator, const LookOrder& order) {
  // What is recalled was screened by the run that found it, and its promotion repeats every check.
  const auto screen = [&]() -> Result<evaluate::Screening> {
    if (order.built_only) return evaluate::Screening{.score = 1};
    return evaluator.screen(order.kernel);
  };
  Judgement judged;
  HONE_TRY(judged.screening, screen());
  const auto score_now = [&] {
    if (!judged.screening.verdict.accepted()) return 0.0;
    return order.yardstick ? judged.screening.score * order.yardstick_score : 1.0;
  };
  judged.score = score_now();
  const auto look_again = [&](Result<evaluate::Screening> again) -> Status {
    const evaluate::Spent before = judged.screening.spent;
    HONE_TRY(judged.screening, std::move(again));
    judged.screening.spent += before;
    return {};
  };
  if (judged.score > 0 && order.yardstick && order.best_score > 0 && judged.score <= order.best_score && order.awaited) {
    // An answer that looks slower than the best: three pairs on a busy machine are not enough to give it up.
    judged.first_score = judged.score;
    HONE_TRY_VOID(look_again(evaluator.screen_closely(order.kernel)));
    judged.score = score_now();
  }
  if (!judged.first_score && order.yardstick && judged.score > kYardstickGain * order.yardstick_score) {
    // What would become the yardstick is looked at twice: of many candidates the one that looks best is often the one that
    // was lucky, and scores are chained from yardstick to yardstick.
    judged.first_score = judged.score;
    HONE_TRY_VOID(look_again(screen()));
    judged.score = std::min(judged.score, score_now());
  }
  if (order.explained) {
    HONE_TRY(judged.told, told_of(evaluator, order, judged.screening.verdict));
  }
  return judged;
}

}  // namespace hone::engine
