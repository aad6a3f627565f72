// Writes values of a graph as TileLang, each element by itself: an operation that moves elements (a slice, a concatenation, a padding, a
// reshape, a gather, whatever is computed below it) is where its operand is read, and loops have no say in it. One thread.
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "hone/pattern/triton_tile.h"
#include "hone/task/task.h"

namespace hone::pattern {

class TilePlaces {
 public:
  using At = std::vector<std::string>;   ///< a place along each dimension: names and numbers

  TilePlaces(const task::Task& task, TritonParameters& parameters, std::string indent) : task_(task), parameters_(parameters), indent_(std::move(indent)) {}

  /// The name of the element of a node that lies there. All places given are within its extents.
  [[nodiscard]] std::string value(int id, const At& at);
  /// A node whose element at `at` is there already, and no other.
  void bind(int id, const At& at, const std::string& text) { bound_ = id, values_[{id, at}] = text; }
  /// From the place in a dense tensor, and to it.
  [[nodiscard]] At unfolded(const std::string& place, const task::Dims& dims);
  [[nodiscard]] std::string folded(const At& at, const task::Dims& dims);
  /// What computes all names given so far.
  [[nodiscard]] const std::string& lines() const { return lines_; }
  /// Why it cannot be written so; empty: it can.
  [[nodiscard]] const std::string& obstacle() const { return obstacle_; }

 private:
  std::string name(char kind, const std::string& text);
  std::string make(int id, const At& at);
  std::string leaf(int id, const At& at);
  std::string joined(const task::Node& node, const At& at);
  std::string padded(const task::Node& node, const At& at);
  std::string picked(const task::Node& node, const At& at);
  At reshaped(const task::Node& node, const At& at);
  std::string within(const std::string& place, const task::IntExpr& extent, bool below, bool above);
  [[nodiscard]] const task::Dims& dims_of(int id) const { return task_.primitive.node(id).type.dims; }
  void refuse(const std::string& why) { if (obstacle_.empty()) obstacle_ = why; }

  const task::Task& task_;
  TritonParameters& parameters_;
  std::string indent_, lines_, obstacle_;
  std::map<std::string, std::string> named_;             ///< by text
  std::map<std::pair<int, At>, std::string> values_;
  int bound_ = -1;
  size_t count_ = 0;
};

}  // namespace hone::pattern
