// The places that a run judges at: one as a rule, or several cards of one host, an evaluator each. A card does one thing at a time, so
// whatever is timed has it alone, and both kernels of a ratio are always timed on one card. The thread of the run owns this and hands
// looks out; each goes on in a thread of its own.
#pragma once
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hone/engine/judging.h"

namespace hone::engine {

/// One of them.
struct CardService {
  std::string name;           ///< "cuda:1"
  std::function<Result<std::unique_ptr<evaluate::Evaluator>>()> evaluator;   ///< made when first needed; expensive
};

class Cards {
 public:
  /// The first is the home: diagnoses, tools, races and promotions are there.
  explicit Cards(std::vector<CardService> services);

  [[nodiscard]] bool several() const { return cards_.size() > 1; }
  [[nodiscard]] const std::string& name(size_t card) const { return cards_[card].service.name; }
  /// Whether the home's evaluator was made.
  [[nodiscard]] bool open() const { return cards_[0].evaluator != nullptr; }

  /// The home's evaluator, made and told of the yardstick where it was not: once nothing goes on there any more.
  [[nodiscard]] Result<evaluate::Evaluator*> home(const std::optional<kernel::Kernel>& yardstick);
  /// The home's evaluator where it was made, for builds, which go on beside everything.
  [[nodiscard]] evaluate::Evaluator* builder() const { return cards_[0].evaluator.get(); }

  /// A card on which nothing goes on. Those that have no evaluator yet begin to get one, beside everything else; an error says why one
  /// cannot have it.
  [[nodiscard]] Result<std::optional<size_t>> free();
  void begin(size_t card, LookOrder order);
  [[nodiscard]] bool done(size_t card) const;
  [[nodiscard]] bool any_under_way() const;
  /// Waits for it; the card is free after that.
  [[nodiscard]] Result<Judgement> take(size_t card) { return cards_[card].look.get(); }

 private:
  struct Card {
    CardService service;
    std::unique_ptr<evaluate::Evaluator> evaluator;
    std::string yardstick;                        ///< hash of what it times against; empty: nothing
    std::future<Status> opening;                  ///< these two last: they end before what they use
    std::future<Result<Judgement>> look;
  };
  [[nodiscard]] static Status open(Card& card);
  [[nodiscard]] static Status tell(Card& card, const std::optional<kernel::Kernel>& yardstick);

  std::vector<Card> cards_;   ///< never grows
};

}  // namespace hone::engine
