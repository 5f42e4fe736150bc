/* Cases and matrices for tests of preconditioners. */
#include "support/precons.h"

#include "support/generated.h"

#include "operator/operator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a kind's name alone does not say. A kind that is not here is tried by its name. */
static const precons_case cases[] = {
    {.kind = "none", .why = "makes nothing"},
    {.kind = "inner", .why = "made by solvers"},
    {.kind = "gmg", .why = "made of operators on grids: tests/reference/gmg.c"},
    {.kind = "edges", .why = "made of edge elements: tests/reference/precon_edges.c"},
    {.kind = "strips", .why = "made of operators of waves: tests/reference/strips.c"},
    {.kind = "block-jacobi", .spec = "block-jacobi"},
    {.kind = "block-jacobi", .spec = "block-jacobi:block=5"},
    {.kind = "block-jacobi", .spec = "block-jacobi:block=32,adaptive=yes", .decides = true},
    {.kind = "poly", .spec = "poly"},
    {.kind = "poly", .spec = "poly:kind=neumann,degree=2"},
    {.kind = "poly", .spec = "poly:kind=chebyshev,degree=4,high=2", .definite = true},
    {.kind = "poly", .spec = "poly:kind=least-squares,degree=4", .definite = true},
    {.kind = "gs", .spec = "gs"},
    {.kind = "gs", .spec = "gs:order=natural"},
    {.kind = "sor", .spec = "sor:omega=0.9"},
    {.kind = "ssor", .spec = "ssor:omega=1.1"},
    {.kind = "direct", .spec = "direct"},
    {.kind = "direct", .spec = "direct:kind=dense", .dense = true},
    {.kind = "direct", .spec = "direct:kind=band", .host = true},
    {.kind = "direct", .spec = "direct:regular=yes", .dense = true},
    {.kind = "schwarz", .spec = "schwarz:parts=3"},
    {.kind = "schwarz", .spec = "schwarz:parts=2,sub=direct"},
    {.kind = "schwarz", .spec = "schwarz:parts=2,overlap=0,sub=gs"},
    {.kind = "schwarz", .spec = "schwarz:kind=as,overlap=0,parts=2,sub=[direct:kind=band]"},
    {.kind = "prepare", .spec = "prepare", .decides = true, .keeps = true},
    {.kind = "prepare", .spec = "prepare:order=btf,symmetric=no,sub=ilu", .keeps = true},
    {.kind = "prepare", .spec = "prepare:match=no,order=amd,scale=equilibrate,sub=gs"},
    {.kind = "prepare", .spec = "prepare:order=rcm,sub=[direct:kind=band]", .keeps = true},
    {.kind = "ilu", .spec = "ilu"},
    {.kind = "ilu", .spec = "ilu:level=1,order=multicolour"},
    {.kind = "ilu", .spec = "ilu:solve=sweeps,sweeps=3"},
    {.kind = "ilu", .spec = "ilu:solve=isai"},
    {.kind = "ilu", .spec = "ilu:construct=sweeps"},
    {.kind = "ic", .definite = true},
    {.kind = "ict", .definite = true, .decides = true},
    {.kind = "fsai", .definite = true},
    {.kind = "fsai",
     .spec = "fsai:tau=0,growth=3",
     .definite = true,
     .decides = true,
     .keeps = true},
    {.kind = "ilut", .decides = true},
    {.kind = "ilutp", .decides = true},
    {.kind = "ilutp", .spec = "ilutp:tau=0,fill=100,pivot=1,order=none", .decides = true},
    {.kind = "mlilu", .spec = "mlilu:size=4", .decides = true},
    {.kind = "mlilu", .spec = "mlilu:tau=0.05,size=2,levels=2,last=ilutp", .decides = true},
    {.kind = "kkt", .spec = "kkt:rows=5,sub=ilu", .decides = true},
    {.kind = "ildl", .spec = "ildl:definite=no", .definite = true, .decides = true},
    {.kind = "ildl", .spec = "ildl:definite=yes,order=rcm", .definite = true, .decides = true},
    {.kind = "spai", .decides = true, .keeps = true},
    {.kind = "isai"},
    {.kind = "sai", .decides = true},
    {.kind = "sai", .spec = "sai:side=left,power=2"},
    /* The host's aggregates on devices too, so that both are the same (else see precon_amg.c), and
     * all entries strong, so that new values leave them as they are. */
    {.kind = "amg",
     .spec = "amg:setup=host,coarse-size=12,theta=0",
     .definite = true,
     .decides = true},
    {.kind = "amg",
     .spec = "amg:smoother=hybrid-gs,coarse-size=12,theta=0",
     .definite = true,
     .decides = true,
     .host = true},
    {.kind = "amg-classical",
     .spec = "amg-classical:coarse-size=12,aggressive=0,theta=0,dominance=10,levels=2",
     .definite = true,
     .decides = true,
     .dense = true}, /* the second level has half of the rows, and a direct solve */
};
enum { CASES = sizeof cases / sizeof *cases };

