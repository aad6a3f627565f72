#include "hone/program/program.h"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hone::program {

std::optional<double> Argument::number() const {
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto whole = integer()) return static_cast<double>(*whole);
  return std::nullopt;
}

std::optional<int64_t> Argument::integer() const {
  if (const auto* whole = std::get_if<int64_t>(&value)) return *whole;
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? 1 : 0;
  return std::nullopt;
}

int64_t ValueType::bytes() const { return dtype ? task::element_count(shape) * task::size_of(*dtype) : 0; }

std::string ValueType::to_string() const {
  return fmt::format("{}[{}]", dtype ? task::name_of(*dtype) : "?", fmt::join(shape, ", "));
}

const Argument* Node::find(std::string_view argument) const {
  for (const auto& [key, value] : arguments)
    if (key == argument) return &value;
  return nullptr;
}

Argument* Node::find(std::string_view argument) {
  return const_cast<Argument*>(static_cast<const Node*>(this)->find(argument));
}

bool is_tuple_part(const Node& node) { return node.op == "getitem"; }

bool is_taking_apart(const Node& node) { return node.op == "aten.unbind.int" && node.several; }

void collect(const Argument& argument, std::vector<int>& into) {
  if (const Ref* ref = argument.ref()) into.push_back(ref->node);
  if (const Argument::List* list = argument.list())
    for (const Argument& one : *list) collect(one, into);
}

std::vector<int> operands(const Node& node) {
  std::vector<int> all;
  for (const auto& [name, argument] : node.arguments) collect(argument, all);
  return all;
}

std::vector<std::vector<int>> users(const Program& program) {
  std::vector<std::vector<int>> all(program.nodes.size());
  for (size_t i = 0; i < program.nodes.size(); ++i)
    for (const int operand : operands(program.nodes[i]))
      if (auto& list = all[static_cast<size_t>(operand)]; list.empty() || list.back() != static_cast<int>(i)) list.push_back(static_cast<int>(i));
  return all;
}

}  // namespace hone::program
