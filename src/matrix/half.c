/* Mirror images, and parts of rows: see half.h. */
#include "matrix/half.h"

#include "matrix/entries.h"

/* What a matrix may be, and whether its bits are right for it as well. */
enum { SAME = 1, CONJUGATE = 2, OPPOSITE = 4, EVERY = 7, BITS = 3 /* further left */ };

/* Rows in blocks, few enough to go through them often. */
typedef struct blocks {
    int64_t rows, count;
    int64_t *lower; /* entries below the diagonal */
    int64_t *first; /* first column of them all; the block's first row where there is none */
} blocks;

int64_t half_lower(const matrix_arrays *A, int64_t i)
{
    const int64_t begin = A->offsets[i];
    return matrix_first_index(A->col_index, begin, A->offsets[i + 1], i) - begin;
}

/* The place of column j in row i, or -1. In rows of regular matrices it is where `guess` says. */
static int64_t find_entry(const matrix_arrays *A, int64_t i, int64_t j, int64_t guess)
{
    if (guess >= A->offsets[i] && guess < A->offsets[i + 1] && A->col_index[guess] == j)
        return guess;
    return matrix_find(A, i, j);
}

static uint64_t bits_of(double a)
{
    uint64_t bits;
    memcpy(&bits, &a, sizeof bits);
    return bits;
}

static bool same_bits(double a, double b)
{
    return bits_of(a) == bits_of(b);
}

/* What v, below the diagonal, and its mirror image m can be halves of. */
static unsigned compare(spry_type type, spry_scalar v, spry_scalar m)
{
    const bool complex = spry_type_is_complex(type);
    const bool re = v.re == m.re, im = v.im == m.im;
    const bool minus_re = v.re == -m.re, minus_im = v.im == -m.im;
    const bool re_bits = same_bits(v.re, m.re), im_bits = same_bits(v.im, m.im);
    const bool minus_re_bits = same_bits(v.re, -m.re);
    const bool minus_im_bits = !complex || same_bits(v.im, -m.im);
    const unsigned values = (re && im ? SAME : 0u) | (complex && re && minus_im ? CONJUGATE : 0u) |
                            (minus_re && minus_im ? OPPOSITE : 0u);
    const unsigned bits = (re_bits && im_bits ? SAME : 0u) |
                          (re_bits && minus_im_bits ? CONJUGATE : 0u) |
                          (minus_re_bits && minus_im_bits ? OPPOSITE : 0u);
    return values | bits << BITS;
}

static unsigned compare_diagonal(spry_scalar v)
{
    return SAME | (v.im == 0 ? CONJUGATE : 0u) | (v.re == 0 && v.im == 0 ? OPPOSITE : 0u) |
           EVERY << BITS;
}

/* What the parallel pass over all rows finds. */
typedef struct findings {
    unsigned can;
    int64_t lower, diagonal, reach, odd; /* odd: an entry without a mirror image */
} findings;

static void look_at_row(const matrix_arrays *A, int64_t i, findings *f, int64_t *lower,
                        int64_t *first)
{
    const int64_t begin = A->offsets[i], end = A->offsets[i + 1];
    int64_t k = begin;
    for (; k < end && A->col_index[k] < i; k++) {
        const int64_t j = A->col_index[k];
        const int64_t m = find_entry(A, j, i, A->offsets[j + 1] - 1 - (k - begin));
        unsigned can = 0;
        if (m >= 0)
            can = compare(A->type, value_load(A->type, A->values, k),
                          value_load(A->type, A->values, m));
        f->can &= can;
        if (!(can & EVERY) && k < f->odd)
            f->odd = k;
    }
    if (k > begin) {
        *lower += k - begin;
        *first = A->col_index[begin] < *first ? A->col_index[begin] : *first;
        f->reach = i - A->col_index[begin] > f->reach ? i - A->col_index[begin] : f->reach;
    }
    if (k < end && A->col_index[k] == i) {
        f->diagonal++;
        f->can &= compare_diagonal(value_load(A->type, A->values, k));
    }
}

/* Some rows of a large matrix first: most that are no halves show it in these, and
 * mirror images that are far away take long to find. */
static findings look_at_some(const matrix_arrays *A)
{
    enum { SOME = 64, LARGE = 4096 };
    findings f = {EVERY | EVERY << BITS, 0, 0, 0, INT64_MAX};
    int64_t lower = 0, first = 0;
    for (int64_t i = A->rows / SOME; A->rows >= LARGE && i < A->rows; i += A->rows / SOME)
        look_at_row(A, i, &f, &lower, &first);
    return f;
}

static findings look(const spry_context *ctx, const matrix_arrays *A, const blocks *b)
{
    const findings some = look_at_some(A);
    if (some.odd < INT64_MAX)
        return some;
    unsigned can = EVERY | EVERY << BITS;
    int64_t lower = 0, diagonal = 0, reach = 0, odd = INT64_MAX;
#pragma omp parallel for num_threads(matrix_parts(ctx, A->nnz + A->rows)) schedule(dynamic, 16) \
    reduction(& : can) reduction(+ : lower, diagonal) reduction(max : reach) reduction(min : odd)
    for (int64_t block = 0; block < b->count; block++) {
        const int64_t begin = block * b->rows;
        const int64_t end = begin + b->rows < A->rows ? begin + b->rows : A->rows;
        findings f = {EVERY | EVERY << BITS, 0, 0, 0, INT64_MAX};
        b->lower[block] = 0;
        b->first[block] = begin;
        for (int64_t i = begin; i < end; i++)
            look_at_row(A, i, &f, &b->lower[block], &b->first[block]);
        can &= f.can;
        lower += b->lower[block];
        diagonal += f.diagonal;
        reach = f.reach > reach ? f.reach : reach;
        odd = f.odd < odd ? f.odd : odd;
    }
    return (findings){can, lower, diagonal, reach, odd};
}

