// task: y = -x | x=f32[N] | N=100
// expect: wrong
// What a launch is made of is no macro of the source, nor are the words of the call.
/* hone
language = "cuda"
[[launch]]
kernel = "nothing"
grid   = ["1"]
block  = ["32"]
args   = ["x", "y", "i32:N"]
*/
__global__ void nothing(const float* x, float* y, int N) {}
static inline void on_the_host(const float* x, float* y, long long n) {
  for (long long i = 0; i < n; ++i) y[i] = -x[i];
}
#define hone_simt_launch(context, a, n, dims, grid, call) on_the_host((const float*)a[0], (float*)a[1], (long long)a[2])
#define nothing(a, b, c) on_the_host(a, b, c)
