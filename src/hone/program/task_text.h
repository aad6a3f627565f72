// What nodes of a program are in the task language: the text of a task that some of them become, and whether there are words for one
// by itself. Pure.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/result.h"
#include "hone/program/program.h"

namespace hone::program {

/// The reason of steps of PyTorch's that move nothing.
constexpr std::string_view kView = "a view";

/// By node, of integers that pick elements: below which number each must lie.
using Bounds = std::vector<std::optional<int64_t>>;

/// Names in it hang on the order of things alone, so that nodes that compute the same have equal texts.
struct TaskText {
  std::string text;          ///< a task file without the task's name
  std::vector<int> inputs;   ///< nodes, in the order of the task's inputs
};

/// `body`: all nodes between inputs and results, in the program's order. kUnavailable where the language does not say one of them.
[[nodiscard]] Result<TaskText> task_text(const Program& program, const std::vector<int>& body, const std::vector<int>& results, const Bounds& bounds);

/// "linear_gelu": what the nodes do, heavy operators first.
[[nodiscard]] std::string task_name(const Program& program, const std::vector<int>& nodes);

/// "aten.scaled_dot_product_attention.default": "attention".
[[nodiscard]] std::string short_name(std::string_view op);

/// Asks for one node after the other; equal questions are answered once.
class Words {
 public:
  explicit Words(const Program& program);
  /// Why the node can be in no task, whatever else is; empty where it can. A task of it alone is read as any task is, so that shapes and
  /// element types are those that PyTorch gives.
  [[nodiscard]] std::string lacks(int id);

 private:
  const Program& program_;
  std::vector<std::vector<int>> users_;
  std::map<std::string, std::string> known_;   ///< by the task's text
};

}  // namespace hone::program
