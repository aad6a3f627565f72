// The header comment as text: where it lies in a kernel's file, and small edits that leave a person's
// layout and comments alone. Shared by the files of this room.
#pragma once
#include <string>
#include <string_view>

#include "hone/base/result.h"

namespace hone::kernel {

/// A kernel's file taken apart: before + toml + after is the file again.
struct HeaderText {
  std::string before;  ///< up to and with the comment's opening mark
  std::string toml;
  std::string after;   ///< from the closing mark on
  int line = 1;        ///< line of the file on which the TOML begins

  [[nodiscard]] std::string whole() const { return before + toml + after; }

  /// Sets the line `KEY = …`: in the place of an earlier one, else before the line of `neighbour`, which
  /// must be there.
  void set_line(std::string_view key, std::string_view line, std::string_view neighbour);
  /// Takes out the line `KEY = …`.
  void remove_line(std::string_view key);
  /// Takes out the table [NAME], up to the next table's head.
  void remove_table(std::string_view name);
};

/// `text` as a TOML string that fits into a C comment: nothing in it ends either.
[[nodiscard]] std::string toml_string(std::string_view text);

/// kInput where there is no header comment, or where it is not closed.
[[nodiscard]] Result<HeaderText> take_apart(std::string_view source, const std::string& path);

}  // namespace hone::kernel
