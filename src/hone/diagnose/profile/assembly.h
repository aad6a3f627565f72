// Reads what a disassembler prints of an x86 shared object (AT&T syntax, no raw bytes): functions, their innermost loops
// and what these are made of. A static model: without samples nobody knows which loop takes the time, so the one that
// moves most through vectors is believed to. Pure.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hone::diagnose {

struct Instruction {
  uint64_t address = 0;
  std::string mnemonic, operands;  ///< "vfmadd231ps", "%zmm0,%zmm1,%zmm2"
  bool on_stack = false;           ///< names memory of its function's own frame
};

struct Function {
  std::string name;
  std::vector<Instruction> code;
};

/// Functions in the order of the listing; lines that are no instruction are passed over.
[[nodiscard]] std::vector<Function> read_assembly(std::string_view listing);

/// Counts of a segment of code.
struct Mix {
  int all = 0;
  int vector = 0;        ///< packed, on vector registers
  int scalar_float = 0;  ///< floating-point work on one element: arithmetic, moves, conversions
  int vector_bytes = 0;  ///< sum of the widths of the packed ones, bytes
  int fma = 0, divide = 0, gather = 0, call = 0;
  int library_call = 0;  ///< of mathematics, one element at a time: expf, tanh, …
  int multiply = 0;      ///< packed, fma among them: what a function's vector form is made of
  int load = 0, store = 0, stream_store = 0;
  int spill = 0;  ///< vector or floating-point registers stored to or loaded from the stack
  /// Bytes of data its arithmetic and moves handle: what the hottest loop is told by.
  [[nodiscard]] int weight() const { return vector_bytes + 4 * scalar_float; }
  /// Mean width of a packed instruction, bytes; 0 without any.
  [[nodiscard]] double mean_width() const { return vector ? static_cast<double>(vector_bytes) / vector : 0; }
};
[[nodiscard]] Mix mix_of(const std::vector<Instruction>& code);

struct Loop {
  std::string function;
  std::vector<Instruction> code;  ///< in the order of addresses, without what was moved out of line
  Mix mix;
  /// By which loops are compared: the mix's weight, and far more where it calls mathematics an element at a time and no other loop of the
  /// function can be a vector form of that (a remainder calls too, beside a loop that does without).
  int weight = 0;
};

/// Innermost loops: code that can be reached from itself, wherever it is entered (past its head, or again from a block that was moved out of
/// line), and that holds no other. Heaviest first.
[[nodiscard]] std::vector<Loop> innermost_loops(const std::vector<Function>& functions);

/// A loop's body as an assembler takes it: no branches, no calls, no addresses of code. Empty when nothing is left.
[[nodiscard]] std::string body_text(const Loop& loop);

}  // namespace hone::diagnose
