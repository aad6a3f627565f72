#include "hone/task/graph/bind.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "hone/task/graph/attr_text.h"
#include "hone/task/graph/infer.h"
#include "hone/task/language/limits.h"

namespace hone::task {
namespace {

using Kind = Value::Kind;

constexpr Synonym kSynonyms[] = {{"dim", "axis"},
                                 {"dims", "axes"},
                                 {"axes", "axis"},
                                 {"keepdim", "keepdims"},
                                 {"input", "x"},
                                 {"other", "y"},
                                 {"ddof", "correction"},
                                 {"gamma", "weight"},
                                 {"beta", "bias"},
                                 {"running_mean", "mean"},
                                 {"running_var", "var"},
                                 {"num_groups", "groups"},
                                 {"kernel_size", "kernel"},
                                 {"attn_mask", "mask"},
                                 {"is_causal", "causal"},
                                 {"indices", "index"},
                                 {"index", "indices"},
                                 {"src", "source"},
                                 {"query", "q"},
                                 {"key", "k"},
                                 {"value", "v"},
                                 {"equation", "spec"},
                                 {"target", "targets"},
                                 {"a_min", "min"},
                                 {"a_max", "max"},
                                 {"dim0", "axis0"},
                                 {"dim1", "axis1"},
                                 {"size", "shape"}};

std::string_view canonical_keyword(std::string_view name) {
  for (const auto& [from, to] : kSynonyms)
    if (from == name) return to;
  return name;
}

class Binding {
 public:
  Binding(const Op& op, Where where, const Binder& binder) : op_(op), where_(where), binder_(binder) {}

  Sourced<Bound> run(const std::vector<Argument>& args) {
    HONE_TRY_VOID(assign(args));
    for (size_t i = 0; i < op_.params.size(); ++i) {
      const Param& param = op_.params[i];
      if (!given_[i]) {
        if (!param.optional)
          return fail_at(where_, fmt::format("{} needs '{}'", op_.name, param.name), op_.signature);
        if (param.fallback) bound_.attrs[param.name] = *param.fallback;
        continue;
      }
      HONE_TRY_VOID(convert(param, *given_[i]));
    }
    // Axes depend on the rank of the first operand, so they come last.
    for (size_t i = 0; i < op_.params.size(); ++i)
      HONE_TRY_VOID(normalise_axes(op_.params[i], given_[i] ? given_[i]->where : where_));
    if (std::any_of(op_.params.begin(), op_.params.end(),
                    [](const Param& p) { return p.kind == ParamKind::kTensor && p.optional; }))
      bound_.attrs["given"] = names_;
    return std::move(bound_);
  }

 private:
  using Done = Sourced<void>;

  Done assign(const std::vector<Argument>& args) {
    given_.assign(op_.params.size(), std::nullopt);
    size_t next = 0;
    for (size_t i = 0; i < args.size(); ++i) {
      const Argument& arg = args[i];
      if (arg.keyword.empty()) {
        if (next == op_.params.size()) {
          if (gather_rest(args, i)) return {};
          return fail_at(arg.where,
                         fmt::format("{} takes {} argument{}, found more", op_.name, op_.params.size(),
                                     op_.params.size() == 1 ? "" : "s"),
                         op_.signature);
        }
        given_[next++] = arg;
        continue;
      }
      const auto index = find_param(arg.keyword);
      if (!index) {
        std::vector<std::string> names;
        for (const Param& param : op_.params) names.push_back(param.name);
        const std::string hint = did_you_mean(arg.keyword, names);
        return fail_at(arg.where, fmt::format("{} has no parameter '{}'", op_.name, arg.keyword),
                       hint.empty() ? op_.signature : hint);
      }
      if (given_[*index])
        return fail_at(arg.where, fmt::format("{} got '{}' twice", op_.name, op_.params[*index].name));
      given_[*index] = arg;
    }
    return {};
  }

  /// reshape(x, B, D) is reshape(x, [B, D]): a list at the end may be spelled out.
  bool gather_rest(const std::vector<Argument>& args, size_t from) {
    const ParamKind kind = op_.params.back().kind;
    if (kind != ParamKind::kDims && kind != ParamKind::kInts && kind != ParamKind::kTensors) return false;
    if (given_.back()->value.is(Kind::kList)) return false;
    std::vector<Value> items{given_.back()->value};
    for (size_t i = from; i < args.size(); ++i) {
      if (!args[i].keyword.empty()) return false;
      items.push_back(args[i].value);
    }
    given_.back()->value = Value::list(std::move(items));
    return true;
  }

