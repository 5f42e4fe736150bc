/*
 * Blocks of vectors: inner products of all of one with all of another, and sums of all of one that
 * are added to another. Each number that is read from the first cache takes part in several
 * products, whose sums stay in registers: tiles of TILE vectors by TILE vectors, over panels of
 * rows that are short enough for both blocks to be in that cache.
 *
 * Flops are 2 n for each pair of vectors; memory is read once for all pairs. The order of additions
 * to a number does not depend on how many vectors there are.
 */
#include "program/blocks.h"
#include "host/kernels/kernel.h"

BLOCK_KERNELS(KERNEL_DECLARE)

enum { TILE = 4, PANEL = 128 };

static inline int64_t at_most(int64_t n, int64_t most)
{
    return n < most ? n : most;
}

#if KERNEL_COMPLEX

/* Pair by pair: complex products have work enough for each number. */
void X(gram)(int64_t n, gram_kind kind, int rows, int cols, const void *const *x,
             const void *const *y, spry_scalar *sums)
{
    for (int64_t begin = 0; begin < n; begin += PANEL) {
        const int64_t length = at_most(n - begin, PANEL);
        for (int j = 0; j < cols; j++)
            for (int i = kind == GRAM_HERMITIAN ? j : 0; i < rows; i++) {
                const scalar *left = (const scalar *)x[i] + begin, *right = y[j];
                right += begin;
                const spry_scalar sum = kind == GRAM_PLAIN ? X(dot_plain)(length, left, right)
                                                           : X(dot)(length, left, right);
                sums[j * rows + i].re += sum.re;
                sums[j * rows + i].im += sum.im;
                if (kind == GRAM_HERMITIAN && i > j) {
                    sums[i * rows + j].re += sum.re;
                    sums[i * rows + j].im -= sum.im;
                }
            }
    }
}

void X(mix)(int64_t n, int terms, int count, const spry_scalar *const *c, const void *const *v,
            void *const *y)
{
    for (int64_t begin = 0; begin < n; begin += PANEL) {
        const int64_t length = at_most(n - begin, PANEL);
        for (int j = 0; j < count; j++)
            for (int first = 0; first < terms; first += TILE) {
                const int some = (int)at_most(terms - first, TILE);
                scalar *out = (scalar *)y[j] + begin;
                const void *list[TILE + 1] = {out};
                spry_scalar by[TILE + 1] = {{1, 0}};
                for (int t = 0; t < some; t++) {
                    list[t + 1] = (const scalar *)v[first + t] + begin;
                    by[t + 1] = c[j][first + t];
                }
                X(combine)(length, some + 1, by, list, out);
            }
    }
}

#else

#if defined(__AVX512F__)
enum { BYTES = 64, VECTORS = 2 };
#elif defined(__AVX__)
enum { BYTES = 32, VECTORS = 2 };
#elif defined(__aarch64__)
enum { BYTES = 16, VECTORS = 4 };
#else
enum { BYTES = 16, VECTORS = 2 };
#endif
enum { LANES = BYTES / sizeof(real), STEP = VECTORS * LANES, WIDE = BYTES / sizeof(double) };
_Static_assert(PANEL % STEP == 0 && PANEL % WIDE == 0, "panels are whole steps");

typedef real lanes __attribute__((vector_size(BYTES)));
typedef real lanes_at __attribute__((vector_size(BYTES), aligned(sizeof(real)), may_alias));
typedef double wide __attribute__((vector_size(BYTES)));
typedef real narrow_at
    __attribute__((vector_size(WIDE * sizeof(real)), aligned(sizeof(real)), may_alias));

/* Sums are of double precision, as those of single inner products are. */
ALWAYS_INLINE wide load_wide(const real *at)
{
    return __builtin_convertvector(*(const narrow_at *)at, wide);
}

static void gram_tile(int64_t n, const real *const *x, const real *const *y,
                      double sums[TILE][TILE])
{
    wide sum[TILE][TILE] = {{{0}}};
    int64_t k = 0;
    for (; k + WIDE <= n; k += WIDE) {
        wide left[TILE], right[TILE];
        for (int i = 0; i < TILE; i++)
            left[i] = load_wide(x[i] + k);
        for (int j = 0; j < TILE; j++)
            right[j] = load_wide(y[j] + k);
        for (int j = 0; j < TILE; j++)
            for (int i = 0; i < TILE; i++)
                sum[j][i] += left[i] * right[j];
    }
    for (int j = 0; j < TILE; j++)
        for (int i = 0; i < TILE; i++) {
            double all = 0;
            for (int l = 0; l < WIDE; l++)
                all += sum[j][i][l];
            for (int64_t m = k; m < n; m++)
                all += (double)x[i][m] * (double)y[j][m];
            sums[j][i] = all;
        }
}

