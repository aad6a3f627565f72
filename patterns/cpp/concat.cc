/* hone
language = "c++"
pattern  = "concat"
note     = "@note@"
@requires@tunables = { @tunables@ }
@launches@*/
// Concat: every piece of the result is made in its place, all operations in one loop: what is joined is never stored
// on its own. Pieces of equal rows share a launch, and so what they read; a block takes ROWS rows, CHUNK elements wide.
//
// When it pays: always where a concatenation feeds element-wise work or the result: rotary embeddings, caches that grow.
//   ROWS    rows a block: fewer spread better, more cost less hand-off
//   CHUNK   elements a block of a row
//   UNROLL  vectors in flight
//   STREAM  store past the caches: right when the output is larger than they are
using hone::f32v;
using hone::f64v;
using hone::i32v;
using hone::i64v;

constexpr int AHEAD = 0;
@functions@
