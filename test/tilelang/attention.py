# task: o = softmax(q @ transpose(k, (0, 2, 1)) * 0.25, axis=2) @ v | q=bf16[2,40,16] k=bf16[2,70,16] v=bf16[2,70,16] |
# expect: accepted
"""hone
language = "tilelang"

[[launch]]
kernel = "k"
args   = ["q", "k", "v", "o"]
"""
import tilelang
import tilelang.language as T


def k():
    @T.prim_func
    def main(Q: T.Tensor((2, 40, 16), "bfloat16"), K: T.Tensor((2, 70, 16), "bfloat16"), V: T.Tensor((2, 70, 16), "bfloat16"), O: T.Tensor((2, 40, 16), "bfloat16")):
        with T.Kernel(2, 2, threads=128) as (bx, bh):
            q = T.alloc_shared((32, 16), "bfloat16")
            kk = T.alloc_shared((32, 16), "bfloat16")
            vv = T.alloc_shared((32, 16), "bfloat16")
            p = T.alloc_shared((32, 32), "bfloat16")
            s = T.alloc_fragment((32, 32), "float32")
            acc = T.alloc_fragment((32, 16), "float32")
            m = T.alloc_fragment((32,), "float32")
            old = T.alloc_fragment((32,), "float32")
            scale = T.alloc_fragment((32,), "float32")
            part = T.alloc_fragment((32,), "float32")
            total = T.alloc_fragment((32,), "float32")
            T.copy(Q[bh, bx * 32:(bx + 1) * 32, :], q)
            T.clear(acc)
            T.clear(total)
            T.fill(m, -1e30)
            for jb in T.serial(3):
                T.copy(K[bh, jb * 32:(jb + 1) * 32, :], kk)
                T.copy(V[bh, jb * 32:(jb + 1) * 32, :], vv)
                for i, j in T.Parallel(32, 32):
                    s[i, j] = T.if_then_else(jb * 32 + j < 70, T.float32(0), -T.infinity("float32"))
                T.gemm(q, kk, s, transpose_B=True)
                T.copy(m, old)
                T.reduce_max(s, m, dim=1, clear=False)
                for i in T.Parallel(32):
                    scale[i] = T.exp((old[i] - m[i]) * 0.25)
                for i, j in T.Parallel(32, 32):
                    s[i, j] = T.exp((s[i, j] - m[i]) * 0.25)
                T.reduce_sum(s, part, dim=1)
                for i in T.Parallel(32):
                    total[i] = total[i] * scale[i] + part[i]
                T.copy(s, p)
                for i, d in T.Parallel(32, 16):
                    acc[i, d] = acc[i, d] * scale[i]
                T.gemm(p, vv, acc)
            for i, d in T.Parallel(32, 16):
                acc[i, d] = acc[i, d] / total[i]
            T.copy(acc, O[bh, bx * 32:(bx + 1) * 32, :])
    return main
