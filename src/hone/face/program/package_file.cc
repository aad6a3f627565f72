#include <sstream>

#include <fmt/format.h>

#include "hone/base/base64.h"
#include "hone/base/embedded.h"
#include "hone/base/version.h"
#include "hone/face/export/python_names.h"
#include "hone/face/program/package.h"

namespace hone::face {
namespace {

/// As it is between three quotes where that can be read back, so that it can be read here too.
std::string text_literal(const std::string& text) {
  const bool plain = text.find("\'\'\'") == std::string::npos && (text.empty() || (text.back() != '\\' && text.back() != '\''));
  return plain ? "r'''" + text + "'''" : python_string(text);
}

}  // namespace

Result<ExportedFile> program_file(const program::Program& program, const program::Plan& plan, const ProgramPackage& package, const ProgramOriginal& original) {
  HONE_TRY(const auto files, program_package(program, plan, package));
  const auto code = base::find_embedded("program_python/one_file.py");
  HONE_CHECK(code.has_value(), "the text of such files is built in");
  std::string text = fmt::format("# ModelNew for {}, made by hone {}, which it does not need.\n#\n", program.name, base::kVersion);
  for (const std::string& note : package.notes) {
    std::istringstream lines(note);
    for (std::string line; std::getline(lines, line);) text += line.empty() ? "#\n" : "# " + line + "\n";
  }
  text += fmt::format("\nPACKAGE = {}\nTRAIN = {}\nFUNCTION = {}\n", python_string(package.name), program.train ? "True" : "False",
                      original.function.empty() ? "None" : python_string(original.function));
  text += "ORIGINAL = " + text_literal(original.text) + "\nFILES = {\n";
  for (const ExportedFile& file : files)
    if (file.name.starts_with(package.name + "/") && !file.name.ends_with("constants.pt")) text += fmt::format("{}: {},\n", python_string(file.name), text_literal(file.content));
  text += fmt::format("}}\nCONSTANTS = {}\n\n{}", python_string(base::base64(package.constants)), *code);
  return ExportedFile{program.name + "_kernelbench.py", std::move(text)};
}

}  // namespace hone::face
