
# task: y = cumsum(x, axis=-1) | x=f32[4,77] |
# expect: accepted
# library: rows
