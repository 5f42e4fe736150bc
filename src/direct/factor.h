/*
 * Exact solves: a matrix is factored once, dense, in a band or sparse, and op(A) z = r is solved
 * for as many r as there are. Sparse ones are ours (direct/frontal.h), or cuDSS's on a CUDA device
 * that has it; LAPACK does dense ones and
 * bands where it exists (library.h), and our own elimination where it does not.
 */
#ifndef SPRY_DIRECT_FACTOR_H
#define SPRY_DIRECT_FACTOR_H

#include "base/stop.h"
#include "direct/forecast.h"
#include "direct/kernels.h"
#include "direct/norm.h"
#include "matrix/entries.h"
#include "operator/operator.h"

typedef struct factor factor;

/* One way to do it. Matrices are square, general CSR, sorted, with finite numbers. */
typedef struct factor_class {
    const char *name;
    /* What follows from the pattern; `fill` computes factors, also again with other values. That a
     * matrix is singular is SPRY_STATUS_BAD_INPUT with a message. */
    spry_status (*open)(factor *f, const spry_matrix *A);
    spry_status (*fill)(factor *f, const spry_matrix *A);
    /* z_k = op(A)^-1 z_k for `count` columns; for one it allocates nothing of the context's, so
     * that any thread can call it */
    spry_status (*solve)(const factor *f, spry_transpose transpose, int count, void *const *z);
    /* What filling it will take, after `open`; fails where that is more than is allowed. */
    spry_status (*estimate)(factor *f, const spry_matrix *A, precon_forecast *forecast);
    bool again;               /* f->strict and f->coarse make a difference */
    bool balances;            /* f->balanced does */
    void (*close)(factor *f); /* also after a failure */
} factor_class;

struct factor {
    spry_context *ctx;
    const factor_class *class;
    spry_device *device; /* that factors may be made on; NULL: the host */
    spry_type type;
    int64_t n;
    bool regular;    /* a singular matrix gets a generalized inverse: dense and sparse ones */
    double most;     /* seconds that factors may be forecast to take; 0: as many as it needs */
    double forecast; /* seconds that they were forecast to take; 0: they were not */
    double roundoff; /* of the type */
    bool strict;     /* pivots are to be the largest numbers there are */
    bool coarse;     /* larger numbers are taken as 0 */
    bool balanced;   /* rows and columns are scaled (algebra_balance) */
    int64_t bytes;   /* that a solve reads */
    int64_t rank;    /* as far as it was found out: n, or less for a regular one */
    /* rows and columns of sparse ones without a pivot, n - rank each; NULL: not known */
    const int32_t *null_rows, *null_cols;
    const char *by;   /* what did it: "LAPACK" */
    double condition; /* |A^-1|_1 as estimated from below, rows and columns being equilibrated; the
                         class may find it (0: it has not) */
    void *state;
};

extern const factor_class factor_dense, factor_band, factor_sparse, factor_suitesparse,
    factor_cudss;

/* Factors A, for a device or none; *f is cleared when it fails. factor_open() alone is what
 * comes before its values; factor_fill() gives it new ones, and finds out whether the matrix is
 * singular as far as its arithmetic shows. */
spry_status factor_open(const factor_class *class, const spry_matrix *A, bool regular, double most,
                        spry_device *device, factor *f);
spry_status factor_make(const factor_class *class, const spry_matrix *A, bool regular, double most,
                        spry_device *device, factor *f);
spry_status factor_fill(factor *f, const spry_matrix *A);
void factor_clear(factor *f);
/* Whether |A^-1 s|_1, A being equilibrated and s random signs, which have about 1/sqrt(n) of what
 * grows most in them, is far enough from singular for no more to be asked: it is n times the mean
 * growth. */
static inline bool factor_is_clear(const factor *f, double growth)
{
    return growth * f->roundoff < 1e-3;
}
/* The diagonals below and above the main one when rows and columns are in the order `inverse`,
 * old place to new; NULL: as they are. */
void factor_band_of(const spry_matrix *A, const int32_t *inverse, int64_t *low, int64_t *high);
/* Of factor_cudss: whether there is a library for that device (NULL: no), and z = op(A)^-1 r of
 * two vectors on it. */
bool factor_cudss_is_available(spry_context *ctx, const spry_device *d);
spry_status factor_cudss_apply(const factor *f, spry_transpose transpose,
                               const struct device_memory *r, struct device_memory *z);
/* The inverse of a dense one, row by row; the caller frees it. */
spry_status factor_invert(const factor *f, void **dense);

/* LAPACK, where it is installed: factors as the kernels dense_factor and band_factor make them.
 * *bad is the first column without a pivot, n when there is none. False: there is no LAPACK. The
 * dense one leaves the rest out once the context is to stop. */
bool lapack_dense_factor(spry_context *ctx, spry_type type, int64_t n, void *a, int32_t *rows,
                         int64_t *bad);
bool lapack_band_factor(spry_context *ctx, spry_type type, const band_factors *f, int64_t *bad);

/* What the libraries for sparse matrices get: A's rows, which for them are the columns of A^T, in
 * double precision. */
typedef struct sparse_job {
    spry_context *ctx;
    bool is_complex; /* then numbers are pairs */
    int64_t n, nnz;
    int64_t *offsets, *rows;
    double *values;
    double *right, *work; /* n numbers each: r, which is lost, and z */
} sparse_job;
/* Conjugates n numbers; of real ones nothing happens. */
void sparse_conjugate(const sparse_job *job, double *numbers);
typedef struct sparse_library {
    /* NULL: it was not there at the build, and there are no functions. */
    struct factor_library *library;
    spry_status (*open)(sparse_job *job, void **state);
    /* *fits is false where the matrix is not for this one, and then there is no message */
    spry_status (*fill)(sparse_job *job, void *state, bool *fits);
    spry_status (*solve)(const sparse_job *job, void *state, spry_transpose transpose);
    void (*close)(sparse_job *job, void *state);         /* takes NULL */
    double (*bytes)(const sparse_job *job, void *state); /* of all it has */
} sparse_library;
extern const sparse_library sparse_cholmod, sparse_umfpack;
/* The failure of a step of a library: no memory, where others are to be tried, or its number. */
spry_status sparse_failed(const sparse_job *job, const sparse_library *by, const char *step,
                          bool no_memory, const char *others, int number);

#endif
