#include "hone/evaluate/verify/draw/draw_card.h"

#include <bit>

#include "hone/base/embedded.h"
#include "hone/evaluate/verify/draw/draw_tensor.h"

namespace hone::evaluate {
namespace {

/// As draw.cu has it: a thread makes four elements.
constexpr int kDrawThreads = kDrawCounters;

std::string_view embedded(std::string_view name) {
  const auto found = base::find_embedded(name);
  HONE_CHECK(found.has_value(), name);
  return *found;
}

template <class... Arguments>
void launch(target::CardProgram& program, std::string_view function, int64_t blocks, const Arguments&... arguments) {
  const void* const all[] = {&arguments...};
  program.launch(function, blocks, kDrawThreads, all);
}

int64_t largest_of(task::DType type) {
  switch (type) {
    case task::DType::kI64: return INT64_MAX;
    case task::DType::kI32: return INT32_MAX;
    case task::DType::kI16: return INT16_MAX;
    case task::DType::kI8: return INT8_MAX;
    default: return 0;
  }
}

}  // namespace

std::string draw_source() {
  std::string text(embedded("draw/draw.cu"));
  constexpr std::string_view kInclude = "#include \"draw_formulas.inc\"\n";
  const size_t at = text.find(kInclude);
  HONE_CHECK(at != std::string::npos);
  return text.replace(at, kInclude.size(), embedded("draw/draw_formulas.inc"));
}

Result<target::CardProgram*> draw_program(target::Card& card) { return card.program("draw.cu", draw_source()); }

bool card_draws(const task::InputSpec& spec, const DrawBounds& bounds, Family family) {
  if (drawn_on_host_only(spec, bounds, family) || spec.values) return false;
  const task::DType type = spec.type.dtype;
  if (spec.domain == task::Domain::kIndex) return bounds.index - 1 <= largest_of(type) && task::is_int(type);
  return type != task::DType::kF64 && spec.domain != task::Domain::kSimplex;
}

void draw_on_card(target::CardProgram& program, const task::InputSpec& spec, const task::Shape& shape, const DrawBounds& bounds, Family family,
                  uint64_t seed, uint64_t address) {
  HONE_CHECK(card_draws(spec, bounds, family));
  const DrawnTensor t = drawn_tensor(spec, shape, bounds, family, seed);
  if (t.total == 0) return;
  // Types as draw.cu's parameters have them.
  const auto type = static_cast<int32_t>(t.type), family_number = static_cast<int32_t>(t.recipe.family);
  const auto width = static_cast<int32_t>(task::size_of(t.type));
  const int64_t blocks = (t.total + kDrawBlock - 1) / kDrawBlock;
  if (t.index) {
    launch(program, "draw_indices", blocks, address, t.total, type, t.recipe.key, family_number, t.bound);
  } else {
    const auto kind = static_cast<int32_t>(t.recipe.kind), f16 = static_cast<int32_t>(t.recipe.f16);
    const auto centre_bits = std::bit_cast<int32_t>(t.recipe.centre);
    launch(program, "draw_values", blocks, address, t.total, type, t.recipe.key, family_number, kind, f16, centre_bits);
  }
  const int64_t all_rows = t.total / t.columns;
  if (t.structure == task::Structure::kTriu || t.structure == task::Structure::kTril) {
    const int32_t upper = t.structure == task::Structure::kTriu;
    launch(program, "zero_triangle", all_rows, address, width, t.rows, t.columns, upper);
  }
  for (const Slab& slab : t.slabs) {
    const int64_t elements = t.total / slab.extent;
    launch(program, "zero_slab", (elements + kDrawThreads - 1) / kDrawThreads, address, t.total, width, slab.stride, slab.extent, slab.index);
  }
  if (t.mirrored()) launch(program, "mirror_triangle", all_rows, address, width, t.rows);
}

}  // namespace hone::evaluate
