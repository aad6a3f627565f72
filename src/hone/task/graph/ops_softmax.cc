// The softmax family: the largest element is subtracted before exponentials are taken.
#include "hone/task/graph/infer.h"
#include "hone/task/graph/lower.h"

namespace hone::task {
namespace {

Ref lower_softmax(const LowerCall& c) {
  const std::vector<int64_t> axes{c.attr<int64_t>("axis")};
  Ref x = c.wide();
  if (c.op.name == "softmin") x = -x;
  const Ref e = exp(x - amax(x, axes));
  return e / sum(e, axes);
}

Ref lower_log_softmax(const LowerCall& c) {
  const std::vector<int64_t> axes{c.attr<int64_t>("axis")};
  const Ref shifted = c.wide() - amax(c.wide(), axes);
  return shifted - log(sum(exp(shifted), axes));
}

const OpRow kSoftmaxOps[] = {
    {"softmax(x, axis: axis = -1)", "", "exp(x) / sum(exp(x)) along an axis.", infer_float_unary,
     lower_softmax},
    {"log_softmax(x, axis: axis = -1)", "", "log(softmax(x)).", infer_float_unary, lower_log_softmax},
    {"softmin(x, axis: axis = -1)", "", "softmax(-x).", infer_float_unary, lower_softmax},
};

}  // namespace

Family softmax_family() { return {"Softmax", kSoftmaxOps}; }

}  // namespace hone::task