const char *precons_spec(const precons_case *c)
{
    return c->spec ? c->spec : c->kind;
}

spry_operator *precons_make(const spry_matrix *A, const char *spec)
{
    spry_operator *M = NULL;
    assert_ok(A->ctx, spry_precon_new(A, NULL, spec, &M));
    assert_non_null(M);
    return M;
}

void precons_each(void (*test)(const precons_case *c, void *data), void *data)
{
    const char *only = getenv("SPRY_TEST_PRECON");
    spry_entry entry = SPRY_ENTRY_INIT;
    for (int i = 0; spry_list_at(SPRY_LIST_PRECONS, i, &entry); i++) {
        const char *name = entry.name;
        int found = 0;
        if (only && strcmp(only, name) != 0)
            continue;
        for (int k = 0; k < CASES; k++) {
            if (strcmp(cases[k].kind, name) != 0)
                continue;
            found++;
            if (!cases[k].why)
                test(&cases[k], data);
        }
        const precons_case plain = {.kind = name};
        if (found == 0)
            test(&plain, data);
    }
}

/* Multiplies entries by 2^(s_i + s_j), s rising from 0 to 3 with the rows, and those of complex
 * matrices by phases e^(i (row - col)): both keep hermitian ones so. */
static void dress(spry_matrix *A)
{
    const matrix_arrays *a = &A->a;
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
            const int64_t j = a->col_index[k];
            const double scale = ldexp(1, (int)(4 * i / a->rows + 4 * j / a->rows)),
                         angle = spry_type_is_complex(a->type) ? (double)(i - j) : 0;
            const spry_scalar v = value_get(a->type, a->values, k);
            value_set(a->type, a->values, k,
                      (spry_scalar){scale * (v.re * cos(angle) - v.im * sin(angle)),
                                    scale * (v.re * sin(angle) + v.im * cos(angle))});
        }
}

static spry_matrix *grid(spry_context *ctx, spry_type type, bool definite, int size)
{
    return definite ? generated_as(ctx, type, "poisson2d", "size=%d", size)
                    : generated_as(ctx, type, "convection-diffusion", "size=%d peclet=10", size);
}

/* The place of entry (i, i). */
static int64_t diagonal_of(const spry_matrix *A, int64_t i)
{
    for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++)
        if (A->a.col_index[k] == i)
            return k;
    fail_msg("row %d has no diagonal entry", (int)i);
    return 0;
}

static void multiply_entry(spry_matrix *A, int64_t k, double factor)
{
    const spry_scalar v = value_get(A->a.type, A->a.values, k);
    value_set(A->a.type, A->a.values, k, (spry_scalar){factor * v.re, factor * v.im});
}

spry_matrix *precons_matrix(spry_context *ctx, spry_type type, bool definite, int size)
{
    spry_matrix *A = grid(ctx, type, definite, size);
    for (int64_t i = 0; i < A->a.rows; i++)
        multiply_entry(A, diagonal_of(A, i), 1.125);
    dress(A);
    return A;
}

void precons_change(spry_matrix *A)
{
    for (int64_t i = 0; i < A->a.rows; i++)
        multiply_entry(A, diagonal_of(A, i), 1 + (double)(i % 5) / 8);
}

