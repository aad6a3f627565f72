#include "hone/evaluate/oracle/card/compile.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "hone/evaluate/oracle/attributes.h"
#include "hone/evaluate/oracle/kernels/kernels.h"
#include "hone/evaluate/oracle/step.h"
#include "hone/task/graph/prim_info.h"

namespace hone::evaluate {
namespace {

using card::CastTo;
using card::Fold;
using card::Instruction;
using card::Op;
using task::DType;
using task::Node;
using task::Prim;
using task::Shape;

/// Results of the host's that a program reads have no more elements; element-wise ones of few are the host's too.
constexpr int64_t kMostGiven = int64_t{1} << 20, kFewGiven = int64_t{1} << 12;

/// An affine function of the atoms.
struct Affine {
  int64_t offset = 0;
  std::vector<int64_t> coefficient;
  bool operator==(const Affine&) const = default;
};

Affine constant_place(int64_t offset, size_t atoms) { return {offset, std::vector<int64_t>(atoms, 0)}; }

void add_times(Affine& to, const Affine& what, int64_t factor) {
  to.offset += factor * what.offset;
  for (size_t a = 0; a < to.coefficient.size(); ++a) to.coefficient[a] += factor * what.coefficient[a];
}

Affine times(const Affine& what, int64_t factor) {
  Affine result = constant_place(0, what.coefficient.size());
  add_times(result, what, factor);
  return result;
}

/// Where a node's coordinates lie over the atoms, by dimension.
using View = std::vector<Affine>;

std::optional<Op> op_of(Prim op) {
  switch (op) {
#define HONE_UNARY(op, value, moved) \
  case Prim::op: return Op::op;
#define HONE_BINARY(op, value, moved) \
  case Prim::op: return Op::op;
#include "hone/evaluate/oracle/kernels/operations.inc"
#undef HONE_UNARY
#undef HONE_BINARY
    case Prim::kWhere: return Op::kWhere;
    default: return std::nullopt;
  }
}

/// Operations on integers that doubles do not do as they are.
bool is_hard_whole(const task::Node& node) {
  if (!task::is_int(node.type.dtype)) return false;
  const Prim op = node.prim;
  return op == Prim::kPow || op == Prim::kMod || op == Prim::kFloorDiv || (op == Prim::kMul && task::size_of(node.type.dtype) > 2);
}

/// Half of the range that whole numbers of the type are taken into; 0: they are not.
double half_range(DType type) { return task::is_int(type) && type != DType::kI64 ? std::ldexp(1.0, 8 * task::size_of(type) - 1) : 0; }

void put_whole_range(DType type, Instruction& i) {
  switch (type) {
    case DType::kI8: i.low = INT8_MIN, i.high = INT8_MAX; return;
    case DType::kI16: i.low = INT16_MIN, i.high = INT16_MAX; return;
    case DType::kI32: i.low = INT32_MIN, i.high = INT32_MAX; return;
    default: i.low = -0x1p63, i.high = 0x1p63;
  }
}

/// One try at a program with given atoms. A view that needs an atom in two asks for that, and is tried again.
class ReductionCompiler {
 public:
  ReductionCompiler(const task::ConcreteGraph& graph, std::span<const NodeFacts> facts, int id, const Box& box, Arithmetic arithmetic,
                    bool want_scale)
      : graph_(graph), facts_(facts), id_(id), box_(box), exact_(arithmetic == Arithmetic::kExact), want_scale_(want_scale) {
    for (const int64_t extent : box.extent) factors_.push_back({extent});
  }

  std::optional<CompiledReduction> compile() {
    constexpr int kMostTries = 32;
    for (int tries = 0; tries < kMostTries; ++tries) {
      code_.clear();
      loads_.clear();
      known_.clear();
      result_ = {};
      split_ = false;
      begin();
      const int operand = graph_.graph.node(id_).operands[0];
      const int last = emit(operand, operand_view_);
      if (last >= 0) return finish(last);
      if (!split_) return std::nullopt;
    }
    return std::nullopt;
  }