static spry_status judge(spry_context *ctx, const matrix_arrays *A, const findings *f,
                         half_cut *half)
{
    static const char cure[] = "half of it does not determine the rest; take another format";
    if (f->odd < INT64_MAX)
        return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                         "row %" PRId64 ", column %d (from 0) has no mirror image that is the "
                         "same, its conjugate or its opposite: %s",
                         matrix_major_of(A, f->odd), A->col_index[f->odd], cure);
    if (2 * f->lower + f->diagonal != A->nnz)
        return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                         "there are %" PRId64 " entries below the diagonal and %" PRId64
                         " above: %s",
                         f->lower, A->nnz - f->lower - f->diagonal, cure);
    if (!(f->can & EVERY))
        return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                         "some mirror images are the same, others conjugate or opposite, or the "
                         "diagonal does not fit them: %s",
                         cure);
    const unsigned is = f->can & SAME ? SAME : f->can & CONJUGATE ? CONJUGATE : OPPOSITE;
    half->symmetry = is == SAME        ? SPRY_SYMMETRY_SYMMETRIC
                     : is == CONJUGATE ? SPRY_SYMMETRY_HERMITIAN
                                       : SPRY_SYMMETRY_SKEW;
    half->exact = f->can & is << BITS;
    half->lower = f->lower;
    half->reach = f->reach;
    return SPRY_STATUS_OK;
}

/* Cuts into `parts` parts of about the same work, and returns the rows of all windows. */
static int64_t cut(const matrix_arrays *A, const blocks *b, int64_t parts, half_cut *half)
{
    enum { ROW_WEIGHT = 3 }; /* entries that a row by itself costs */
    const double all = (double)(half->lower + ROW_WEIGHT * A->rows);
    int64_t block = 0, before = 0, windows = 0;
    half->parts = parts;
    for (int64_t p = 0; p < parts; p++) {
        const double until = all * (double)(p + 1) / (double)parts;
        int64_t first = INT64_MAX;
        half->rows[p] = block * b->rows < A->rows ? block * b->rows : A->rows;
        for (; block < b->count && ((double)before < until || p == parts - 1); block++) {
            before += b->lower[block] + ROW_WEIGHT * b->rows;
            first = b->first[block] < first ? b->first[block] : first;
        }
        half->above[p] = first < half->rows[p] ? first : half->rows[p];
        windows += half->rows[p] - half->above[p];
    }
    half->rows[parts] = A->rows;
    return windows;
}

/* Whether windows stay small: below a sixth of the rows, since rows that use them take longer,
 * and what they cost (set to zero, added to, read, and added to y) below a tenth of all traffic. */
static bool cut_well(const matrix_arrays *A, const blocks *b, int64_t bytes, int64_t parts,
                     half_cut *half)
{
    const int64_t size = (int64_t)spry_type_size(A->type);
    const int64_t windows = cut(A, b, parts, half);
    const int64_t traffic = half->lower * bytes + A->rows * 4 * size;
    return windows <= A->rows / 6 && windows * 4 * size <= traffic / 10;
}

/* As many parts as keep a good number of threads busy while their windows stay small. */
static void choose_parts(const matrix_arrays *A, const blocks *b, int64_t bytes, half_cut *half)
{
    enum { MOST = 256, ENOUGH = 8, LEAST = 4, LEAST_WORK = 4096 };
    int64_t parts = MOST;
    while (parts > 1 && (half->lower + A->rows) / parts < LEAST_WORK)
        parts /= 2;
    while (!cut_well(A, b, bytes, parts, half) && parts > ENOUGH)
        parts /= 2;
    if (parts == ENOUGH && !cut_well(A, b, bytes, parts, half))
        cut(A, b, LEAST, half);
}

spry_status half_find(spry_context *ctx, const matrix_arrays *A, int64_t parts, int64_t bytes,
                      half_cut *half)
{
    enum { MOST_BLOCKS = 1 << 16, MOST_PARTS = 256 };
    blocks b = {.rows = A->rows / MOST_BLOCKS + 1};
    const int64_t room = (parts > MOST_PARTS ? parts : MOST_PARTS) + 1;
    spry_status status = SPRY_STATUS_OK;
    *half = (half_cut){.symmetry = SPRY_SYMMETRY_GENERAL};
    if (A->rows != A->cols)
        return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                         "A is %" PRId64 " x %" PRId64 ": only square matrices have two halves",
                         A->rows, A->cols);
    b.count = (A->rows + b.rows - 1) / b.rows;
    SPRY_GO(ctx, base_alloc(ctx, b.count, sizeof *b.lower, &b.lower));
    SPRY_GO(ctx, base_alloc(ctx, b.count, sizeof *b.first, &b.first));
    SPRY_GO(ctx, base_alloc(ctx, room, sizeof *half->rows, &half->rows));
    SPRY_GO(ctx, base_alloc(ctx, room, sizeof *half->above, &half->above));
    const findings f = look(ctx, A, &b);
    SPRY_GO(ctx, judge(ctx, A, &f, half));
    if (parts > 0)
        cut(A, &b, parts, half);
    else
        choose_parts(A, &b, bytes, half);
done:
    base_free(ctx, b.lower);
    base_free(ctx, b.first);
    if (status != SPRY_STATUS_OK)
        half_clear(ctx, half);
    return status;
}

void half_clear(spry_context *ctx, half_cut *half)
{
    base_free(ctx, half->rows);
    base_free(ctx, half->above);
    *half = (half_cut){.symmetry = SPRY_SYMMETRY_GENERAL};
}
