
# task: y = argmax(x, axis=-1) | x=f32[5,41] |
# expect: accepted
# library: rows
