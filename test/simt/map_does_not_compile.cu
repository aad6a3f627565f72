/* hone
language = "cuda"
note     = "a name that nobody declared"
[[launch]]
kernel = "k"
grid   = ["ceil_div(N, 128)"]
block  = ["128"]
args   = ["x", "y", "i64:N"]
*/
// task: y = 2 * x | x=f32[N] | N=1000
// expect: does not compile: 
__global__ void k(const float* x, float* y, long long N) { y[0] = nothing_of_this_name(x[0]); }
