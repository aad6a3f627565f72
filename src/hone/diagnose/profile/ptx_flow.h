// What becomes of the values in PTX: whether a register may decide an address, a branch, or how long a loop runs. A rewriting
// that makes values wrong asks here which it must leave right, so that the kernel stays in its arrays and comes to an end.
// Goes by names, not by paths, so it errs on the side of "decides"; from a function to another through parameters and
// through shared and local memory too. Pure; keeps views into the PtxText it was given.
#pragma once
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "hone/diagnose/profile/ptx_text.h"

namespace hone::diagnose {

class PtxFlow {
 public:
  explicit PtxFlow(const PtxText& text);

  /// Whether the register decides an address or a branch. A comparison of floating-point numbers stops the question, unless a
  /// loop ends by it: either way of such a branch is one that the kernel is made for.
  [[nodiscard]] bool steers(size_t function, std::string_view name) const { return level({function, name}) != Level::kNone; }
  /// Whether anything that is read from the function's shared memory does; a wait for an mbarrier is such a thing.
  [[nodiscard]] bool shared_steers(size_t function) const { return level(space(function, "shared")) != Level::kNone; }
  /// The same of arrays of a thread's own.
  [[nodiscard]] bool local_steers(size_t function) const { return level(space(function, "local")) != Level::kNone; }
  /// Whether the function goes round until another block, or thread, has written to memory.
  [[nodiscard]] bool waits(size_t function) const { return waits_.contains(group(function)); }
  /// Whether anything reads the register.
  [[nodiscard]] bool is_read(size_t function, std::string_view name) const { return read_.contains({function, name}); }
  /// The floating-point type as which an instruction uses the register; empty where none does.
  [[nodiscard]] std::string_view float_type(size_t function, std::string_view name) const;

 private:
  /// How a value decides: kWay where to go, kTurns also how often.
  enum class Level : uint8_t { kNone, kWay, kTurns };
  /// A register, or a memory space of a group of functions that may share it.
  using Node = std::pair<size_t, std::string_view>;

  [[nodiscard]] Level level(const Node& node) const;
  [[nodiscard]] size_t group(size_t function) const;
  [[nodiscard]] Node space(size_t function, std::string_view name) const;
  void read(size_t function, const PtxStatement& s);
  void roots(size_t function);
  void raise(const Node& node, Level level);
  void raise_operand(size_t function, std::string_view operand, Level level);
  void follow(size_t function, const PtxStatement& s, Level level);

  const PtxText& text_;
  bool one_group_ = false;   ///< functions call each other
  std::map<Node, std::vector<const PtxStatement*>> writers_;
  std::map<Node, std::vector<std::pair<size_t, std::string_view>>> stored_;   ///< space -> function and value
  std::map<Node, std::string_view> floats_;
  std::set<Node> read_;
  std::map<Node, Level> levels_;
  std::vector<Node> raised_;
  std::set<size_t> waits_;
};

}  // namespace hone::diagnose
