#include "hone/pattern/contraction.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "hone/pattern/expression.h"
#include "hone/pattern/normal_form_parts.h"

namespace hone::pattern {
namespace {

using task::Graph;
using task::IntExpr;
using task::Node;
using task::Prim;

tl::unexpected<Error> no_contraction(const char* why) { return fail(ErrorCode::kUnavailable, why); }

/// A segment of a dimension that is walked with one stride: a dimension is one, or several where axes were merged that lie apart.
struct AxisPart {
  IntExpr extent, stride;
  IntExpr pick = 0;   ///< likewise in the index that picks, if there is one
};

/// Where a factor's elements lie in the input that it is read from.
struct View {
  int input = -1;
  std::vector<std::vector<AxisPart>> dims;   ///< pieces of each dimension, outermost first
  IntExpr begin = 0;                      ///< elements of the input before it
  std::optional<Pick> pick;               ///< its strides are with the dimensions
};

/// The same elements in the same order as dimensions of other extents; nothing where a boundary falls within a piece.
bool reshape(View& view, const task::Dims& dims) {
  std::vector<AxisPart> all;   // neighbours that lie behind each other are one
  for (const auto& dim : view.dims)
    for (const AxisPart& piece : dim) {
      if (is_one(piece.extent)) continue;
      const bool behind = !all.empty() && all.back().stride == piece.extent * piece.stride && all.back().pick == piece.extent * piece.pick;
      if (behind) all.back() = {all.back().extent * piece.extent, piece.stride, piece.pick};
      else all.push_back(piece);
    }
  view.dims.clear();
  size_t at = 0;
  for (const IntExpr& extent : dims) {
    auto& pieces = view.dims.emplace_back();
    IntExpr left = extent;
    while (!is_one(left)) {
      if (at == all.size()) return false;
      AxisPart& next = all[at];
      if (const auto more = IntExpr::divide_exactly(left, next.extent)) {
        pieces.push_back(next);
        left = *more;
        ++at;
      } else if (const auto inner = IntExpr::divide_exactly(next.extent, left)) {
        pieces.push_back({left, next.stride * *inner, next.pick * *inner});
        next.extent = *inner;
        left = 1;
      } else {
        return false;
      }
    }
    if (pieces.empty()) pieces.push_back({1, at < all.size() ? all[at].extent * all[at].stride : IntExpr(1)});
  }
  return at == all.size();
}

Result<View> picked_view(const Graph& graph, const Node& node);

/// The input that a factor is read from, and how far its dimensions lie apart there. `picks`: an index may pick what is read.
Result<View> view_of(const Graph& graph, int id, bool picks = false) {
  const Node& node = graph.node(id);
  if (node.prim == Prim::kInput) {
    View view{id, {}, 0};
    const Strides strides = dense(node.type.dims);
    for (size_t d = 0; d < strides.size(); ++d) view.dims.push_back({{node.type.dims[d], strides[d]}});
    return view;
  }
  switch (node.prim) {
    case Prim::kCast: {
      const task::DType from = graph.node(node.operands[0]).type.dtype;
      if (from == task::DType::kI8 && (node.type.dtype == task::DType::kI32 || task::is_float(node.type.dtype))) return view_of(graph, node.operands[0], picks);
      if (!task::is_float(from) || !task::is_float(node.type.dtype)) return no_contraction("a factor is converted from or to integers");
      if (task::size_of(node.type.dtype) < task::size_of(from))
        return no_contraction("a factor is rounded before it is multiplied");
      return view_of(graph, node.operands[0], picks);
    }
    case Prim::kReshape: {
      HONE_TRY(View view, view_of(graph, node.operands[0], picks));
      if (!reshape(view, node.type.dims)) return no_contraction("a factor is reshaped across axes that lie apart in memory");
      return view;
    }
    case Prim::kTranspose: {
      HONE_TRY(const View from, view_of(graph, node.operands[0], picks));
      View view{from.input, {}, from.begin, from.pick};
      for (const int64_t dim : node.attr<std::vector<int64_t>>("perm")) view.dims.push_back(from.dims[static_cast<size_t>(dim)]);
      return view;
    }
    case Prim::kBroadcast: {
      HONE_TRY(View view, view_of(graph, node.operands[0], picks));
      const auto& from = graph.node(node.operands[0]).type.dims;
      for (size_t d = 0; d < from.size(); ++d)
        if (is_one(from[d]) && !is_one(node.type.dims[d])) view.dims[d] = {{node.type.dims[d], 0}};
      return view;
    }
    case Prim::kSlice: {
      HONE_TRY(View view, view_of(graph, node.operands[0], picks));
      const auto& step = node.attr<std::vector<int64_t>>("step");
      const auto& start = node.attr<task::Dims>("start");
      for (size_t d = 0; d < start.size(); ++d) {
        if (start[d] == IntExpr(0) && step[d] == 1 && node.type.dims[d] == graph.node(node.operands[0]).type.dims[d]) continue;
        if (view.dims[d].size() != 1 || step[d] < 1) return no_contraction("a factor is a slice across axes that lie apart in memory");
        AxisPart& piece = view.dims[d].front();
        if (!is_zero(piece.pick)) return no_contraction("a factor is a slice of what is picked");
        view.begin = view.begin + start[d] * piece.stride;
        piece = {node.type.dims[d], piece.stride * IntExpr(step[d])};
      }
      return view;
    }
    case Prim::kGather:
      if (picks) return picked_view(graph, node);
      [[fallthrough]];
    default:
      return no_contraction("a factor is computed, not read");
  }
}

/// Elements that an index picks along one axis; behind the input's own there may be zeros.
Result<View> picked_view(const Graph& graph, const Node& node) {
  const auto axis = static_cast<size_t>(node.attr<int64_t>("axis"));
  int from = node.operands[0];
  std::optional<IntExpr> bound;
  if (const Node& padded = graph.node(from); padded.prim == Prim::kConcat && padded.operands.size() == 2) {
    if (padded.attr<int64_t>("axis") != static_cast<int64_t>(axis) || constant_value(graph, padded.operands[1]) != 0.0) return no_contraction("a factor is picked from a concatenation");
    from = padded.operands[0];
    bound = graph.node(from).type.dims[axis];
  }
  HONE_TRY(View view, view_of(graph, from, true));
  if (view.pick) return no_contraction("a factor is picked twice");
  if (view.dims[axis].size() != 1) return no_contraction("a factor is picked across axes that lie apart in memory");
  view.pick = Pick{node.operands[1], {}, view.dims[axis].front().stride, bound};
  std::vector<std::vector<AxisPart>> dims;
  const task::Dims& extents = graph.node(node.operands[1]).type.dims;
  const Strides strides = dense(extents);
  for (size_t d = 0; d < extents.size(); ++d) dims.push_back({{extents[d], 0, strides[d]}});
  const auto at = view.dims.erase(view.dims.begin() + static_cast<std::ptrdiff_t>(axis));
  view.dims.insert(at, dims.begin(), dims.end());
  return view;
}

/// Axes that one factor reads in several pieces, and the other then does too: each gets letters of its own.
class Splitter {
 public:
  explicit Splitter(const std::string& letters) : used_(letters) {}