void precons_clear(spry_matrix *A, int64_t row)
{
    for (int64_t i = 0; i < A->a.rows; i++)
        for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++)
            if (i == row || A->a.col_index[k] == row)
                value_set(A->a.type, A->a.values, k, (spry_scalar){0, 0});
}

const char *const precons_fault_names[PRECONS_FAULTS] = {
    "singular", "empty row", "zero row", "zero diagonal", "indefinite", "NaN",
    "Inf",      "huge",      "tiny",     "one row",       "no row"};

/* Entries of a row and of the same column become 0, or go. */
static spry_matrix *clear_row(spry_context *ctx, spry_matrix *A, int64_t row, bool go)
{
    int64_t at = 0;
    for (int64_t i = 0, k = 0; i < A->a.rows; i++) {
        const int64_t end = A->a.offsets[i + 1];
        A->a.offsets[i] = at;
        for (; k < end; k++) {
            const bool hit = i == row || A->a.col_index[k] == row;
            if (hit && go)
                continue;
            const spry_scalar v = value_get(A->a.type, A->a.values, k);
            A->a.col_index[at] = A->a.col_index[k];
            value_set(A->a.type, A->a.values, at++, hit ? (spry_scalar){0, 0} : v);
        }
    }
    A->a.offsets[A->a.rows] = at;
    spry_matrix *B = NULL;
    assert_ok(ctx, spry_matrix_from_csr(ctx, A->a.type, A->a.rows, A->a.cols, A->a.offsets,
                                        A->a.col_index, A->a.values, SPRY_OWN_COPY, &B));
    spry_matrix_free(A);
    return B;
}

/* Makes every entry of the diagonal the sum of the others' moduli with the other sign. */
static void balance(spry_matrix *A)
{
    for (int64_t i = 0; i < A->a.rows; i++) {
        const int64_t d = diagonal_of(A, i);
        double sum = 0;
        for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++) {
            const spry_scalar v = value_get(A->a.type, A->a.values, k);
            sum += k == d ? 0 : fabs(v.re);
        }
        value_set(A->a.type, A->a.values, d, (spry_scalar){sum, 0});
    }
}

static void scale_all(spry_matrix *A, double factor)
{
    for (int64_t k = 0; k < A->a.nnz; k++)
        multiply_entry(A, k, factor);
}

spry_matrix *precons_faulty(spry_context *ctx, spry_type type, precons_fault fault)
{
    const bool single = type == SPRY_TYPE_S || type == SPRY_TYPE_C;
    const int size = fault == PRECONS_ONE ? 1 : 8;
    spry_matrix *A = grid(ctx, type, true, size);
    switch (fault) {
    case PRECONS_SINGULAR:
        balance(A);
        return A;
    case PRECONS_EMPTY_ROW:
    case PRECONS_ZERO_ROW:
        return clear_row(ctx, A, 20, fault == PRECONS_EMPTY_ROW);
    case PRECONS_NO_DIAGONAL:
        for (int64_t i = 9; i < 60; i += 17)
            multiply_entry(A, diagonal_of(A, i), 0);
        return A;
    case PRECONS_INDEFINITE:
        for (int64_t i = 0; i < 64; i += 3)
            multiply_entry(A, diagonal_of(A, i), -1);
        return A;
    case PRECONS_NAN:
    case PRECONS_INFINITE:
        support_put(A, 100,
                    (spry_scalar){fault == PRECONS_NAN ? (double)NAN : (double)INFINITY, 0});
        return A;
    case PRECONS_HUGE:
        scale_all(A, single ? 2e37 : 1e307);
        return A;
    case PRECONS_TINY:
        scale_all(A, single ? 1e-37 : 1e-306);
        return A;
    case PRECONS_NONE: {
        const int64_t offsets[1] = {0};
        spry_matrix_free(A);
        assert_ok(ctx,
                  spry_matrix_from_csr(ctx, type, 0, 0, offsets, NULL, NULL, SPRY_OWN_COPY, &A));
        return A;
    }
    default:
        return A;
    }
}
