#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/evaluate/baseline/library_gemm.h"
#include "hone/evaluate/baseline/library_source.h"
#include "hone/evaluate/baseline/pytorch_emit.h"

namespace hone::evaluate {
namespace {

using task::DType;
using Ints = std::vector<int64_t>;

tl::unexpected<Error> none(std::string why) { return fail(ErrorCode::kUnavailable, std::move(why)); }

/// What the steps below are written in. oneDNN 3 took the operation descriptors of 2 away.
constexpr const char* kPrelude = R"(#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <unordered_map>
#include <vector>
#include <dnnl.hpp>
inline namespace adapter {} using namespace dnnl;
using md = memory::desc;
using type = memory::data_type;
static engine& eng() { static engine e(engine::kind::cpu, 0); return e; }
static dnnl::stream& line() { static dnnl::stream s(eng()); return s; }
#if DNNL_VERSION_MAJOR >= 3
#define HONE_DESC(P, ...) P::primitive_desc(eng(), __VA_ARGS__)
#define HONE_POOL pooling_forward
#define HONE_SOFTMAX softmax_forward
#define HONE_DATA_TWICE(d) d, d
#else
#define HONE_DESC(P, ...) P::primitive_desc(P::desc(__VA_ARGS__), eng())
#define HONE_POOL pooling_v2_forward
#define HONE_SOFTMAX softmax_v2_forward
#define HONE_DATA_TWICE(d) d
#endif
static void run(const primitive& p, std::unordered_map<int, memory> args) { p.execute(line(), args); }
static md dense(const memory::dims& d, type t) {
  memory::dims strides(d.size(), 1);
  for (size_t i = d.size() - 1; i > 0; --i) strides[i - 1] = strides[i] * d[i];
  return md(d, t, strides);
}
)";

Result<std::string> type_of(DType type) {
  switch (type) {
    case DType::kF32: return "type::f32";
    case DType::kBF16: return "type::bf16";
    case DType::kI8: return "type::s8";
    case DType::kI32: return "type::s32";
    default: return none(fmt::format("hone writes it for f32, bf16 and i8, not for {}", task::name_of(type)));
  }
}

std::string list(const Ints& values) { return fmt::format("{{{}}}", fmt::join(values, ", ")); }

std::string call_of(const std::string& body) { return "static void call(void* const* t) {\n" + body + "  line().wait();\n}\n"; }

Result<std::string> matmul_call(const task::Task& task, const task::ConcreteGraph& graph) {
  HONE_TRY(const GemmForm form, as_gemm(graph));
  HONE_TRY(const std::string a, type_of(form.a_type));
  HONE_TRY(const std::string b, type_of(form.b_type));
  HONE_TRY(const std::string c, type_of(form.c_type));
  if (form.batch.size() > 10) return none("more batch axes than it has");
  Ints da, db, dc, sa, sb, sc;
  const auto axis = [](Ints& dims, Ints& strides, int64_t extent, int64_t stride) {
    dims.push_back(extent), strides.push_back(stride);
  };
  for (const GemmForm::Axis& one : form.batch) {
    // An operand that does not move along a batch axis is broadcast.
    axis(da, sa, one.a == 0 ? 1 : one.extent, std::max<int64_t>(one.a, 1));
    axis(db, sb, one.b == 0 ? 1 : one.extent, std::max<int64_t>(one.b, 1));
    axis(dc, sc, one.extent, one.c);
  }
  const int64_t m = form.m.extent, n = form.n.extent, k = form.k.extent;
  axis(da, sa, m, m == 1 ? k : form.m.a), axis(da, sa, k, k == 1 ? 1 : form.k.a);
  axis(db, sb, k, k == 1 ? n : form.k.b), axis(db, sb, n, n == 1 ? 1 : form.n.b);
  axis(dc, sc, m, m == 1 ? n : form.m.c), axis(dc, sc, n, n == 1 ? 1 : form.n.c);
  return std::string(kPrelude) +
         fmt::format("static const md a({}, {}, memory::dims{}), b({}, {}, memory::dims{}), c({}, {}, memory::dims{});\n", list(da), a,
                     list(sa), list(db), b, list(sb), list(dc), c, list(sc)) +
         "static const matmul::primitive_desc& how() { static const auto d = HONE_DESC(matmul, a, b, c); return d; }\n" +
         call_of(fmt::format("  static const matmul p(how());\n"
                             "  run(p, {{{{DNNL_ARG_SRC, memory(a, eng(), t[{}])}}, {{DNNL_ARG_WEIGHTS, memory(b, eng(), t[{}])}}, "
                             "{{DNNL_ARG_DST, memory(c, eng(), t[{}])}}}});\n", form.a, form.b, task.inputs.size()));
}

/// The one operation that the task is, if its operands are the task's inputs.
class Call {
 public:
  static Result<Call> of(const task::Task& task, const task::Bindings& bindings) {
    const task::Graph& graph = task.surface;
    if (graph.outputs.size() != 1) return none("several outputs");
    const task::Node& node = graph.node(graph.outputs[0]);
    Call call{Site(graph, node, std::vector<Term>(node.operands.size()), bindings), {}};
    for (const int id : node.operands) {
      const auto at = std::find(graph.inputs.begin(), graph.inputs.end(), id);
      if (at == graph.inputs.end()) return none("the task is not one of its primitives");
      if (graph.node(id).type.dtype != node.type.dtype) return none("mixed types");
      call.inputs.push_back(static_cast<int>(at - graph.inputs.begin()));
    }
    if (call.inputs.empty()) return none("the task is not one of its primitives");
    return call;
  }
  [[nodiscard]] const std::string& op() const { return site.node().op; }
  [[nodiscard]] std::string tensor(size_t operand) const { return fmt::format("t[{}]", inputs[operand]); }

