/* hone
language = "cuda"
workspaces = { a = "f32[N]", b = "f32[N]", c = "f32[N]" }
[[launch]]
kernel = "absolute"
grid   = ["ceil_div(N, 1024)"]
block  = ["256"]
args   = ["x", "a", "i64:N"]
[[launch]]
kernel = "twice"
grid   = ["ceil_div(N, 1024)"]
block  = ["256"]
args   = ["a", "b", "i64:N"]
[[launch]]
kernel = "plus"
grid   = ["ceil_div(N, 1024)"]
block  = ["256"]
args   = ["b", "c", "i64:N"]
[[launch]]
kernel = "plain"
grid   = ["ceil_div(N, 1024)"]
block  = ["256"]
args   = ["c", "y", "i64:N"]
*/
// wrong: five element-wise steps, each through memory
// expect: passes over memory
__global__ void absolute(const float* p, float* q, long long N) {
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const long long i = blockIdx.x * 1024LL + j * 256 + threadIdx.x;
    if (i < N) q[i] = fabsf(p[i]);
  }
}
__global__ void twice(const float* p, float* q, long long N) {
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const long long i = blockIdx.x * 1024LL + j * 256 + threadIdx.x;
    if (i < N) q[i] = 2.0f * p[i];
  }
}
__global__ void plus(const float* p, float* q, long long N) {
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const long long i = blockIdx.x * 1024LL + j * 256 + threadIdx.x;
    if (i < N) q[i] = p[i] + 3.0f;
  }
}
__global__ void plain(const float* p, float* q, long long N) {
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const long long i = blockIdx.x * 1024LL + j * 256 + threadIdx.x;
    if (i < N) q[i] = p[i];
  }
}
