/*
 * Methods on small real matrices, with the iterations they took when this was written: b = 1, x =
 * 0, tol = 1e-8. A change of a method shows here.
 *
 * Other processors round differently. Recorded are the methods whose count changed by no more than
 * one or a hundredth when every number of b, or of A, was changed by up to two units in its last
 * place, when nothing was fused, and with other compilers and optimisations; others go their own
 * way after some steps (products of polynomials on hard matrices). The margin is twice that: two
 * iterations or a fiftieth.
 */
#include "support/support.h"

#include "matrix/matrix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct record {
    const char *matrix, *precon; /* methods that are built on a preconditioner have theirs */
    const char *counts;
} record;

static const record records[] = {
    /* symmetric positive definite */
    {"nos6", "jacobi",
     "cg 103 cg-cg 103 fcg 103 cr 103 minres 106 symmlq 103 cocg 103 cocr 103 qmrsym 106 "
     "bicg 103 qmr 103 bicgstabl 37"},
    {"494_bus", "jacobi",
     "cg 409 cg-cg 409 fcg 410 cr 410 minres 409 symmlq 409 cocg 409 cocr 410 qmrsym 409 "
     "bicg 409 qmr 409"},
    {"nos5", "jacobi",
     "cg 257 cg-cg 257 pipecg 260 fcg 257 cr 253 minres 253 symmlq 257 cocg 257 cocr 253 "
     "qmrsym 254 bicg 257 qmr 254 cgs 206 chebyshev 671"},
    {"gr_30_30", "jacobi",
     "cg 40 cg-cg 40 pipecg 40 fcg 40 cr 40 minres 40 symmlq 40 cocg 40 cocr 40 qmrsym 40 "
     "bicg 40 qmr 40 cgs 31 tfqmr 31 bicgstab 28 bicgstabl 14 pipebicgstab 28 gpbicg 27 "
     "gmres 44 fgmres 44 lgmres 44 gcr 44 idr 46 sor 406 chebyshev 204"},
    {"bcsstk22", "jacobi",
     "cg 124 cg-cg 124 pipecg 124 fcg 124 cr 124 minres 124 symmlq 124 cocg 124 cocr 124 "
     "qmrsym 124 bicg 124 qmr 124 lgmres 569 chebyshev 716"},
    {"Trefethen_2000", "jacobi",
     "cg 10 cg-cg 10 pipecg 10 fcg 10 cr 10 minres 10 symmlq 10 bicg 10 qmr 10 cgs 7 tfqmr 7 "
     "bicgstab 7 bicgstabl 3 gpbicg 7 gmres 10 idr 11 jacobi 106 gs 12"},
    {"crystm01", "jacobi", "cg 40 cg-cg 40 fcg 40 cr 40 symmlq 40 cgs 33 bicgstab 29 gpbicg 24"},
    {"lund_b", "jacobi",
     "cg 76 cg-cg 76 pipecg 77 fcg 76 cr 76 minres 76 symmlq 76 cocr 76 qmrsym 76 qmr 76 "
     "cgs 49 tfqmr 49 bicgstabl 23 gmres 94 fgmres 94 lgmres 102 gcr 94 gs 453 sor 146 "
     "ssor 466 chebyshev 177"},
    {"mesh2e1", "jacobi",
     "cg 89 cg-cg 89 pipecg 89 fcg 89 cr 87 minres 87 symmlq 89 cocg 89 cocr 87 qmrsym 87 "
     "bicg 89 qmr 87 cgs 49 tfqmr 50 bicgstabl 26 gpbicg 52 gmres 94 fgmres 94 lgmres 97 "
     "gcr 94 idr 102 jacobi 1076 gs 438 sor 143 ssor 443 chebyshev 153"},
    /* hermitian positive definite, complex */
    {"mhd1280b", "jacobi",
     "cg 72 cg-cg 72 pipecg 72 fcg 72 cr 71 minres 71 symmlq 72 qmr 71 cgs 48 tfqmr 48 "
     "sor 91"},
    /* symmetric indefinite */
    {"Si2", "jacobi",
     "cr 80 minres 80 symmlq 80 cocg 80 cocr 80 qmrsym 80 bicgstabl 28 gpbicg 54 gmres 165 "
     "fgmres 165 lgmres 156 gcr 165 idr 92"},
    /* unsymmetric */
    {"sherman4", "jacobi",
     "bicg 100 qmr 98 bicgstab 65 bicgstabl 33 pipebicgstab 65 gmres 221 fgmres 221 "
     "lgmres 205 gcr 221 idr 117"},
    {"fs_760_1", "jacobi",
     "bicg 3 qmr 3 cgs 3 tfqmr 3 bicgstab 2 bicgstabl 1 pipebicgstab 2 gpbicg 2 gmres 3 "
     "fgmres 3 lgmres 3 gcr 3 idr 3 jacobi 3"},
    {"pde900", "jacobi", "bicgstabl 37 gpbicg 74 gmres 187 fgmres 187 gcr 187 idr 127 jacobi 478"},
    {"cage8", "jacobi",
     "bicg 16 qmr 16 cgs 9 tfqmr 9 bicgstab 9 bicgstabl 5 pipebicgstab 9 gpbicg 9 gmres 15 "
     "fgmres 15 lgmres 15 gcr 15 idr 17 jacobi 508"},
    {"bfwa62", "jacobi",
     "bicg 47 qmr 47 bicgstab 35 bicgstabl 18 pipebicgstab 35 gmres 105 fgmres 105 "
     "lgmres 116 gcr 105 idr 52"},
    {"recirc_flow", "jacobi", "qmr 58 bicgstab 53 pipebicgstab 53 lgmres 300"},
    {"fuego1", "jacobi", "cgs 64 tfqmr 63 gpbicg 57 gmres 112 fgmres 112 lgmres 116"},
    {"add20", "jacobi", "gmres 249 lgmres 222"},
    /* complex, the second symmetric */
    {"smallLQCD_A1", "jacobi",
     "qmr 62 cgs 35 bicgstab 32 bicgstabl 16 gpbicg 32 gmres 56 idr 60 jacobi 82"},
    {"railtrack_B", "jacobi", "cocr 470"},
    /* rectangular */
    {"ash219", "none", "cgls 31 lsmr 31 lsqr 31"},
    {"abb313", "none", "cgls 150 lsmr 145"},
    {"well1850", "none", "cgls 495 lsmr 475 lsqr 490"},
    {"lp_nug06", "none", "cgls 8 lsmr 8 lsqr 8"},
    {"lp_afiro", "none", "cgls 24 lsmr 24 lsqr 24"},
};
enum { RECORDS = sizeof records / sizeof *records };

