#include "hone/target/toolchain/simt_source.h"

#include <algorithm>
#include <cctype>
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
    case task::DType::kI64: return "";  // long or long long: the kernel's choice
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

/// The function that makes one thread's call, and the entry that runs the launch.
Result<std::string> simt_entry(const kernel::Kernel& kernel, const task::Task& task, size_t number) {
  const kernel::Launch& launch = kernel.header.launches[number];
  std::vector<std::string> args;
  for (size_t i = 0; i < launch.args.size(); ++i) {
    const kernel::Argument& argument = launch.args[i];
    switch (argument.kind) {
      case kernel::Argument::Kind::kTensor: {
        Tensor tensor{};
        if (!find_tensor(kernel, task, argument.tensor, tensor))
          return fail(ErrorCode::kInput, fmt::format("{} takes \"{}\", which is no input, output or workspace", launch.function, argument.tensor));
        const std::string_view type = cuda_type(tensor.type);
        if (type.empty()) args.push_back(fmt::format("hone::simt::Longs<{}>{{a[{}]}}", tensor.input, i));
        else args.push_back(fmt::format("({}{}*)a[{}]", tensor.input ? "const " : "", type, i));
        break;
      }
      case kernel::Argument::Kind::kI32: args.push_back(fmt::format("(int)a[{}]", i)); break;
      case kernel::Argument::Kind::kI64: args.push_back(fmt::format("(long long)a[{}]", i)); break;
      case kernel::Argument::Kind::kShared:
        return fail(ErrorCode::kInput, fmt::format("{} takes \"shared\": a GPU kernel declares extern __shared__ instead", launch.function));
      default: break;  // Triton's alone
    }
  }
  return fmt::format(
      "static void hone_call_{0}([[maybe_unused]] const uint64_t* a) {{ {1}({2}); }}\n"
      "extern \"C\" void hone_entry_{0}(const uint64_t* a, void* context, const int64_t* grid, int64_t, int64_t) {{\n"
      "  hone_simt_launch(context, a, {3}, {4}, grid, hone_call_{0});\n}}\n",
      number, launch.function, fmt::join(args, ", "), launch.args.size(), launch.block.size());
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
  text += fmt::format("#line 1 \"{}\"\n{}\n#line 1 \"entries.cc\"\n", file, source);
  std::string table;
  for (size_t i = 0; i < kernel.header.launches.size(); ++i) {
    HONE_TRY(const std::string entry, simt_entry(kernel, task, i));
    text += entry;
    table += fmt::format("{}hone_entry_{}", i ? ", " : "", i);
  }
  return text + fmt::format(
      "using hone_entry = void (*)(const uint64_t*, void*, const int64_t*, int64_t, int64_t);\n"
      "extern \"C\" __attribute__((visibility(\"default\"))) const hone_entry hone_entries[] = {{{}}};\n", table);
}

}  // namespace hone::target
