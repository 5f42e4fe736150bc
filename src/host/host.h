/*
 * Host kernels: compiled once a scalar type and ISA level from src/host/kernels, reached by table.
 * One list gives the table's members, so that a missing instance fails to link.
 */
#ifndef SPRY_HOST_H
#define SPRY_HOST_H

#include "base/base.h"

/* Vectors are packed side by side in one pack or two of HOST_PACK real numbers. */
enum { HOST_PACK = 4, HOST_MOST_PACKS = 2 };

/* The arrays of a general CSR matrix, as kernels see them. */
typedef struct host_csr {
    const int64_t *offsets;
    const int32_t *columns;
    const void *values;
} host_csr;

/* y = alpha A x + beta y, or conj(A) in A's place; beta = 0 does not read y. */
typedef struct host_product {
    bool conjugate;
    spry_scalar alpha, beta;
    const void *x;
    void *y;
    int64_t first; /* the row that y_0 is */
    void *carry;   /* sums for rows of other units, alpha times already: see layout.h */
} host_product;

/* The same for several x and y at once. */
typedef struct host_columns {
    bool conjugate;
    spry_scalar alpha, beta;
    const void *x;    /* row j of all x side by side: `packs` of HOST_PACK real numbers at */
    int64_t x_stride; /* x + j x_stride, counted in real numbers */
    bool scattered;   /* rows of x are taken from anywhere: worth fetching ahead */
    int packs;        /* 1 or 2 */
    int count;        /* of y; the numbers of x from count on are stored but not used */
    void *const *y;   /* row i of y_c is at y_c + (i - first) y_stride, counted in scalars */
    int64_t y_stride, first;
    bool together; /* y_0, y_1, ... are stored side by side and fill the packs */
    void *carry;   /* carry place k is `packs` of HOST_PACK real numbers at k packs HOST_PACK */
    void *room;    /* this thread's room of the layout, placed like carry */
} host_columns;

/* Factors of a step: see the kernel `step`. */
typedef struct host_step {
    double alpha, beta, gamma, delta;
} host_step;

/*
 * Rows of a stencil by classes of points: rows of a class are sums of the same numbers around them.
 * A group is c_0 u[o_0] + c_1 u[o_1] + ... times up to three fields, each at a place counted from
 * the row's, and a number of the row's place along the line. A line has low + 1 + high classes: one
 * for each row at its ends, one for all between.
 */
typedef struct host_stencil_group {
    int32_t field[3]; /* -1: none */
    int32_t along;    /* the array of numbers along a line; -1: none */
    bool is_real;     /* all of its coefficients are */
    int64_t at[3];
    int64_t first, count; /* of offsets and coefficients */
} host_stencil_group;
typedef struct host_stencil {
    const int64_t *start; /* of the groups of each class, and their end */
    const host_stencil_group *groups;
    const int64_t *offsets;
    const void *coefficients;
    const void *const *fields;
    const void *const *along;   /* of `columns` numbers each */
    int64_t columns, low, high; /* rows of a line, and those at its ends */
    int64_t points;             /* of a line, in fields */
} host_stencil;
/* A line: its first class, where its row 0 is in fields, and u at its row 0. The products of
 * `count` lines can be made together, where each has these classes and follows the one before. */
typedef struct host_line {
    int64_t class, place, count;
    const void *u;
    bool conjugate;
} host_line;
/*
 * Factors of tridiagonal systems side by side, `width` of them with `count` rows each. Row j of all
 * systems is at j stride. Of every `step`th from `first` on the solution is wanted. Where the ends
 * of systems are coupled, the last number is solved for apart: `round` is what it does to the
 * others, and behind that its inverse pivot.
 */
typedef struct host_lines {
    int64_t count, width, stride, first, step;
    const void *lower, *inverse, *upper, *round; /* round: NULL where ends are not coupled */
} host_lines;

struct product_job;
struct product_table;

/* clang-format off */
/*
 * item(result, name, arguments). Arrays are of the table's scalar type. Kernels work on the range
 * they are given with the thread that calls them; who calls them cuts the work, and so that the
 * cuts do not show in the results.
 *
 * combine        out_i = c_0 v_0i + c_1 v_1i + ..., in this order; out may be the same array as a v
 * multiply       z_i = x_i y_i; z may be the same array as x or y, here and below
 * multiply_conj  z_i = conj(x_i) y_i
 * divide         z_i = x_i / y_i
 * random         x_i in (-1, 1) from seed and first + i alone; re and im each of complex types
 * dot            sum conj(x_i) y_i
 * dot_plain      sum x_i y_i
 * squares        sum |scale x_i|^2
 * largest        max |re x_i|, |im x_i|; without regard to NaN
 * sum            sum of all real numbers in x, read as `streams` streams side by side
 * csr_rows       y = a (A x) + b y for rows begin..end-1, y_0 being row begin; b = 0 does not read
 *                y; conjugate: conj(A)
 * csr_rows_packed  the same rows for several columns, with the bits of csr_rows
 * pack           number c of row i of the packed array, of `packs` packs per row, is x_c[i stride];
 *                0 for c from count on
 * carry_add      y_c[i y_stride] += number c of row i of a packed array with `width` scalars per row
 * csr_sum        sum values_k x[columns_k] over n entries; conjugate: conj(values_k)
 * step           y_i = f_i (alpha s_i + beta b_i) + gamma x_i + delta y_i; what has a factor of 0,
 *                or is NULL (f: ones), is not read; y may be b or s
 * csr_product    rows begin..end-1 of a product of matrices, whose offsets are known: see product.h
 * stencil        y = a (A u) + b z for rows begin..end-1 of a line of a stencil, y_0 and z_0 being
 *                row begin; b = 0 does not read z, which may be y; all rows where the line is
 *                several together, whose y and z follow each other, too
 * relax          every other row of a line from row `first` on: u += omega (b - A u) / a_ii; `begins`:
 *                for u = 0, and all other rows of the line become 0
 * coarsen        coarse_j = fine_(k-1) / 4 + fine_k / 2 + fine_(k+1) / 4 with k = 2 j + first, for n
 *                of them
 * refine         fine_k += coarse_j with 2 j = k + first, and between them the mean of two, for n fine
 *                ones; first is 0 or 1
 * lines          x += omega T^-1 r for tridiagonal systems side by side, whose row j of r is at
 *                j width: r_j = inverse_j (r_j - lower_j r_(j-1)), then r_j -= upper_j r_(j+1)
 */
