// docs/language.md: the reference of the task language. Prose comes from language.md.in, tables from
// the data that the program itself reads by, messages from the reader; so the page cannot drift.
// `make docs` writes it; language_page_test.cc compares.
#pragma once
#include <string>

namespace hone::task {

/// The whole page, in Markdown.
[[nodiscard]] std::string language_page();

}  // namespace hone::task