 private:
  struct Known {
    int node;
    View view;
    int instruction;
  };

  [[nodiscard]] const Node& node(int id) const { return graph_.graph.node(id); }
  [[nodiscard]] const Shape& shape(int id) const { return graph_.shapes[static_cast<size_t>(id)]; }
  [[nodiscard]] const NodeFacts& fact(int id) const { return facts_[static_cast<size_t>(id)]; }
  [[nodiscard]] bool scaled(int id) const { return want_scale_ && fact(id).has_scale(); }
  [[nodiscard]] bool rounds(int id) const { return !exact_ && fact(id).narrow; }

  /// The operand's view: each dimension is made of its atoms.
  void begin() {
    extent_.clear();
    for (const auto& dimension : factors_) extent_.insert(extent_.end(), dimension.begin(), dimension.end());
    operand_view_.clear();
    size_t atom = 0;
    for (size_t d = 0; d < factors_.size(); ++d) {
      Affine place = constant_place(box_.start[d], extent_.size());
      int64_t step = box_.extent[d];
      for (const int64_t extent : factors_[d]) {
        step /= extent;
        place.coefficient[atom++] = step;
      }
      operand_view_.push_back(std::move(place));
    }
  }

  /// Asks for atom number `atom` in two, the inner one of `inner` elements.
  void split(size_t atom, int64_t inner) {
    for (auto& dimension : factors_) {
      if (atom >= dimension.size()) {
        atom -= dimension.size();
        continue;
      }
      const auto at = dimension.begin() + static_cast<std::ptrdiff_t>(atom);
      *at /= inner;
      dimension.insert(at + 1, inner);
      split_ = true;
      return;
    }
  }

  /// The instruction that gives a node's elements under a view; -1: there is none.
  int emit(int id, const View& view) {
    for (const Known& known : known_)
      if (known.node == id && known.view == view) return known.instruction;
    const int made = make(id, view);
    if (made >= 0) known_.push_back({id, view, made});
    return made;
  }

  int make(int id, const View& view) {
    const Node& n = node(id);
    if (fact(id).open || is_hard_whole(n)) return -1;  // the host's affair (integer_range.h)
    const int64_t count = task::element_count(shape(id));
    switch (n.prim) {
      case Prim::kInput: return load_input(id, view);
      case Prim::kConstant:
      case Prim::kSymbol: return constant(id);
      case Prim::kIota: return load_index(id, view);
      case Prim::kBroadcast:
      case Prim::kReshape:
      case Prim::kTranspose:
      case Prim::kSlice:
      case Prim::kFlip: {
        const auto below = look_through(id, view);
        return below ? emit(n.operands[0], *below) : -1;
      }
      default: break;
    }
    if (task::is_elementwise(n.prim) && count > kFewGiven) return element_wise(id, view);
    return count <= kMostGiven ? load_given(id, view) : -1;
  }

  std::optional<View> look_through(int id, const View& view) {
    const Node& n = node(id);
    const Shape& from = shape(n.operands[0]);
    View below = view;
    switch (n.prim) {
      case Prim::kReshape: return through_reshape(from, shape(id), view);
      case Prim::kTranspose: {
        const auto perm = ints_attr(n, "perm");
        for (size_t i = 0; i < perm.size(); ++i) below[static_cast<size_t>(perm[i])] = view[i];
        return below;
      }
      case Prim::kSlice: {
        const auto start = ints_attr(n, "start"), step = ints_attr(n, "step");
        for (size_t d = 0; d < below.size(); ++d) {
          below[d] = times(view[d], step[d]);
          below[d].offset += start[d];
        }
        return below;
      }
      case Prim::kFlip:
        for (const int64_t axis : ints_attr(n, "axes")) {
          const auto d = static_cast<size_t>(axis);
          below[d] = times(view[d], -1);
          below[d].offset += from[d] - 1;
        }
        return below;
      default: return broadcast_view(from, view);
    }
  }

