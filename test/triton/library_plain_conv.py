
# task: y = conv2d(x, w, stride=2, padding=1) | x=f32[2,3,7,7] w=f32[4,3,3,3] |
# expect: accepted
# library: plain
