// The table of operations that a computation may use: one row an op, with its signature, a line of
// documentation, type inference and expansion into primitives. Rows live in ops_*.cc by family.
// Immutable after first use; thread-safe. A malformed row stops the program.
#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hone/task/graph/graph.h"

namespace hone::task {

class Lower;
class Ref;
struct LowerCall;
struct Call;

/// How many results a call has; the call's attribute `result` tells inference and lowering which
/// one a node is.
using ResultsFn = int (*)(const Call&);
using InferFn = Result<TensorType> (*)(Call&);
using LowerFn = Ref (*)(const LowerCall&);

/// One row. Signature grammar: name(param, param: kind, param: kind = default, …); a parameter
/// without a kind is a tensor; a default `none` makes it optional and leaves its attribute out.
/// Kinds: tensor, tensors (a list), axis, axes (one or a list), int, ints (constants), padding (ints or a word), dim, dims
/// (may use symbols), number, bool, text, dtype.
struct OpRow {
  const char* signature;
  const char* aliases;  ///< other names, separated by blanks
  const char* doc;      ///< one line; first the meaning, then the conventions that differ
  InferFn infer;
  LowerFn lower;
  Prim prim = Prim::kInput;     ///< of element-wise rows, reductions and scans: the primitive meant
  ResultsFn results = nullptr;  ///< null: one
};

struct Family {
  const char* title;
  std::span<const OpRow> rows;
};

enum class ParamKind : uint8_t {
  kTensor,
  kTensors,
  kAxis,
  kAxes,
  kInt,
  kInts,
  kPadding,
  kDim,
  kDims,
  kNumber,
  kBool,
  kText,
  kDType
};
/// "an axis (an integer)", …: what an argument of a kind looks like.
[[nodiscard]] std::string_view meaning_of(ParamKind kind);

struct Param {
  std::string name;
  ParamKind kind = ParamKind::kTensor;
  bool optional = false;         ///< may be left out
  std::optional<Attr> fallback;  ///< its value then; none: no attribute
};

struct Op {
  std::string name;
  std::string signature;
  std::vector<std::string> aliases;
  std::string doc;
  std::string family;
  std::vector<Param> params;
  InferFn infer = nullptr;
  LowerFn lower = nullptr;
  Prim prim = Prim::kInput;
  ResultsFn results = nullptr;
};

/// By name or alias; null where there is none.
[[nodiscard]] const Op* find_op(std::string_view name);
/// Every op by its main name.
[[nodiscard]] const std::map<std::string, Op, std::less<>>& op_table();
/// The names closest to a misspelt one, for hints: "did you mean 'softmax'?"; may be empty.
[[nodiscard]] std::string did_you_mean(std::string_view name, std::span<const std::string> known);
[[nodiscard]] std::vector<std::string> all_op_names();
/// Titles of the families and their ops, both in the order of the tables.
[[nodiscard]] const std::vector<std::pair<std::string, std::vector<const Op*>>>& ops_by_family();

/// An operand as inference sees it.
struct Operand {
  TensorType type;
  bool weak = false;  ///< a number or symbol: takes the other's type
};

/// A call with its arguments bound: operands in the order of the tensor parameters (optional ones
/// that are absent left out; `given` then names those present), the rest in attrs. Inference may
/// normalise attrs.
struct Call {
  const Op& op;
  std::vector<Operand> operands;
  Attrs attrs;

  [[nodiscard]] const TensorType& type(size_t i) const { return operands[i].type; }
  [[nodiscard]] const Dims& dims(size_t i) const { return operands[i].type.dims; }
  [[nodiscard]] int rank(size_t i) const { return static_cast<int>(operands[i].type.dims.size()); }
  [[nodiscard]] bool has(std::string_view key) const { return attrs.contains(key); }
  template <class T>
  [[nodiscard]] const T& attr(std::string_view key) const {
    const auto it = attrs.find(key);
    HONE_CHECK(it != attrs.end() && std::holds_alternative<T>(it->second), std::string(key));
    return std::get<T>(it->second);
  }
  /// Position in `operands` of an optional tensor parameter, if it was given.
  [[nodiscard]] std::optional<size_t> find(std::string_view param) const;
};

/// The same for a surface node; for emitters of other languages too.
[[nodiscard]] std::optional<size_t> operand_position(const Op& op, const Attrs& attrs,
                                                     std::string_view param);

[[nodiscard]] Family elementwise_family();
[[nodiscard]] Family activation_family();
[[nodiscard]] Family reduction_family();
[[nodiscard]] Family scan_family();
[[nodiscard]] Family softmax_family();
[[nodiscard]] Family norm_family();
[[nodiscard]] Family matmul_family();
[[nodiscard]] Family conv_family();
[[nodiscard]] Family pool_family();
[[nodiscard]] Family attention_family();
[[nodiscard]] Family loss_family();
[[nodiscard]] Family shape_family();
[[nodiscard]] Family index_family();
[[nodiscard]] Family create_family();

}  // namespace hone::task
