#include "hone/pattern/opencl_text.h"

#include <algorithm>
#include <map>
#include <regex>

#include <fmt/format.h>

#include "hone/base/embedded.h"
#include "hone/pattern/cpp_writer.h"
#include "hone/pattern/template.h"

namespace hone::pattern::opencl {

using task::DType;
using task::IntExpr;

std::string storage(DType dtype) {
  switch (dtype) {
    case DType::kF64: return "double";
    case DType::kF32: return "float";
    case DType::kBF16: return "ushort";
    case DType::kF16: return "half";
    case DType::kI64: return "long";
    case DType::kI32: return "int";
    case DType::kI16: return "short";
    case DType::kI8: return "char";
    case DType::kBool: return "uchar";
  }
  return {};
}

namespace {
std::string behind(const std::string& pointer, const std::string& at) { return at == "0" ? pointer : pointer + " + " + at; }

std::string index_type(bool narrow) { return narrow ? "int" : "long"; }
}  // namespace

std::string loaded(DType dtype, const std::string& pointer, const std::string& at, Way way) {
  if (way == Way::kLanes) {
    const std::string p = behind(pointer, at);
    switch (dtype) {
      case DType::kF32: case DType::kI32: return fmt::format("GET({})", p);
      case DType::kBF16: return fmt::format("GET_BF16({})", p);
      case DType::kF16: return fmt::format("GET_F16({})", p);
      case DType::kBool: return fmt::format("PASTE(convert_int, WIDTH)(GET({})) != (INTS)(0)", p);
      default: return fmt::format("PASTE(convert_int, WIDTH)(GET({}))", p);
    }
  }
  switch (dtype) {
    case DType::kBF16: return fmt::format("from_bf16({}[{}])", pointer, at);
    case DType::kF16: return fmt::format("vload_half({}, {})", at, pointer);
    case DType::kBool: return fmt::format("{}[{}] != 0", pointer, at);
    default: return fmt::format("{}[{}]", pointer, at);
  }
}

std::string stored(DType dtype, const std::string& pointer, const std::string& at, const std::string& value, Way way) {
  if (way == Way::kLanes) {
    const std::string p = behind(pointer, at);
    switch (dtype) {
      case DType::kF32: case DType::kI32: return fmt::format("PUT({}, {});", value, p);
      case DType::kBF16: return fmt::format("PUT_BF16({}, {});", value, p);
      case DType::kF16: return fmt::format("put_f16({}, {});", value, p);
      case DType::kBool: return fmt::format("PUT(PASTE(convert_uchar, WIDTH)({} ? (INTS)(1) : (INTS)(0)), {});", value, p);
      default: return fmt::format("PUT(PASTE(convert_{}, WIDTH)({}), {});", storage(dtype), value, p);
    }
  }
  switch (dtype) {
    case DType::kBF16: return fmt::format("{}[{}] = to_bf16({});", pointer, at, value);
    case DType::kF16: return fmt::format("((__global ushort*){})[{}] = to_f16({});", pointer, at, value);
    case DType::kF32: case DType::kF64: return fmt::format("{}[{}] = {};", pointer, at, value);
    default: return fmt::format("{}[{}] = ({})({});", pointer, at, storage(dtype), value);
  }
}

namespace {

struct Helper {
  std::string name, text;
};

const std::vector<Helper>& helpers() {
  static const std::vector<Helper> all = [] {
    std::vector<Helper> found;
    const auto file = base::find_embedded("patterns/opencl/helpers.cl");
    HONE_CHECK(file.has_value(), "patterns/opencl/helpers.cl");
    constexpr std::string_view kMark = "//@ ";
    for (size_t at = 0; at < file->size();) {
      const size_t line = file->find('\n', at), next = std::min(file->find(kMark, line), file->size());
      std::string text(file->substr(line + 1, next - line - 1));
      while (text.ends_with('\n')) text.pop_back();
      found.push_back({std::string(file->substr(at + kMark.size(), line - at - kMark.size())), std::move(text)});
      at = next;
    }
    return found;
  }();
  return all;
}

/// Words of a text, comments left out: what is spoken of is not used.
std::set<std::string> words_of(const std::string& text) {
  std::set<std::string> words;
  for (size_t at = 0; at < text.size();) {
    if (text.compare(at, 2, "//") == 0) {
      at = std::min(text.find('\n', at), text.size());
      continue;
    }
    size_t end = at;
    while (end < text.size() && in_word(text[end])) ++end;
    if (end > at) words.insert(text.substr(at, end - at));
    at = std::max(end, at + 1);
  }
  return words;
}

/// Names that a block gives.
std::set<std::string> given_by(const Helper& helper) {
  std::set<std::string> names{helper.name};
  static const std::regex define("#define ([A-Za-z_0-9]+)");
  for (std::sregex_iterator it(helper.text.begin(), helper.text.end(), define), end; it != end; ++it) names.insert((*it)[1].str());
  return names;
}

}  // namespace

bool is_taken(const std::string& name) {
  static const std::set<std::string> words{
      // of the language
      "kernel", "global", "local", "constant", "private", "restrict", "half", "uchar", "ushort", "uint", "ulong", "size_t", "ptrdiff_t",
      "intptr_t", "uintptr_t", "event_t", "sampler_t", "image1d_t", "image2d_t", "image3d_t", "read_only", "write_only", "read_write",
      "pipe",
      "complex", "imaginary", "quad", "bool", "true", "false", "inline", "auto", "break", "case", "char", "const", "continue", "default",
      "do", "double", "else", "enum", "extern", "float", "for", "goto", "if", "int", "long", "register", "return", "short", "signed",
      "sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "void", "volatile", "while", "generic",
      // its functions
      "abs", "abs_diff", "acos", "acosh", "acospi", "add_sat", "all", "any", "asin", "asinh", "asinpi", "async_work_group_copy", "atan",
      "atan2", "atan2pi", "atanh", "atanpi", "barrier", "bitselect", "cbrt", "ceil", "clamp", "clz", "copysign", "cos", "cosh", "cospi",
      "cross", "degrees", "distance", "dot", "erf", "erfc", "exp", "exp10", "exp2", "expm1", "fabs", "fast_distance", "fast_length",
      "fast_normalize", "fdim", "floor", "fma", "fmax", "fmin", "fmod", "fract", "frexp", "hadd", "hypot", "ilogb", "isequal", "isfinite",
      "isgreater", "isinf", "isless", "isnan", "isnormal", "isordered", "ldexp", "length", "lgamma", "lgamma_r", "log", "log10", "log1p",
      "log2", "logb", "mad", "mad24", "mad_hi", "mad_sat", "max", "maxmag", "mem_fence", "min", "minmag", "mix", "modf", "mul24", "mul_hi",
      "nan", "nextafter", "normalize", "popcount", "pow", "pown", "powr", "prefetch", "printf", "radians", "remainder", "remquo", "rhadd",
      "rint", "rootn", "rotate", "round", "rsqrt", "select", "shuffle", "shuffle2", "sign", "signbit", "sin", "sincos", "sinh", "sinpi",
      "smoothstep", "sqrt", "step", "sub_sat", "tan", "tanh", "tanpi", "tgamma", "trunc", "upsample", "vec_step", "wait_group_events",
      "INFINITY", "NAN", "MAXFLOAT", "HUGE_VAL", "M_PI", "M_E", "EXP", "LOG", "INT_MAX", "INT_MIN", "LONG_MAX", "LONG_MIN",
      // of the patterns
      "map", "rows", "columns", "matmul", "finish", "item", "row", "words", "line", "column", "until", "from", "share", "places",
      "middle", "run", "end", "take_right", "both", "added", "VEC", "ITEMS", "GROUPS", "ROWS", "COLUMNS", "DEPTH", "TALL", "UNROLL",
      "left", "right", "sum", "part", "across", "down", "lane", "word", "group", "product_at", "line_at", "column_at", "row_at",
      "depth_at", "batch_at", "a_at", "b_at", "rows_at", "columns_at", "depths_at", "last_at", "LEFT", "RIGHT", "kColumns", "kElements"};
  // Vector types and functions, locals of the generated text.
  static const std::regex made("(char|uchar|short|ushort|int|uint|long|ulong|float|double|half)[0-9]+|"
                               "(v(load|store)|convert_|as_|native_|half_|atom(ic)?_|get_).*|"
                               "(v|r|t|u|e|c|at|left|i|j|k|d|l)[0-9]*|.*_row|share_.*|places_.*|_.*");
  static const std::set<std::string> given = [] {
    std::set<std::string> all;
    for (const Helper& helper : helpers()) all.merge(given_by(helper));
    return all;
  }();
  return words.contains(name) || given.contains(name) || std::regex_match(name, made);
}

std::string name_of(const std::string& tensor) { return is_taken(tensor) || tensor.ends_with('_') ? tensor + "_" : tensor; }

namespace {

/// Elements of every tensor that the task's kernel has a pointer to.
std::vector<IntExpr> sizes_of(const task::Task& task) {
  std::vector<IntExpr> all;
  const auto add = [&](const task::TensorType& type) {
    IntExpr size = 1;
    for (const IntExpr& extent : type.dims) size = size * extent;
    if (!size.is_constant() && std::find(all.begin(), all.end(), size) == all.end()) all.push_back(size);
    else if (size.is_constant()) all.push_back(size);
  };
  for (const auto& input : task.inputs) add(input.type);
  for (const auto& [name, type] : task.outputs) add(type);
  return all;
}

/// So much room is left for a step beyond the end.
constexpr int64_t kNarrow = int64_t{1} << 30;

}  // namespace

bool is_narrow(const task::Task& task) {
  for (const IntExpr& size : sizes_of(task)) {
    if (size.is_constant() && size.constant() > kNarrow) return false;
    for (const task::Workload& workload : task.workloads) {
      const auto value = size.eval(workload.bindings);
      if (value && *value > kNarrow) return false;
    }
  }
  return !task.workloads.empty();
}

std::vector<std::string> narrow_requirements(const task::Task& task) {
  std::vector<std::string> all;
  for (const IntExpr& size : sizes_of(task))
    if (!size.is_constant()) all.push_back(fmt::format("\"{} <= {}\"", size.to_string(), kNarrow));
  return all;
}

std::string parameters_of(const task::Task& task, bool narrow) {
  std::vector<std::string> all;
  for (const auto& input : task.inputs)
    all.push_back(fmt::format("__global const {}* restrict {}", storage(input.type.dtype), name_of(input.name)));
  for (const auto& [name, type] : task.outputs) all.push_back(fmt::format("__global {}* restrict {}", storage(type.dtype), name_of(name)));
  for (const std::string& symbol : symbols_of(task)) all.push_back(fmt::format("{} {}", index_type(narrow), symbol));
  return fmt::format("{}", fmt::join(all, ", "));
}

std::string names_of(const task::Task& task) {
  std::vector<std::string> all;
  for (const auto& input : task.inputs) all.push_back(name_of(input.name));
  for (const auto& [name, type] : task.outputs) all.push_back(name_of(name));
  for (const std::string& symbol : symbols_of(task)) all.push_back(symbol);
  return fmt::format("{}", fmt::join(all, ", "));
}

std::string arguments_of(const task::Task& task, bool narrow) {
  std::vector<std::string> all;
  for (const auto& input : task.inputs) all.push_back("\"" + input.name + "\"");
  for (const auto& [name, type] : task.outputs) all.push_back("\"" + name + "\"");
  for (const std::string& symbol : symbols_of(task)) all.push_back(fmt::format("\"{}:{}\"", narrow ? "i32" : "i64", symbol));
  return fmt::format("{}", fmt::join(all, ", "));
}

bool has_taken_symbol(const task::Task& task) {
  const auto symbols = symbols_of(task);
  return std::any_of(symbols.begin(), symbols.end(), is_taken);
}

std::string helpers_for(const std::string& text) {
  std::set<std::string> wanted = words_of(text);
  std::vector<bool> taken(helpers().size(), false);
  for (bool more = true; more;) {
    more = false;
    for (size_t i = 0; i < helpers().size(); ++i) {
      const Helper& helper = helpers()[i];
      const std::set<std::string> given = given_by(helper);
      const bool needed = helper.name == "fp_contract" || (helper.name == "fp64" && wanted.contains("double")) ||
                          std::any_of(given.begin(), given.end(), [&](const std::string& name) { return wanted.contains(name); });
      if (taken[i] || !needed) continue;
      taken[i] = more = true;
      wanted.merge(words_of(helper.text));
    }
  }
  std::string all(kHelpersBegin);
  for (size_t i = 0; i < helpers().size(); ++i)
    if (taken[i]) all += helpers()[i].text + std::string(kHelperEnd);
  return all + std::string(kHelpersEnd);
}

std::string with_helpers(std::string text) {
  const size_t at = text.find(kHelpersHere);
  HONE_CHECK(at != std::string::npos, "a pattern in OpenCL C has no place for helpers");
  const std::string body = text.substr(at + kHelpersHere.size());
  return text.replace(at, kHelpersHere.size(), helpers_for(body));
}

std::string spelled(std::string text) {
  static const std::regex cast("\\b(float|double|bool|int64_t|int32_t|int16_t|int8_t)\\("), whole("INT64_C\\((-?[0-9]+)\\)");
  text = std::regex_replace(text, cast, "($1)(");
  text = std::regex_replace(text, whole, "$1L");
  const auto replace = [&](std::string_view from, std::string_view to) {
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) text.replace(at, from.size(), to);
  };
  replace("[[maybe_unused]] ", "");
  replace("hone::plain::", "");
  replace("hone::", "");
  replace("__builtin_inf()", "INFINITY");
  replace("__builtin_nan(\"\")", "NAN");
  static const std::map<std::string, std::string, std::less<>> words{
      {"int64_t", "long"}, {"int32_t", "int"}, {"int16_t", "short"}, {"int8_t", "char"},
      {"INT64_MIN", "LONG_MIN"}, {"INT64_MAX", "LONG_MAX"}, {"INT32_MIN", "INT_MIN"}, {"INT32_MAX", "INT_MAX"}};
  return renamed(text, words);
}

}  // namespace hone::pattern::opencl