/* Adds a tile to its entries; of a hermitian matrix also on the other side. */
static void add_tile(bool mirrored, int rows, int cols, int i, int j, double tile[TILE][TILE],
                     spry_scalar *sums)
{
    for (int q = 0; q < TILE && j + q < cols; q++)
        for (int p = 0; p < TILE && i + p < rows; p++) {
            sums[(j + q) * rows + i + p].re += tile[q][p];
            if (mirrored && i > j)
                sums[(i + p) * rows + j + q].re += tile[q][p];
        }
}

/* Tiles at the edge of a block do the work of whole ones with vectors repeated: they are few. */
void X(gram)(int64_t n, gram_kind kind, int rows, int cols, const void *const *x,
             const void *const *y, spry_scalar *sums)
{
    const bool mirrored = kind == GRAM_HERMITIAN;
    for (int64_t begin = 0; begin < n; begin += PANEL)
        for (int j = 0; j < cols; j += TILE)
            for (int i = mirrored ? j : 0; i < rows; i += TILE) {
                const real *left[TILE], *right[TILE];
                double tile[TILE][TILE];
                for (int k = 0; k < TILE; k++) {
                    left[k] = (const real *)x[i + k < rows ? i + k : i] + begin;
                    right[k] = (const real *)y[j + k < cols ? j + k : j] + begin;
                }
                gram_tile(at_most(n - begin, PANEL), left, right, tile);
                add_tile(mirrored, rows, cols, i, j, tile, sums);
            }
}

/* `count` is a constant where this is called. y_j += sum of the terms' c_jt v_t, in their order. */
ALWAYS_INLINE void mix_tile(int64_t n, int count, int terms, real c[PANEL][TILE],
                            const real *const *v, real *const *y)
{
    int64_t k = 0;
    for (; k + STEP <= n; k += STEP) {
        lanes sum[TILE][VECTORS];
        for (int j = 0; j < count; j++)
            for (int q = 0; q < VECTORS; q++)
                sum[j][q] = *(const lanes_at *)(y[j] + k + q * LANES);
        for (int t = 0; t < terms; t++) {
            lanes x[VECTORS];
            for (int q = 0; q < VECTORS; q++)
                x[q] = *(const lanes_at *)(v[t] + k + q * LANES);
            for (int j = 0; j < count; j++)
                for (int q = 0; q < VECTORS; q++)
                    sum[j][q] += c[t][j] * x[q];
        }
        for (int j = 0; j < count; j++)
            for (int q = 0; q < VECTORS; q++)
                *(lanes_at *)(y[j] + k + q * LANES) = sum[j][q];
    }
    for (; k < n; k++)
        for (int j = 0; j < count; j++) {
            real sum = y[j][k];
            for (int t = 0; t < terms; t++)
                sum += c[t][j] * v[t][k];
            y[j][k] = sum;
        }
}

/* A tile's sums from up to PANEL vectors, panel by panel. */
static void mix_some(int64_t n, int terms, int count, const spry_scalar *const *c,
                     const void *const *v, void *const *y, int64_t begin)
{
    real by[PANEL][TILE];
    const real *from[PANEL];
    real *to[TILE];
    int used = 0;
    for (int t = 0; t < terms; t++) { /* triangular factors leave out some */
        bool any = false;
        for (int j = 0; j < count; j++) {
            by[used][j] = (real)c[j][t].re;
            any = any || by[used][j] != 0;
        }
        from[used] = (const real *)v[t] + begin;
        used += any;
    }
    for (int j = 0; j < count; j++)
        to[j] = (real *)y[j] + begin;
    switch (count) {
    case 1:
        mix_tile(n, 1, used, by, from, to);
        break;
    case 2:
        mix_tile(n, 2, used, by, from, to);
        break;
    case 3:
        mix_tile(n, 3, used, by, from, to);
        break;
    default:
        mix_tile(n, TILE, used, by, from, to);
        break;
    }
}

void X(mix)(int64_t n, int terms, int count, const spry_scalar *const *c, const void *const *v,
            void *const *y)
{
    for (int first = 0; first < terms; first += PANEL)
        for (int64_t begin = 0; begin < n; begin += PANEL)
            for (int j = 0; j < count; j += TILE) {
                const spry_scalar *by[TILE];
                const int some = (int)at_most(count - j, TILE);
                for (int k = 0; k < some; k++)
                    by[k] = c[j + k] + first;
                mix_some(at_most(n - begin, PANEL), (int)at_most(terms - first, PANEL), some, by,
                         v + first, y + j, begin);
            }
}

#endif

#define ENTRY(result, name, arguments) .name = X(name),
extern const block_kernels X(blocks_table);
const block_kernels X(blocks_table) = {BLOCK_KERNELS(ENTRY)};