#define HOST_KERNELS(item) \
    item(void,           fill,             (int64_t n, spry_scalar a, void *x)) \
    item(void,           axpy,             (int64_t n, spry_scalar a, const void *x, void *y)) \
    item(void,           xpay,             (int64_t n, const void *x, spry_scalar b, void *y)) \
    item(void,           scale,            (int64_t n, spry_scalar a, void *x)) \
    item(void,           combine,          (int64_t n, int terms, const spry_scalar *c, \
                                           const void *const *v, void *out)) \
    item(void,           multiply,         (int64_t n, const void *x, const void *y, void *z)) \
    item(void,           multiply_conj,    (int64_t n, const void *x, const void *y, void *z)) \
    item(void,           divide,           (int64_t n, const void *x, const void *y, void *z)) \
    item(void,           random,           (int64_t n, uint64_t seed, int64_t first, void *x)) \
    item(void,           triad,            (int64_t n, spry_scalar a, const void *x, \
                                           const void *y, void *z)) \
    item(spry_scalar,    dot,              (int64_t n, const void *x, const void *y)) \
    item(spry_scalar,    dot_plain,        (int64_t n, const void *x, const void *y)) \
    item(double,         squares,          (int64_t n, double scale, const void *x)) \
    item(double,         largest,          (int64_t n, const void *x)) \
    item(double,         sum,              (int64_t n, int streams, const void *x)) \
    item(void,           csr_rows,         (const host_csr *A, int64_t begin, int64_t end, \
                                           bool conjugate, spry_scalar a, const void *x, \
                                           spry_scalar b, void *y)) \
    item(void,           csr_rows_packed,  (const host_csr *A, int64_t begin, int64_t end, \
                                           const host_columns *p)) \
    item(void,           pack,             (int64_t n, int packs, int count, \
                                           const void *const *x, int64_t stride, void *packed)) \
    item(void,           carry_add,        (int64_t n, int64_t width, const void *carry, \
                                           int count, void *const *y, int64_t y_stride)) \
    item(spry_scalar,    csr_sum,          (int64_t n, const int32_t *columns, \
                                           const void *values, bool conjugate, const void *x)) \
    item(double,         csr_sizes,        (const host_csr *A, int64_t begin, int64_t end, \
                                           double *columns)) \
    item(void,           step,             (int64_t n, const host_step *factors, const void *s, \
                                           const void *f, const void *b, const void *x, void *y)) \
    item(void,           csr_product,      (const struct product_job *p, int64_t begin, \
                                           int64_t end, const struct product_table *t)) \
    item(void,           stencil,          (const host_stencil *s, const host_line *line, \
                                           int64_t begin, int64_t end, spry_scalar a, \
                                           spry_scalar b, const void *z, void *y)) \
    item(void,           relax,            (const host_stencil *s, const host_line *line, \
                                           int64_t first, bool begins, double omega, \
                                           const void *b, void *u)) \
    item(void,           coarsen,          (int64_t n, int64_t first, const void *fine, \
                                           void *coarse)) \
    item(void,           refine,           (int64_t n, int64_t first, const void *coarse, \
                                           void *fine)) \
    item(void,           lines,            (const host_lines *l, double omega, void *r, void *x))
/* clang-format on */

#define HOST_KERNEL_MEMBER(result, name, arguments) result(*name) arguments;
typedef struct host_kernels {
    HOST_KERNELS(HOST_KERNEL_MEMBER)
} host_kernels;

/* The kernels of a type for the context's ISA level. */
const host_kernels *host_kernels_for(const spry_context *ctx, spry_type type);

/* Whether rows of a CSR matrix take x from places that the rows before hardly predict, and x is
 * too long for the caches: then what several columns need is worth fetching ahead. */
bool host_scattered(int64_t rows, int64_t cols, const int64_t *offsets, const int32_t *columns);

/* Threads worth waking for n numbers: one where a parallel region costs more than it saves. */
int host_threads(const spry_context *ctx, int64_t n);

/* y = a x + b y, with all threads; b = 0 does not read y. */
void host_blend(const spry_context *ctx, spry_type type, int64_t n, spry_scalar a, const void *x,
                spry_scalar b, void *y);

/* Fills what spry_device_describe() reports of the host. */
void host_describe(const spry_context *ctx, spry_device_info *info);
/* What main memory can do, as measured before, or measured again. */
spry_status host_bandwidth(spry_context *ctx, bool again, spry_bandwidth *bandwidth);
/* The processor's name in the text of /proc/cpuinfo; "" when there is none. */
void host_processor_name(const char *cpuinfo, char *name, size_t size);
/* Of the machine at hand; not spry_device_describe(), which looks at every core. */
void host_this_processor(char *name, size_t size);
/* Bytes of the last-level caches of all processors together; 0 when unknown. */
int64_t host_cache_bytes(void);

#endif
