
# task: y = matmul(a, b) | a=f32[3,18,20] b=f32[3,20,17] |
# expect: accepted
# library: product