  [[nodiscard]] View broadcast_view(const Shape& from, const View& view) const {
    View below;
    for (size_t d = 0; d < from.size(); ++d) below.push_back(from[d] == 1 ? constant_place(0, extent_.size()) : view[d]);
    return below;
  }

  [[nodiscard]] Affine flat(const Shape& of, const View& view) const {
    const Shape stride = dense_strides(of);
    Affine place = constant_place(0, extent_.size());
    for (size_t d = 0; d < of.size(); ++d) add_times(place, view[d], stride[d]);
    return place;
  }

  /// The places of a tensor's elements in row-major order, taken apart into coordinates of another shape.
  std::optional<View> through_reshape(const Shape& from, const Shape& to, const View& view) {
    Affine rest = flat(to, view);
    View below;
    const Shape stride = dense_strides(from);
    for (size_t d = 0; d < from.size(); ++d) {
      // What multiples of the stride make is the coordinate; the rest must stay below it.
      Affine coordinate = constant_place(rest.offset / stride[d], extent_.size());
      Affine inner = constant_place(rest.offset % stride[d], extent_.size());
      int64_t largest = inner.offset;
      for (size_t a = 0; a < extent_.size(); ++a) {
        const int64_t c = rest.coefficient[a];
        if (c < 0) return std::nullopt;
        if (c % stride[d] == 0) {
          coordinate.coefficient[a] = c / stride[d];
          continue;
        }
        if (c > stride[d]) return std::nullopt;
        if (c * (extent_[a] - 1) >= stride[d]) {
          // Part of the atom is coordinate and part is not.
          if (stride[d] % c == 0 && extent_[a] % (stride[d] / c) == 0) split(a, stride[d] / c);
          return std::nullopt;
        }
        inner.coefficient[a] = c;
        largest += c * (extent_[a] - 1);
      }
      if (largest >= stride[d]) return std::nullopt;
      below.push_back(std::move(coordinate));
      rest = std::move(inner);
    }
    return below;
  }

  int add(Instruction i) {
    if (code_.size() == card::kMostCode) return -1;
    code_.push_back(i);
    return static_cast<int>(code_.size()) - 1;
  }

  int add_load(const Affine& place, int32_t source, DType type, int64_t scale_distance, Instruction i) {
    if (loads_.size() == card::kMostLoads) return -1;
    card::Load load{};
    load.base = place.offset;
    load.scale_distance = scale_distance;
    load.source = source;
    load.type = static_cast<int32_t>(type);
    i.op = Op::kLoad;
    i.detail = static_cast<int32_t>(loads_.size());
    loads_.push_back(load);
    places_.resize(loads_.size());
    places_.back() = place;
    return add(i);
  }

  int load_input(int id, const View& view) {
    const auto& all = graph_.graph.inputs;
    const int number = static_cast<int>(std::find(all.begin(), all.end(), id) - all.begin());
    auto found = std::find(result_.inputs.begin(), result_.inputs.end(), number);
    if (found == result_.inputs.end()) {
      if (result_.inputs.size() == card::kMostInputs) return -1;
      found = result_.inputs.insert(result_.inputs.end(), number);
    }
    Instruction i{};
    if (scaled(id)) i.flags = card::kScaled, i.own = fact(id).unit;
    return add_load(flat(shape(id), view), static_cast<int32_t>(found - result_.inputs.begin()), node(id).type.dtype, 0, i);
  }

  int load_index(int id, const View& view) {
    return add_load(view[static_cast<size_t>(int_attr(node(id), "axis"))], card::kFromIndex, DType::kI64, 0, {});
  }

  /// Of a result that the host gives.
  int load_given(int id, const View& view) {
    int64_t base = 0;
    for (const int other : result_.given) {
      if (other == id) break;
      base += 2 * task::element_count(shape(other));
    }
    if (std::find(result_.given.begin(), result_.given.end(), id) == result_.given.end()) result_.given.push_back(id);
    Affine place = flat(shape(id), view);
    place.offset += base;
    Instruction i{};
    if (scaled(id)) i.flags = card::kScaled;
    return add_load(place, card::kFromKept, DType::kF64, task::element_count(shape(id)), i);
  }

