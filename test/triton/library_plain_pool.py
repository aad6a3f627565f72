
# task: y = max_pool2d(x, 3, stride=2, padding=1) | x=f32[2,3,9,9] |
# expect: accepted
# library: plain
