
# task: y = sum(x * x, axis=0) | x=f32[50,37] |
# expect: accepted
# library: rows
