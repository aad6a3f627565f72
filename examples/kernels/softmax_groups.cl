/* hone
language = "opencl"
tunables = { ITEMS = [64, 16, 32, 128, 256] }
note     = "a work group a row: each item folds a strided share, then the group combines"

[[launch]]
kernel = "softmax"
grid   = ["B"]
block  = ["ITEMS"]
args   = ["x", "y", "i64:D"]
*/

// Folds `values` of the group to one, which every item gets.
#define COMBINE(values, op)                                                        \
  barrier(CLK_LOCAL_MEM_FENCE);                                                    \
  for (int half_of = ITEMS / 2; half_of > 0; half_of /= 2) {                       \
    if (item < half_of) values[item] = op(values[item], values[item + half_of]);   \
    barrier(CLK_LOCAL_MEM_FENCE);                                                  \
  }

float plus(float a, float b) { return a + b; }

__attribute__((reqd_work_group_size(ITEMS, 1, 1)))
__kernel void softmax(__global const float* x, __global float* y, long D) {
  __local float shares[ITEMS];
  const int item = get_local_id(0);
  __global const float* in = x + get_group_id(0) * D;
  __global float* out = y + get_group_id(0) * D;

  float largest = -INFINITY;
  for (long j = item; j < D; j += ITEMS) largest = fmax(largest, in[j]);
  shares[item] = largest;
  COMBINE(shares, fmax)
  largest = shares[0];
  barrier(CLK_LOCAL_MEM_FENCE);

  float total = 0;
  for (long j = item; j < D; j += ITEMS) total += exp(in[j] - largest);
  shares[item] = total;
  COMBINE(shares, plus)

  const float scale = 1 / shares[0];
  for (long j = item; j < D; j += ITEMS) out[j] = exp(in[j] - largest) * scale;
}