  /// False where two factors read one axis in different pieces.
  [[nodiscard]] bool add(const View& view, const std::string& letters) {
    for (size_t d = 0; d < letters.size(); ++d) {
      const auto& pieces = view.dims[d];
      auto& known = extents_[letters[d]];
      if (pieces.size() == 1) {
        if (known.empty()) known.push_back(pieces.front().extent);
        continue;
      }
      std::vector<IntExpr> mine;
      for (const AxisPart& piece : pieces) mine.push_back(piece.extent);
      if (known.size() > 1 && known != mine) return false;
      known = std::move(mine);
    }
    return true;
  }
  /// After all were added.
  void name() {
    for (const auto& [letter, extents] : extents_) {
      std::string& names = names_[letter] = std::string(1, letter);
      for (size_t i = 1; i < extents.size(); ++i) {
        char fresh = 'a';
        while (used_.find(fresh) != std::string::npos) fresh = fresh == 'z' ? 'A' : static_cast<char>(fresh + 1);
        used_ += fresh;
        names += fresh;
      }
    }
  }
  [[nodiscard]] std::string split(const std::string& letters) const {
    std::string all;
    for (const char letter : letters) all += names_.at(letter);
    return all;
  }
  [[nodiscard]] std::map<char, IntExpr> extents() const {
    std::map<char, IntExpr> all;
    for (const auto& [letter, extents] : extents_)
      for (size_t i = 0; i < extents.size(); ++i) all[names_.at(letter)[i]] = extents[i];
    return all;
  }
  [[nodiscard]] Factor factor(const View& view, const std::string& letters) const {
    Factor factor{view.input, split(letters), {}, view.begin, view.pick};
    for (size_t d = 0; d < letters.size(); ++d) {
      const auto& extents = extents_.at(letters[d]);
      const auto& pieces = view.dims[d];
      for (size_t i = 0; i < extents.size(); ++i) {
        AxisPart step = pieces.size() == 1 ? pieces.front() : pieces[i];
        for (size_t inner = i + 1; pieces.size() == 1 && inner < extents.size(); ++inner) step.stride = step.stride * extents[inner], step.pick = step.pick * extents[inner];
        factor.strides.push_back(step.stride);
        if (factor.pick) factor.pick->strides.push_back(step.pick);
      }
    }
    return factor;
  }