  int constant(int id) {
    const Node& n = node(id);
    Instruction i{};
    i.op = Op::kConstant;
    if (n.prim == Prim::kSymbol) {
      const auto value = n.attr<task::IntExpr>("value").eval(graph_.bindings);
      HONE_CHECK(value.has_value(), "unbound symbol in a concrete graph");
      i.low = static_cast<double>(*value);
      return add(i);
    }
    const double value = number_attr(n, "value");
    i.low = rounds(id) ? static_cast<float>(value) : value;
    if (scaled(id)) i.flags = card::kScaled, i.high = std::isinf(value) ? 0 : fact(id).unit * std::abs(value);
    return add(i);
  }

  int element_wise(int id, const View& view) {
    const Node& n = node(id);
    Instruction i{};
    int32_t* const operand[] = {&i.a, &i.b, &i.c};
    // The condition of a choice is the third.
    constexpr int kUnaryFlags[] = {card::kExactA, card::kExactB, card::kExactC};
    const bool chooses = n.prim == Prim::kWhere;
    for (size_t k = 0; k < n.operands.size(); ++k) {
      const int below = n.operands[k];
      const size_t to = chooses ? (k + 2) % 3 : k;
      const int made = emit(below, broadcast_view(shape(below), view));
      if (made < 0) return -1;
      *operand[to] = made;
      if (!scaled(below)) i.flags |= kUnaryFlags[to];
    }
    if (n.operands.size() == 1) i.flags |= card::kExactB;  // there is none
    if (scaled(id)) i.flags |= card::kScaled;
    if (is_less_its_extreme(graph_.graph, id)) i.flags |= card::kLessExtreme;
    i.least = fact(id).least;
    if (n.prim == Prim::kCast) {
      put_cast(id, i);
      return add(i);
    }
    const auto op = op_of(n.prim);
    if (!op) return -1;
    i.op = *op;
    if (rounds(id) && !chooses) i.flags |= card::kRounds;
    if (scaled(id) && !chooses && task::is_float(n.type.dtype)) i.flags |= card::kKeepsLost;
    i.own = fact(id).own;
    i.term = task::info_of(n.prim).is(task::PrimInfo::kTerms) ? fact(id).unit : 0;
    if (!chooses) i.half = half_range(n.type.dtype);
    return add(i);
  }

  /// As cast_step().
  void put_cast(int id, Instruction& i) const {
    const Node& n = node(id);
    const int below = n.operands[0];
    const DType from = node(below).type.dtype, to = n.type.dtype;
    const bool to_float = task::is_float(to), meant = n.attrs.contains("rounds");
    const bool rounded = to_float ? fact(below).exact || (meant && !exact_) : from != to;
    i.op = Op::kCast;
    i.own = to_float ? fact(id).own : 0;
    if (task::is_float(from)) i.flags |= card::kFromFloat;
    CastTo how = CastTo::kSame;
    if (to == DType::kBF16) i.bits = 8, i.least_exponent = -126, i.high = 0x1p128;
    if (to == DType::kF16) i.bits = 11, i.least_exponent = -14, i.high = 0x1p16;
    if (rounded && to == DType::kF32) how = CastTo::kF32;
    else if (rounded && (to == DType::kBF16 || to == DType::kF16)) how = CastTo::kNarrow;
    else if (rounded && to == DType::kBool) how = CastTo::kTruth;
    else if (rounded && !to_float) {
      how = CastTo::kWhole;
      put_whole_range(to, i);
      if (task::is_int(from)) i.half = half_range(to);
    } else if (!rounded && to == DType::kF16 && !exact_) {
      how = CastTo::kOverflow;
    }
    i.detail = static_cast<int32_t>(how);
  }

