
# task: y = attention(q, k, v, causal=true) | q=bf16[2,40,16] k=bf16[2,40,16] v=bf16[2,40,16] |
# expect: accepted
# library: attention
