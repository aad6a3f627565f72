// Tensors that a card draws: every type, domain and structure, sizes that are no multiples of a block.
#pragma once
#include <string>
#include <vector>

#include <fmt/format.h>

#include "hone/evaluate/verify/draw/draw_card.h"
#include "hone/evaluate/verify/inputs.h"
#include "hone/task/task.h"

namespace hone::evaluate {

struct DrawCase {
  task::InputSpec spec;
  task::Shape shape;
  int64_t bound = 0;

  [[nodiscard]] int64_t bytes() const { return task::element_count(shape) * task::size_of(spec.type.dtype); }
  [[nodiscard]] std::string name(Family family) const {
    return fmt::format("{} domain {} structure {} bound {} {}", task::name_of(spec.type.dtype), static_cast<int>(spec.domain),
                       static_cast<int>(spec.structure), bound, name_of(family));
  }
  [[nodiscard]] std::vector<uint8_t> on_host(Family family, uint64_t seed) const {
    std::vector<uint8_t> data(static_cast<size_t>(bytes()));
    draw(spec, shape, bound, family, seed, data.data());
    return data;
  }
};

inline constexpr task::DType kTypesOfCards[] = {task::DType::kF32, task::DType::kF16, task::DType::kBF16, task::DType::kI64,
                                                task::DType::kI32, task::DType::kI16, task::DType::kI8,   task::DType::kBool};

/// Every type with every domain; integer types with bounds of indices; every structure with elements of each width.
inline std::vector<DrawCase> draw_cases() {
  using task::Domain;
  using task::DType;
  using task::Structure;
  std::vector<DrawCase> cases;
  const auto add = [&](DType type, Domain domain, Structure structure, task::Shape shape, int64_t bound = 0) {
    DrawCase c;
    c.spec.name = "x";
    c.spec.type.dtype = type;
    c.spec.domain = domain;
    c.spec.structure = structure;
    c.shape = std::move(shape);
    c.bound = bound;
    cases.push_back(std::move(c));
  };
  for (const DType type : kTypesOfCards)
    for (const Domain domain : {Domain::kReal, Domain::kPositive, Domain::kUnit, Domain::kNearOne, Domain::kSign})
      add(type, domain, Structure::kNone, {3, 5, 7, 61});
  for (const DType type : {DType::kI64, DType::kI32, DType::kI16, DType::kI8})
    for (const int64_t bound : {1, 17, 128}) add(type, Domain::kIndex, Structure::kNone, {1500}, bound);
  add(DType::kI16, Domain::kIndex, Structure::kNone, {1500}, 32768);
  for (const DType type : {DType::kI64, DType::kI32}) add(type, Domain::kIndex, Structure::kNone, {1500}, int64_t{1} << 31);
  add(DType::kI64, Domain::kIndex, Structure::kNone, {1500}, (int64_t{1} << 40) + 12345);
  for (const DType type : {DType::kF32, DType::kBF16, DType::kI8, DType::kI64}) {
    for (const Structure structure : {Structure::kTriu, Structure::kTril, Structure::kSymmetric}) add(type, Domain::kReal, structure, {2, 45, 45});
    for (const Structure structure : {Structure::kTriu, Structure::kTril, Structure::kSymmetric}) {
      add(type, Domain::kReal, structure, {2, 20, 70});
      add(type, Domain::kReal, structure, {70, 20});
    }
    add(type, Domain::kUnit, Structure::kTriu, {301, 301});
  }
  add(DType::kF32, Domain::kReal, Structure::kNone, {});
  add(DType::kF32, Domain::kReal, Structure::kTriu, {3});
  return cases;
}

}  // namespace hone::evaluate
