// The command line: `hone COMMAND …`. Results go to standard output, progress and errors to standard
// error. Exit status: 0 done, 1 the answer is no (not accepted, slower, nothing found), 2 the request
// is wrong, 3 something is missing on this machine or failed, 130 interrupted.
#pragma once

namespace hone::face {

int run_cli(int argc, char** argv);

}  // namespace hone::face
