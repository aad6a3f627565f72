#include "hone/target/toolchain/simt_source.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <set>
#include <sstream>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hone::target {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// One token of C++ as far as this needs it: words and single characters; comments, strings and white space
/// are between them.
struct Token {
  size_t begin = 0, end = 0;
};

/// Past a comment, a string or a character at `at`; `at` itself where none begins there.
size_t past_opaque(const std::string& s, size_t at) {
  const auto to = [&](std::string_view mark, size_t from) { return std::min(s.find(mark, from), s.size() - mark.size()) + mark.size(); };
  if (s.compare(at, 2, "//") == 0) return std::min(s.find('\n', at), s.size());
  if (s.compare(at, 2, "/*") == 0) return s.find("*/", at + 2) == std::string::npos ? s.size() : to("*/", at + 2);
  if (s[at] == '"' || (s[at] == '\'' && (at == 0 || !std::isdigit(static_cast<unsigned char>(s[at - 1]))))) {
    for (size_t i = at + 1; i < s.size(); ++i) {
      if (s[i] == '\\') ++i;
      else if (s[i] == s[at] || s[i] == '\n') return i + 1;
    }
    return s.size();
  }
  return at;
}

std::vector<Token> tokens_of(const std::string& s) {
  std::vector<Token> all;
  for (size_t at = 0; at < s.size();) {
    if (const size_t next = past_opaque(s, at); next != at) {
      at = next;
    } else if (is_word(s[at])) {
      const size_t begin = at;
      while (at < s.size() && is_word(s[at])) ++at;
      all.push_back({begin, at});
    } else {
      if (!std::isspace(static_cast<unsigned char>(s[at]))) all.push_back({at, at + 1});
      ++at;
    }
  }
  return all;
}

std::string_view cuda_type(task::DType type) {
  switch (type) {
    case task::DType::kF64: return "double";
    case task::DType::kF32: return "float";
    case task::DType::kBF16: return "__nv_bfloat16";
    case task::DType::kF16: return "__half";
    case task::DType::kF8E4M3:
    case task::DType::kF8E5M2: return "";  // hone's type or the toolkit's: the kernel's choice
    case task::DType::kI64: return "";     // long or long long: likewise
    case task::DType::kI32: return "int";
    case task::DType::kI16: return "short";
    case task::DType::kI8: return "signed char";
    case task::DType::kBool: return "bool";
  }
  return "";
}

struct Tensor {
  task::DType type;
  bool input;
};

const Tensor* find_tensor(const kernel::Kernel& kernel, const task::Task& task, const std::string& name, Tensor& out) {
  for (const auto& input : task.inputs)
    if (input.name == name) return out = {input.type.dtype, true}, &out;
  for (const auto& [output, type] : task.outputs)
    if (output == name) return out = {type.dtype, false}, &out;
  for (const auto& workspace : kernel.header.workspaces)
    if (workspace.name == name) return out = {workspace.type.dtype, false}, &out;
  return nullptr;
}

/// The function that makes one thread's call: with the tensors' own types where the kernel takes them, which lets a
/// template find its own, else with addresses.
Result<std::string> simt_call(const kernel::Kernel& kernel, const task::Task& task, size_t number) {
  const kernel::Launch& launch = kernel.header.launches[number];
  std::vector<std::string> typed, plain;
  for (size_t i = 0; i < launch.args.size(); ++i) {
    const kernel::Argument& argument = launch.args[i];
    switch (argument.kind) {
      case kernel::Argument::Kind::kTensor: {
        Tensor tensor{};
        if (!find_tensor(kernel, task, argument.tensor, tensor))
          return fail(ErrorCode::kInput, fmt::format("{} takes \"{}\", which is no input, output or workspace", launch.function, argument.tensor));
        const std::string_view type = cuda_type(tensor.type);
        plain.push_back(fmt::format("::hone::simt::address(hone_a[{}])", i));
        typed.push_back(type.empty() ? plain.back() : fmt::format("::hone::simt::tensor<{}{}>(hone_a[{}])", tensor.input ? "const " : "", type, i));
        continue;
      }
      case kernel::Argument::Kind::kI32: plain.push_back(fmt::format("(int)hone_a[{}]", i)); break;
      case kernel::Argument::Kind::kI64: plain.push_back(fmt::format("(long long)hone_a[{}]", i)); break;
      case kernel::Argument::Kind::kShared:
        return fail(ErrorCode::kInput, fmt::format("{} takes \"shared\": a GPU kernel declares extern __shared__ instead", launch.function));
      default: HONE_CHECK(false, "an argument that only Triton's kernels have");
    }
    typed.push_back(plain.back());
  }
  const std::string as_typed = fmt::format("{}({})", launch.function, fmt::join(typed, ", "));
  return fmt::format("extern \"C\" void hone_call_{0}(const unsigned long* hone_all) {{ [](auto* hone_a) {{ if constexpr (requires {{ {1}; }}) {1}; else {2}({3}); }}(hone_all); }}\n",
                     number, as_typed, launch.function, fmt::join(plain, ", "));
}