  Site site;
  std::vector<int> inputs;  ///< the task input each operand is
};

Ints minus_one(Ints values) {
  for (int64_t& v : values) --v;
  return values;
}

/// Padding behind so that the windows come out as the shape says: less than in front where a stride leaves a rest.
Ints padding_behind(const Ints& in, const Ints& out, const Ints& kernel, const Ints& stride, const Ints& padding, const Ints& dilation) {
  Ints behind;
  const size_t plain = in.size() - kernel.size();
  for (size_t i = 0; i < kernel.size(); ++i)
    behind.push_back((out[plain + i] - 1) * stride[i] + dilation[i] * (kernel[i] - 1) + 1 - in[plain + i] - padding[i]);
  return behind;
}

/// Weights and images in the layouts that oneDNN likes best, brought there and back within the call, as a
/// user with plain tensors has to.
Result<std::string> convolution(const Call& call, const std::string& type, size_t output) {
  const Site& s = call.site;
  const Ints x = s.shape(0), out = s.result_shape(), stride = s.integers("stride"), padding = s.integers("padding"), dilation = s.integers("dilation");
  Ints w = s.shape(1);
  const Ints kernel(w.begin() + 2, w.end());
  const int64_t groups = s.integer("groups");
  const bool back = call.op().find("transpose") != std::string::npos;
  if (back) {
    // [C, O/groups, k…] is, group by group, [groups, O/groups, C/groups, k…] with the channels exchanged.
    if (groups != 1) return none("grouped transposed convolutions are not written");
  }
  const Ints behind = back ? Ints{} : padding_behind(x, out, kernel, stride, padding, dilation);
  Ints pad_behind = behind;
  if (back) pad_behind = padding_behind(out, x, kernel, stride, padding, dilation);
  const auto bias = s.find("bias");
  Ints wd = w, ws(w.size(), 1);
  for (size_t i = w.size() - 1; i > 0; --i) ws[i - 1] = ws[i] * w[i];
  if (back) std::swap(wd[0], wd[1]), std::swap(ws[0], ws[1]);
  if (!back && groups > 1) {
    wd[0] /= groups;
    ws.insert(ws.begin(), ws[0] * wd[0]);
    wd.insert(wd.begin(), groups);
  }
  const char* primitive = back ? "deconvolution_forward" : "convolution_forward";
  const char* algorithm = back ? "algorithm::deconvolution_direct" : "algorithm::convolution_auto";
  std::string text = kPrelude;
  text += fmt::format("static const memory::dims dx = {}, dw = {}, dy = {};\n", list(x), list(wd), list(out));
  text += fmt::format("static const md x = dense(dx, {0}), w(dw, {0}, memory::dims{1}), y = dense(dy, {0});\n", type, list(ws));
  if (bias) text += fmt::format("static const md b = dense({{{}}}, {});\n", out[1], type);
  text += fmt::format("using Conv = {0};\nstatic const Conv::primitive_desc& how() {{\n  static const auto d = HONE_DESC(Conv, prop_kind::forward_inference, "
                      "{1}, md(dx, {3}, memory::format_tag::any), md(dw, {3}, memory::format_tag::any), {2}md(dy, {3}, memory::format_tag::any), "
                      "memory::dims{4}, memory::dims{5}, memory::dims{6}, memory::dims{7});\n  return d;\n}}\n",
                      primitive, algorithm, bias ? "b, " : "", type, list(stride), list(minus_one(dilation)), list(padding), list(pad_behind));
  text += call_of(fmt::format(
      "  static const Conv p(how());\n"
      "  static memory xs(how().src_desc(), eng()), ws(how().weights_desc(), eng()), ys(how().dst_desc(), eng());\n"
      "  memory xm(x, eng(), {0}), wm(w, eng(), {1}), ym(y, eng(), t[{2}]);\n"
      "  static const reorder rx(xm, xs), rw(wm, ws), ry(ys, ym);\n"
      "  const bool fx = xs.get_desc() != x, fw = ws.get_desc() != w, fy = ys.get_desc() != y;\n"
      "  if (fx) rx.execute(line(), xm, xs);\n"
      "  if (fw) rw.execute(line(), wm, ws);\n"
      "  run(p, {{{{DNNL_ARG_SRC, fx ? xs : xm}}, {{DNNL_ARG_WEIGHTS, fw ? ws : wm}}, {3}{{DNNL_ARG_DST, fy ? ys : ym}}}});\n"
      "  if (fy) ry.execute(line(), ys, ym);\n",
      call.tensor(0), call.tensor(1), output, bias ? fmt::format("{{DNNL_ARG_BIAS, memory(b, eng(), {})}}, ", call.tensor(*bias)) : ""));
  return text;
}

/// One tensor in, one of the same kind out.
std::string in_and_out(const std::string& primitive, const std::string& how, const Call& call, const std::string& type, size_t output) {
  return std::string(kPrelude) + fmt::format("static const md x = dense({1}, {0}), y = dense({2}, {0});\n", type, list(call.site.shape(0)), list(call.site.result_shape())) +
         fmt::format("static const {}::primitive_desc& how() {{ static const auto d = {}; return d; }}\n", primitive, how) +
         call_of(fmt::format("  static const {} p(how());\n  run(p, {{{{DNNL_ARG_SRC, memory(x, eng(), {})}}, {{DNNL_ARG_DST, memory(y, eng(), t[{}])}}}});\n",
                             primitive, call.tensor(0), output));
}

Result<std::string> pooling(const Call& call, const std::string& type, size_t output) {
  const Site& s = call.site;
  const Ints kernel = s.integers("kernel"), stride = s.integers("stride"), padding = s.integers("padding");
  const Ints dilation = s.has("dilation") ? s.integers("dilation") : Ints(kernel.size(), 1);
  const Ints x = s.shape(0), out = s.result_shape();
  if (x.size() != kernel.size() + 2) return none("it pools tensors [N, C, …]");
  const bool mean = call.op().rfind("avg", 0) == 0;
  // Behind the declared padding nothing counts, which its averages cannot say.
  if (mean && s.has("ceil_mode") && s.flag("ceil_mode")) return none("averages with ceil_mode are not written");
  const bool with_padding = !s.has("count_include_pad") || s.flag("count_include_pad");
  const char* algorithm = !mean ? "pooling_max" : with_padding ? "pooling_avg_include_padding" : "pooling_avg_exclude_padding";
  return in_and_out("HONE_POOL",
                    fmt::format("HONE_DESC(HONE_POOL, prop_kind::forward_inference, algorithm::{}, x, y, memory::dims{}, memory::dims{}, "
                                "memory::dims{}, memory::dims{}, memory::dims{})", algorithm, list(stride), list(kernel), list(minus_one(dilation)),
                                list(padding), list(padding_behind(x, out, kernel, stride, padding, dilation))),
                    call, type, output);
}

Result<std::string> layer_norm(const Call& call, const std::string& type, size_t output) {
  const Site& s = call.site;
  const Ints x = s.shape(0);
  const auto weight = s.find("weight"), bias = s.find("bias");
  const auto axes = s.node().attrs.contains("axis") ? s.integers("axis") : Ints{};
  const auto rank = static_cast<int64_t>(x.size());
  if (axes.empty() || axes.back() != rank - 1 || axes.front() != rank - static_cast<int64_t>(axes.size()))
    return none("it normalises trailing axes");
  int64_t rows = 1, columns = 1;
  for (int64_t i = 0; i < rank; ++i) (i < axes.front() ? rows : columns) *= x[static_cast<size_t>(i)];
  std::string flags = "normalization_flags::none", more;
  if (weight) flags += " | normalization_flags::use_scale", more += fmt::format(", {{DNNL_ARG_SCALE, memory(one, eng(), {})}}", call.tensor(*weight));
  if (bias) flags += " | normalization_flags::use_shift", more += fmt::format(", {{DNNL_ARG_SHIFT, memory(one, eng(), {})}}", call.tensor(*bias));
  return std::string(kPrelude) +
         fmt::format("static const md x = dense({{{}, {}}}, {}), one = dense({{{}}}, type::f32);\n"
                     "using Norm = layer_normalization_forward;\n"
                     "static const Norm::primitive_desc& how() {{ static const auto d = HONE_DESC(Norm, prop_kind::forward_inference, "
                     "HONE_DATA_TWICE(x), {}f, {}); return d; }}\n", rows, columns, type, columns, s.number("eps"), flags) +
         call_of(fmt::format("  static const Norm p(how());\n  run(p, {{{{DNNL_ARG_SRC, memory(x, eng(), {})}}, {{DNNL_ARG_DST, memory(x, eng(), t[{}])}}{}}});\n",
                             call.tensor(0), output, more));
}

struct Activation {
  std::string_view op, algorithm;
  std::string alpha = "0", beta = "0";
};

std::optional<Activation> activation(const Call& call) {
  const Site& s = call.site;
  const std::string& op = call.op();
  for (const auto& [name, algorithm] : {std::pair{"relu", "eltwise_relu"}, {"sigmoid", "eltwise_logistic"}, {"tanh", "eltwise_tanh"}, {"exp", "eltwise_exp"},
                                        {"abs", "eltwise_abs"}, {"sqrt", "eltwise_sqrt"}, {"log", "eltwise_log"}, {"mish", "eltwise_mish"}})
    if (op == name) return Activation{name, algorithm};
  const auto number = [&](std::string_view key) { return literal(s.number(key)) + (literal(s.number(key)).find_first_of(".e") == std::string::npos ? ".f" : "f"); };
  if (op == "silu") return Activation{op, "eltwise_swish", "1.f"};
  if (op == "leaky_relu") return Activation{op, "eltwise_relu", number("negative_slope")};
  if (op == "elu") return Activation{op, "eltwise_elu", number("alpha")};
  if (op == "hardtanh") return Activation{op, "eltwise_clip", number("min_val"), number("max_val")};
  if (op == "gelu") return Activation{op, s.word("approximate") == "tanh" ? "eltwise_gelu_tanh" : "eltwise_gelu_erf"};
  return std::nullopt;
}

Result<std::string> primitive(const Call& call, size_t output) {
  HONE_TRY(const std::string type, type_of(call.site.type(0).dtype));
  const std::string& op = call.op();
  if (type != "type::f32" && type != "type::bf16") return none("integers");
  if (op.rfind("conv", 0) == 0) return convolution(call, type, output);
  if (op.rfind("max_pool", 0) == 0 || op.rfind("avg_pool", 0) == 0) return pooling(call, type, output);
  if (op == "softmax" || op == "log_softmax")
    return in_and_out("HONE_SOFTMAX",
                      fmt::format("HONE_DESC(HONE_SOFTMAX, prop_kind::forward_inference, algorithm::softmax_{}, x, y, {})", op == "softmax" ? "accurate" : "log",
                                  call.site.integer("axis")), call, type, output);
  if (op == "layer_norm" && type == "type::f32") return layer_norm(call, type, output);
  if (const auto a = activation(call))
    return in_and_out("eltwise_forward", fmt::format("HONE_DESC(eltwise_forward, prop_kind::forward_inference, algorithm::{}, HONE_DATA_TWICE(x), {}, {})",
                                                     a->algorithm, a->alpha, a->beta), call, type, output);
  return none("the task is not one of its primitives that hone writes");
}

}  // namespace

Result<std::string> onednn_source(const task::Task& task, const task::Bindings& bindings) {
  HONE_TRY(const task::ConcreteGraph graph, task::instantiate(task.primitive, bindings));
  auto text = matmul_call(task, graph);
  if (!text) {
    HONE_TRY(const Call call, Call::of(task, bindings));
    text = primitive(call, task.inputs.size());
  }
  if (!text) return text;
  return library_frame(*text, task, graph);
}

}  // namespace hone::evaluate
