// Prompts: files under prompts/, built into the program, each with a version and places to fill. And
// material(), through which everything goes into a prompt that somebody else wrote. Pure; thread-safe.
#pragma once
#include <map>
#include <string>
#include <string_view>

#include "hone/base/result.h"

namespace hone::agent {

/// What prompts are made of, by name: the files under prompts/ and docs/kernels.md. A run keeps those it began with,
/// so that its record replays, and a resumed run goes on, in the same words after they have changed.
using Documents = std::map<std::string, std::string, std::less<>>;
/// Those of this program.
[[nodiscard]] Documents own_documents();

/// The prompt with its {{places}} filled, each of them, from `values`; kInternal where one is missing.
/// What is filled in is not looked at again: braces in it stay braces.
[[nodiscard]] Result<std::string> prompt(std::string_view name, const std::map<std::string, std::string, std::less<>>& values);
/// The same from other documents.
[[nodiscard]] Result<std::string> prompt(const Documents& documents, std::string_view name,
                                         const std::map<std::string, std::string, std::less<>>& values);

/// Versions of all prompts by name.
[[nodiscard]] std::map<std::string, int> prompt_versions();

/// `text` between lines that it cannot hold itself: they carry its hash. Not more than `most` bytes (what
/// is cut is said); control characters and what is not UTF-8 are replaced.
[[nodiscard]] std::string material(std::string_view label, std::string_view text, size_t most);

/// The same without the lines, on one line: for names and reasons inside a sentence.
[[nodiscard]] std::string one_line(std::string_view text, size_t most);
/// The same, cut between words where it is cut.
[[nodiscard]] std::string in_words(std::string_view text, size_t most);

}  // namespace hone::agent
