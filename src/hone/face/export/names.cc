#include "hone/face/export/names.h"

#include <iterator>

namespace hone::face {
namespace {

constexpr std::string_view kTaken[] = {
    // the language
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch",
    "char", "char16_t", "char32_t", "char8_t", "class", "co_await", "co_return", "co_yield", "compl", "concept",
    "const", "const_cast", "consteval", "constexpr", "constinit", "continue", "decltype", "default", "delete",
    "do", "double", "dynamic_cast", "else", "enum", "explicit", "export", "extern", "false", "float", "for",
    "friend", "goto", "if", "inline", "int", "long", "mutable", "namespace", "new", "noexcept", "not", "not_eq",
    "nullptr", "operator", "or", "or_eq", "private", "protected", "public", "register", "reinterpret_cast",
    "requires", "return", "short", "signed", "sizeof", "static", "static_assert", "static_cast", "struct",
    "switch", "template", "this", "thread_local", "throw", "true", "try", "typedef", "typeid", "typename",
    "union", "unsigned", "using", "virtual", "void", "volatile", "wchar_t", "while", "xor", "xor_eq",
    // macros and types of the headers included
    "NULL", "EOF", "errno", "stdin", "stdout", "stderr", "linux", "unix", "assert", "int8_t", "int16_t",
    "int32_t", "int64_t", "uint16_t", "uint8_t", "std", "hone",
    // what generated code calls its own
    "THREADS", "L1_BYTES", "L2_BYTES", "L3_BYTES", "VECTOR_BYTES", "threads", "runtime", "slot", "begin", "end",
    "block", "grid_x", "grid_y", "grid_z", "index_x", "index_y", "index_z", "layout", "at", "memory",
    "shared", "shared_bytes", "hone_floor_div", "hone_mod", "hone_ceil_div", "hone_min", "hone_max", "hone_abs"};

}  // namespace

PlanNames::PlanNames(const task::Task& task, std::set<std::string> taken) : taken_(std::move(taken)) {
  taken_.insert(std::begin(kTaken), std::end(kTaken));
  const auto name = [this](std::map<std::string, std::string>& map, const std::string& wanted) {
    map[wanted] = fresh(wanted);
    taken_.insert(map[wanted]);
  };
  for (const std::string& symbol : task.symbols()) name(symbols_, symbol);
  for (const task::InputSpec& input : task.inputs) name(tensors_, input.name);
  for (const auto& [output, type] : task.outputs) name(tensors_, output);
}

std::string PlanNames::fresh(const std::string& name) const {
  std::string identifier = name;
  while (taken_.count(identifier) > 0) identifier += '_';
  return identifier;
}

task::IntExpr PlanNames::renamed(const task::IntExpr& expression) const {
  std::map<std::string, task::IntExpr, std::less<>> with;
  for (const auto& [symbol, name] : symbols_) with.emplace(symbol, task::IntExpr::symbol(name));
  return expression.substitute(with);
}

task::TensorType PlanNames::renamed(const task::TensorType& type) const {
  task::TensorType result = type;
  for (task::IntExpr& extent : result.dims) extent = renamed(extent);
  return result;
}

std::string_view public_type(task::DType type) {
  return task::is_f8(type) ? "uint8_t" : task::is_narrow(type) ? "uint16_t" : task::cpp_name_of(type);
}

std::string with_arguments(const std::string& head, const std::vector<std::string>& arguments, size_t indent) {
  constexpr size_t kColumns = 100;
  std::string text = head + "(";
  size_t column = text.size() - (text.rfind('\n') + 1);  // npos + 1 is 0
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string item = arguments[i] + (i + 1 < arguments.size() ? "," : ")");
    if (i > 0 && column + 1 + item.size() > kColumns) {
      text += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (i > 0) {
      text += ' ';
      ++column;
    }
    text += item;
    column += item.size();
  }
  return arguments.empty() ? text + ")" : text;
}

}  // namespace hone::face
