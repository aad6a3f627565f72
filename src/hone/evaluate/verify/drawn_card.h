// Inputs of one instance of a task on a card, whole, for reductions there that nothing else needs: what DrawnInputs has of
// them on the host are the same bits. Not thread-safe.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "hone/evaluate/verify/drawn.h"
#include "hone/target/card.h"

namespace hone::evaluate {

class DrawnOnCard {
 public:
  /// Null where the card has no room to spare for them, or its toolchain does not build what draws. All that it is given must outlive it.
  [[nodiscard]] static std::unique_ptr<DrawnOnCard> create(target::Card& card, const task::Task& task, const task::ConcreteGraph& graph);

  /// What the host has to draw whole, as the card does not draw it.
  void need(Family family, DrawnInputs& here) const;
  /// Draws all of them, or uploads what the host has drawn.
  void draw(Family family, std::span<const uint64_t> seeds, DrawnInputs& here);
  /// By input.
  [[nodiscard]] std::vector<uint64_t> addresses() const;

 private:
  DrawnOnCard(const task::Task& task, const task::ConcreteGraph& graph);
  [[nodiscard]] const task::Shape& shape(size_t input) const { return graph_.shapes[static_cast<size_t>(graph_.graph.inputs[input])]; }
  [[nodiscard]] int64_t bytes(size_t input) const;

  const task::Task& task_;
  const task::ConcreteGraph& graph_;
  target::CardProgram* program_ = nullptr;
  std::unique_ptr<target::CardMemory> memory_;
  std::vector<int64_t> offset_;  ///< by input; bytes
  std::vector<DrawBounds> bounds_;
};

}  // namespace hone::evaluate
