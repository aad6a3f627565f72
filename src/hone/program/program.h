// A PyTorch program as hone sees it: the functional ATen graph that torch.export makes of a module, with every argument
// under its name in the operator's schema. Owns: the values, reading them from the capture's JSON
// (evaluate/program/program_helper.py writes it). Plain values; nodes are in topological order and refer to earlier ones by
// their index. Shapes are numbers: a capture with symbolic ones is refused when it is read.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "hone/base/json.h"
#include "hone/base/result.h"
#include "hone/task/known_values.h"
#include "hone/task/types.h"

namespace hone::program {

/// Another node's value.
struct Ref {
  int node = -1;
  friend bool operator==(const Ref&, const Ref&) = default;
};

/// Something that is neither a number nor a tensor nor text: a layout, a device, a dtype that the language lacks, a complex number.
struct Foreign {
  std::string text;
  friend bool operator==(const Foreign&, const Foreign&) = default;
};

/// An operator's argument.
struct Argument {
  using List = std::vector<Argument>;
  std::variant<std::monostate, bool, int64_t, double, std::string, task::DType, Ref, List, Foreign> value;

  [[nodiscard]] bool is_none() const { return std::holds_alternative<std::monostate>(value); }
  [[nodiscard]] const Ref* ref() const { return std::get_if<Ref>(&value); }
  [[nodiscard]] const List* list() const { return std::get_if<List>(&value); }
  /// Of a whole number, a bool or a real one.
  [[nodiscard]] std::optional<double> number() const;
  [[nodiscard]] std::optional<int64_t> integer() const;
  friend bool operator==(const Argument&, const Argument&) = default;
};

/// Of one result. A value that is no tensor, or of an element type that the language lacks, has no dtype.
struct ValueType {
  std::optional<task::DType> dtype;
  task::Shape shape;
  [[nodiscard]] int64_t bytes() const;
  [[nodiscard]] std::string to_string() const;  ///< "f32[4, 8]"
  friend bool operator==(const ValueType&, const ValueType&) = default;
};

enum class Role : uint8_t {
  kUser,       ///< an argument of forward()
  kFixed,      ///< an argument that is no tensor: its value is in the graph
  kParameter,
  kBuffer,     ///< of the state_dict
  kConstant,   ///< a tensor that no state_dict has: kept beside the program
};

struct Node {
  std::string name;                  ///< as in the capture; unique
  std::string op;                    ///< "aten.linear.default"; "input"; "getitem" (arguments source, index)
  std::vector<std::pair<std::string, Argument>> arguments;  ///< in the schema's order
  int positional = 0;                ///< so many of them may be given by position, the rest by keyword
  std::vector<ValueType> types;      ///< one, or one a result where there are several
  bool several = false;
  // Of inputs
  Role role = Role::kUser;
  std::string target;                ///< name in the state_dict, or in the file of constants
  std::optional<Argument> number;    ///< a constant of rank 0: its value
  std::optional<int64_t> largest;    ///< of a constant of integers, none below 0
  std::optional<task::KnownValues> values;  ///< of a constant that is not large
  int whole = -1;                    ///< part of what an operator was written out as: index into Program::wholes
  int origin = -1;                   ///< part of what an operator was taken apart into: index into Program::origins

  [[nodiscard]] bool is_input() const { return op == "input"; }
  [[nodiscard]] const ValueType& type() const { return types.front(); }
  /// Null where there is no such argument.
  [[nodiscard]] const Argument* find(std::string_view argument) const;
  [[nodiscard]] Argument* find(std::string_view argument);
};

/// An operator that was written out as nodes of the graph, and that PyTorch may run in place of all of them.
struct Whole {
  Node node;                 ///< what it reads is in the graph, it is not
  std::vector<int> results;  ///< for each of its results the node of the same value; -1: nobody needs it
};

/// An operator that PyTorch's own decomposition took apart into nodes of the graph, since the language has nothing for it. They are nodes like
/// all others; where all of them are run by PyTorch it runs the operator instead.
struct Origin {
  Node node;                      ///< as it was; it is not in the graph. What it read and no piece does is no more there: -1
  std::vector<Argument> results;  ///< for each of its results what stands for it
  bool composite = false;         ///< PyTorch itself runs those pieces, one after the other: it has no kernel of its own for it
};

/// What forward() gives, and what it leaves in buffers.
struct Output {
  bool mutation = false;
  std::string target;   ///< of a mutation: the buffer
  Argument value;       ///< a node, or a constant
};

/// A tensor of the state_dict.
struct StateEntry {
  ValueType type;
  std::string torch_type;   ///< "float32"
  bool parameter = false;   ///< else a buffer
};

struct Program {
  std::string name;     ///< an identifier, after the file
  bool train = false;
  std::string torch;    ///< version that captured it
  std::vector<Node> nodes;
  std::vector<Whole> wholes;       ///< the nodes of each lie one behind the other
  std::vector<Origin> origins;
  std::map<std::string, std::string> kept;   ///< nodes that could be taken apart, by name, and why they are not
  std::vector<Output> outputs;
  std::vector<std::string> flat;   ///< of a graph of torch.compile's: the names of all its arguments, weights too; else empty
  std::string arguments_tree, results_tree;           ///< how PyTorch flattens them (pytree's own text)
  std::map<std::string, StateEntry> state;            ///< the module's state_dict
  std::map<std::string, std::string> aliases;         ///< names of one and the same tensor: to the first of them
};

/// kInput where the JSON is no capture or has what no step can be made of; the hint says what to do.
[[nodiscard]] Result<Program> read_program(std::string_view json);

/// Of a tuple.
[[nodiscard]] bool is_tuple_part(const Node& node);
/// Gives all pieces along an axis at once.
[[nodiscard]] bool is_taking_apart(const Node& node);

/// The nodes that an argument refers to, in order, lists included.
void collect(const Argument& argument, std::vector<int>& into);
[[nodiscard]] std::vector<int> operands(const Node& node);
/// For each node the nodes that use it.
[[nodiscard]] std::vector<std::vector<int>> users(const Program& program);

}  // namespace hone::program
