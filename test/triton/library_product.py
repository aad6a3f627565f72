
# task: y = relu(matmul(a, b) + c) | a=bf16[40,50] b=bf16[50,33] c=bf16[33] |
# expect: accepted
# library: product
