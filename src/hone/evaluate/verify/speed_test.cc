// What drawing inputs and making references cost: prints, asserts nothing about time.
#include <gtest/gtest.h>

#include <cstdio>
#include <ctime>

#include "hone/evaluate/oracle/testing.h"
#include "hone/evaluate/verify/draw/draw_kernels.h"
#include "hone/evaluate/verify/gate.h"

namespace hone::evaluate {
namespace {

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

TEST(Speed, drawing) {
  for (const auto& [type, domain] : {std::pair{task::DType::kF32, task::Domain::kReal},
                                     {task::DType::kF16, task::Domain::kReal},
                                     {task::DType::kF64, task::Domain::kReal},
                                     {task::DType::kF32, task::Domain::kUnit},
                                     {task::DType::kF32, task::Domain::kSimplex},
                                     {task::DType::kI64, task::Domain::kIndex}}) {
    task::InputSpec spec;
    spec.name = "x";
    spec.type.dtype = type;
    spec.domain = domain;
    const task::Shape shape{256, 4096};
    std::vector<uint8_t> data(static_cast<size_t>(task::element_count(shape) * task::size_of(type)), 1);
    for (const Family family : kAllFamilies) {
      double least = 1;
      for (uint64_t seed = 0; seed < 3; ++seed) {
        const double start = cpu_seconds();
        draw(spec, shape, 1000, family, seed, data.data(), 1);
        least = std::min(least, cpu_seconds() - start);
      }
      printf("draw %s domain %d %-9s %6.2f ns per element\n", std::string(task::name_of(type)).c_str(),
             static_cast<int>(domain), std::string(name_of(family)).c_str(),
             least / static_cast<double>(task::element_count(shape)) * 1e9);
    }
  }
}

TEST(Speed, drawing_by_instruction_set) {
  constexpr uint64_t kBlocks = 1024;
  float values[kDrawBlock];
  for (const DrawKernels* kernels : runnable_draw_kernels())
    for (const Family family : kAllFamilies) {
      Recipe recipe;
      recipe.family = family;
      const double start = cpu_seconds();
      for (uint64_t block = 0; block < kBlocks; ++block) kernels->values(recipe, block, values);
      printf("%-7s %-9s %6.2f ns per element\n", kernels->name, std::string(name_of(family)).c_str(),
             (cpu_seconds() - start) / static_cast<double>(kBlocks * kDrawBlock) * 1e9);
    }
}

TEST(Speed, sampled_references) {
  for (const auto& [compute, inputs] : std::vector<std::pair<std::string, std::vector<std::string>>>{
           {"y = softmax(x, axis=-1)", {"x=f32[4096,4096]"}},
           {"y = softmax(x, axis=0)", {"x=f32[4096,4096]"}},
           {"y = layer_norm(x, axis=-1)", {"x=f32[4096,4096]"}},
           {"y = gelu(x)", {"x=f32[4096,4096]"}}}) {
    testing::Case c(compute, inputs);
    c.draw_all(Family::kNormal, 1);
    double least = 100;
    size_t boxes = 0;
    task::Shape extent;
    for (uint64_t seed = 0; seed < 3; ++seed) {
      const double start = cpu_seconds();
      GateOptions options;
      options.sample_seed = seed;
      const auto planned = plan_boxes(c.graph, 0, options);
      const Reference reference = make_reference(c.graph, c.oracle(), c.task.track, 0, planned, 1);
      boxes = reference.boxes.size();
      extent = reference.boxes[0].extent;
      least = std::min(least, cpu_seconds() - start);
    }
    printf("reference %s: %zu boxes of [%d,%d], %.1f ms\n", compute.c_str(), boxes,
           static_cast<int>(extent[0]), static_cast<int>(extent[1]), least * 1e3);
  }
}

}  // namespace
}  // namespace hone::evaluate
