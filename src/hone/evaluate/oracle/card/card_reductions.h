// The oracle's large reductions on a card that has the inputs, by a program of hone's own (reduce.cu): a loss over gigabytes
// takes milliseconds there, and nothing of the inputs need be drawn on the host but the spots that are looked over.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "hone/base/result.h"
#include "hone/evaluate/oracle/reduction_helper.h"
#include "hone/target/card.h"
#include "hone/task/task.h"

namespace hone::evaluate {

/// The program as one text: reduce.cu with what it includes.
[[nodiscard]] std::string reduce_source();

/// A card is asked where the host would read so many elements of a reduction's operand.
inline constexpr int64_t kWorthACard = int64_t{1} << 22;

/// The reductions which a card does, and which are worth it, on the way to answers over `boxes` of an output: they would have the
/// host read `least` elements or more, and not too small a share of all, which the card reads. Spots follow from `seed`.
[[nodiscard]] Coverage cover_reductions(const task::ConcreteGraph& graph, task::Track track, int output, std::span<const Box> boxes,
                                        uint64_t seed, int64_t least = kWorthACard);

/// One launch at a time: threads wait for each other.
class CardReductions final : public ReductionHelper {
 public:
  /// `graph` and `card` must outlive it. `addresses`: where the card has each input of the graph; they must stay as they are.
  /// kUnavailable where the card's toolchain does not build the program, kExhausted where it has no memory for it.
  [[nodiscard]] static Result<std::unique_ptr<CardReductions>> create(target::Card& card, const task::ConcreteGraph& graph, task::Track track,
                                                                      Coverage coverage, std::vector<uint64_t> addresses);
  ~CardReductions() override;
  [[nodiscard]] Tensor reduce(int id, const Box& box, Arithmetic arithmetic, bool want_scale, std::span<const Tensor> given) override;

 private:
  struct State;
  CardReductions(Coverage coverage, std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace hone::evaluate
