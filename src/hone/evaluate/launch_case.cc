#include "hone/evaluate/launch_case.h"

#include <fstream>

#include <fmt/format.h>

#include "hone/evaluate/verify/integer_bounds.h"
#include "hone/target/cpu.h"

namespace hone::evaluate {

Result<std::vector<target::LaunchTensor>> write_tensors(const task::Task& task, const task::Bindings& bindings, Family family, uint64_t seed,
                                                        const std::filesystem::path& folder, const std::string& name) {
  HONE_TRY(const task::ConcreteGraph graph, task::instantiate(task.primitive, bindings));
  const auto bytes_of = [&](int node) {
    return task::element_count(graph.shapes[static_cast<size_t>(node)]) * task::size_of(graph.graph.node(node).type.dtype);
  };
  std::vector<target::LaunchTensor> tensors;
  const std::vector<DrawBounds> bounds = draw_bounds(task, graph);
  for (size_t i = 0; i < task.inputs.size(); ++i) {
    const task::InputSpec& spec = task.inputs[i];
    const int node = graph.graph.inputs[i];
    target::LaunchTensor& tensor = tensors.emplace_back();
    tensor.bytes = bytes_of(node);
    tensor.contents = folder / fmt::format("{}.{}", name, i);
    std::vector<char> data(static_cast<size_t>(tensor.bytes));
    draw(spec, graph.shapes[static_cast<size_t>(node)], bounds[i], family, seed * 0x9E3779B97F4A7C15 + i, data.data(), target::cpu_info().threads);
    std::ofstream file(tensor.contents, std::ios::binary);
    file.write(data.data(), tensor.bytes);
    file.flush();
    if (!file) return fail(ErrorCode::kExhausted, fmt::format("{} bytes for {} cannot be written", tensor.bytes, tensor.contents.string()));
  }
  for (const int node : graph.graph.outputs) tensors.push_back({bytes_of(node), {}});
  return tensors;
}

}  // namespace hone::evaluate
