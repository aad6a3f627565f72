
# task: y = exp(transpose(x)) + z | x=f32[33,20] z=f32[20,33] |
# expect: accepted
# library: map
