// Turns a parsed computation into the surface graph: evaluates numbers and shape expressions, binds
// arguments, infers types. Pure; fails with the position of the offending expression.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hone/task/graph/graph.h"
#include "hone/task/language/syntax.h"

namespace hone::task {

struct DeclaredInput {
  std::string name;
  TensorType type;
  std::string structure;  ///< "triu", "tril", "symmetric" or empty
};

/// A binary operator and the op it stands for: {"+", "add"}.
struct Operator {
  std::string_view text, op;
};
[[nodiscard]] std::span<const Operator> operator_table();

/// Names that mean something in every computation: constants, element types, reserved words.
[[nodiscard]] bool is_word(std::string_view name);

/// A graph whose outputs are `outputs`, each of them assigned by the program, or, if that is empty, the
/// names assigned that nothing later uses, in the order of their assignment. Names may be assigned
/// again; the last one counts.
[[nodiscard]] Sourced<Graph> build_graph(const std::vector<Statement>& program,
                                         std::span<const DeclaredInput> inputs,
                                         std::span<const std::string> outputs);

}  // namespace hone::task
