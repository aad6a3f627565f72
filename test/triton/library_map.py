
# task: y = gelu(x) * s + b | x=bf16[7,70] s=f32[] b=f32[70] |
# expect: accepted
# library: map
