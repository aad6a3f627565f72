#include "hone/pattern/plain.h"

#include <fmt/format.h>

#include "hone/pattern/names.h"
#include "hone/pattern/plain_ops.h"
#include "hone/pattern/template.h"
#include "hone/pattern/triton_text.h"

namespace hone::pattern {
namespace {

using plain::Dialect;
using plain::Function;
using task::Prim;

using Writer = void (*)(Function&, int, const std::string&);

Writer writer_for(Prim op, Dialect dialect) {
  if (dialect == Dialect::kTriton) return plain::lanes_writer_for(op);
  if (task::is_reduction(op)) return plain::write_reduction;
  if (task::is_scan(op)) return plain::write_scan;
  switch (op) {
    case Prim::kDot: return plain::write_dot;
    case Prim::kConv: case Prim::kConvTranspose: return plain::write_convolution;
    case Prim::kPoolMax: case Prim::kPoolSum: return plain::write_pool;
    case Prim::kSort: case Prim::kArgSort: return plain::write_sort;
    case Prim::kScatterAdd: case Prim::kScatterMax: case Prim::kScatterMin: return plain::write_scatter;
    default: return plain::write_elements;
  }
}

PlainText plain_text_in(const task::Task& task, const Misprint& misprint, Dialect dialect) {
  const plain::Plan plan = plain::make_plan(task);
  std::string functions, launches;
  const auto add = [&](const std::string& name, auto write) {
    Function f(task, plan, misprint, name, dialect);
    write(f);
    functions += f.definition();
    launches += f.launch();
  };
  for (size_t k = 0; k < plan.stores.size(); ++k) {
    const auto& [id, tensor] = plan.stores[k];
    const Prim op = plan.graph.node(id).prim;
    const bool copied = plan.memory[static_cast<size_t>(id)] != tensor;
    if (op == Prim::kConcat && !copied) {
      for (size_t part = 0; part < plan.graph.node(id).operands.size(); ++part)
        add(fmt::format("concat{}_{}", k, part), [&](Function& f) { plain::write_concat_part(f, id, part, tensor); });
    } else {
      const Writer write = copied ? plain::write_elements : writer_for(op, dialect);
      const std::string verb = copied ? "copy" : write == plain::write_elements ? "elements" : std::string(task::name_of(op));
      add(fmt::format("{}{}", verb, k), [&](Function& f) { write(f, id, tensor); });
    }
  }
  std::string workspaces;
  for (const auto& workspace : plan.workspaces)
    workspaces += fmt::format("{}{} = \"{}\"", workspaces.empty() ? "" : ", ", workspace.name, workspace.type.to_string());
  return {workspaces, launches, functions};
}

kernel::Kernel parsed(const std::string& source, const char* file) {
  auto kernel = kernel::parse_kernel(source, file);
  HONE_CHECK(kernel.has_value(), kernel ? "" : kernel.error().to_string());
  kernel->author = "pattern:plain";
  return *kernel;
}

}  // namespace

PlainText plain_text(const task::Task& task, const Misprint& misprint) { return plain_text_in(task, misprint, Dialect::kCpp); }

kernel::Kernel plain_triton_kernel(const task::Task& task) {
  const PlainText text = plain_text_in(task, {}, Dialect::kTriton);
  Slots slots;
  slots["workspaces"] = text.workspaces.empty() ? "" : "workspaces = { " + text.workspaces + " }\n";
  slots["launches"] = text.launches;
  slots["functions"] = lanes_functions(text.functions) + text.functions;
  return parsed(fill_pattern("patterns/triton/plain.py", slots), "plain.py");
}

kernel::Kernel plain_kernel(const task::Task& task, const Misprint& misprint) {
  const PlainText text = plain_text(task, misprint);
  Slots slots;
  slots["workspaces"] = text.workspaces.empty() ? "" : "workspaces = { " + text.workspaces + " }\n";
  slots["launches"] = text.launches;
  slots["functions"] = text.functions;
  return parsed(fill_pattern("patterns/cpp/plain.cc", slots), "plain.cc");
}

kernel::Kernel plain_triton(const task::Task& task) {
  const Names names(task);
  return names.given(plain_triton_kernel(names.task()));
}

kernel::Kernel plain_cpp(const task::Task& task, const Misprint& misprint) {
  const Names names(task);
  return names.given(plain_kernel(names.task(), misprint));
}

}  // namespace hone::pattern
