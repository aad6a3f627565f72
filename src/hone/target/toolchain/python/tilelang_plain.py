"""T.gemm as plain loops, for a lowering that hone's emulator can run: no matrix units, no assembly, whatever the types. Rows of a fragment
belong to the same threads whatever its width, so that what is reduced along rows fits between products (attention)."""
from tilelang import language as T
from tilelang.cuda.op.gemm.gemm_fma import GemmFMA
from tilelang.tileop.gemm import Gemm
from tilelang.transform.simplify import _Simplify
from tilelang.utils.language import is_fragment

INSTRUCTION = "cuda.fma"


def whole_rows(shape, threads):
    """Whether rows can be shared out: so many threads a row, or so many rows a thread."""
    rows = int(shape[0])
    return len(shape) == 2 and (threads % rows == 0 or rows % threads == 0)


def layout(buffer, threads):
    rows, columns = (int(extent) for extent in buffer.shape)
    if threads % rows == 0:
        share = threads // rows
        return T.Fragment(buffer.shape, forward_fn=lambda i, j: (i * share + j % share, j // share))
    return T.Fragment(buffer.shape, forward_fn=lambda i, j: (i % threads, i // threads * columns + j))


def steps(rows, threads, thread):
    """First row and step, first column and step, of what a thread has."""
    rows, threads = int(rows), int(threads)
    if threads % rows == 0: return thread // (threads // rows), rows, thread % (threads // rows), threads // rows
    return thread, threads, 0, 1


class PlainGemm(GemmFMA):
    def fragments(self):
        return [buffer for buffer in (self.A, self.B, self.C) if is_fragment(buffer)]

    def infer_layout(self, target, thread_nums):
        if not all(whole_rows(buffer.shape, int(thread_nums)) for buffer in self.fragments()): return super().infer_layout(target, thread_nums)
        return {buffer: layout(buffer, int(thread_nums)) for buffer in self.fragments()}

    def lower(self, layout_map, target, thread_bounds, thread_var, mbar_phase_expr=None):
        threads = thread_bounds.extent
        shapes = [buffer.shape for buffer in self.fragments()] + [(self.M, self.N)]
        if not all(whole_rows(shape, int(threads)) for shape in shapes): return super().lower(layout_map, target, thread_bounds, thread_var, mbar_phase_expr)
        M, N, K = self.M, self.N, self.K
        transposes = self.trans_A, self.trans_B
        clear, a_type, b_type, sum_type = self.clear_accum, self.a_dtype, self.b_dtype, self.accum_dtype
        stage_a, stage_b = is_fragment(self.A), is_fragment(self.B)
        (a, a_at, a_rows, a_columns), (b, b_at, b_rows, b_columns), (c, c_at, _, _) = (
            (region.buffer, [r.min for r in region.region], region.region[-2].extent, region.region[-1].extent) for region in (self.ARegion, self.BRegion, self.CRegion))

        def place(at, i, j): return tuple(at[:-2]) + (at[-2] + i, at[-1] + j)

        row, row_step, column, column_step = steps(M, threads, thread_var)
        a_row, a_row_step, a_column, a_column_step = steps(a_rows, threads, thread_var) if stage_a else (0, 1, 0, 1)
        b_row, b_row_step, b_column, b_column_step = steps(b_rows, threads, thread_var) if stage_b else (0, 1, 0, 1)

        @T.prim_func
        def _gemm_plain() -> None:
            total = T.alloc_local((1,), sum_type)
            if stage_a:
                a_shared = T.alloc_shared((a_rows, a_columns), a_type)
                for i in T.serial(a_row, a_rows, a_row_step):
                    for j in T.serial(a_column, a_columns, a_column_step):
                        a_shared[i, j] = a[place(a_at, i, j)]
            if stage_b:
                b_shared = T.alloc_shared((b_rows, b_columns), b_type)
                for i in T.serial(b_row, b_rows, b_row_step):
                    for j in T.serial(b_column, b_columns, b_column_step):
                        b_shared[i, j] = b[place(b_at, i, j)]
            if stage_a or stage_b: T.sync_threads()
            for i in T.serial(row, M, row_step):
                for j in T.serial(column, N, column_step):
                    if clear: total[0] = T.cast(0, sum_type)
                    else: total[0] = T.cast(c[place(c_at, i, j)], sum_type)
                    for k in T.serial(K):
                        left = place(a_at, k, i) if transposes[0] else place(a_at, i, k)
                        right = place(b_at, j, k) if transposes[1] else place(b_at, k, j)
                        if stage_a: left = (k, i) if transposes[0] else (i, k)
                        if stage_b: right = (j, k) if transposes[1] else (k, j)
                        total[0] += T.cast(a_shared[left] if stage_a else a[left], sum_type) * T.cast(b_shared[right] if stage_b else b[right], sum_type)
                    c[place(c_at, i, j)] = total[0]

        return _Simplify(_gemm_plain, inline_let=True)


def use():
    Gemm._select_gemm_instruction = lambda self, threads, target: INSTRUCTION
    Gemm._get_implementation_class = lambda self, instruction, target: PlainGemm
