// PTX as statements: functions, instructions with guard and operands, declared registers, and edits that leave all other
// text byte for byte. Knows the grammar, not the instructions: what is new in a release passes through. Pure. Reads what
// NVRTC and nvcc emit, inline assembly included; kInput for text that holds no 64-bit entry.
#pragma once
#include <cstdint>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/result.h"

namespace hone::diagnose {

/// Of a warp.
inline constexpr int kPtxLanes = 32;

enum class PtxKind : uint8_t { kInstruction, kLabel, kDirective, kScope };
enum class PtxSpace : uint8_t { kGlobal, kShared, kLocal };

/// Views into PtxText's own copy, whose offsets are those of the text that was read.
struct PtxStatement {
  PtxKind kind = PtxKind::kInstruction;
  size_t begin = 0, end = 0;               ///< with its `;` or `:`
  std::string_view guard{};                ///< "%p1", "!%p1" or empty
  std::string_view opcode{};               ///< "ld.global.v2.f32"; a label's or a directive's name
  std::vector<std::string_view> operands{};
  size_t opcode_at = 0;                    ///< where the instruction begins behind its guard

  /// Between dots: has("global") of ld.global.f32.
  [[nodiscard]] bool has(std::string_view part) const;
  [[nodiscard]] bool leaves() const { return is_instruction("ret") || is_instruction("exit"); }
  [[nodiscard]] bool has_any(std::initializer_list<std::string_view> parts) const;
  [[nodiscard]] std::string_view part(size_t index) const;  ///< 0 is the instruction's name; empty behind the last
  [[nodiscard]] std::string_view type() const;              ///< the last part
  [[nodiscard]] bool is_instruction(std::string_view name) const { return kind == PtxKind::kInstruction && part(0) == name; }
};

struct PtxFunction {
  std::string_view name;
  bool entry = false;
  size_t body = 0;                                            ///< behind its first declarations: where code may be put
  std::vector<PtxStatement> statements{};
  std::map<std::string_view, std::string_view> registers{};  ///< declared name, or prefix of a numbered family -> type

  /// "b32", "pred"; empty for what is no register, or is declared as several things in different scopes.
  [[nodiscard]] std::string_view type_of(std::string_view wanted) const;
  /// Of an address's base, 32 or 64; 0 where it is neither a symbol nor a register that can address the space.
  [[nodiscard]] int bits_of_address(std::string_view base, PtxSpace space) const;
};

struct PtxText {
  std::shared_ptr<const std::string> bare;  ///< the text with comments and strings blanked
  size_t globals = 0;                       ///< where a variable of the module may be declared
  std::vector<PtxFunction> functions{};
};

/// Copies what it keeps of the text.
[[nodiscard]] Result<PtxText> read_ptx(std::string_view text);

/// Every name in an operand: registers, symbols, labels.
void for_names(std::string_view operand, const std::function<void(std::string_view)>& visit);

/// A plain load or store of memory whose space is named (ld, ldu, st).
struct PtxAccess {
  PtxSpace space = PtxSpace::kGlobal;
  bool load = false;
  bool weak = false;                          ///< neither volatile nor any memory order
  int bytes = 0;                              ///< of one element
  int elements = 1;
  std::string_view address{};                 ///< "[%rd1+16]"
  std::string_view base{};                    ///< a register or a symbol
  int64_t offset = 0;
  std::vector<std::string_view> values{};     ///< registers or constants, an element each

  [[nodiscard]] bool global() const { return space == PtxSpace::kGlobal; }
  [[nodiscard]] bool shared() const { return space == PtxSpace::kShared; }
  [[nodiscard]] int width() const { return bytes * elements; }
};
/// nullopt for all else, other blocks' shared memory and absolute addresses among it.
[[nodiscard]] std::optional<PtxAccess> access_of(const PtxStatement& statement);

/// "[%rd1+16]" -> base and offset; nullopt for anything else.
[[nodiscard]] std::optional<std::pair<std::string_view, int64_t>> address_of(std::string_view operand);

/// Bits of a register's type: 32 of "f32"; 0 for predicates and what is unknown.
[[nodiscard]] int bits_of(std::string_view type);

/// "f32", "f64", "f16", "f16x2", "bf16", "bf16x2".
[[nodiscard]] bool is_float(std::string_view type);

/// Replacements and insertions by place. At the same place insertions come first, in the order in which they were asked for.
class PtxEdits {
 public:
  void replace(size_t begin, size_t end, std::string by) { edits_.push_back({begin, end, std::move(by)}); }
  void insert(size_t at, std::string what) { replace(at, at, std::move(what)); }
  [[nodiscard]] std::string applied_to(std::string_view text) &&;

 private:
  struct Edit {
    size_t begin, end;
    std::string by;
  };
  std::vector<Edit> edits_;
};

}  // namespace hone::diagnose
