#include "hone/program/tasks.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "hone/program/aten.h"
#include "hone/program/normalise.h"
#include "hone/program/task_text.h"

namespace hone::program {
namespace {

/// The name, with a number where it is taken.
std::string own_name(std::string name, std::map<std::string, int>& names) {
  if (const int n = names[name]++; n > 0) name += fmt::format("_{}", n + 1);
  return name;
}

/// Operators that hand elements of some operands on as they are, beside views.
struct HandsOn {
  std::string_view op;
  std::string_view from, also{};
};

constexpr HandsOn kHandOn[] = {
    {"aten.cat.default", "tensors"}, {"aten.stack.default", "tensors"}, {"aten._to_copy.default", "self"}, {"aten.to.dtype", "self"},
    {"aten.to.dtype_layout", "self"}, {"aten.type_as.default", "self"}, {"aten.clone.default", "self"}, {"aten.roll.default", "self"}, {"aten.flip.default", "self"},
    {"aten.repeat.default", "self"}, {"aten.repeat_interleave.self_int", "self"}, {"aten.index_select.default", "self"}, {"aten.gather.default", "self"},
    {"aten.index.Tensor", "self"}, {"aten.take_along_dim.default", "self"}, {"aten.embedding.default", "weight"}, {"aten.where.self", "self", "other"},
    {"aten.where.ScalarOther", "self"}, {"aten.where.ScalarSelf", "other"}, {"aten.masked_fill.Scalar", "self"}, {"aten.masked_fill.Tensor", "self"}};

/// Passes bounds from where elements are picked back to where the indices come from.
void pass_back(const Program& program, int id, int64_t bound, Bounds& bounds) {
  auto& here = bounds[static_cast<size_t>(id)];
  if ((here && *here <= bound) || bound < 1) return;
  here = bound;
  const Node& node = program.nodes[static_cast<size_t>(id)];
  const auto pass = [&](const Argument* from, int64_t less) {
    std::vector<int> nodes;
    if (from != nullptr) collect(*from, nodes);
    for (const int operand : nodes)
      if (const auto& type = program.nodes[static_cast<size_t>(operand)].type(); type.dtype && task::is_int(*type.dtype)) pass_back(program, operand, bound - less, bounds);
  };
  if (is_view(node) && !node.arguments.empty()) pass(&node.arguments.front().second, 0);
  for (const HandsOn& row : kHandOn)
    if (node.op == row.op) pass(node.find(row.from), 0), pass(row.also.empty() ? nullptr : node.find(row.also), 0);
  // Behind what is added; from below there is no bound but 0, so that nothing may be taken away.
  const Argument *other = node.find("other"), *alpha = node.find("alpha");
  if ((node.op == "aten.add.Tensor" || node.op == "aten.add.Scalar") && other != nullptr && (alpha == nullptr || alpha->integer() == 1))
    for (const auto& [one, another] : {std::pair(node.find("self"), other), {other, node.find("self")}}) {
      if (one == nullptr || another == nullptr) continue;
      const auto more = another->ref() != nullptr ? largest_of(program, another->ref()->node) : another->integer();
      if (more && *more >= 0) pass(one, *more);
    }
}

}  // namespace

Bounds index_bounds(const Program& program) {
  Bounds bounds(program.nodes.size());
  const auto shape_of = [&](const Argument* argument) -> const task::Shape* {
    return argument == nullptr || argument->ref() == nullptr ? nullptr : &program.nodes[static_cast<size_t>(argument->ref()->node)].type().shape;
  };
  for (size_t i = 0; i < program.nodes.size(); ++i)
    if (program.nodes[i].largest) bounds[i] = *program.nodes[i].largest + 1;
  // Of a tensor that indexes an axis of another, where both are there.
  const auto picks = [&](const Argument* index, const task::Shape* shape, int64_t axis, bool from_0 = true) {
    if (shape == nullptr || index == nullptr || index->ref() == nullptr || !(from_0 || never_negative(program, index->ref()->node))) return;
    if (axis < 0) axis += static_cast<int64_t>(shape->size());
    if (axis >= 0 && axis < static_cast<int64_t>(shape->size())) pass_back(program, index->ref()->node, (*shape)[static_cast<size_t>(axis)], bounds);
  };
  for (const Node& node : program.nodes) {
    if (node.op == "aten.embedding.default" || node.op.starts_with("aten.embedding_bag.")) {
      picks(node.find("indices"), shape_of(node.find("weight")), 0);
    } else if (node.op == "aten.index_select.default" || node.op == "aten.gather.default" || node.op == "aten.take_along_dim.default" || node.op == "aten.scatter_add.default" || node.op == "aten.scatter_reduce.two" ||
               node.op.starts_with("aten.scatter.") || node.op == "aten.index_add.default" || node.op == "aten.index_copy.default") {
      const Argument* const dim = node.find("dim");
      picks(node.find(node.op == "aten.take_along_dim.default" ? "indices" : "index"), shape_of(node.find("self")), dim == nullptr ? 0 : dim->integer().value_or(0));
    } else if (node.op == "aten.cross_entropy_loss.default" || node.op.starts_with("aten.nll_loss")) {
      const task::Shape* const classes = shape_of(node.find("self"));
      picks(node.find("target"), classes, classes != nullptr && classes->size() > 1 ? 1 : 0);
    } else if (node.op == "aten.index.Tensor" || node.op == "aten._unsafe_index.Tensor" || node.op == "aten.index_put.default") {
      const Argument* const indices = node.find("indices");
      for (size_t axis = 0; indices != nullptr && indices->list() != nullptr && axis < indices->list()->size(); ++axis)
        picks(&(*indices->list())[axis], shape_of(node.find("self")), static_cast<int64_t>(axis), node.op == "aten._unsafe_index.Tensor");
    }
  }
  return bounds;
}

namespace {

/// Finds the runs of steps that operators were written out as, and what PyTorch runs in place of each.
class WrittenOuts {
 public:
  WrittenOuts(const Program& program, Plan& plan) : program_(program), plan_(plan), made_(program.nodes.size(), false) {
    for (const Output& output : program.outputs) collect(output.value, needed_);
    for (const Step& step : plan.steps)
      for (const int input : step.inputs)
        if (step.written != program.nodes[static_cast<size_t>(input)].whole) needed_.push_back(input);
    std::sort(needed_.begin(), needed_.end());
    for (size_t i = 0; i < made_.size(); ++i) made_[i] = program.nodes[i].is_input();
  }

