// A program to embed: see src/hone/base/embedded_test.cc.
int main() { return 0; }
