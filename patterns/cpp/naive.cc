/* hone
language = "c++"
pattern  = "naive"
note     = "plain loops, as one writes them first"
@requires@[[launch]]
kernel = "naive"
grid   = ["@rows@"]
args   = [@args@]
*/
// Plain loops: for every row the passes one after another, each a loop over the row; sums in double.
// The trusted opponent: simple enough to be believed, compiled -O3 as anybody would.
void naive(@parameters@, int64_t row) {
@body@}