  [[nodiscard]] std::optional<size_t> find_param(std::string_view name) const {
    const auto index = [&](std::string_view text) -> std::optional<size_t> {
      for (size_t i = 0; i < op_.params.size(); ++i)
        if (op_.params[i].name == text) return i;
      return std::nullopt;
    };
    if (const auto exact = index(name)) return exact;
    if (const auto same = index(canonical_keyword(name))) return same;
    return index(canonical_keyword(canonical_keyword(name)));
  }

  tl::unexpected<SourceError> mismatch(const Param& param, const Argument& arg) const {
    std::string hint;
    if (arg.value.is(Kind::kTensor) && (op_.name == "max" || op_.name == "min"))
      hint = fmt::format("the {} of two tensors is {}imum(a, b)", op_.name, op_.name);
    if (arg.value.is(Kind::kText) && param.kind == ParamKind::kDType)
      hint = "element types stand without quotes";
    if (arg.value.is(Kind::kTensor) && op_.params[0].kind == ParamKind::kTensors)
      hint = fmt::format("the tensors are one list: {}([a, b])", op_.name);
    if (hint.empty()) hint = op_.signature;
    if (arg.value.is(Kind::kInt) && !arg.value.integer.is_constant())
      return fail_at(arg.where,
                     fmt::format("'{}' of {} must be a constant, found the expression {}", param.name,
                                 op_.name, arg.value.integer.to_string()),
                     hint);
    return fail_at(arg.where,
                   fmt::format("'{}' of {} is {}, found {}", param.name, op_.name, meaning_of(param.kind),
                               describe(arg.value)),
                   hint);
  }

  tl::unexpected<SourceError> bad_item(const Param& param, const Value& item, Where where) const {
    return fail_at(where,
                   fmt::format("the items of '{}' of {} are integers{}, found {}", param.name, op_.name,
                               param.kind == ParamKind::kDims ? " or shape expressions" : "", describe(item)),
                   item.is(Kind::kTensor) ? "a quotient of extents is written //" : op_.signature);
  }

  static bool beyond(int64_t value) { return value > kMaxInteger || value < -kMaxInteger; }

  tl::unexpected<SourceError> out_of_range(const Param& param, const IntExpr& value, Where where) const {
    return fail_at(where,
                   fmt::format("'{}' of {} is {}: out of range", param.name, op_.name, value.to_string()),
                   "integer arguments lie between -2^31 and 2^31");
  }

  Done convert(const Param& param, const Argument& arg) {
    const Value& value = arg.value;
    if (value.is(Kind::kNone)) {
      // Where leaving it out means something else than nothing, none would be a surprise.
      const bool nothing = param.optional && !param.fallback;
      if (!nothing && !(param.fallback && *param.fallback == Attr(std::string("none"))))
        return mismatch(param, arg);
      if (param.fallback) bound_.attrs[param.name] = *param.fallback;
      return {};
    }
    switch (param.kind) {
      case ParamKind::kTensor:
        return add_operand(param, value, arg.where);
      case ParamKind::kTensors:
        if (value.is(Kind::kTensor)) return add_operand(param, value, arg.where);
        if (!value.is(Kind::kList) || value.items.empty()) return mismatch(param, arg);
        for (const Value& item : value.items) HONE_TRY_VOID(add_operand(param, item, arg.where));
        return {};
      case ParamKind::kAxis:
      case ParamKind::kInt:
        if (!value.is(Kind::kInt) || !value.integer.is_constant()) return mismatch(param, arg);
        if (beyond(value.integer.constant())) return out_of_range(param, value.integer, arg.where);
        bound_.attrs[param.name] = value.integer.constant();
        return {};
      case ParamKind::kPadding:
        if (value.is(Kind::kText)) {
          if (value.text != "same" && value.text != "valid") return mismatch(param, arg);
          bound_.attrs[param.name] = value.text;
          return {};
        }
        [[fallthrough]];
      case ParamKind::kAxes:
      case ParamKind::kInts: {
        std::vector<int64_t> numbers;
        const std::vector<Value> one{value};
        for (const Value& item : value.is(Kind::kList) ? value.items : one) {
          if (!item.is(Kind::kInt) || !item.integer.is_constant())
            return value.is(Kind::kList) ? bad_item(param, item, arg.where) : mismatch(param, arg);
          if (beyond(item.integer.constant())) return out_of_range(param, item.integer, arg.where);
          numbers.push_back(item.integer.constant());
        }
        bound_.attrs[param.name] = std::move(numbers);
        return {};
      }
      case ParamKind::kDim:
        if (!value.is(Kind::kInt)) return mismatch(param, arg);
        bound_.attrs[param.name] = value.integer;
        return {};
      case ParamKind::kDims: {
        Dims dims;
        const std::vector<Value> one{value};
        for (const Value& item : value.is(Kind::kList) ? value.items : one) {
          if (!item.is(Kind::kInt))
            return value.is(Kind::kList) ? bad_item(param, item, arg.where) : mismatch(param, arg);
          dims.push_back(item.integer);
        }
        bound_.attrs[param.name] = std::move(dims);
        return {};
      }
      case ParamKind::kNumber:
        if (!value.is_number()) return mismatch(param, arg);
        bound_.attrs[param.name] = value.number();
        return {};
      case ParamKind::kBool:
        if (!value.is(Kind::kBool)) return mismatch(param, arg);
        bound_.attrs[param.name] = value.truth;
        return {};
      case ParamKind::kText:
        if (!value.is(Kind::kText)) return mismatch(param, arg);
        bound_.attrs[param.name] = value.text;
        return {};
      case ParamKind::kDType:
        if (!value.is(Kind::kDType)) return mismatch(param, arg);
        bound_.attrs[param.name] = std::string(name_of(value.dtype));
        return {};
    }
    return {};
  }

