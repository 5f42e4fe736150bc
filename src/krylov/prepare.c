/* Programs of likely solves, compiled before there is one: see spry_device_prepare(). */
#include "krylov/krylov.h"

#include "device/engine/ahead.h"
#include "device/linalg/foresee.h"
#include "device/linalg/operator.h"
#include "device/linalg/vector.h"
#include "matrix/entries.h"
#include "precon/precon.h"
#include "program/run.h"

static const char all_methods[] = "cg bicgstabl minres gmres fgmres fcg";
static const char *const formats[] = {"csr",   "sell:C=32", "sell16:C=32", "sell16:C=64",
                                      "csr16", "dia",       "ell",         "merge"};
static const int64_t means[] = {3, 7, 12, 24, 48, 96}; /* entries per row, as lanes differ by */
/* Rows of systems whose loop is one kernel, and of those that are wide. */
static const int64_t sizes[] = {1 << 17, 1 << 24};

enum { ROWS = 64, MEAN = 7 };

/* A band of so many diagonals, all ones. */
static spry_status make_band(spry_context *ctx, spry_type type, spry_matrix **A)
{
    matrix_arrays a = {.type = type,
                       .format = SPRY_FORMAT_CSR,
                       .rows = ROWS,
                       .cols = ROWS + MEAN - 1,
                       .nnz = (int64_t)ROWS * MEAN};
    spry_status status = SPRY_STATUS_OK;
    *A = NULL;
    SPRY_GO(ctx, matrix_allocate(ctx, &a));
    for (int64_t k = 0; k < a.nnz; k++) {
        a.col_index[k] = (int32_t)(k / MEAN + k % MEAN);
        value_set(type, a.values, k, (spry_scalar){1, 0});
    }
    for (int64_t i = 0; i <= a.rows; i++)
        a.offsets[i] = i * MEAN;
done:
    return matrix_finish(ctx, status, &a, A);
}

/* The sweeps of a method, with an M that is used so. */
static spry_status foresee_method(spry_context *ctx, const char *method, operator_use use,
                                  const spry_operator *A)
{
    program *p = NULL;
    plan *made = NULL;
    plan_setup setup = {.fuse = true, .square = true, .apart = true};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, krylov_parse(ctx, method, NULL, "", 0, &p));
    if (use != USE_NOTHING && !p->uses_precon)
        goto done;
    setup.use[OPERATOR_M] = use;
    SPRY_GO(ctx, runner_use(A, p->uses_transpose, &setup.use[OPERATOR_A]));
    program *handed = p;
    p = NULL;
    SPRY_GO(ctx, plan_make(handed, &setup, &made));
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        runner_foresee(made, A, sizes[k]);
done:
    program_free(p);
    plan_free(made);
    return status;
}

/* All methods of a list with blanks. */
static spry_status foresee_methods(spry_context *ctx, const char *methods, const spry_operator *A)
{
    static const operator_use uses[] = {USE_NOTHING, USE_DIAGONAL, USE_CALL};
    char name[64];
    spry_status status = SPRY_STATUS_OK;
    for (const char *at = methods + strspn(methods, " "); *at; at += strspn(at, " ")) {
        const size_t length = strcspn(at, " ");
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        at += length;
        for (size_t k = 0; k < sizeof uses / sizeof *uses; k++)
            SPRY_GO(ctx, foresee_method(ctx, name, uses[k], A));
    }
done:
    return status;
}

static spry_status foresee_type(spry_device *d, spry_type type, const char *methods)
{
    static const char *const swept[] = {"csr", "sell:C=32"}; /* formats that sweeps go by */
    spry_context *ctx = d->ctx;
    spry_matrix *A = NULL;
    spry_operator *op = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, device_check_type(d, type));
    SPRY_GO(ctx, make_band(ctx, type, &A));
    device_vectors_foresee(d, type);
    for (size_t k = 0; k < sizeof means / sizeof *means; k++)
        device_foresee_format(d, A, ROWS, means[k] * ROWS, "csr");
    for (size_t k = 1; k < sizeof formats / sizeof *formats; k++)
        device_foresee_format(d, A, ROWS, A->a.nnz, formats[k]);
    precon_foresee(d, A, "amg");
    for (size_t k = 0; methods[0] && k < sizeof swept / sizeof *swept; k++) {
        SPRY_GO(ctx, device_operator(d, A, swept[k], &op));
        SPRY_GO(ctx, foresee_methods(ctx, methods, op));
        spry_operator_free(op);
        op = NULL;
    }
done:
    spry_operator_free(op);
    spry_matrix_free(A);
    return status;
}

spry_status spry_device_prepare(spry_device *device, const char *types, const char *methods,
                                void (*progress)(void *data, int done, int all), void *data,
                                int *made)
{
    int count = 0;
    if (made)
        *made = 0;
    if (!device)
        return SPRY_STATUS_BAD_USAGE;
    spry_context *ctx = device->ctx;
    spry_status status = SPRY_STATUS_OK;
    methods = methods ? methods : all_methods;
    SPRY_GO(ctx, device_gather(device, true));
    for (const char *at = types ? types : "d"; *at; at++) {
        static const char letters[] = "sdcz"; /* in the order of spry_type */
        const char *word = strchr(letters, *at);
        if (*at == ' ' || *at == ',')
            continue;
        if (!word) {
            status = SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                               "types \"%.32s\" of matrices: expected some of s d c z", types);
            goto done;
        }
        SPRY_GO(ctx, foresee_type(device, (spry_type)(word - letters), methods));
    }
    SPRY_GO(ctx, ahead_drain(device, progress, data, &count));
done:
    if (device->cache)
        (void)device_gather(device, false);
    if (made)
        *made = count;
    return status;
}