/// #undef for every word of `text`: neither a name nor a keyword in it is a macro of what stands before it.
std::string without_macros(const std::string& text) {
  std::set<std::string_view> words;
  for (const Token& token : tokens_of(text)) {
    const std::string_view word = std::string_view(text).substr(token.begin, token.end - token.begin);
    if (is_word(word.front()) && !std::isdigit(static_cast<unsigned char>(word.front()))) words.insert(word);
  }
  std::string all;
  for (const std::string_view word : words) all += fmt::format("#undef {}\n", word);
  return all + text;
}

/// What CUDA and HIP themselves have of the form __name__.
constexpr std::string_view kOfTheLanguages[] = {
    "__global__",      "__device__", "__host__",     "__shared__",      "__constant__",        "__managed__",           "__restrict__",
    "__launch_bounds__", "__align__", "__attribute__", "__forceinline__", "__noinline__",        "__inline__",            "__grid_constant__",
    "__cluster_dims__", "__volatile__", "__maxnreg__", "__CUDACC__",      "__CUDA_ARCH__",       "__CUDACC_RTC__",        "__HIP__",
    "__HIPCC__",       "__HIPCC_RTC__", "__HIP_PLATFORM_AMD__", "__HIP_DEVICE_COMPILE__", "__FILE__", "__LINE__", "__PRETTY_FUNCTION__"};

/// A compiler's and a processor's names of themselves tell the emulator from a card: what a kernel computes does not hang on those.
Status refuse_questions(const std::string& source, const std::string& file) {
  for (const Token& token : tokens_of(source)) {
    const std::string_view word = std::string_view(source).substr(token.begin, token.end - token.begin);
    const bool asks = word.starts_with("__has_") || word == "__builtin_frame_address" || word == "__builtin_return_address" || (word.size() > 4 && word.starts_with("__") && word.ends_with("__"));
    if (!asks || std::find(std::begin(kOfTheLanguages), std::end(kOfTheLanguages), word) != std::end(kOfTheLanguages)) continue;
    const auto line = 1 + std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(token.begin), '\n');
    return fail(ErrorCode::kInput, fmt::format("{}:{}: it asks what compiles it ({})", file, line, word), "a kernel is the same on the emulator and on a card");
  }
  return {};
}

/// Headers of functions that run on the host: nvcc and NVRTC refuse their calls in a kernel, the emulator's compiler would not.
constexpr std::string_view kOfTheHost[] = {"algorithm", "array",  "atomic",   "bitset",  "chrono",  "deque",  "fstream", "functional", "iostream", "iterator",
                                           "list",      "map",    "memory",   "mutex",   "numeric", "queue",  "random",  "ranges",     "regex",    "set",
                                           "span",      "sstream", "stack",   "string",  "thread",  "unordered_map", "unordered_set", "valarray", "vector"};

Status refuse_host_headers(const std::string& source, const std::string& file) {
  const std::vector<Token> tokens = tokens_of(source);
  const auto text = [&](size_t i) { return std::string_view(source).substr(tokens[i].begin, tokens[i].end - tokens[i].begin); };
  for (size_t i = 0; i + 3 < tokens.size(); ++i) {
    if (text(i) != "#" || text(i + 1) != "include" || text(i + 2) != "<") continue;
    if (std::find(std::begin(kOfTheHost), std::end(kOfTheHost), text(i + 3)) == std::end(kOfTheHost)) continue;
    const auto line = 1 + std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(tokens[i].begin), '\n');
    return fail(ErrorCode::kInput, fmt::format("{}:{}: it includes <{}>, whose functions run on the host", file, line, text(i + 3)), "write out what the kernel needs of it");
  }
  return {};
}

}  // namespace

