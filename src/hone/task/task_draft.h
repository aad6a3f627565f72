// A task on its way in: what a task file or a command line said, before the computation is built.
// Both readers fill a Draft and share assemble(), which builds the graphs and checks everything.
#pragma once
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hone/task/task.h"

namespace hone::task {

struct Draft {
  Task task;  ///< inputs, compute, workloads and policies; outputs and graphs are still empty
  std::vector<std::pair<std::string, TensorType>> outputs;  ///< as declared; empty: what is left unused
  std::vector<Where> output_where;                          ///< in the file
  std::vector<Where> input_where;
  std::vector<Where> workload_where;
  std::vector<Where> default_where;  ///< of default_workloads
  /// Of the values in each workload, where the reader knows them.
  std::vector<std::map<std::string, Where>> binding_where;
  /// From a position in the computation to one in the file.
  std::function<Where(Where)> to_file;
  /// "softmax.toml:3:9"
  std::function<std::string(Where)> context;
};

[[nodiscard]] Result<Task> assemble(Draft draft);

/// A word of the language and what it means: for messages and the reference.
struct Word {
  std::string_view name, meaning;
};
[[nodiscard]] std::span<const Word> domain_words();     ///< in the order of Domain
[[nodiscard]] std::span<const Word> structure_words();  ///< in the order of Structure
[[nodiscard]] std::span<const Word> track_words();      ///< in the order of Track
[[nodiscard]] std::span<const Word> task_keys();        ///< of a task file
[[nodiscard]] std::span<const Word> input_keys();       ///< of an input written as a table
/// Of a workload; its other keys are shape symbols.
[[nodiscard]] std::span<const Word> workload_keys();

[[nodiscard]] std::optional<Domain> domain_from(std::string_view name);
[[nodiscard]] std::string_view name_of(Domain domain);
[[nodiscard]] std::optional<Structure> structure_from(std::string_view name);
[[nodiscard]] std::string_view name_of(Structure structure);
[[nodiscard]] std::optional<Track> track_from(std::string_view name);
/// Of an error's hint: the word that was most likely meant, or `all`.
[[nodiscard]] std::string nearest_word(std::string_view text, std::span<const Word> words, std::string_view all);
inline constexpr std::string_view kAllTracks = "f32, as-pytorch, tf32, bf16 or f16";
/// The error fit for a terminal: control characters as escapes, words and sentences that go on for ever
/// cut short.
[[nodiscard]] Error readable(Error error);
/// [A-Za-z_][A-Za-z0-9_]*
[[nodiscard]] bool is_identifier(std::string_view text);

}  // namespace hone::task
