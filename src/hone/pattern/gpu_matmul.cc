#include "hone/pattern/gpu_matmul.h"

#include <algorithm>
#include <cmath>

#include "hone/pattern/gpu_finish.h"
#include "hone/pattern/gpu_matmul_writer.h"
#include "hone/pattern/gpu_operand.h"
#include "hone/pattern/gpu_writer.h"
#include "hone/pattern/normal_form_parts.h"

namespace hone::pattern {
namespace {

using task::DType;
using task::IntExpr;

constexpr GpuMethod kSimt = {"", 4, 1, "tile in registers"};
constexpr GpuMethod kTf32x3 = {"hone::gpu::Tf32<2>", 4, 1, "matrix units, three products of TF32 parts"};
constexpr GpuMethod kBf16x6 = {"hone::gpu::Bf16<3>", 4, 2, "matrix units, six products of bf16 parts"};
constexpr GpuMethod kTf32 = {"hone::gpu::Tf32<1>", 4, 1, "matrix units, TF32"};
constexpr GpuMethod kBf16 = {"hone::gpu::Bf16<1>", 4, 2, "matrix units, bf16"};
constexpr GpuMethod kStoredBf16 = {"hone::gpu::Stored16<hone::bf16>", 2, 2, "matrix units"};
constexpr GpuMethod kStoredF16 = {"hone::gpu::Stored16<hone::f16>", 2, 2, "matrix units"};

/// Numbers of one workload.
struct Shape {
  double rows, columns, depth, batch;
};

std::vector<Shape> shapes_of(const task::Task& task, const Contraction& all) {
  std::vector<Shape> shapes;
  for (const task::Workload& w : task.workloads) {
    const auto at = [&](const IntExpr& e) {
      const auto v = e.eval(w.bindings);
      return v ? static_cast<double>(*v) : 1.0;
    };
    shapes.push_back({at(all.row.extent), at(all.column.extent), at(all.depth.extent), at(all.batch.extent)});
  }
  return shapes;
}

/// Multiprocessors of the devices meant: enough blocks for one each or not.
constexpr double kManyBlocks = 132;
/// The largest number of lines that a skinny product is made for.
constexpr double kFew = 8;

bool wants_split(const Shape& s) {
  return s.depth >= 2048 && std::ceil(s.rows / 128) * std::ceil(s.columns / 128) * s.batch * 2 <= kManyBlocks;
}

/// Large enough for blocks of 128 x 256 on most multiprocessors, with so much to sum that splitting the factors first is a
/// small part of the work.
bool wants_groups(const Shape& s) {
  return s.depth >= 256 && s.rows >= 256 && s.columns >= 256 &&
         std::ceil(s.rows / 128) * std::ceil(s.columns / 256) * s.batch * 2 >= kManyBlocks;
}

/// Enough for a tile of 64 x 128 on half of the multiprocessors.
bool wants_tensors(const Shape& s) {
  return s.depth >= 64 && s.rows >= 64 && s.columns >= 64 && std::ceil(s.rows / 64) * std::ceil(s.columns / 128) * s.batch * 2 >= kManyBlocks;
}

/// More lines than are read once each, but few tiles and a long sum.
bool wants_split_tensors(const Shape& s) { return wants_split(s) && s.rows > kFew && s.columns > kFew; }

/// From so many lines of the other factor on the units gain more than writing a factor once more costs: four bytes of traffic for each
/// number of 16 bits against a multiply-add for each of those lines, of which mma.sync does less than half as many in a second.
constexpr double kManyMet = 256;

/// Whether the product wants that at some workload where the copy engine can bring all factors as they lie (`well`), or cannot.
template <class Wants>
bool some_shape(const task::Task& task, const std::vector<Shape>& shapes, const GpuMatmulWriter& writer, bool well, Wants wants) {
  for (size_t i = 0; i < shapes.size(); ++i)
    if (wants(shapes[i]) && writer.lie_well(task.workloads[i].bindings) == well) return true;
  return false;
}

/// Products by the copy engine: of factors as they lie where they lie well at some workload, written anew where they do not and that pays.
std::vector<Offer> tensor_offers(const task::Task& task, const std::vector<Shape>& shapes, const GpuMatmulWriter& writer) {
  std::vector<Offer> offers;
  if (!writer.can_be_tensors()) return offers;
  for (const bool anew : {false, true})
    if (some_shape(task, shapes, writer, !anew, [&](const Shape& s) { return wants_tensors(s) && !(anew && std::min(s.rows, s.columns) < kManyMet); }))
      offers.push_back(writer.tensors(anew));
  return offers;
}

/// Short sums of so many elements that splitting the factors first is a small part of the writing of the result.
bool wants_short_groups(const Shape& s) {
  return s.depth >= 32 && s.depth < 256 && s.rows >= 256 && s.columns >= 256 && s.rows * s.columns >= 32 * (s.rows + s.columns) * s.depth;
}

/// Short sums of enough elements for tiles of 64 x 128 on all multiprocessors.
bool wants_short_direct(const Shape& s) {
  return s.depth >= 32 && s.depth < 256 && s.rows >= 64 && s.columns >= 64 &&
         std::ceil(s.rows / 128) * std::ceil(s.columns / 64) * s.batch >= 2 * kManyBlocks;
}

/// Few tiles and a long sum: splitting the factors first is much work beside it, and less than reading them anew as floats.
bool wants_split_groups(const Shape& s) {
  return s.depth >= 4096 && s.rows >= 128 && s.columns >= 128 && std::ceil(s.rows / 128) * std::ceil(s.columns / 128) * s.batch * 2 <= kManyBlocks;
}

/// Enough lines and depth for the smallest tile of three products of TF32 on wgmma to be more than half full.
bool wants_three(const Shape& s) { return s.depth >= 32 && std::max(s.rows, s.columns) > 32 && std::min(s.rows, s.columns) > 24; }

/// So many sums of tiles in a row that their rounding would come near the bound of the strict track where all have one sign.
constexpr double kDeep = 2048;

/// The largest number of columns (rows) that are few beside the rows (columns) of their workload; 0: never few.
int few_beside(const std::vector<Shape>& shapes, bool rows) {
  double few = 0;
  for (const Shape& s : shapes) {
    const double many = rows ? s.rows : s.columns, others = rows ? s.columns : s.rows;
    if (others <= kFew && others < many) few = std::max(few, others);
  }
  return few > 4 ? 8 : few > 2 ? 4 : static_cast<int>(few);
}

bool readable(DType dtype) { return dtype == DType::kF32 || task::is_narrow(dtype) || dtype == DType::kI8; }

/// Whether a number of 16 bits holds all numbers of the type.
bool fits(DType type, DType in) { return type == in || task::is_f8(type) || type == DType::kI8; }

}  // namespace

std::optional<GroupMethod> group_method_for(task::Track track, DType a, DType b) {
  if (fits(a, DType::kBF16) && fits(b, DType::kBF16)) return GroupMethod{"hone::gpu::Group16<hone::bf16>", DType::kBF16, 1, "wgmma"};
  if (fits(a, DType::kF16) && fits(b, DType::kF16)) return GroupMethod{"hone::gpu::Group16<hone::f16>", DType::kF16, 1, "wgmma"};
  if (a != DType::kF32 || b != DType::kF32) return std::nullopt;
  if (track == task::Track::kBf16) return GroupMethod{"hone::gpu::GroupBf16<1>", DType::kBF16, 1, "wgmma, bf16"};
  if (track == task::Track::kTf32 || track == task::Track::kF16) return GroupMethod{"hone::gpu::GroupTf32", DType::kF32, 1, "wgmma, TF32"};
  return GroupMethod{"hone::gpu::GroupBf16<3>", DType::kBF16, 3, "wgmma, six products of bf16 parts"};
}

std::vector<GpuMethod> methods_for(task::Track track, DType a, DType b, kernel::Language language) {
  if (language != kernel::Language::kCuda) return {kSimt};
  if (a == DType::kBF16 && b == DType::kBF16) return {kStoredBf16, kSimt};
  if (a == DType::kF16 && b == DType::kF16) return {kStoredF16, kSimt};
  if (a != DType::kF32 || b != DType::kF32) return {kSimt};
  if (track == task::Track::kTf32) return {kTf32, kTf32x3, kSimt};
  if (track == task::Track::kBf16) return {kBf16, kTf32, kSimt};
  if (track == task::Track::kF16) return {kTf32, kSimt};
  return {kTf32x3, kBf16x6, kSimt};
}

namespace {

/// Of two products of one left factor that are finished together, as they are written or as one whose result is taken apart.
std::vector<Offer> pair_offers(const task::Task& given, kernel::Language language) {
  if (language != kernel::Language::kCuda) return {};
  task::Task task = given;
  auto found = find_pair(task);
  if (!found) {
    auto halves = in_halves(given);
    if (!halves) return {};
    task = std::move(*halves);
    found = find_pair(task);
  }
  if (!found) return {};
  const auto finish = finish_text(**found, gpu_parameters_of(task));
  if (!finish) return {};
  const GpuMatmulWriter writer(task, **found, language, *finish);
  const std::vector<Shape> shapes = shapes_of(task, **found);
  return tensor_offers(task, shapes, writer);
}

}  // namespace

std::vector<Offer> gpu_matmul_offers(const task::Task& given, kernel::Language language) {
  // A product without rows or columns is one here, but no longer in the normal form.
  task::Task task = given;
  auto found = find_contraction(task);
  if (!found) {
    task = normal_form(given);
    found = find_contraction(task);
  }
  if (!found) found = find_picked(task = given);
  if (!found) return pair_offers(given, language);
  const auto finish = finish_text(**found, gpu_parameters_of(task)), picks = picks_text(task, **found);
  if (!finish || !picks) return {};
  const GpuMatmulWriter writer(task, **found, language, *finish + *picks);
  if (!readable(writer.a_dtype()) || !readable(writer.b_dtype())) return {};

  // PyTorch's default for convolutions, pointwise ones too.
  const task::Track track = (*found)->convolves && task.track == task::Track::kAsPytorch ? task::Track::kTf32 : task.track;
  const std::vector<Shape> shapes = shapes_of(task, **found);
  std::vector<Offer> offers;
  const bool split = !writer.triangular() && !writer.grouped() && std::any_of(shapes.begin(), shapes.end(), wants_split);
  const auto tiles = [&] {
    for (const GpuMethod& method : methods_for(track, writer.a_dtype(), writer.b_dtype(), language)) {
      if (split) offers.push_back(writer.tiles(method, true));
      offers.push_back(writer.tiles(method, false));
    }
  };
  if (writer.picked()) {
    const bool pays = !writer.grouped() || std::any_of(task.workloads.begin(), task.workloads.end(), [&](const task::Workload& w) { return writer.rows_of_group(w) > 1; });
    if (pays && (*found)->accumulate == DType::kF32) tiles();
    return offers;
  }
  const std::vector<Offer> tensors = language == kernel::Language::kCuda ? tensor_offers(task, shapes, writer) : std::vector<Offer>();
  if ((*found)->accumulate == DType::kI32) return tensors;   // whole numbers, which nothing else here sums
  for (const bool rows : {true, false})
    if (const int few = few_beside(shapes, rows); few > 0 && writer.can_be_many(rows)) offers.push_back(writer.skinny(rows, few));
  const auto groups = group_method_for(track, writer.a_dtype(), writer.b_dtype());
  const bool deep = std::any_of(shapes.begin(), shapes.end(), [](const Shape& s) { return s.depth > kDeep; });
  const bool brief = std::any_of(shapes.begin(), shapes.end(), wants_short_groups);
  const bool parts = groups && groups->parts > 1, direct = !parts && writer.can_be_direct();
  const bool three = parts && writer.can_be_direct() && std::any_of(shapes.begin(), shapes.end(), wants_three);
  if (groups && language == kernel::Language::kCuda) {
    if (split && std::any_of(shapes.begin(), shapes.end(), wants_split_groups)) {
      if (direct) offers.push_back(writer.direct({.split = true}, 1));
      offers.push_back(writer.groups(*groups, {.deep = deep, .split = true}));
    }
    offers.insert(offers.end(), tensors.begin(), tensors.end());
    if (std::any_of(shapes.begin(), shapes.end(), wants_groups)) {
      if (direct && groups->number == DType::kF32) offers.push_back(writer.direct({}, 1));
      offers.push_back(writer.groups(*groups, {.deep = deep}));
      if (direct && groups->number != DType::kF32) offers.push_back(writer.direct({}, 1));
    }
    if (three && split) offers.push_back(writer.direct({.deep = deep, .split = true}, 2));
    if (three) offers.push_back(writer.direct({.deep = deep}, 2));
    if (direct && std::any_of(shapes.begin(), shapes.end(), wants_short_direct)) offers.push_back(writer.direct({.brief = true}, 1));
  }
  // 32 of an H200's microseconds where mma.sync takes 51 (32 x 4096 by 8192).
  if (language == kernel::Language::kCuda && split && writer.can_be_tensors() && some_shape(task, shapes, writer, true, wants_split_tensors))
    offers.push_back(writer.tensors(false, true));
  tiles();
  if (groups && language == kernel::Language::kCuda && brief)
    offers.push_back(writer.groups(*groups, {.brief = true}));
  return offers;
}

namespace {

/// From so many lines of the other factor on the units that multiply most need less time for what mma.sync still has to do than a launch
/// for writing the computed factor in 16 bits.
constexpr double kManyOthers = 256;

/// Of a product of factors of one byte with scales for segments of the depth.
Result<std::vector<Offer>> scaled_offers(const task::Task& task, kernel::Language language) {
  HONE_TRY(const Scaled scaled, find_scaled(task));
  const task::Task& bare = scaled.bare;
  HONE_TRY(const auto found, find_computed(bare));
  HONE_TRY(const auto operand, find_operand(bare, *found));
  const std::string parameters = gpu_parameters_of(bare);
  HONE_TRY(const std::string finish, finish_text(*found, parameters));
  const bool of_rows = found->a.input < 0;
  const GpuMatmulWriter writer(bare, *found, language, finish);
  const DType other = of_rows ? writer.b_dtype() : writer.a_dtype();
  if (task::size_of(other) != 1) return fail(ErrorCode::kUnavailable, "one scaled factor of one byte beside a wider one");
  HONE_TRY(const GpuOperand text, GpuOperand::create(*operand, parameters));
  PatchScales scales;
  const task::Graph& graph = task.primitive;
  const auto dot = std::find_if(graph.nodes.begin(), graph.nodes.end(), [](const task::Node& n) { return n.prim == task::Prim::kDot; });
  const Letters spec = letters_of(*dot);
  const std::string letters[] = {spec.left, spec.right};
  for (const size_t side : {0, 1}) {
    // Rows and columns may have changed sides.
    const bool right = letters[side].find(found->column.letters.back()) != std::string::npos;
    HONE_TRY(const auto whole, operand_of(task, side == 0 ? scaled.left : scaled.right, letters[side], *found, right));
    const auto scale = scale_of(whole->task.primitive, whole->root());
    if (!scale) continue;
    const bool of_lines = right != of_rows;
    HONE_TRY(const std::string function, GpuOperand::scalar_text(*whole, *scale, of_lines ? "line_scale_of" : "other_scale_of", parameters));
    (of_lines ? scales.of_lines : scales.of_others) = true;
    scales.functions += "/// What elements of that factor are scaled by.\n" + function;
    if (const auto steady = steady_depth(*whole, *scale)) scales.segments.push_back(*steady);
    for (const IntExpr& condition : whole->nest.conditions) scales.conditions.push_back(condition);
  }
  const std::vector<Shape> shapes = shapes_of(bare, *found);
  const Shape& shape = shapes.front();
  return std::vector<Offer>{writer.patches(text, static_cast<int64_t>(of_rows ? shape.columns : shape.rows), static_cast<int64_t>(shape.depth), false, &scales)};
}

}  // namespace

std::vector<Offer> gpu_computed_offers(const task::Task& task, kernel::Language language, std::vector<std::string>& why_not) {
  if (language != kernel::Language::kCuda) return {};
  if (auto scaled = scaled_offers(task, language)) return *scaled;
  const auto none = [&](const std::string& why) {
    why_not.push_back("product with a computed factor: " + why);
    return std::vector<Offer>();
  };
  const auto found = find_computed(task);
  if (!found) return none(found.error().message);
  const auto operand = find_operand(task, **found);
  if (!operand) return none(operand.error().message);
  const auto finish = finish_text(**found, gpu_parameters_of(task));
  if (!finish) return none(finish.error().message);
  const bool of_rows = (*found)->a.input < 0;
  const GpuMatmulWriter writer(task, **found, language, *finish);
  const DType other = of_rows ? writer.b_dtype() : writer.a_dtype();
  if ((other != DType::kBF16 && other != DType::kF16) || (*operand)->dtype() != other) return none("factors that are not both bf16 or both f16");
  if ((*operand)->bytes_read() >= (*operand)->bytes()) return none("a factor that is computed from as many bytes as it has");
  const auto text = GpuOperand::create(**operand, gpu_parameters_of(task));
  if (!text) return none(text.error().message);
  const Shape* few = nullptr;
  const std::vector<Shape> shapes = shapes_of(task, **found);
  const auto others = [&](const Shape& s) { return of_rows ? s.columns : s.rows; };
  const auto lines = [&](const Shape& s) { return of_rows ? s.rows : s.columns; };
  for (const Shape& s : shapes)
    if (others(s) < kManyOthers && (!few || others(s) > others(*few))) few = &s;
  if (!few) return none("a factor that is computed and another one of many lines");
  const double tiles = std::ceil(lines(*few) / (8 * text->lines().front())) * std::ceil(others(*few) / 64) * few->batch;
  std::vector<Offer> offers;
  for (const bool split : {true, false})
    if (!split || (tiles * 2 <= kManyBlocks && few->depth >= 2048))
      offers.push_back(writer.patches(*text, static_cast<int64_t>(others(*few)), static_cast<int64_t>(few->depth), split));
  return offers;
}

}  // namespace hone::pattern
