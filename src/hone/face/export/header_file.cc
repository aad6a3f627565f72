#include "hone/face/export/header_file.h"

#include <algorithm>

#include <fmt/format.h>

namespace hone::face {
namespace {

/// One line of what is known; nothing where it is not.
std::string fact(std::string_view name, std::string_view text) {
  return text.empty() ? std::string() : comment(fmt::format("  {:<10}", name), text);
}

/// What an input promises beside its type, from " each" on; kernels may rely on it.
std::string promise(const task::InputSpec& input, const PlanNames& names) {
  std::string text;
  switch (input.domain) {
    case task::Domain::kReal: break;
    case task::Domain::kPositive: text += ", positive"; break;
    case task::Domain::kSimplex: text += ", not negative, adding up to 1 along the last axis"; break;
    case task::Domain::kIndex: text += fmt::format(", each in [0, {})", names.renamed(input.index_bound).to_string()); break;
    case task::Domain::kSign: text += ", each -1 or 1"; break;
    case task::Domain::kNearOne: text += ", around 1"; break;
    case task::Domain::kUnit: text += ", each in [0, 1]"; break;
  }
  switch (input.structure) {
    case task::Structure::kNone: break;
    case task::Structure::kTriu: text += ", upper triangular"; break;
    case task::Structure::kTril: text += ", lower triangular"; break;
    case task::Structure::kSymmetric: text += ", symmetric"; break;
  }
  if (input.values) text += ", with the values of the task";
  return text;
}

std::string describe(const Subject& subject, std::string_view name, std::string_view way, const task::TensorType& type,
                     std::string_view promised) {
  std::string text = fmt::format("///   {:<8} {}, {}{}", name, way, subject.names.renamed(type).to_string(), promised);
  if (task::cpp_name_of(type.dtype) != public_type(type.dtype)) text += ", the bits of each element";
  if (subject.options.alignment > task::size_of(type.dtype))
    text += fmt::format(", aligned to {} bytes", subject.options.alignment);
  return text + "\n";
}

/// The comment on NAME().
std::string documentation(const Subject& subject) {
  const std::string& name = subject.name;
  std::string text = "/// Computes\n";
  std::string compute = subject.task.compute;
  compute.erase(compute.find_last_not_of(" \n") + 1);
  const std::string lines = comment("      ", compute);
  for (size_t start = 0; start < lines.size();) {
    const size_t end = lines.find('\n', start) + 1;
    text += "/" + lines.substr(start, end - start);
    start = end;
  }
  text += "/// Tensors are dense and row-major; outputs overlap nothing else.\n";
  for (const task::InputSpec& input : subject.task.inputs)
    text += describe(subject, subject.names.tensor(input.name), "in", input.type, promise(input, subject.names));
  for (const auto& [output, type] : subject.task.outputs)
    text += describe(subject, subject.names.tensor(output), "out", type, "");
  if (const auto extents = subject.extents(); !extents.empty())
    text += fmt::format("///   {:<8} extents, at least 1\n", fmt::format("{}", fmt::join(extents, ", ")));
  if (subject.pooled())
    text += "///   threads  how many may work on it, the caller included; 0: as many as the machine has\n";
  if (!subject.task.nan_policy) text += "/// What NaN and infinity among the inputs give was not verified.\n";
  const std::string_view aligned = subject.options.alignment > 0 ? ", or a pointer is not aligned" : "";
  if (subject.fallback) {
    text += fmt::format("/// Where {}_applies() is false{}, a simple kernel does it. False, with\n"
                        "/// nothing done, where that does not apply either.\n", name, aligned);
  } else {
    text += fmt::format("/// False, with nothing done, where {}_applies() is false{}.\n", name, aligned);
  }
  text += "/// May be called from any number of threads at once.\n";
  if (subject.scratch)
    text += "/// Works in memory that is kept for each calling thread; throws std::bad_alloc where there is none.\n";
  return text;
}

}  // namespace

std::string comment(std::string_view head, std::string_view text) {
  std::string out;
  size_t start = 0;
  while (start <= text.size()) {
    const size_t end = std::min(text.find('\n', start), text.size());
    std::string line(text.substr(start, end - start));
    std::replace_if(line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
    // A backslash at the end would make the next line part of the comment.
    while (!line.empty() && (line.back() == ' ' || line.back() == '\\')) line.pop_back();
    std::string row = fmt::format("// {}{}", out.empty() ? std::string(head) : std::string(head.size(), ' '), line);
    row.erase(row.find_last_not_of(' ') + 1);
    out += row + "\n";
    start = end + 1;
  }
  return out;
}

Isa isa_of(std::string_view isa) {
  if (isa == "avx512")
    return {"AVX-512", "defined(__AVX512F__) && defined(__AVX512VL__) && defined(__AVX512BW__) && defined(__AVX512DQ__)"};
  if (isa == "avx2") return {"AVX2", "defined(__AVX2__)"};
  if (isa == "neon") return {"NEON", "defined(__ARM_NEON)"};
  return {};
}

std::vector<std::string> Subject::extents() const {
  std::vector<std::string> all;
  for (const std::string& symbol : task.symbols()) all.push_back(names.symbol(symbol));
  return all;
}

std::vector<std::string> Subject::parameters(const std::string& threads) const {
  std::vector<std::string> all;
  for (const task::InputSpec& input : task.inputs)
    all.push_back(fmt::format("const {}* {}", public_type(input.type.dtype), names.tensor(input.name)));
  for (const auto& [output, type] : task.outputs)
    all.push_back(fmt::format("{}* {}", public_type(type.dtype), names.tensor(output)));
  for (const std::string& extent : extents()) all.push_back("int64_t " + extent);
  if (pooled()) all.push_back("int " + threads);
  return all;
}

std::vector<std::string> Subject::applies_parameters(const std::string& threads) const {
  std::vector<std::string> all;
  for (const std::string& extent : extents()) all.push_back("int64_t " + extent);
  if (applies_threads) all.push_back("int " + threads);
  return all;
}

std::string provenance(const Subject& subject) {
  const Provenance& from = subject.options.provenance;
  std::string verified;
  for (const std::string& item : {from.date, from.machine, isa_of(subject.options.isa).name, from.toolchain})
    if (!item.empty()) verified += (verified.empty() ? "" : ", ") + item;
  const kernel::Kernel& kernel = subject.kernel;
  std::string text = fact("task", fmt::format("{}, {}", subject.task.name, subject.task.hash()));
  text += fact("kernel", kernel.hash() + (kernel.author.empty() ? "" : ", by " + kernel.author));
  if (subject.fallback) text += fact("fall-back", subject.fallback->hash());
  text += fact("accuracy", fmt::format("track \"{}\"", task::name_of(subject.task.track)));
  if (from.date.empty()) return text + fact("verified", "no: exported without a verdict");
  text += fact("verified", verified);
  text += fact("shapes", fmt::format("{}", fmt::join(from.shapes, "\n")));
  text += fact("measured", from.measured);
  return text;
}

std::string header_file(const Subject& subject) {
  const std::string& name = subject.name;
  std::string text = fmt::format("// {0}: made by hone, which nothing here depends on. C++17 or later; {0}.cc says how to build it.\n//\n", name);
  text += provenance(subject);
  text += fmt::format("#pragma once\n#include <stdint.h>\n\nnamespace {} {{\n\n", subject.options.space);
  text += documentation(subject);
  text += with_arguments("[[nodiscard]] bool " + name, subject.parameters("threads = 0"), 4) + ";\n\n";
  text += fmt::format("/// True where the kernel itself runs{}: {}.\n",
                      subject.fallback ? " and not its fall-back" : "",
                      subject.conditions.empty() ? "for all extents that are at least 1"
                                                 : fmt::format("{}", fmt::join(subject.conditions, " and ")));
  text += with_arguments(fmt::format("[[nodiscard]] bool {}_applies", name), subject.applies_parameters("threads = 0"), 4);
  return text + fmt::format(";\n\n}}  // namespace {}\n", subject.options.space);
}

}  // namespace hone::face
