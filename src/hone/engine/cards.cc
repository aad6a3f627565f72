#include "hone/engine/cards.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace hone::engine {
namespace {

template <class T>
bool is_there(const std::future<T>& future) { return future.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }

}  // namespace

Cards::Cards(std::vector<CardService> services) {
  cards_.reserve(services.size());
  for (CardService& service : services) cards_.push_back({std::move(service), nullptr, {}, {}, {}});
}

Status Cards::open(Card& card) {
  if (card.evaluator) return {};
  HONE_TRY(card.evaluator, card.service.evaluator());
  return {};
}

Status Cards::tell(Card& card, const std::optional<kernel::Kernel>& yardstick) {
  if (!yardstick || card.yardstick == yardstick->hash()) return {};
  HONE_TRY_VOID(card.evaluator->set_yardstick(*yardstick));
  card.yardstick = yardstick->hash();
  return {};
}

Result<evaluate::Evaluator*> Cards::home(const std::optional<kernel::Kernel>& yardstick) {
  Card& card = cards_[0];
  if (card.look.valid()) card.look.wait();
  HONE_TRY_VOID(open(card));
  HONE_TRY_VOID(tell(card, yardstick));
  return card.evaluator.get();
}

Result<std::optional<size_t>> Cards::free() {
  std::optional<size_t> found;
  for (size_t i = 0; i < cards_.size(); ++i) {
    Card& card = cards_[i];
    if (!card.opening.valid() && !card.evaluator) card.opening = std::async(std::launch::async, [&card] { return open(card); });
    if (card.opening.valid()) {
      if (!is_there(card.opening)) continue;
      HONE_TRY_VOID(card.opening.get());
    }
    if (!found && !card.look.valid()) found = i;
  }
  return found;
}

void Cards::begin(size_t at, LookOrder order) {
  Card& card = cards_[at];
  card.look = std::async(std::launch::async, [&card, order = std::move(order)]() -> Result<Judgement> {
    HONE_TRY_VOID(tell(card, order.yardstick));
    return judge(*card.evaluator, order);
  });
}

bool Cards::done(size_t card) const { return is_there(cards_[card].look); }

bool Cards::any_under_way() const {
  return std::any_of(cards_.begin(), cards_.end(), [](const Card& card) { return card.look.valid(); });
}

}  // namespace hone::engine
