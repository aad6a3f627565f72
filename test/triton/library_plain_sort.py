
# task: y = sort(x, axis=-1) | x=f32[3,11] |
# expect: accepted
# library: plain
