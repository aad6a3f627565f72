#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/evaluate/baseline/library_gemm.h"
#include "hone/evaluate/baseline/library_source.h"
#include "hone/evaluate/loader.h"

namespace hone::evaluate {
namespace {

/// A matrix as BLAS takes it, row-major: whether it is stored the other way round, and the distance of rows.
struct Stored {
  bool transposed = false;
  int64_t distance = 1;
};

Result<Stored> stored(int64_t rows, int64_t row_stride, int64_t columns, int64_t column_stride) {
  if (columns == 1 || column_stride == 1) return Stored{false, rows == 1 ? std::max<int64_t>(columns, 1) : row_stride};
  if (rows == 1 || row_stride == 1) return Stored{true, columns == 1 ? std::max<int64_t>(rows, 1) : column_stride};
  return fail(ErrorCode::kUnavailable, "an operand is contiguous along neither axis of the product");
}

constexpr const char* kDeclarations = R"(#include <cstdint>
#include <cstdlib>
#include <cstring>
extern "C" {
void cblas_sgemm(int, int, int, int, int, int, float, const float*, int, const float*, int, float, float*, int);
void cblas_dgemm(int, int, int, int, int, int, double, const double*, int, const double*, int, double, double*, int);
void cblas_sgemv(int, int, int, int, float, const float*, int, const float*, int, float, float*, int);
void cblas_dgemv(int, int, int, int, double, const double*, int, const double*, int, double, double*, int);
}
)";

}  // namespace

std::string library_frame(const std::string& before, const task::Task& task, const task::ConcreteGraph& graph) {
  const std::vector<int64_t> bytes = tensor_bytes(graph);
  return before + fmt::format(R"(
static void entry(const uint64_t* a, void*, const int64_t*, int64_t, int64_t) {{
  void* t[{0}];
  for (int i = 0; i < {0}; ++i) t[i] = reinterpret_cast<void*>(a[i]);
  call(t);
}}
// The runner's first step after loading it: within an initialiser the loader's lock is held, and a library whose threads load another
// one waits for ever.
extern "C" __attribute__((visibility("default"))) bool hone_first_call() {{
  static const int64_t bytes[] = {{{1}}};
  void* t[{0}];
  for (int i = 0; i < {0}; ++i) {{
    t[i] = aligned_alloc(64, static_cast<size_t>((bytes[i] + 127) / 64 * 64));
    if (!t[i]) abort();
    memset(t[i], 0, static_cast<size_t>(bytes[i]));
  }}
  try {{
    call(t);
  }} catch (...) {{
    return false;
  }}
  for (void* p : t) free(p);
  return true;
}}
using hone_entry = void (*)(const uint64_t*, void*, const int64_t*, int64_t, int64_t);
extern "C" __attribute__((visibility("default"))) const hone_entry hone_entries[] = {{entry}};
)", task.inputs.size() + task.outputs.size(), fmt::join(bytes, ", "));
}

Result<std::string> openblas_source(const task::Task& task, const task::Bindings& bindings) {
  HONE_TRY(const task::ConcreteGraph graph, task::instantiate(task.primitive, bindings));
  HONE_TRY(GemmForm form, as_gemm(graph));
  const task::DType type = form.c_type;
  if ((type != task::DType::kF32 && type != task::DType::kF64) || form.a_type != type || form.b_type != type)
    return fail(ErrorCode::kUnavailable, "it multiplies f32 and f64 only");
  // The result's columns are contiguous, or its rows are: then the transposed product is taken.
  const auto swap = [&] {
    const auto turned = [](GemmForm::Axis axis) { return GemmForm::Axis{axis.extent, axis.b, axis.a, axis.c}; };
    std::swap(form.a, form.b), std::swap(form.m, form.n);
    form.m = turned(form.m), form.n = turned(form.n), form.k = turned(form.k);
    for (GemmForm::Axis& axis : form.batch) axis = turned(axis);
  };
  const bool vector = form.m.extent == 1 || form.n.extent == 1;
  if (vector ? form.n.extent != 1 : form.n.c != 1) swap();
  if (!vector && form.n.c != 1) return fail(ErrorCode::kUnavailable, "the result is contiguous along neither axis of the product");
  for (const int64_t extent : {form.m.extent, form.n.extent, form.k.extent})
    if (extent >= int64_t{1} << 31) return fail(ErrorCode::kUnavailable, "its sizes are 32 bits");
  HONE_TRY(const Stored a, stored(form.m.extent, form.m.a, form.k.extent, form.k.a));
  const char* letter = type == task::DType::kF32 ? "s" : "d";
  const char* name = type == task::DType::kF32 ? "float" : "double";
  std::string call;
  if (vector) {
    // gemv takes the matrix as it is stored.
    const int64_t rows = a.transposed ? form.k.extent : form.m.extent, columns = a.transposed ? form.m.extent : form.k.extent;
    call = fmt::format("cblas_{}gemv(101, {}, {}, {}, 1, a, {}, b, {}, 0, c, {});", letter, a.transposed ? 112 : 111, rows, columns,
                       a.distance, std::max<int64_t>(1, form.k.b), std::max<int64_t>(1, form.m.c));
  } else {
    HONE_TRY(const Stored b, stored(form.k.extent, form.k.b, form.n.extent, form.n.b));
    call = fmt::format("cblas_{}gemm(101, {}, {}, {}, {}, {}, 1, a, {}, b, {}, 0, c, {});", letter, a.transposed ? 112 : 111,
                       b.transposed ? 112 : 111, form.m.extent, form.n.extent, form.k.extent, a.distance, b.distance, form.m.c);
  }
  std::string loops, offsets[3];
  for (size_t i = 0; i < form.batch.size(); ++i) {
    const GemmForm::Axis& axis = form.batch[i];
    loops += fmt::format("  for (int64_t i{0} = 0; i{0} < {1}; ++i{0})\n", i, axis.extent);
    offsets[0] += fmt::format(" + i{} * {}", i, axis.a);
    offsets[1] += fmt::format(" + i{} * {}", i, axis.b);
    offsets[2] += fmt::format(" + i{} * {}", i, axis.c);
  }
  return library_frame(kDeclarations + fmt::format("static void call(void* const* t) {{\n{0}  {{\n"
                                                   "    const {1}* a = static_cast<const {1}*>(t[{2}]){3};\n"
                                                   "    const {1}* b = static_cast<const {1}*>(t[{4}]){5};\n"
                                                   "    {1}* c = static_cast<{1}*>(t[{6}]){7};\n    {8}\n  }}\n}}\n",
                                                   loops, name, form.a, offsets[0], form.b, offsets[1], task.inputs.size(), offsets[2], call),
                       task, graph);
}

}  // namespace hone::evaluate