  Done add_operand(const Param& param, const Value& value, Where where) {
    const bool scalar = value.is(Kind::kInt) || value.is(Kind::kReal) || value.is(Kind::kBool);
    if (!value.is(Kind::kTensor) && !scalar) return mismatch(param, {"", value, where});
    HONE_TRY(const int id, binder_.as_tensor(value, where));
    bound_.operands.push_back(id);
    names_ += (names_.empty() ? "" : " ") + param.name;
    return {};
  }

  Done normalise_axes(const Param& param, Where where) {
    if (param.kind != ParamKind::kAxis && param.kind != ParamKind::kAxes) return {};
    const int rank = bound_.operands.empty() ? 0 : binder_.rank_of(bound_.operands[0]);
    const auto it = bound_.attrs.find(param.name);
    if (it == bound_.attrs.end()) {
      // Left out, `axes` of a reduction are all; other ops (no keepdims) decide for themselves.
      const bool reduction = std::any_of(op_.params.begin(), op_.params.end(),
                                         [](const Param& p) { return p.name == "keepdims"; });
      if (param.kind != ParamKind::kAxes || !reduction) return {};
      std::vector<int64_t> axes(static_cast<size_t>(rank));
      std::iota(axes.begin(), axes.end(), 0);
      bound_.attrs[param.name] = std::move(axes);
      return {};
    }
    const auto normal = [&](int64_t axis) -> Sourced<int64_t> {
      auto result = normal_axis(axis, rank);
      if (!result) {
        const bool given = given_[static_cast<size_t>(&param - op_.params.data())].has_value();
        if (!given) result.error().hint = fmt::format("{} takes axis={} unless told another", op_.name, axis);
        return tl::unexpected(SourceError{std::move(result).error(), where});
      }
      return *result;
    };
    if (auto* one = std::get_if<int64_t>(&it->second)) {
      HONE_TRY(*one, normal(*one));
      return {};
    }
    auto& axes = std::get<std::vector<int64_t>>(it->second);
    for (int64_t& axis : axes) {
      HONE_TRY(axis, normal(axis));
    }
    std::sort(axes.begin(), axes.end());
    if (std::adjacent_find(axes.begin(), axes.end()) != axes.end())
      return fail_at(where, fmt::format("{} names an axis twice", op_.name));
    return {};
  }

  const Op& op_;
  Where where_;
  const Binder& binder_;
  std::vector<std::optional<Argument>> given_;
  Bound bound_;
  std::string names_;
};

}  // namespace

std::span<const Synonym> keyword_synonyms() { return kSynonyms; }

std::string describe(const Value& value) {
  switch (value.kind) {
    case Kind::kTensor:
      return "a tensor";
    case Kind::kInt:
      return value.integer.to_string();
    case Kind::kReal:
      return number_text(value.real);
    case Kind::kBool:
      return value.truth ? "true" : "false";
    case Kind::kText:
      return "the text \"" + value.text + "\"";
    case Kind::kNone:
      return "none";
    case Kind::kDType:
      return "the element type " + std::string(name_of(value.dtype));
    case Kind::kList:
      return value.items.empty() ? "an empty list" : "a list";
  }
  return "";
}

Sourced<Bound> bind_arguments(const Op& op, const std::vector<Argument>& args, Where where,
                              const Binder& binder) {
  return Binding(op, where, binder).run(args);
}

}  // namespace hone::task
