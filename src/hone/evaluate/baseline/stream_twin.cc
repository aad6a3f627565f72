#include "hone/evaluate/baseline/stream_twin.h"

#include <fmt/format.h>

namespace hone::evaluate {
namespace {

/// "B * D * 4": bytes of a tensor.
std::string bytes_of(const task::TensorType& type) {
  task::IntExpr bytes = task::size_of(type.dtype);
  for (const task::IntExpr& extent : type.dims) bytes = bytes * extent;
  return bytes.to_string();
}

constexpr std::string_view kBody = R"(
// Block i of n takes the i-th of n equal parts of every tensor, whole cache lines at a time.
struct Part {{ int64_t begin, end; }};
static inline Part part_of(int64_t bytes, int64_t i, int64_t n) {{
  const int64_t lines = (bytes + 63) / 64;
  const int64_t end = (i + 1) * lines / n * 64;
  return {{i * lines / n * 64, end < bytes ? end : bytes}};
}}

static inline void read_part(const void* base, Part part) {{
  using hone::f32v;
  const char* p = (const char*)base;
  f32v a{{}}, b{{}}, c{{}}, d{{}};
  constexpr int64_t kStep = sizeof(f32v);
  int64_t at = part.begin;
  for (; at + 4 * kStep <= part.end; at += 4 * kStep) {{
    const float* q = (const float*)(p + at);
    a += hone::load<f32v>(q);
    b += hone::load<f32v>(q + hone::lanes<float>);
    c += hone::load<f32v>(q + 2 * hone::lanes<float>);
    d += hone::load<f32v>(q + 3 * hone::lanes<float>);
  }}
  for (; at + (int64_t)sizeof(float) <= part.end; at += sizeof(float)) a += *(const float*)(p + at);
  const f32v sum = a + b + c + d;
  __asm__ volatile("" : : "m"(sum));  // the loads must happen
}}

static inline void write_part(void* base, Part part) {{
  char* p = (char*)base;
  constexpr int64_t kStep = sizeof(hone::f32v);
  int64_t at = part.begin;
  for (; at + kStep <= part.end; at += kStep) {{
#if NON_TEMPORAL
    if (((uintptr_t)(p + at) & (kStep - 1)) == 0) {{
      hone::stream((float*)(p + at), hone::f32v{{}});
      continue;
    }}
#endif
    hone::store((float*)(p + at), hone::f32v{{}});
  }}
  for (; at < part.end; ++at) p[at] = 0;
}}
)";

constexpr std::string_view kCudaBody = R"(
// Thread t of n takes the words t, t + n, t + 2 n, … of every tensor, four loads under way at a time.
__device__ inline void read_all(const void* base, long long bytes, long long t, long long n, int& keep) {
  const int4* p = (const int4*)base;
  const long long words = bytes / 16;
  long long at = t;
  for (; at + 3 * n < words; at += 4 * n) {
    const int4 a = p[at], b = p[at + n], c = p[at + 2 * n], d = p[at + 3 * n];
    keep ^= a.x ^ a.y ^ a.z ^ a.w ^ b.x ^ b.y ^ b.z ^ b.w ^ c.x ^ c.y ^ c.z ^ c.w ^ d.x ^ d.y ^ d.z ^ d.w;
  }
  for (; at < words; at += n) keep ^= p[at].x ^ p[at].y ^ p[at].z ^ p[at].w;
  for (long long rest = words * 16 + t; rest < bytes; rest += n) keep ^= ((const char*)base)[rest];
}

__device__ inline void write_all(void* base, long long bytes, long long t, long long n, int value) {
  const long long words = bytes / 16;
  for (long long at = t; at < words; at += n) ((int4*)base)[at] = make_int4(value, value, value, value);
  for (long long rest = words * 16 + t; rest < bytes; rest += n) ((char*)base)[rest] = (char)value;
}
)";

}  // namespace