Status refuse_assembly(const std::string& source, const std::string& file) {
  for (const Token& token : tokens_of(source)) {
    const std::string_view word = std::string_view(source).substr(token.begin, token.end - token.begin);
    if (word != "asm" && word != "__asm__" && word != "__asm") continue;
    const auto line = 1 + std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(token.begin), '\n');
    return fail(ErrorCode::kInput, fmt::format("{}:{}: inline assembly has no meaning on the emulator", file, line),
                "use hone::prim (docs/emulator.md)");
  }
  return {};
}

Result<std::string> simt_rewrite(const std::string& source, const std::string& file) {
  HONE_TRY_VOID(refuse_assembly(source, file));
  HONE_TRY_VOID(refuse_questions(source, file));
  HONE_TRY_VOID(refuse_host_headers(source, file));
  const std::vector<Token> tokens = tokens_of(source);
  const auto text = [&](size_t i) { return std::string_view(source).substr(tokens[i].begin, tokens[i].end - tokens[i].begin); };
  std::string out;
  size_t done = 0;
  const auto replace = [&](size_t begin, size_t end, std::string_view with) {
    out += source.substr(done, begin - done);
    out += with;
    done = end;
  };
  for (size_t i = 0; i < tokens.size(); ++i) {
    const std::string_view word = text(i);
    if (word != "extern" || i + 1 == tokens.size()) continue;
    size_t end = i + 1;
    bool dynamic = false;
    while (end < tokens.size() && text(end) != ";" && text(end) != "{") dynamic |= text(end++) == "__shared__";
    if (!dynamic || end == tokens.size() || text(end) != ";") continue;
    for (size_t k = i + 1; k < end; ++k)
      if (text(k) == "__shared__") replace(tokens[k].begin, tokens[k].end, "");
    replace(tokens[end].begin, tokens[end].begin, " __asm__(\"hone_simt_dynamic\")");
    i = end;
  }
  return out + source.substr(done);
}

std::string_view simt_prelude(kernel::Language language) {
  return language == kernel::Language::kCuda ? "hone/simt/cuda_unit.h" : "hone/simt/hip_unit.h";
}

Result<std::string> simt_unit(const kernel::Kernel& kernel, const task::Task& task, const task::Bindings& bindings) {
  const std::string file = kernel.header.language == kernel::Language::kCuda ? "kernel.cu" : "kernel.hip";
  std::string text = fmt::format("#include \"{}\"\n", simt_prelude(kernel.header.language));
  for (const auto& [name, value] : kernel.config) text += fmt::format("#define {} {}\n", name, value);
  for (const std::string& symbol : kernel.header.specialise) {
    const auto it = bindings.find(symbol);
    if (it == bindings.end()) return fail(ErrorCode::kInput, fmt::format("the header specialises {}, which is no shape symbol", symbol));
    text += fmt::format("#define {} {}LL\n", symbol, it->second);
  }
  HONE_TRY(const std::string source, simt_rewrite(kernel.source, file));
  text += fmt::format("#line 1 \"{}\"\n{}\n", file, source);
  std::string calls;
  for (size_t i = 0; i < kernel.header.launches.size(); ++i) {
    HONE_TRY(const std::string call, simt_call(kernel, task, i));
    calls += call;
  }
  const std::string undefined = without_macros(calls);
  return text + undefined.substr(0, undefined.size() - calls.size()) + "#line 1 \"calls.cc\"\n" + calls;
}

std::string simt_entries(const kernel::Kernel& kernel) {
  std::string text =
      "#include <stdint.h>\n"
      "#define HIDDEN __attribute__((visibility(\"hidden\")))\n"
      "HIDDEN void hone_simt_launch(void*, const uint64_t*, int, int, const int64_t*, void (*)(const uint64_t*));\n";
  std::string table;
  for (size_t i = 0; i < kernel.header.launches.size(); ++i) {
    const kernel::Launch& launch = kernel.header.launches[i];
    text += fmt::format(
        "HIDDEN void hone_call_{0}(const uint64_t*);\n"
        "static void hone_entry_{0}(const uint64_t* a, void* context, const int64_t* grid, int64_t from, int64_t to) {{\n"
        "  hone_simt_launch(context, a, {1}, {2}, grid, hone_call_{0});\n}}\n",
        i, launch.args.size(), launch.block.size());
    table += fmt::format("{}hone_entry_{}", i ? ", " : "", i);
  }
  return text + fmt::format(
      "typedef void (*hone_entry)(const uint64_t*, void*, const int64_t*, int64_t, int64_t);\n"
      "__attribute__((visibility(\"default\"))) const hone_entry hone_entries[] = {{{}}};\n", table);
}

}  // namespace hone::target