  /// Values live from where they are made to where they are used last.
  bool put_registers(int last) {
    std::vector<int> last_use(code_.size(), -1);
    const auto operands = [](const Instruction& i) {
      const int count = i.op == Op::kLoad || i.op == Op::kConstant ? 0 : i.op == Op::kWhere ? 3 : i.op >= Op::kAdd ? 2 : 1;
      return count;
    };
    for (size_t k = 0; k < code_.size(); ++k) {
      const int32_t from[] = {code_[k].a, code_[k].b, code_[k].c};
      for (int o = 0; o < operands(code_[k]); ++o) last_use[static_cast<size_t>(from[o])] = static_cast<int>(k);
    }
    last_use[static_cast<size_t>(last)] = static_cast<int>(code_.size());
    std::vector<int32_t> in(code_.size(), -1);
    std::vector<bool> taken(card::kMostRegisters, false);
    for (size_t k = 0; k < code_.size(); ++k) {
      Instruction& i = code_[k];
      int32_t* const from[] = {&i.a, &i.b, &i.c};
      for (int o = 0; o < operands(i); ++o) {
        const auto value = static_cast<size_t>(*from[o]);
        *from[o] = in[value];
        if (last_use[value] == static_cast<int>(k)) taken[static_cast<size_t>(in[value])] = false;
      }
      const auto free = std::find(taken.begin(), taken.end(), false);
      if (free == taken.end()) return false;
      *free = true;
      in[k] = i.out = static_cast<int32_t>(free - taken.begin());
    }
    result_.program.result_register = in[static_cast<size_t>(last)];
    return true;
  }

  /// Adds atoms to the program's, outermost first; neighbours that every load walks as one are one.
  bool add_atoms(const std::vector<size_t>& group) {
    card::Program& p = result_.program;
    const int first = p.atoms;
    for (const size_t a : group) {
      bool joined = p.atoms > first;
      for (size_t l = 0; l < loads_.size() && joined; ++l) joined = loads_[l].coefficient[p.atoms - 1] == places_[l].coefficient[a] * extent_[a];
      if (!joined && p.atoms == card::kMostAtoms) return false;
      const int to = joined ? p.atoms - 1 : p.atoms++;
      p.extent[to] = joined ? p.extent[to] * extent_[a] : extent_[a];
      for (size_t l = 0; l < loads_.size(); ++l) loads_[l].coefficient[to] = places_[l].coefficient[a];
    }
    return true;
  }

  /// Coordinates as the card walks them: those of results in their order, then those folded away, which may be taken in any
  /// order: as the largest tensor read has them.
  bool put_atoms() {
    card::Program& p = result_.program;
    std::vector<bool> folded;
    for (const int64_t axis : ints_attr(node(id_), "axes")) {
      folded.resize(std::max(folded.size(), static_cast<size_t>(axis) + 1), false);
      folded[static_cast<size_t>(axis)] = true;
    }
    folded.resize(factors_.size(), false);
    std::vector<size_t> results, others;
    size_t atom = 0;
    for (size_t d = 0; d < factors_.size(); ++d)
      for (const int64_t extent : factors_[d]) {
        if (extent > 1) (folded[d] ? others : results).push_back(atom);
        ++atom;
      }
    size_t main = 0;
    int64_t most = -1;
    for (size_t l = 0; l < loads_.size(); ++l) {
      if (loads_[l].source < 0) continue;
      int64_t reach = 0;
      for (size_t a = 0; a < extent_.size(); ++a) reach += std::abs(places_[l].coefficient[a]) * (extent_[a] - 1);
      if (reach > most) most = reach, main = l;
    }
    if (!loads_.empty())
      std::stable_sort(others.begin(), others.end(), [&](size_t a, size_t b) {
        return std::abs(places_[main].coefficient[a]) > std::abs(places_[main].coefficient[b]);
      });
    p.results = p.length = 1;
    for (const size_t a : results) p.results *= extent_[a];
    for (const size_t a : others) p.length *= extent_[a];
    p.atoms = 0;
    if (!add_atoms(results)) return false;
    p.kept_atoms = p.atoms;
    if (!add_atoms(others)) return false;
    return true;
  }