 private:
  std::string used_;
  std::map<char, std::vector<IntExpr>> extents_;
  std::map<char, std::string> names_;
};

/// What a factor was before it was given a wider floating type than 16 bits.
int before_widening(const Graph& graph, int id) {
  const Node& node = graph.node(id);
  if (node.prim != Prim::kCast) return id;
  const task::DType from = graph.node(node.operands[0]).type.dtype;
  const bool widens = task::is_float(from) && task::size_of(from) == 2 && node.type.dtype == task::DType::kF32;
  return widens ? before_widening(graph, node.operands[0]) : id;
}

/// At the first workload.
double elements_of(const task::Task& task, int id) {
  double all = 1;
  for (const IntExpr& extent : task.primitive.node(id).type.dims) all *= static_cast<double>(extent.eval(task.workloads.front().bindings).value_or(1));
  return all;
}

/// Product of the letters' extents.
IntExpr extent_of(const std::string& letters, const std::map<char, IntExpr>& extents) {
  IntExpr all = 1;
  for (const char c : letters) all = all * extents.at(c);
  return all;
}

}  // namespace

Result<task::Task> epilogue_of(const task::Task& task, int dot, int second) {
  const Graph& graph = task.primitive;
  std::vector<bool> after(graph.nodes.size(), false), needed(graph.nodes.size(), false);
  std::vector<int> work(graph.outputs.begin(), graph.outputs.end());
  while (!work.empty()) {
    const int id = work.back();
    work.pop_back();
    if (needed[static_cast<size_t>(id)]) continue;
    needed[static_cast<size_t>(id)] = true;
    if (id != dot && id != second)
      for (const int operand : graph.node(id).operands) work.push_back(operand);
  }
  task::Task epilogue;
  epilogue.name = task.name;
  epilogue.outputs = task.outputs;
  epilogue.workloads = task.workloads;
  Graph& out = epilogue.primitive;
  std::vector<int> place(graph.nodes.size(), -1);
  for (const auto& [id, name] : {std::pair{dot, "product"}, std::pair{second, "second"}}) {
    if (id < 0) continue;
    Node product;
    product.op = task::name_of(Prim::kInput);
    product.prim = Prim::kInput;
    product.type = graph.node(id).type;
    product.attrs["name"] = std::string(name);
    place[static_cast<size_t>(id)] = static_cast<int>(out.nodes.size());
    out.inputs.push_back(place[static_cast<size_t>(id)]);
    epilogue.inputs.push_back({name, product.type});
    out.nodes.push_back(std::move(product));
  }
  for (size_t id = 0; id < graph.nodes.size(); ++id) {
    if (!needed[id] || static_cast<int>(id) == dot || static_cast<int>(id) == second) continue;
    Node node = graph.nodes[id];
    for (int& operand : node.operands) operand = place[static_cast<size_t>(operand)];
    if (task::is_reduction(node.prim)) return no_contraction("a reduction beside the product");
    place[id] = static_cast<int>(out.nodes.size());
    if (node.prim == Prim::kInput) {
      const auto at = std::find(graph.inputs.begin(), graph.inputs.end(), static_cast<int>(id));
      epilogue.inputs.push_back(task.inputs[static_cast<size_t>(at - graph.inputs.begin())]);
      out.inputs.push_back(place[id]);
    }
    out.nodes.push_back(std::move(node));
  }
  for (const int output : graph.outputs) out.outputs.push_back(place[static_cast<size_t>(output)]);
  out.output_names = graph.output_names;
  return epilogue;
}

/// Strides of what a reshape brings together, from those of what it makes; nothing where it takes a dimension apart.
std::optional<Strides> strides_before(const task::Dims& from, const task::Dims& to, const Strides& strides) {
  const auto ends = ends_of_runs(to, from);
  if (!ends) return std::nullopt;
  Strides before(from.size(), 0);
  for (size_t d = 0; d < to.size(); ++d) {
    IntExpr step = strides[d];
    for (size_t k = (*ends)[d]; k-- > (d > 0 ? (*ends)[d - 1] : 0);) before[k] = step, step = step * from[k];
  }
  return before;
}

/// Outputs that are another's elements in another order (heads brought together behind an attention) become that, written where they
/// belong, if what lies side by side still does. Empty where none is; else of all outputs.
std::vector<Placement> take_views_off(Graph& graph) {
  std::vector<Placement> placed;
  bool any = false;
  for (int& output : graph.outputs) {
    Strides strides = dense(graph.node(output).type.dims);
    placed.push_back({0, strides});
    int id = output;
    bool turned = false, known = true;
    for (; known && (graph.node(id).prim == Prim::kReshape || graph.node(id).prim == Prim::kTranspose); id = graph.node(id).operands[0]) {
      const task::Dims& from = graph.node(graph.node(id).operands[0]).type.dims;
      if (graph.node(id).prim == Prim::kReshape) {
        const auto before = strides_before(from, graph.node(id).type.dims, strides);
        known = before.has_value();
        if (known) strides = *before;
      } else {
        const auto& perm = graph.node(id).attr<std::vector<int64_t>>("perm");
        Strides before(perm.size(), 0);
        for (size_t d = 0; d < perm.size(); ++d) before[static_cast<size_t>(perm[d])] = strides[d];
        strides = std::move(before), turned = true;
      }
    }
    if (!known || !turned || strides.empty() || !(strides.back() == IntExpr(1)) || std::ranges::count(graph.outputs, id) > 0) continue;
    output = id;
    placed.back().strides = strides;
    any = true;
  }
  return any ? placed : std::vector<Placement>{};
}

IntExpr Factor::stride(char letter) const {
  const size_t at = letters.find(letter);
  return at == std::string::npos ? IntExpr(0) : strides[at];
}

IntExpr Factor::pick_stride(char letter) const {
  const size_t at = letters.find(letter);
  return at == std::string::npos || !pick ? IntExpr(0) : pick->strides[at];
}

bool Factor::has(const AxisGroup& group) const { return letters.find_first_of(group.letters) != std::string::npos; }

namespace {

std::vector<int> products_of(const Graph& graph) {
  std::vector<int> all;
  for (size_t id = 0; id < graph.nodes.size(); ++id)
    if (graph.nodes[id].prim == Prim::kDot) all.push_back(static_cast<int>(id));
  return all;
}

/// The contraction that node `dot` is, and `other`, if there is one, beside it.
/// `computes`: a factor may be computed; `picks`: factors may be picked by an index.
Result<std::unique_ptr<Contraction>> contraction_of(const task::Task& task, int dot, int other, bool computes = false, bool picks = false) {
  const Graph& graph = task.primitive;
  const bool pairs = other >= 0;
  const Node& node = graph.node(dot);
  auto found = std::make_unique<Contraction>();
  found->accumulate = node.type.dtype;
  found->convolves = node.attrs.contains("convolves");
  const std::string& spec = node.attr<std::string>("spec");
  const size_t comma = spec.find(','), arrow = spec.find("->");
  std::string left = spec.substr(0, comma), right = spec.substr(comma + 1, arrow - comma - 1);
  const std::string result = spec.substr(arrow + 2);
  int first = node.operands[0], second = node.operands[1];
  size_t right_at = 1;
  if (result.empty()) return no_contraction("a product without rows and columns");
  // Columns are what the last letter of the result belongs to.
  if (right.find(result.back()) == std::string::npos) {
    std::swap(left, right);
    std::swap(first, second);
    right_at = 0;
  }
  // A computed factor has its dimensions in one piece each, whatever it is made from.
  // Of two of one byte that is the larger one.
  const auto in_bytes = [&](int id) {
    const auto view = view_of(graph, id);
    return view && task::size_of(graph.node(view->input).type.dtype) == 1;
  };
  const int larger = elements_of(task, first) > elements_of(task, second) ? first : second;
  const auto read = [&](int id, const std::string& letters) -> Result<View> {
    auto as_it_lies = view_of(graph, id, picks);
    const bool reads = as_it_lies && (!in_bytes(id) || (in_bytes(first) && in_bytes(second) && id != larger));
    if (reads || !computes || found->computed >= 0) return as_it_lies;
    found->computed = before_widening(graph, id);
    found->computed_letters = letters;
    View unread;
    for (const IntExpr& extent : graph.node(id).type.dims) unread.dims.push_back({{extent, 1}});
    return unread;
  };
  HONE_TRY(const View view_a, read(first, left));
  HONE_TRY(const View view_b, read(second, right));
  Splitter splitter(spec);
  if (!splitter.add(view_a, left) || !splitter.add(view_b, right)) return no_contraction("two factors whose axes lie apart in memory in different ways");
  splitter.name();
  found->a = splitter.factor(view_a, left);
  found->b = splitter.factor(view_b, right);
  found->extents = splitter.extents();
  if (pairs) {
    const Node& beside = graph.node(other);
    if (beside.attr<std::string>("spec") != spec || !(beside.type == node.type)) return no_contraction("two products of different kinds");
    HONE_TRY(const View also_a, view_of(graph, beside.operands[1 - right_at]));
    HONE_TRY(const View also_b, view_of(graph, beside.operands[right_at]));
    Splitter alike(spec);
    if (!alike.add(also_a, left) || !alike.add(also_b, right)) return no_contraction("two factors whose axes lie apart in memory in different ways");
    alike.name();
    if (alike.split(left) != found->a.letters || alike.split(right) != found->b.letters) return no_contraction("two products whose factors are read differently");
    const Factor left_too = alike.factor(also_a, left);
    found->second = alike.factor(also_b, right);
    if (left_too.input != found->a.input || left_too.strides != found->a.strides || !(left_too.begin == found->a.begin)) return no_contraction("two products of different left factors");
    if (found->second->strides != found->b.strides) return no_contraction("two products whose right factors are read differently");
    if (graph.node(found->second->input).type.dtype != graph.node(found->b.input).type.dtype) return no_contraction("right factors of two types");
  }
  const auto is_i8 = [&](const Factor& f) { return f.input >= 0 && graph.node(f.input).type.dtype == task::DType::kI8; };
  const bool sums_i8 = found->accumulate == task::DType::kI32 && is_i8(found->a) && is_i8(found->b);
  if (found->accumulate != task::DType::kF32 && found->accumulate != task::DType::kF64 && !sums_i8)
    return no_contraction("a product of integers other than i8 summed in i32");
  // From the end: columns are in b alone, rows before them in a alone, and whatever comes before those makes
  // a batch of products, each factor moving along what it has of it.
  const auto alone = [](char c, const std::string& mine, const std::string& theirs) {
    return mine.find(c) != std::string::npos && theirs.find(c) == std::string::npos;
  };
  // Along such a letter nothing of the right factor moves but what is picked.
  const auto by_row = [&](char c) {
    if (!found->b.pick || right.find(c) == std::string::npos) return false;
    const std::string pieces = splitter.split(std::string(1, c));
    return std::all_of(pieces.begin(), pieces.end(), [&](char p) { return is_zero(found->b.stride(p)) && !is_zero(found->b.pick_stride(p)); });
  };
  size_t columns = result.size();
  while (columns > 0 && alone(result[columns - 1], right, left) && !by_row(result[columns - 1])) --columns;
  size_t rows = columns;
  while (rows > 0 && (alone(result[rows - 1], left, right) || by_row(result[rows - 1]))) --rows;
  const std::string letters[] = {result.substr(0, rows), result.substr(rows, columns - rows), result.substr(columns)};
  if (letters[1].empty() || letters[2].empty()) return no_contraction("the product has no rows or no columns");
  std::string depth;
  for (const char c : left)
    if (result.find(c) == std::string::npos) depth += c;
  if (depth.empty()) return no_contraction("the product sums nothing");
  const auto group = [&](const std::string& axes) {
    const std::string split = splitter.split(axes);
    return AxisGroup{split, extent_of(split, found->extents)};
  };
  found->batch = group(letters[0]);
  found->row = group(letters[1]);
  found->column = group(letters[2]);
  found->depth = group(depth);
  for (const Factor* factor : {&found->a, &found->b})
    for (const char c : found->depth.letters + found->column.letters)
      if (!is_zero(factor->pick_stride(c))) return no_contraction("an index picks columns or what is summed");
  const bool makes_zeros = found->b.pick || (found->a.pick && found->a.pick->bound);
  if (makes_zeros && task.nan_policy) return no_contraction("zeros beside what is picked, where NaN and infinities count");

  HONE_TRY(found->epilogue, epilogue_of(task, dot, other));
  const std::vector<Placement> placed = take_views_off(found->epilogue.primitive);
  std::vector<size_t> fences;
  if (!letters[0].empty()) fences.push_back(letters[0].size());
  fences.push_back(letters[0].size() + letters[1].size());
  HONE_TRY(found->program, find_program(found->epilogue, {.columns = false, .slices = true, .placed = placed, .fences = fences}));
  // A row of the epilogue is a row of the product: the same axes in the same order.
  const Program& program = found->program;
  std::vector<int> axes = program.row_axes;
  axes.insert(axes.end(), program.inner_axes.begin(), program.inner_axes.end());
  const auto& product = program.nest.of_node[0];
  if (axes != product || program.inner_axes.size() != 1) return no_contraction("the result's element-wise part runs over other axes");
  if (!is_one(found->column.extent) && !(program.extent(program.inner_axes.back()) == found->column.extent)) return no_contraction("the columns of the result are not one segment");
  for (const int output : program.nest.graph->outputs)
    if (program.nest.of_node[static_cast<size_t>(output)] != product) return no_contraction("an output is not laid out as the product is");
  return found;
}

}  // namespace

Result<std::unique_ptr<Contraction>> find_contraction(const task::Task& task) {
  const std::vector<int> products = products_of(task.primitive);
  if (products.empty()) return no_contraction("no product");
  if (products.size() > 1) return no_contraction("more than one product");
  return contraction_of(task, products.front(), -1);
}

Result<std::unique_ptr<Contraction>> find_computed(const task::Task& task) {
  const std::vector<int> products = products_of(task.primitive);
  if (products.size() != 1) return no_contraction("not one product");
  HONE_TRY(auto found, contraction_of(task, products.front(), -1, true));
  if (found->computed < 0) return no_contraction("no factor is computed");
  return found;
}

Result<std::unique_ptr<Contraction>> find_picked(const task::Task& task) {
  const std::vector<int> products = products_of(task.primitive);
  if (products.size() != 1) return no_contraction("not one product");
  HONE_TRY(auto found, contraction_of(task, products.front(), -1, false, true));
  if (!found->a.pick && !found->b.pick) return no_contraction("no factor is picked");
  return found;
}

Result<std::unique_ptr<Contraction>> find_pair(const task::Task& task) {
  const std::vector<int> products = products_of(task.primitive);
  if (products.size() != 2) return no_contraction("no pair of products");
  return contraction_of(task, products[0], products[1]);
}

}  // namespace hone::pattern
