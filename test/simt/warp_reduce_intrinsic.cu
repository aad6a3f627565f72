/* hone
language = "cuda"
note     = "__reduce_max_sync of ordered bits"
[[launch]]
kernel = "k"
grid   = ["B"]
block  = ["32"]
args   = ["x", "y", "i64:D"]
*/
// task: y = max(x, axis=-1) | x=f32[B,D] | B=5,D=300
// expect: accepted
__device__ unsigned key(float v) { const unsigned u = __float_as_uint(v); return u >> 31 ? ~u : u | 0x80000000u; }
__device__ float value(unsigned k) { return __uint_as_float(k >> 31 ? k & 0x7fffffffu : ~k); }
__global__ void k(const float* x, float* y, long long D) {
  unsigned most = 0;
  for (long long j = threadIdx.x; j < D; j += 32) most = max(most, key(x[blockIdx.x * D + j]));
  most = __reduce_max_sync(0xffffffff, most);
  if (threadIdx.x == 0) y[blockIdx.x] = value(most);
}
