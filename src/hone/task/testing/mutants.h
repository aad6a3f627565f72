// Mutants of task files, for tests that the reader survives anything. A mutant is a function of the files
// and its number alone, so a failure can be looked at again.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/file.h"
#include "hone/task/graph/op_table.h"
#include "hone/task/task.h"

namespace hone::task {

/// The texts of all task files of the repository, sorted by path.
inline std::vector<std::string> task_texts() {
  std::vector<std::filesystem::path> paths;
  for (const char* folder : {"/examples", "/tasks"})
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(std::string(HONE_SOURCE_DIR) + folder))
      if (entry.path().extension() == ".toml") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> texts;
  for (const auto& path : paths) {
    auto text = base::read_file(path);
    EXPECT_TRUE(text.has_value()) << path;
    if (text) texts.push_back(std::move(*text));
  }
  return texts;
}

class Mutator {
 public:
  explicit Mutator(std::vector<std::string> texts) : texts_(std::move(texts)), words_(all_op_names()) {
    for (const char* word : {"(",
                             ")",
                             "[",
                             "]",
                             "{",
                             "}",
                             ",",
                             ":",
                             "=",
                             ".",
                             "...",
                             "'",
                             "\"",
                             "\"\"\"",
                             "'''",
                             "\n",
                             "#",
                             ";",
                             "\\",
                             "-",
                             "**",
                             "//",
                             "%",
                             "@",
                             "<",
                             "==",
                             "0",
                             "-1",
                             "2",
                             "7",
                             "1e999",
                             "0.5",
                             "9223372036854775807",
                             "-9223372036854775808",
                             "4611686018427387904",
                             "2147483647",
                             "true",
                             "none",
                             "inf",
                             "nan",
                             "f16",
                             "i8",
                             "bool",
                             "bf16[",
                             "B",
                             "D",
                             "B * D",
                             "B // (D - 1)",
                             "x",
                             "y = ",
                             "axis=",
                             "axis=-1",
                             "keepdims=true",
                             "dtype=",
                             "index(",
                             "domain = \"simplex\"",
                             "structure = \"triu\"",
                             "workloads",
                             "inputs",
                             "\xff",
                             "\xc3",
                             "\xe2\x88\x92",
                             "\t",
                             "\r",
                             "ceil_div(",
                             "min(",
                             "[None]",
                             ".T",
                             ".shape",
                             "1, ",
                             "[[workloads]]"})
      words_.emplace_back(word);
  }

  std::string mutant(uint64_t number) {
    state_ = number * 0x9E3779B97F4A7C15U + 1;
    std::string text = texts_[below(texts_.size())];
    for (size_t changes = 1 + below(4); changes > 0; --changes) change(text);
    return text;
  }

  /// A sound task file around a mutant of its computation or of an input's type: what gets past TOML.
  std::string inner_mutant(uint64_t number) {
    state_ = number * 0x9E3779B97F4A7C15U + 2;
    while (true) {
      const auto task = parse_task(texts_[below(texts_.size())], "task.toml");
      if (!task) continue;
      std::string compute = task->compute;
      const bool types = below(4) == 0;
      if (!types)
        for (size_t changes = 1 + below(3); changes > 0; --changes) change(compute);
      std::string text = "name = \"t\"\ncompute = '''\n" + without(compute, "'") + "'''\nworkloads = [\n  { ";
      for (const auto& [symbol, value] : task->workloads.back().bindings)
        text += symbol + " = " + std::to_string(below(8) == 0 ? below(3) : static_cast<size_t>(value)) + ", ";
      text += "weight = 1 }\n]\n[inputs]\n";
      for (const InputSpec& input : task->inputs) {
        std::string type = input.type.to_string();
        if (types && below(2) == 0) change(type);
        text += input.name + " = '" + without(type, "'\n\r\t") + "'\n";
      }
      return text;
    }
  }

 private:
  static std::string without(std::string text, std::string_view characters) {
    std::erase_if(text, [&](char c) {
      const auto byte = static_cast<unsigned char>(c);
      return characters.find(c) != std::string_view::npos || byte >= 0x7f || (byte < 0x20 && c != '\n');
    });
    return text;
  }

  /// splitmix64
  uint64_t random() {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15U);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  }
  size_t below(size_t n) { return n == 0 ? 0 : static_cast<size_t>(random() % n); }

  /// A token of the text: a word, a number, or one character.
  std::pair<size_t, size_t> token(const std::string& text) {
    const auto part = [&](size_t i) { return std::isalnum(static_cast<unsigned char>(text[i])) != 0; };
    size_t begin = below(text.size());
    // Half of the time in the computation: most of what the reader does is there.
    const size_t compute = text.find("compute");
    if (compute != std::string::npos && random() % 2 == 0)
      begin = std::min(text.size() - 1, compute + 9 + below(150));
    size_t end = begin + 1;
    while (begin > 0 && part(begin) && part(begin - 1)) --begin;
    while (end < text.size() && part(begin) && part(end)) ++end;
    return {begin, end - begin};
  }

  void change(std::string& text) {
    if (text.empty()) return;
    const auto [at, size] = token(text);
    const std::string& word = words_[below(words_.size())];
    switch (below(9)) {
      case 0:
        text[at] = static_cast<char>(random());
        return;
      case 1:
        text.erase(at, size);
        return;
      case 2:
        text.insert(at, word);
        return;
      case 3:
        text.replace(at, size, word);
        return;
      case 4:
        text.insert(at, text.substr(at, size));
        return;
      case 5:
        text.erase(at, below(80));
        return;
      case 6:
        text.insert(below(text.size()), text.substr(at, below(80)));
        return;
      case 7: {
        const auto [other, length] = token(text);
        const std::string moved = text.substr(other, length);
        text.replace(at, size, moved);
        return;
      }
      default: {
        const std::string& donor = texts_[below(texts_.size())];
        text.insert(at, donor.substr(below(donor.size()), below(120)));
      }
    }
  }

  std::vector<std::string> texts_;
  std::vector<std::string> words_;
  uint64_t state_ = 0;
};

/// The reader's promise: a task that writes itself back, or one message that names a place in the file.
inline void check_mutant(const std::string& text) {
  const auto task = parse_task(text, "mutant.toml");
  if (task) {
    const auto again = parse_task(task->to_toml(), "again.toml");
    ASSERT_TRUE(again.has_value()) << again.error().to_string() << "\n" << task->to_toml();
    EXPECT_EQ(again->hash(), task->hash());
    return;
  }
  const Error& error = task.error();
  ASSERT_FALSE(error.message.empty());
  EXPECT_LT(error.message.size(), 600U);
  for (const std::string& part : {error.message, error.hint})
    EXPECT_TRUE(std::all_of(part.begin(), part.end(), [](unsigned char c) { return c >= 0x20 && c != 0x7f; }))
        << part;
  // What is missing stands nowhere; everything else has a place inside the file.
  int line = 0;
  int column = 0;
  if (std::sscanf(error.context.c_str(), "mutant.toml:%d:%d", &line, &column) != 2) {
    EXPECT_EQ(error.context, "mutant.toml");
    EXPECT_TRUE(error.message.rfind("the task has no '", 0) == 0 ||
                error.message.find("there are no workloads") != std::string::npos)
        << error.to_string();
    return;
  }
  EXPECT_GE(line, 1);
  EXPECT_GE(column, 1);
  EXPECT_LE(line, 1 + std::count(text.begin(), text.end(), '\n')) << error.to_string();
}

}  // namespace hone::task