  /// How the work is shared out: as many running sums as the host keeps (kernels.h), side by side in memory.
  void put_parts() {
    card::Program& p = result_.program;
    p.run = std::clamp<int64_t>(p.length / 32, p.length <= 256 ? 256 : 128, 512);
    int64_t inner = 0;
    const card::Load* main = nullptr;
    for (const card::Load& load : loads_) {
      if (load.source < 0) continue;
      int64_t reach = 0;
      for (int a = 0; a < p.atoms; ++a) reach += std::abs(load.coefficient[a]) * (p.extent[a] - 1);
      if (!main || reach > inner) main = &load, inner = reach;
    }
    // Where results lie nearer each other than what is folded, threads side by side take results.
    const auto nearest = [&](int from, int to) {
      int64_t least = std::numeric_limits<int64_t>::max();
      for (int a = from; a < to; ++a)
        if (main && main->coefficient[a] != 0) least = std::min(least, std::abs(main->coefficient[a]));
      return least;
    };
    constexpr int64_t kManyResults = 8;
    p.results_first = p.results >= kManyResults && nearest(0, p.kept_atoms) < nearest(p.kept_atoms, p.atoms);
    constexpr int64_t kMostLanes = 128;
    p.lanes = p.results_first ? 1 : std::clamp<int64_t>((p.length + p.run - 1) / p.run, 1, kMostLanes);
    const int64_t group = p.lanes * p.run;
    p.parts = (p.length + group - 1) / group * p.lanes;
  }

  std::optional<CompiledReduction> finish(int last) {
    card::Program& p = result_.program;
    if (!put_registers(last) || !put_atoms()) return std::nullopt;
    if (p.atoms == p.kept_atoms) {
      if (p.atoms == card::kMostAtoms) return std::nullopt;
      p.extent[p.atoms++] = 1;
    }
    put_parts();
    std::copy(loads_.begin(), loads_.end(), p.load);
    std::copy(code_.begin(), code_.end(), p.code);
    p.load_count = static_cast<int32_t>(loads_.size());
    p.code_count = static_cast<int32_t>(code_.size());
    const int operand = node(id_).operands[0];
    const Prim op = node(id_).prim;
    p.fold = op == Prim::kMax ? Fold::kMax : op == Prim::kMin ? Fold::kMin : Fold::kSum;
    p.rounds = op == Prim::kSum && rounds(id_);
    p.scaled = scaled(id_);
    p.exact = !scaled(operand);
    return std::move(result_);
  }

  const task::ConcreteGraph& graph_;
  std::span<const NodeFacts> facts_;
  int id_;
  const Box& box_;
  bool exact_, want_scale_;
  std::vector<std::vector<int64_t>> factors_;  ///< extents of atoms, by dimension of the operand
  std::vector<int64_t> extent_;                ///< by atom
  View operand_view_;
  bool split_ = false;
  std::vector<Instruction> code_;              ///< operands are numbers of instructions until they get registers
  std::vector<card::Load> loads_;
  std::vector<Affine> places_;                 ///< by load
  std::vector<Known> known_;
  CompiledReduction result_{};
};

}  // namespace

std::optional<CompiledReduction> compile_reduction(const task::ConcreteGraph& graph, std::span<const NodeFacts> facts, int id, const Box& box,
                                                   Arithmetic arithmetic, bool want_scale) {
  const Prim op = graph.graph.node(id).prim;
  const bool reduced_track = arithmetic == Arithmetic::kTf32 || arithmetic == Arithmetic::kBf16 || arithmetic == Arithmetic::kF16;
  if (reduced_track || (op != Prim::kSum && op != Prim::kMax && op != Prim::kMin)) return std::nullopt;
  // Floats of one byte are read and saturated on the host alone.
  if (std::ranges::any_of(graph.graph.nodes, [](const Node& n) { return task::is_f8(n.type.dtype); })) return std::nullopt;
  return ReductionCompiler(graph, facts, id, box, arithmetic, want_scale).compile();
}

}  // namespace hone::evaluate
