#include "hone/face/cli/cli.h"

int main(int argc, char** argv) { return hone::face::run_cli(argc, argv); }
