
# task: y = softmax(x, axis=-1) | x=f32[9,70] |
# expect: accepted
# library: rows
