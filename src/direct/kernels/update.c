/*
 * The rest of a front after a panel of pivots, C -= L X: small tiles of C, which stay in registers,
 * from slices of L and X that stay in the first cache. K. Goto, R. A. van de Geijn, Anatomy of
 * high-performance matrix multiplication, ACM Trans. Math. Softw. 34 (2008), 12. Each number of C
 * gets its products in the order of the pivots, wherever tiles begin.
 */
#include "direct/kernels/kernel.h"

#if defined(__AVX512F__)
enum { LANE_BYTES = 64, LANES_REAL = 3, LANES_COMPLEX = 2 };
#elif defined(__AVX__)
enum { LANE_BYTES = 32, LANES_REAL = 2, LANES_COMPLEX = 1 };
#elif defined(__aarch64__)
enum { LANE_BYTES = 16, LANES_REAL = 4, LANES_COMPLEX = 2 };
#else
enum { LANE_BYTES = 16, LANES_REAL = 2, LANES_COMPLEX = 1 };
#endif
enum {
    PLANES = KERNEL_COMPLEX ? 2 : 1,
    PARTS = KERNEL_COMPLEX ? LANES_COMPLEX : LANES_REAL,
    LANE = LANE_BYTES / sizeof(real),
    TILE_ROWS = PARTS * LANE,
    TILE_COLS = 4
};
_Static_assert(TILE_ROWS <= 64, "front_packed_size() has room for a tile more");
_Static_assert(FRONT_CHUNK % TILE_COLS == 0, "chunks are whole tiles");
_Static_assert(FRONT_ROWS % TILE_ROWS == 0, "rows that are packed together are, too");

typedef real lanes __attribute__((vector_size(LANE_BYTES), may_alias, aligned(sizeof(real))));

/* X: row t of the panel at t FRONT_CHUNK, imaginary parts in a plane of their own. */
typedef struct chunk {
    real x[PLANES][FRONT_PANEL * FRONT_CHUNK];
} chunk;

#if KERNEL_COMPLEX
static inline real part_of(scalar a, int plane)
{
    return plane ? a.im : a.re;
}
#else
static inline real part_of(scalar a, int plane)
{
    (void)plane;
    return a;
}
#endif

void X(front_pack)(const front *f, int64_t begin, int64_t end)
{
    const int64_t depth = f->done - f->begin;
    real *to = (real *)f->packed + (begin - f->done) * depth * PLANES;
    for (int64_t i = begin; i < end; i += TILE_ROWS)
        for (int64_t t = 0; t < depth; t++) {
            const scalar *l = (const scalar *)f->a + (f->begin + t) * f->order + i;
            for (int plane = 0; plane < PLANES; plane++)
                for (int64_t k = 0; k < TILE_ROWS; k++)
                    *to++ = i + k < end ? part_of(l[k], plane) : 0;
        }
}

/* Sums of a tile, column by column; planes one after the other. */
typedef struct tile {
    lanes sum[PLANES][TILE_COLS][PARTS];
} tile;

ALWAYS_INLINE void multiply_tile(int64_t depth, const real *a, const chunk *x, int64_t j, tile *out)
{
    lanes sum[PLANES][TILE_COLS][PARTS];
    memset(sum, 0, sizeof sum);
    for (int64_t t = 0; t < depth; t++) {
        const lanes *l = (const lanes *)(a + t * TILE_ROWS * PLANES);
        const real *row = x->x[0] + t * FRONT_CHUNK + j;
#pragma GCC unroll 4
        for (int c = 0; c < TILE_COLS; c++)
#pragma GCC unroll 4
            for (int h = 0; h < PARTS; h++) {
#if KERNEL_COMPLEX
                /* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): the caller filled it */
                const real im = x->x[1][t * FRONT_CHUNK + j + c];
                sum[0][c][h] += l[h] * row[c];
                sum[0][c][h] -= l[PARTS + h] * im;
                sum[1][c][h] += l[h] * im;
                sum[1][c][h] += l[PARTS + h] * row[c];
#else
                sum[0][c][h] += l[h] * row[c];
#endif
            }
    }
    memcpy(out->sum, sum, sizeof sum);
}