  /// Steps say by `written` which of Program::wholes they are of; afterwards, which of Plan::written.
  void find(std::map<std::string, int>& names) {
    for (size_t i = 0; i < plan_.steps.size();) {
      const int whole = plan_.steps[i].written;
      size_t end = i + 1;
      while (whole >= 0 && end < plan_.steps.size() && plan_.steps[end].written == whole) ++end;
      if (whole >= 0) add(whole, i, end, names);
      for (; i < end; ++i)
        for (const int output : plan_.steps[i].outputs) made_[static_cast<size_t>(output)] = true;
    }
  }

 private:
  void add(int whole, size_t begin, size_t end, std::map<std::string, int>& names) {
    const Whole& from = program_.wholes[static_cast<size_t>(whole)];
    WrittenOut written;
    written.name = own_name(short_name(from.node.op), names);
    written.whole = whole;
    written.first = static_cast<int>(begin);
    written.count = static_cast<int>(end - begin);
    std::set<int> inputs, outputs, body;
    for (size_t i = begin; i < end; ++i) {
      Step& step = plan_.steps[i];
      step.written = static_cast<int>(plan_.written.size());
      for (const int input : step.inputs)
        if (outputs.count(input) == 0) inputs.insert(input);
      outputs.insert(step.outputs.begin(), step.outputs.end());
    }
    // What is not there yet are views of what is.
    std::vector<int> open = operands(from.node);
    while (!open.empty()) {
      const int id = open.back();
      open.pop_back();
      if (made_[static_cast<size_t>(id)]) inputs.insert(id);
      else if (body.insert(id).second)
        for (const int operand : operands(program_.nodes[static_cast<size_t>(id)])) open.push_back(operand);
    }
    for (const int result : from.results)
      if (outputs.count(result) > 0 && std::binary_search(needed_.begin(), needed_.end(), result)) written.step.outputs.push_back(result);
    written.step.inputs.assign(inputs.begin(), inputs.end());
    written.step.body.assign(body.begin(), body.end());
    plan_.written.push_back(std::move(written));
  }

  const Program& program_;
  Plan& plan_;
  std::vector<bool> made_;    ///< by the steps so far
  std::vector<int> needed_;   ///< outside of what they are part of; in order
};

}  // namespace

Plan plan_program(const Program& program, const std::vector<Region>& regions) {
  Plan plan;
  const auto bounds = index_bounds(program);
  std::map<std::string, int> known;  // by text
  std::map<std::string, int> names;
  for (const Region& region : regions) {
    Step step;
    step.kind = region.kind;
    step.inputs = region.inputs;
    step.outputs = region.results;
    step.body = body(program, region);
    step.why = region.why;
    step.written = region.whole;
    const int number = static_cast<int>(plan.steps.size());
    if (region.kind == Region::Kind::kTask) {
      auto text = task_text(program, step.body, region.results, bounds);
      if (!text) {
        step.kind = Region::Kind::kEager;
        step.why = text.error().message;
      } else if (const auto it = known.find(text->text); it != known.end()) {
        step.task = it->second;
        step.inputs = std::move(text->inputs);
      } else {
        const std::string name = own_name(task_name(program, region.nodes), names);
        if (auto task = task::parse_task(fmt::format("name = \"{}\"\n{}", name, text->text), name)) {
          step.task = static_cast<int>(plan.tasks.size());
          step.inputs = std::move(text->inputs);
          plan.tasks.push_back({std::move(*task), {}});
          known.emplace(std::move(text->text), step.task);
        } else {
          step.kind = Region::Kind::kEager;
          step.why = task.error().to_string();
        }
      }
      if (step.task >= 0) plan.tasks[static_cast<size_t>(step.task)].steps.push_back(number);
    }
    plan.steps.push_back(std::move(step));
  }
  WrittenOuts(program, plan).find(names);
  return plan;
}

}  // namespace hone::program
