#include "hone/evaluate/verify/drawn_card.h"

#include "hone/evaluate/verify/draw/draw_card.h"
#include "hone/evaluate/verify/integer_bounds.h"

namespace hone::evaluate {
namespace {

constexpr int64_t kTensorLine = 256;
/// Of a card's free memory, candidates and opponents keep half, and so much.
constexpr int64_t kLeftFree = int64_t{2} << 30;

}  // namespace

DrawnOnCard::DrawnOnCard(const task::Task& task, const task::ConcreteGraph& graph) : task_(task), graph_(graph), bounds_(draw_bounds(task, graph)) {}

int64_t DrawnOnCard::bytes(size_t input) const { return task::element_count(shape(input)) * task::size_of(task_.inputs[input].type.dtype); }

std::unique_ptr<DrawnOnCard> DrawnOnCard::create(target::Card& card, const task::Task& task, const task::ConcreteGraph& graph) {
  std::unique_ptr<DrawnOnCard> made(new DrawnOnCard(task, graph));
  int64_t total = 0;
  for (size_t i = 0; i < task.inputs.size(); ++i) {
    made->offset_.push_back(total);
    total += (made->bytes(i) + kTensorLine - 1) / kTensorLine * kTensorLine;
  }
  if (card.free_memory() < 2 * total + kLeftFree) return nullptr;
  auto program = draw_program(card);
  if (!program) return nullptr;
  made->program_ = *program;
  auto memory = card.allocate(total);
  if (!memory) return nullptr;
  made->memory_ = std::move(*memory);
  return made;
}

void DrawnOnCard::need(Family family, DrawnInputs& here) const {
  for (size_t i = 0; i < task_.inputs.size(); ++i)
    if (!card_draws(task_.inputs[i], bounds_[i], family)) here.need_all(static_cast<int>(i));
}

void DrawnOnCard::draw(Family family, std::span<const uint64_t> seeds, DrawnInputs& here) {
  for (size_t i = 0; i < task_.inputs.size(); ++i) {
    if (card_draws(task_.inputs[i], bounds_[i], family))
      draw_on_card(*program_, task_.inputs[i], shape(i), bounds_[i], family, seeds[i], memory_->address() + static_cast<uint64_t>(offset_[i]));
    else
      memory_->upload(offset_[i], here.data(static_cast<int>(i)), bytes(i));
  }
}

std::vector<uint64_t> DrawnOnCard::addresses() const {
  std::vector<uint64_t> all;
  for (const int64_t offset : offset_) all.push_back(memory_->address() + static_cast<uint64_t>(offset));
  return all;
}

}  // namespace hone::evaluate
