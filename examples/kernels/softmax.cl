/* hone
language = "opencl"
tunables = { ROWS = [4, 1, 16] }
note     = "a work item a row, in vectors of sixteen: what a CPU likes"

[[launch]]
kernel = "softmax"
grid   = ["ceil_div(B, ROWS)"]
block  = ["ROWS"]
args   = ["x", "y", "i64:B", "i64:D"]
*/

float max_of(float16 v) {
  const float8 a = fmax(v.lo, v.hi);
  const float4 b = fmax(a.lo, a.hi);
  const float2 c = fmax(b.lo, b.hi);
  return fmax(c.x, c.y);
}

float sum_of(float16 v) {
  const float8 a = v.lo + v.hi;
  const float4 b = a.lo + a.hi;
  const float2 c = b.lo + b.hi;
  return c.x + c.y;
}

__attribute__((reqd_work_group_size(ROWS, 1, 1)))
__kernel void softmax(__global const float* x, __global float* y, long B, long D) {
  const long row = get_global_id(0);
  if (row >= B) return;
  __global const float* in = x + row * D;
  __global float* out = y + row * D;
  const long whole = D / 16 * 16;

  float16 largest_of = -INFINITY;
  for (long j = 0; j < whole; j += 16) largest_of = fmax(largest_of, vload16(0, in + j));
  float largest = max_of(largest_of);
  for (long j = whole; j < D; ++j) largest = fmax(largest, in[j]);

  float16 total_of = 0;
  float total = 0;
  for (long j = 0; j < whole; j += 16) {
    const float16 e = exp(vload16(0, in + j) - largest);
    vstore16(e, 0, out + j);
    total_of += e;
  }
  for (long j = whole; j < D; ++j) total += out[j] = exp(in[j] - largest);

  const float scale = 1 / (total + sum_of(total_of));
  for (long j = 0; j < whole; j += 16) vstore16(vload16(0, out + j) * scale, 0, out + j);
  for (long j = whole; j < D; ++j) out[j] *= scale;
}