static void subtract_tile(const tile *t, int64_t rows, int64_t cols, scalar *c, int64_t step)
{
    for (int64_t j = 0; j < cols; j++) {
        const real *re = (const real *)t->sum[0][j];
#if KERNEL_COMPLEX
        const real *im = (const real *)t->sum[1][j];
        for (int64_t i = 0; i < rows; i++)
            c[j * step + i] = sub(c[j * step + i], (scalar){re[i], im[i]});
#else
        for (int64_t i = 0; i < rows; i++)
            c[j * step + i] -= re[i];
#endif
    }
}

static void put_number(chunk *x, int64_t at, scalar v)
{
    for (int plane = 0; plane < PLANES; plane++)
        x->x[plane][at] = part_of(v, plane);
}

/* Columns c..c+n-1 of X; up to a whole tile they are 0 beyond. */
static void load_chunk(const front *f, int64_t c, int64_t n, int64_t wide, chunk *x)
{
    const int64_t depth = f->done - f->begin;
    const scalar *from = f->symmetric ? (const scalar *)f->mirror + c
                                      : (const scalar *)f->a + c * f->order + f->begin;
    const int64_t row_step = f->symmetric ? f->order : 1, col_step = f->symmetric ? 1 : f->order;
    for (int64_t t = 0; t < depth; t++)
        for (int64_t j = 0; j < wide; j++)
            put_number(x, t * FRONT_CHUNK + j,
                       j < n ? from[t * row_step + j * col_step] : number(0));
}

/* X = L11^-1 X, of general ones: rows of U. */
static void solve_chunk(const front *f, int64_t wide, chunk *x)
{
    const int64_t depth = f->done - f->begin;
    for (int64_t t = 0; t < depth; t++) {
        const scalar *l = (const scalar *)f->a + (f->begin + t) * f->order + f->begin;
        const real *re = x->x[0] + t * FRONT_CHUNK;
        for (int64_t s = t + 1; s < depth; s++) {
            real *to = x->x[0] + s * FRONT_CHUNK;
#if KERNEL_COMPLEX
            const real *im = x->x[1] + t * FRONT_CHUNK;
            real *to_im = x->x[1] + s * FRONT_CHUNK;
            for (int64_t j = 0; j < wide; j++) {
                to[j] = fused(-l[s].re, re[j], fused(l[s].im, im[j], to[j]));
                to_im[j] = fused(-l[s].re, im[j], fused(-l[s].im, re[j], to_im[j]));
            }
#else
            for (int64_t j = 0; j < wide; j++)
                to[j] -= l[s] * re[j];
#endif
        }
    }
}

static void store_chunk(const front *f, int64_t c, int64_t n, const chunk *x)
{
    const int64_t depth = f->done - f->begin;
    for (int64_t j = 0; j < n; j++) {
        scalar *to = (scalar *)f->a + (c + j) * f->order + f->begin;
        for (int64_t t = 0; t < depth; t++)
#if KERNEL_COMPLEX
            to[t] = (scalar){x->x[0][t * FRONT_CHUNK + j], x->x[1][t * FRONT_CHUNK + j]};
#else
            to[t] = x->x[0][t * FRONT_CHUNK + j];
#endif
    }
}

void X(front_update)(const front *f, int64_t begin, int64_t end)
{
    const int64_t depth = f->done - f->begin, n = f->order;
    chunk x;
    tile t;
    for (int64_t c = begin; c < end; c += FRONT_CHUNK) {
        const int64_t cols = end - c < FRONT_CHUNK ? end - c : FRONT_CHUNK;
        const int64_t wide = (cols + TILE_COLS - 1) / TILE_COLS * TILE_COLS;
        load_chunk(f, c, cols, wide, &x);
        if (!f->symmetric) {
            solve_chunk(f, wide, &x);
            store_chunk(f, c, cols, &x);
        }
        const int64_t skip = f->symmetric ? (c - f->done) / TILE_ROWS * TILE_ROWS : 0;
        for (int64_t i = f->done + skip; i < n; i += TILE_ROWS) {
            const real *a = (const real *)f->packed + (i - f->done) * depth * PLANES;
            const int64_t rows = n - i < TILE_ROWS ? n - i : TILE_ROWS;
            for (int64_t j = 0; j < cols; j += TILE_COLS) {
                multiply_tile(depth, a, &x, j, &t);
                subtract_tile(&t, rows, cols - j < TILE_COLS ? cols - j : TILE_COLS,
                              (scalar *)f->a + (c + j) * n + i, n);
            }
        }
    }
}
