// Instructions that no kernel needs are refused, whatever they are spelled like; what compilers make of arithmetic is not.
#include "hone/target/toolchain/assembly_check.h"

#include <gtest/gtest.h>

namespace hone::target {
namespace {

#if defined(__x86_64__)

TEST(AssemblyCheck, InstructionsThatAskOrCallAreRefused) {
  for (const char* line : {"\tsyscall\n", "\trdtsc\n", "\trdtscp\n", "\trdrand\t%eax\n", "\trdrandl\t%eax\n", "\trdseedq\t%rax\n", "\tint\t$128\n", "\trdgsbase\t%rax\n",
                           "\twrgsbaseq\t%rax\n", "\tmovq\t%gs:8, %rax\n", "\trep xsave64\t(%rdi)\n", "\tpopfq\n", "\tcpuid\n", "\tlsl\t%eax, %eax\n"})
    EXPECT_NE(refuse_instructions(std::string("f:\n\tmovl\t%eax, %ebx\n") + line + "\tret\n"), "") << line;
  EXPECT_NE(refuse_instructions("\trdtsc\n").find("asks for the time"), std::string::npos);
}

TEST(AssemblyCheck, ArithmeticIsNot) {
  EXPECT_EQ(refuse_instructions("rdtsc:\n.LC0:\n\t.string\t\"syscall\"\n\t.section\t.text.rdtsc\n\tvfmadd231ps\t(%rax), %zmm1, %zmm2\n\tshlx\t%rax, %rbx, %rcx\n"
                                "\tinc\t%eax\n\tincl\t%eax\n\tint3\n\tud2\n\tmovq\t%fs:0, %rax\n\trep stosq\n\tlock xaddl\t%eax, (%rdi)\n\tfldcw\t(%rsp)\n\tstmxcsr\t4(%rsp)\n"
                                "\tvpsllq\t$3, %zmm0, %zmm1\n\tcall\tsyscall_counter@PLT\n\tstd_function:\n"),
            "");
}

#endif

}  // namespace
}  // namespace hone::target
