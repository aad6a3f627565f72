// What a pattern writes, before it is a kernel's file: the plan as a value, the headers it includes and its functions.
// Drafts are renamed and put together as values; the text of their functions is never edited. Pure.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "hone/kernel/kernel.h"

namespace hone::pattern {

struct Draft {
  kernel::Header header;
  std::string about;                  ///< what stands before the includes: comments for the reader
  std::vector<std::string> includes;  ///< lines: "#include \"hone/gpu/tile.h\""; in Python imports, and functions that launched ones call
  std::string text;                   ///< the functions
};

/// Whether the header's language is written as Python is.
[[nodiscard]] bool is_python(const kernel::Header& header);

/// A kernel that a pattern wrote, taken apart.
[[nodiscard]] Draft draft_of(const kernel::Kernel& kernel);

/// The kernel's file: header comment, comments, includes, functions. A header that does not parse is our bug.
[[nodiscard]] kernel::Kernel kernel_of(const Draft& draft, const std::string& author);

/// Other names for what a plan names; what is not in the maps keeps its name.
struct Rename {
  std::map<std::string, std::string, std::less<>> tensors;    ///< inputs, outputs, workspaces
  std::map<std::string, task::IntExpr, std::less<>> symbols;  ///< of shapes
  /// The functions go on by the old name: a macro stands around them.
  std::map<std::string, std::string, std::less<>> tunables;
  std::string space;                                          ///< the functions' namespace from now on (in Python what their names begin with); empty: none
};
[[nodiscard]] Draft renamed(Draft draft, const Rename& rename);

/// One part after the other in one kernel; drafts name everything differently (renamed()). Includes stand in front, once.
[[nodiscard]] Draft joined(const std::vector<Draft>& parts);

}  // namespace hone::pattern
