/* A system on ranks and the same one without them, and what comes out of both. */
#ifndef SPRY_TESTS_SYSTEMS_H
#define SPRY_TESTS_SYSTEMS_H

#include "mpi/ranks.h"

#include <spry/spry.h>
#include <stdio.h>
#include <string.h>

enum { GRAIN = 4096 }; /* 16,900 rows of size=130 are five, so that four ranks have some */

typedef struct system {
    spry_context *ctx, *alone;
    spry_matrix *whole, *A; /* without ranks and with */
    spry_vector *B, *b;
    vector_part rows, cols;
} system_t;

static inline void system_open(system_t *s, const char *options, const char *kind,
                               const char *matrix, ranks_way way, int64_t grain)
{
    int64_t starts[RANKS_MOST + 1];
    spry_matrix *W = NULL;
    s->ctx = ranks_context(options);
    s->alone = support_context(options);
    assert_ok(s->ctx, spry_generate(s->ctx, kind, matrix, &W));
    assert_ok(s->alone, spry_generate(s->alone, kind, matrix, &s->whole));
    ranks_starts(s->ctx, way, W->a.rows, grain, starts);
    assert_ok(s->ctx, dist_from_whole(W, starts, NULL, &s->A));
    s->rows = s->cols = (vector_part){true, starts[spry_context_rank(s->ctx)], W->a.rows};
    assert_ok(s->ctx, spry_vector_ones(s->ctx, s->A, &s->b));
    assert_ok(s->alone, spry_vector_ones(s->alone, s->whole, &s->B));
    for (int64_t i = 0; i < s->B->n; i++) /* something that no symmetry helps with */
        value_set(s->B->type, s->B->data, i, support_number(s->B->type, 5, (uint64_t)i));
    memcpy(s->b->data, (char *)s->B->data + (size_t)s->rows.first * spry_type_size(s->b->type),
           (size_t)s->b->n * spry_type_size(s->b->type));
    spry_matrix_free(W);
}

static inline void system_close(system_t *s)
{
    spry_vector_free(s->b);
    spry_vector_free(s->B);
    spry_matrix_free(s->A);
    spry_matrix_free(s->whole);
    support_context_free(s->ctx);
    support_context_free(s->alone);
}

/* Solves with ranks and without; results are the caller's to clear. */
static inline void solve_both(system_t *s, const char *options, spry_result *ranked,
                              spry_result *single, spry_vector **x, spry_vector **X)
{
    assert_ok(s->ctx, spry_vector_zeros(s->ctx, s->A, x));
    assert_ok(s->alone, spry_vector_zeros(s->alone, s->whole, X));
    assert_ok(s->ctx, spry_quick_solve(s->ctx, s->A, s->b, *x, options, ranked));
    assert_ok(s->alone, spry_quick_solve(s->alone, s->whole, s->B, *X, options, single));
}

static inline void free_both(system_t *s, spry_result *ranked, spry_result *single, spry_vector *x,
                             spry_vector *X)
{
    spry_vector_free(x);
    spry_vector_free(X);
    spry_result_clear(s->ctx, ranked);
    spry_result_clear(s->alone, single);
}

/* The same course and the same x, to the bit. */
static inline void same_bits(system_t *s, const char *options)
{
    spry_result ranked = SPRY_RESULT_INIT, single = SPRY_RESULT_INIT;
    spry_vector *x, *X;
    solve_both(s, options, &ranked, &single, &x, &X);
    if (ranked.iterations != single.iterations || ranked.reason != single.reason)
        fail_msg("%s: %s after %lld iterations (%s), without ranks %s after %lld", options,
                 spry_reason_name(ranked.reason), (long long)ranked.iterations, ranked.detail,
                 spry_reason_name(single.reason), (long long)single.iterations);
    for (int64_t k = 0; k <= ranked.iterations; k++)
        if (memcmp(&ranked.history[k], &single.history[k], sizeof *ranked.history) != 0)
            fail_msg("%s: residual %lld is %.17g, without ranks %.17g", options, (long long)k,
                     ranked.history[k], single.history[k]);
    const size_t size = spry_type_size(x->type);
    if (memcmp(x->data, (char *)X->data + (size_t)s->cols.first * size, (size_t)x->n * size) != 0)
        fail_msg("%s: x differs", options);
    assert_int_equal(ranked.rows, single.rows);
    assert_int_equal(ranked.nnz, single.nnz);
    assert_string_equal(ranked.method, single.method);
    assert_string_equal(ranked.precon, single.precon);
    if (!(fabs(ranked.true_residual - single.true_residual) <=
          1e-6 * single.true_residual + 1e-15) &&
        !(isnan(ranked.true_residual) && isnan(single.true_residual)))
        fail_msg("%s: true residual %.17g, without ranks %.17g", options, ranked.true_residual,
                 single.true_residual);
    free_both(s, &ranked, &single, x, X);
}

#endif
