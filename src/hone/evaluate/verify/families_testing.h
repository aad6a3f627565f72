// Task families for the gate's tests: one small task each.
#pragma once
#include <string>
#include <vector>

namespace hone::evaluate::testing {

struct TaskFamily {
  std::string name, compute;
  std::vector<std::string> inputs;
};

inline const std::vector<TaskFamily>& task_families() {
  static const std::vector<TaskFamily> all{
      {"matmul", "y = x @ w", {"x=f32[24,64]", "w=f32[64,40]"}},
      {"matmul, long K", "y = x @ w", {"x=f32[6,3000]", "w=f32[3000,7]"}},
      {"matmul, left transposed", "y = x.T @ w", {"x=f32[96,24]", "w=f32[96,30]"}},
      {"matrix-vector", "y = x @ w", {"x=f32[100,900]", "w=f32[900]"}},
      {"bmm", "y = bmm(x, w)", {"x=f32[3,16,100]", "w=f32[3,100,20]"}},
      {"einsum, transposing", "y = einsum(\"bij,bjk->kbi\", x, w)", {"x=f32[3,17,80]", "w=f32[3,80,21]"}},
      {"einsum, rows of products", "y = einsum(\"ij,ij->i\", x, w)", {"x=f32[40,300]", "w=f32[40,300]"}},
      {"outer product", "y = einsum(\"i,j->ij\", x, w)", {"x=f32[50]", "w=f32[60]"}},
      {"linear, gelu", "y = gelu(linear(x, w, b))", {"x=f32[20,256]", "w=f32[32,256]", "b=f32[32]"}},
      {"swiglu", "y = silu(x @ w) * (x @ u)", {"x=f32[20,128]", "w=f32[128,40]", "u=f32[128,40]"}},
      {"matmul, softmax", "y = softmax(x @ w)", {"x=f32[20,128]", "w=f32[128,48]"}},
      {"matmul, layer norm", "y = layer_norm(x @ w)", {"x=f32[20,256]", "w=f32[256,48]"}},
      {"matmul, weighted sum", "y = sum((x @ w) * u)", {"x=f32[24,64]", "w=f32[64,40]", "u=f32[24,40]"}},
      {"conv1d", "y = conv1d(x, w, b, stride=2)", {"x=f32[2,32,50]", "w=f32[8,32,5]", "b=f32[8]"}},
      {"conv2d", "y = conv2d(x, w, padding=1)", {"x=f32[2,16,9,10]", "w=f32[12,16,3,3]"}},
      {"conv2d, relu", "y = relu(conv2d(x, w, b))", {"x=f32[2,8,9,10]", "w=f32[12,8,3,3]", "b=f32[12]"}},
      {"conv2d, groups", "y = conv2d(x, w, groups=4, dilation=2)", {"x=f32[2,16,12,12]", "w=f32[8,4,3,3]"}},
      {"conv2d, depthwise", "y = conv2d(x, w, groups=8, padding=1)", {"x=f32[2,8,12,12]", "w=f32[8,1,3,3]"}},
      {"conv3d", "y = conv3d(x, w)", {"x=f32[1,6,6,6,7]", "w=f32[5,6,3,3,3]"}},
      {"conv_transpose1d", "y = conv_transpose1d(x, w, stride=2)", {"x=f32[2,32,20]", "w=f32[32,6,3]"}},
      {"conv_transpose2d", "y = conv_transpose2d(x, w, stride=2)", {"x=f32[1,32,6,6]", "w=f32[32,6,3,3]"}},
      {"conv_transpose3d", "y = conv_transpose3d(x, w)", {"x=f32[1,8,4,4,4]", "w=f32[8,4,3,3,3]"}},
      {"attention", "y = attention(q, k, v)", {"q=f32[2,2,20,32]", "k=f32[2,2,24,32]", "v=f32[2,2,24,16]"}},
      {"attention, causal", "y = attention(q, k, v, causal=true)",
       {"q=f32[1,3,24,32]", "k=f32[1,3,24,32]", "v=f32[1,3,24,16]"}},
      {"softmax", "y = softmax(x, axis=-1)", {"x=f32[20,300]"}},
      {"softmax of columns", "y = softmax(x, axis=0)", {"x=f32[300,20]"}},
      {"log-softmax", "y = log_softmax(x, axis=-1)", {"x=f32[20,300]"}},
      {"log-sum-exp", "y = logsumexp(x, axis=1)", {"x=f32[40,300]"}},
      {"layer norm", "y = layer_norm(x, w, b)", {"x=f32[20,500]", "w=f32[500]", "b=f32[500]"}},
      {"RMS norm", "y = rms_norm(x, w)", {"x=f32[20,500]", "w=f32[500]"}},
      {"batch norm", "y = batch_norm(x, w, b)", {"x=f32[16,8,20]", "w=f32[8]", "b=f32[8]"}},
      {"group norm", "y = group_norm(x, 4)", {"x=f32[4,16,60]"}},
      {"instance norm", "y = instance_norm(x)", {"x=f32[3,8,12,12]"}},
      {"L2 norm", "y = x / sqrt(sum(x * x, axis=-1, keepdims=true) + 1e-12)", {"x=f32[20,300]"}},
      {"Frobenius norm", "y = x / sqrt(sum(x * x) + 1e-12)", {"x=f32[40,50]"}},
      {"sum of rows", "y = sum(x, axis=1)", {"x=f32[30,2000]"}},
      {"mean of columns", "y = mean(x, axis=0)", {"x=f32[2000,30]"}},
      {"mean of outer axes", "y = mean(x, axis=[0, 2], keepdims=true)", {"x=f32[16,20,30]"}},
      {"sum of all", "y = sum(x)", {"x=f32[50,60]"}},
      {"variance", "y = var(x, axis=1)", {"x=f32[30,700]"}},
      {"standard deviation", "y = std(x, axis=0)", {"x=f32[700,30]"}},
      {"product of rows", "y = prod(x, axis=1)", {"x=f32[50,20]"}},
      {"root of sum of squares", "y = sqrt(sum(x * x, axis=1))", {"x=f32[30,500]"}},
      {"running sum", "y = cumsum(x, axis=1)", {"x=f32[16,400]"}},
      {"running sum, reverse", "y = cumsum(x, axis=0, reverse=true)", {"x=f32[400,16]"}},
      {"running sum, exclusive", "y = cumsum(x * w, axis=1, exclusive=true)", {"x=f32[16,300]", "w=f32[300]"}},
      {"running product", "y = cumprod(x, axis=1)", {"x=f32[20,24]"}},
      {"running log-sum-exp", "y = logcumsumexp(x, axis=1)", {"x=f32[20,100]"}},
      {"linear recurrence", "y = linear_scan(sigmoid(a), b, axis=1)", {"a=f32[16,300]", "b=f32[16,300]"}},
      {"linear recurrence, reverse", "y = linear_scan(tanh(a), b, axis=0, reverse=true)", {"a=f32[300,16]", "b=f32[300,16]"}},
      {"sum by index", "y = index_add(zeros([12, 20]), 0, argmax(w, axis=1), x)", {"x=f32[600,20]", "w=f32[600,12]"}},
      {"average pooling 1d", "y = avg_pool1d(x, 8, stride=4)", {"x=f32[4,8,200]"}},
      {"average pooling 2d", "y = avg_pool2d(x, 5, stride=2)", {"x=f32[2,4,30,30]"}},
      {"maximum pooling", "y = max_pool2d(x, 3, stride=2, padding=1)", {"x=f32[2,4,20,20]"}},
      {"mean squared error", "y = mse_loss(x, t)", {"x=f32[60,40]", "t=f32[60,40]"}},
      {"Huber loss", "y = huber_loss(x, t)", {"x=f32[60,40]", "t=f32[60,40]"}},
      {"hinge loss", "y = hinge_loss(x, t)", {"x=f32[60,40]", "t=f32[60,40]"}},
      {"cross entropy", "y = cross_entropy(x, argmax(w, axis=1))", {"x=f32[60,40]", "w=f32[60,40]"}},
      {"binary cross entropy", "y = bce_with_logits(x, sigmoid(t))", {"x=f32[60,40]", "t=f32[60,40]"}},
      {"KL divergence", "y = kl_div(log_softmax(x), softmax(t), reduction=\"batchmean\")",
       {"x=f32[30,40]", "t=f32[30,40]"}},
      {"cosine similarity", "y = cosine_similarity(x, t)", {"x=f32[40,200]", "t=f32[40,200]"}},
      {"triplet margin loss", "y = triplet_margin_loss(x, p, n)", {"x=f32[30,50]", "p=f32[30,50]", "n=f32[30,50]"}},
      {"embedding", "y = embedding(argmax(x, axis=1), w)", {"x=f32[30,20]", "w=f32[20,40]"}},
      {"maximum of rows", "y = max(x, axis=1)", {"x=f32[50,100]"}},
      {"sort", "y = sort(x, axis=1)", {"x=f32[20,60]"}},
      {"concatenation", "y = concat([x.T, w], axis=1)", {"x=f32[30,40]", "w=f32[40,20]"}},
      {"scale and shift", "y = x * w + b", {"x=f32[40,50]", "w=f32[50]", "b=f32[50]"}},
      {"gelu", "y = gelu(x)", {"x=f32[2000]"}},
      {"silu", "y = silu(x)", {"x=f32[2000]"}},
      {"sigmoid", "y = sigmoid(x)", {"x=f32[2000]"}},
      {"tanh", "y = tanh(x)", {"x=f32[2000]"}},
      {"softplus", "y = softplus(x)", {"x=f32[2000]"}},
      {"elu", "y = elu(x)", {"x=f32[2000]"}},
      {"exponential of a difference", "y = exp(-abs(x - t))", {"x=f32[2000]", "t=f32[2000]"}},
  };
  return all;
}

}  // namespace hone::evaluate::testing
