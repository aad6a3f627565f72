
# task: y = layer_norm(x, w, b, eps=1e-5) | x=bf16[6,96] w=f32[96] b=f32[96] |
# expect: accepted
# library: rows
