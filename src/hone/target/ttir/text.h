// TTIR as Triton prints it, read into operations: values are numbers, names and locations resolved. It reads hostile text:
// whatever it does not understand is an error that names it. Pure.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hone/target/ttir/types.h"

namespace hone::target::ttir {

struct Op;
struct Function;

struct Block {
  std::vector<int> arguments;               ///< values
  std::vector<Op> ops;
};
using Region = std::vector<Block>;

struct Op {
  std::string name;                         ///< "arith.addi"
  std::vector<int> results, operands;
  std::vector<std::string> words;           ///< bare words among the operands: "slt", "fadd", "x", "@callee"
  std::map<std::string, std::string, std::less<>> attributes;
  std::vector<Type> types;                  ///< after the colon, in order
  std::vector<Region> regions;
  std::vector<std::pair<int, std::vector<int>>> targets;  ///< cf.br, cf.cond_br: block, what it gets
  std::string literal;                      ///< of a constant
  int line = 0;                             ///< of the user's file; 0: unknown
  std::shared_ptr<const Value> constant;    ///< what a constant is, once the function is prepared
  int code = -1, sub = 0;                   ///< the interpreter's numbers of the operation: its kind, and which of that kind
  const Function* callee = nullptr;         ///< of tt.call, once the module is prepared
};

struct Function {
  std::string name;
  std::vector<Type> types, results;         ///< of the parameters; of what it returns
  std::vector<int64_t> divisible;           ///< what each parameter is promised to be a multiple of; 1: nothing
  Region body;
  int values = 0;
};

struct Module {
  std::vector<Function> functions;          ///< one for each tt.func, of one or more modules
  [[nodiscard]] const Function* find(std::string_view name) const;
};

/// What went wrong, in words.
struct Unreadable {
  std::string text;
};

/// Throws Unreadable.
[[nodiscard]] Module read_module(std::string_view text);

}  // namespace hone::target::ttir