kernel::Kernel stream_twin_cuda(const task::Task& task) {
  std::vector<std::string> args, parameters, reads, writes;
  for (const auto& input : task.inputs) {
    args.push_back(fmt::format("\"{}\", \"i64:{}\"", input.name, bytes_of(input.type)));
    parameters.push_back(fmt::format("const void* {0}_, long long {0}_bytes", input.name));
    reads.push_back(fmt::format("  read_all({0}_, {0}_bytes, t, n, keep);\n", input.name));
  }
  for (const auto& [name, type] : task.outputs) {
    args.push_back(fmt::format("\"{}\", \"i64:{}\"", name, bytes_of(type)));
    parameters.push_back(fmt::format("void* {0}_, long long {0}_bytes", name));
    // What was read decides what is written, once in 2^32 times: no load can be left out.
    writes.push_back(fmt::format("  write_all({0}_, {0}_bytes, t, n, keep == 0x5EED5EED);\n", name));
  }
  const std::string source =
      fmt::format("/* hone\nlanguage = \"cuda\"\n"
                  "note = \"reads every input and writes every output once: the memory side of the speed of light\"\n"
                  "tunables = {{ BLOCK = [256, 512], WAVES = [1, 4] }}\n"
                  "[[launch]]\nkernel = \"stream_twin\"\ngrid = [\"SMS * WAVES * (2048 // BLOCK)\"]\nblock = [\"BLOCK\"]\nargs = [{}]\n*/\n",
                  fmt::join(args, ", ")) +
      std::string(kCudaBody) +
      fmt::format("\n__global__ void stream_twin({}) {{\n"
                  "  const long long t = blockIdx.x * (long long)blockDim.x + threadIdx.x, n = gridDim.x * (long long)blockDim.x;\n"
                  "  int keep = 0;\n{}{}}}\n",
                  fmt::join(parameters, ", "), fmt::join(reads, ""), fmt::join(writes, ""));
  auto parsed = kernel::parse_kernel(source, "stream_twin.cu");
  HONE_CHECK(parsed.has_value(), parsed ? "" : parsed.error().to_string());
  parsed->author = "hone";
  return *parsed;
}

std::vector<kernel::Kernel> stream_twins_cuda(const task::Task& task) {
  const kernel::Kernel twin = stream_twin_cuda(task);
  std::vector<kernel::Kernel> variants;
  for (const int64_t block : {256, 512})
    for (const int64_t waves : {1, 4}) {
      kernel::Kernel variant = twin;
      variant.config = {{"BLOCK", block}, {"WAVES", waves}};
      variants.push_back(std::move(variant));
    }
  return variants;
}

kernel::Kernel stream_twin(const task::Task& task) {
  std::vector<std::string> args, parameters, reads, writes, sizes;
  for (const auto& input : task.inputs) {
    const std::string bytes = bytes_of(input.type);
    args.push_back(fmt::format("\"{}\", \"i64:{}\"", input.name, bytes));
    parameters.push_back(fmt::format("const void* {0}_, int64_t {0}_bytes", input.name));
    reads.push_back(fmt::format("  read_part({0}_, part_of({0}_bytes, i, blocks));\n", input.name));
    sizes.push_back(bytes);
  }
  for (const auto& [name, type] : task.outputs) {
    const std::string bytes = bytes_of(type);
    args.push_back(fmt::format("\"{}\", \"i64:{}\"", name, bytes));
    parameters.push_back(fmt::format("void* {0}_, int64_t {0}_bytes", name));
    writes.push_back(fmt::format("  write_part({0}_, part_of({0}_bytes, i, blocks));\n", name));
    sizes.push_back(bytes);
  }
  const std::string largest =
      sizes.size() == 1 ? sizes[0] : fmt::format("max({})", fmt::join(sizes, ", "));
  const std::string blocks = fmt::format("ceil_div({}, BLOCK_KIB * 1024)", largest);
  const std::string source = fmt::format(
      "/* hone\nlanguage = \"c++\"\n"
      "note = \"reads every input and writes every output once: the memory side of the speed of light\"\n"
      "tunables = {{ BLOCK_KIB = [16, 64, 256], NON_TEMPORAL = [1, 0] }}\n"
      "[[launch]]\nkernel = \"stream_twin\"\ngrid = [\"{}\"]\nargs = [{}, \"i64:{}\"]\n*/\n" ,
      blocks, fmt::join(args, ", "), blocks) + fmt::format(kBody) +
      fmt::format("\nvoid stream_twin({}, int64_t blocks, int64_t i) {{\n{}{}}}\n",
                  fmt::join(parameters, ", "), fmt::join(reads, ""), fmt::join(writes, ""));
  auto parsed = kernel::parse_kernel(source, "stream_twin.cc");
  HONE_CHECK(parsed.has_value(), parsed ? "" : parsed.error().to_string());
  parsed->author = "hone";
  return *parsed;
}

}  // namespace hone::evaluate
