// What checking one candidate on a workload of the size of `small` costs: planning, the oracle with
// scales, the anchor, the comparison. CPU seconds of one thread, so that a busy machine shows little.
// Prints; asserts little about time: the table is for people, and long.
#include <gtest/gtest.h>

#include <cstdio>
#include <ctime>

#include "hone/evaluate/oracle/testing.h"
#include "hone/evaluate/verify/gate.h"

namespace hone::evaluate {
namespace {

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

struct Workload {
  const char* name;
  const char* compute;
  std::vector<std::string> inputs;
};

const Workload kWorkloads[] = {
    {"matmul 1024^3", "y = a @ b", {"a=f32[1024,1024]", "b=f32[1024,1024]"}},
    {"matmul bf16 1000x1030x1024", "y = a @ b", {"a=bf16[1000,1024]", "b=bf16[1024,1030]"}},
    {"batched matmul 32x256^3", "y = bmm(a, b)", {"a=f32[32,256,256]", "b=f32[32,256,256]"}},
    {"matrix-vector 4096x8192", "y = a @ b", {"a=f32[4096,8192]", "b=f32[8192]"}},
    {"conv2d 3x3, 1.8 GFLOP", "y = conv2d(x, w, padding=1)", {"x=f32[8,64,56,56]", "w=f32[64,64,3,3]"}},
    {"conv2d 3x3, stride 2, 1.2 GFLOP", "y = conv2d(x, w, stride=2, padding=1)",
     {"x=f32[8,128,56,56]", "w=f32[64,128,3,3]"}},
    {"depthwise conv2d 3x3", "y = conv2d(x, w, padding=1, groups=128)",
     {"x=f32[8,128,112,112]", "w=f32[128,1,3,3]"}},
    {"conv3d 3x3x3, 0.7 GFLOP", "y = conv3d(x, w)", {"x=f32[2,16,18,34,34]", "w=f32[32,16,3,3,3]"}},
    {"conv_transpose2d 3x3, 1.2 GFLOP", "y = conv_transpose2d(x, w, stride=2)",
     {"x=f32[4,64,64,64]", "w=f32[64,64,3,3]"}},
    {"softmax 4096^2", "y = softmax(x, axis=-1)", {"x=f32[4096,4096]"}},
    {"softmax 1024x4096", "y = softmax(x, axis=-1)", {"x=f32[1024,4096]"}},
    {"gelu 2048^2", "y = gelu(x)", {"x=f32[2048,2048]"}},
    {"layer_norm 1024x4096", "y = layer_norm(x, w, b)", {"x=f32[1024,4096]", "w=f32[4096]", "b=f32[4096]"}},
    {"rms_norm 1024x4096", "y = rms_norm(x, w)", {"x=f32[1024,4096]", "w=f32[4096]"}},
    {"batch_norm 16x64x64x64", "y = batch_norm(x, w, b)",
     {"x=f32[16,64,64,64]", "w=f32[64]", "b=f32[64]"}},
    {"group_norm 16x64x64x64", "y = group_norm(x, 8)", {"x=f32[16,64,64,64]"}},
    {"sum 4096^2 by rows", "y = sum(x, axis=1)", {"x=f32[4096,4096]"}},
    {"sum 4096^2 by columns", "y = sum(x, axis=0)", {"x=f32[4096,4096]"}},
    {"cumsum 1024x4000", "y = cumsum(x, axis=1)", {"x=f32[1024,4000]"}},
    {"cumsum 4000x1024 down", "y = cumsum(x, axis=0)", {"x=f32[4000,1024]"}},
    {"argmax 4096^2", "y = argmax(x, axis=1)", {"x=f32[4096,4096]"}},
    {"topk 1024x4096", "v, i = topk(x, 8)", {"x=f32[1024,4096]"}},
    {"max_pool2d 3x3", "y = max_pool2d(x, 3, stride=2, padding=1)", {"x=f32[16,64,112,112]"}},
    {"avg_pool2d 3x3", "y = avg_pool2d(x, 3, stride=2, padding=1)", {"x=f32[16,64,112,112]"}},
    {"attention 8x8x512x64", "y = attention(q, k, v)",
     {"q=f32[8,8,512,64]", "k=f32[8,8,512,64]", "v=f32[8,8,512,64]"}},
    {"causal attention 4x8x512x64", "y = attention(q, k, v, causal=True)",
     {"q=f32[4,8,512,64]", "k=f32[4,8,512,64]", "v=f32[4,8,512,64]"}},
    {"norms and convolutions 4x32x48^2", "y = conv2d(silu(group_norm(conv2d(silu(group_norm(x, 4)), w, padding=1), 4)), v, padding=1)",
     {"x=bf16[4,32,48,48]", "w=bf16[32,32,3,3]", "v=bf16[32,32,3,3]"}},
    {"attention with its projections", "q = x @ wq; k = x @ wk; v = x @ wv; y = softmax(q @ transpose(k, 1, 2) * 0.125, axis=-1) @ v",
     {"x=bf16[8,512,256]", "wq=bf16[256,64]", "wk=bf16[256,64]", "wv=bf16[256,64]"}},
    {"embedding 65536x256", "y = embedding(i, w)", {"i=i64[16384]", "w=f32[65536,256]"}},
};

TEST(LongCheckSpeed, small_workloads) {
  std::printf("%-34s %8s %10s %8s %8s %8s\n", "workload", "boxes", "elements", "oracle", "compare", "sum (s)");
  for (const Workload& w : kWorkloads) {
    testing::Case c(w.compute, w.inputs);
    c.draw_all(Family::kNormal, 1);
    double reference_s = 0, compare_s = 0;
    size_t boxes = 0;
    int64_t elements = 0;
    for (int output = 0; output < static_cast<int>(c.task.outputs.size()); ++output) {
      const double start = cpu_seconds();
      const auto planned = plan_boxes(c.graph, output, {});
      const Reference reference = make_reference(c.graph, c.oracle(), c.task.track, output, planned, 1);
      const double middle = cpu_seconds();
      const int64_t count = task::element_count(c.output_shape(output));
      const std::vector<uint8_t> found(static_cast<size_t>(count * task::size_of(c.output_type(output))));
      const OutputError error = compare_output(c.graph, output, reference, found.data(), 1);
      compare_s += cpu_seconds() - middle;
      reference_s += middle - start;
      boxes += planned.size();
      elements += error.count;
      EXPECT_GT(error.count, 0) << w.name;
    }
    std::printf("%-34s %8zu %10lld %8.2f %8.2f %8.2f\n", w.name, boxes, static_cast<long long>(elements),
                reference_s, compare_s, reference_s + compare_s);
  }
}

/// A box of an image needs all of the convolution under its norm: once for all boxes of that image.
TEST(CheckSpeed, WhatBoxesOfAPartShareIsComputedOnce) {
  testing::Case c("y = conv2d(silu(group_norm(conv2d(x, w, padding=1), 2)), v, padding=1)", {"x=f32[3,32,40,40]", "w=f32[32,32,3,3]", "v=f32[16,32,3,3]"});
  c.draw_all(Family::kNormal, 1);
  const auto seconds_of = [&](int boxes) {
    const Oracle oracle = c.oracle();
    const double start = cpu_seconds();
    for (int b = 0; b < boxes; ++b) {
      const Answer answer = oracle.evaluate(0, {{b % 2, b % 16, 3 * (b % 10), 7}, {1, 1, 2, 2}}, Arithmetic::kExact, true);
      EXPECT_EQ(answer.value.size(), 4);
    }
    return cpu_seconds() - start;
  };
  const double one = seconds_of(1), many = seconds_of(32);
  std::printf("one box %.3f s, 32 of two images %.3f s\n", one, many);
  EXPECT_LT(many, 8 * one);
}

}  // namespace
}  // namespace hone::evaluate