static bool builds_on_precon(const char *name)
{
    spry_entry info = SPRY_ENTRY_INIT;
    for (int m = 0; spry_list_at(SPRY_LIST_METHODS, m, &info); m++)
        if (strcmp(info.name, name) == 0)
            return strstr(info.text, "\nprecon ") != NULL;
    fail_msg("there is no method %s", name);
    return false;
}

/* The matrix, packed or not; NULL when it is missing. */
static spry_matrix *open_matrix(spry_context *ctx, const char *folder, const char *name)
{
    static const char *const endings[] = {".mtx.gz", ".mtx"};
    spry_matrix *A = NULL;
    for (int k = 0; k < 2 && !A; k++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s%s", folder, name, endings[k]);
        FILE *file = fopen(path, "r");
        if (!file)
            continue;
        fclose(file);
        assert_ok(ctx, spry_matrix_read(ctx, path, NULL, &A));
    }
    if (!A)
        print_message("%s is not there: not looked at\n", name);
    return A;
}

/* Rectangular matrices have b = 1, 2, 3, 1, ...: for b = 1 some have a solution. */
static spry_vector *right_hand_side(spry_context *ctx, const spry_matrix *A)
{
    spry_vector *b = NULL;
    assert_ok(ctx, spry_vector_ones(ctx, A, &b));
    for (int64_t i = 0; spry_matrix_rows(A) != spry_matrix_cols(A) && i < spry_vector_size(b); i++)
        value_set(spry_vector_type(b), spry_vector_data(b), i,
                  (spry_scalar){1 + (double)(i % 3), 0});
    return b;
}

/* Solves with every method of a record; complains about all that are off. */
static int run(spry_context *ctx, const record *r, const spry_matrix *A)
{
    spry_vector *b = right_hand_side(ctx, A), *x = NULL;
    int off = 0;
    assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
    for (const char *at = r->counts; *at;) {
        char name[32], options[96];
        long long expected;
        int length;
        spry_result result = SPRY_RESULT_INIT;
        assert_int_equal(sscanf(at, "%31s %lld %n", name, &expected, &length), 2);
        at += length;
        snprintf(options, sizeof options, "method=%s precon=%s max-iter=5000", name,
                 builds_on_precon(name) ? "auto" : r->precon);
        assert_ok(ctx, spry_vector_fill(x, (spry_scalar){0, 0}));
        assert_ok(ctx, spry_quick_solve(ctx, A, b, x, options, &result));
        const long long margin = expected / 50 > 2 ? expected / 50 : 2;
        if (!result.converged || llabs(result.iterations - expected) > margin) {
            print_error("%s, %s: %s after %lld iterations, %lld recorded\n", r->matrix, options,
                        spry_reason_name(result.reason), (long long)result.iterations, expected);
            off++;
        }
        spry_result_clear(ctx, &result);
    }
    spry_vector_free(b);
    spry_vector_free(x);
    return off;
}

static void iterations_are_as_recorded(void **state)
{
    spry_context *ctx = *state;
    const char *folder = getenv("SPRY_MATRICES");
    int off = 0, found = 0;
    if (!folder || !*folder) {
        print_message("SPRY_MATRICES names no folder of matrices: not looked at\n");
        skip();
    }
    for (int k = 0; k < RECORDS; k++) {
        spry_matrix *A = open_matrix(ctx, folder, records[k].matrix);
        if (A)
            off += run(ctx, &records[k], A);
        found += A != NULL;
        spry_matrix_free(A);
    }
    if (found == 0)
        fail_msg("%s has none of the %d matrices: is SPRY_MATRICES right?", folder, RECORDS);
    assert_int_equal(off, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(iterations_are_as_recorded, support_setup,
                                        support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
