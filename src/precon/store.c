/* What preconditioners are made of: the operator with its state; matrices for products, and
 * vectors, where they are to live. */
#include "precon/precon.h"

#include "device/linalg/matrix.h"
#include "device/linalg/operator.h"
#include "host/walk.h"
#include "ranks/operator.h"

/* The product with a matrix, or the own block of one that is distributed, on the job's device. */
static spry_status store_block(spry_device *d, const spry_matrix *A, const char *options,
                               spry_operator **op)
{
    char format[64];
    const base_kept before = base_try(A->ctx);
    snprintf(format, sizeof format, "sell%s", options);
    spry_status status = device_operator(d, A, format, op);
    if (status == SPRY_STATUS_UNSUPPORTED) { /* rows that are too different for slices */
        base_forgive(A->ctx, &before);
        snprintf(format, sizeof format, "csr%s", options);
        status = device_operator(d, A, format, op);
    }
    return status;
}

static spry_status store_on_device(spry_device *d, const spry_matrix *A, const char *options,
                                   spry_operator **op)
{
    spry_operator *own = NULL;
    if (!A->distributed)
        return store_block(d, A, options, op);
    const spry_status made = store_block(d, A->distributed->own, options, &own);
    return dist_operator(A, d, made, own, op);
}

/* CSR on the host with values in fewer bits. */
static spry_status store_reduced(const spry_matrix *A, const char *options, spry_operator **op)
{
    char format[64];
    spry_operator *own = NULL;
    snprintf(format, sizeof format, "csr%s", options);
    if (!A->distributed)
        return host_layout_operator(A, format, op);
    const spry_status made = host_layout_operator(A->distributed->own, format, &own);
    return dist_operator(A, NULL, made, own, op);
}

spry_status precon_store(const precon_job *job, spry_matrix *A, spry_operator **op)
{
    const bool own = !job->values || strcmp(job->values, "own") == 0;
    char options[32] = "";
    spry_status status = SPRY_STATUS_OK;
    *op = NULL;
    if (!own)
        snprintf(options, sizeof options, ":values=%s", job->values);
    if (job->device)
        status = store_on_device(job->device, A, options, op);
    else if (own)
        status = host_csr_operator(A, op);
    else
        status = store_reduced(A, options, op);
    if (status != SPRY_STATUS_OK) {
        spry_context *ctx = A->ctx;
        spry_matrix_free(A);
        return own ? status
                   : SPRY_CAUSE(ctx, status, "precision=half does not do; take precision=single");
    }
    (*op)->kept = A;
    return SPRY_STATUS_OK;
}

spry_status precon_device_matrix(const precon_job *job, device_matrix *A)
{
    spry_storage storage = SPRY_STORAGE_INIT;
    const spry_operator *op = job->op;
    if (op && op->device == job->device && op->type == job->A->a.type &&
        spry_operator_storage(op, &storage) == SPRY_STATUS_OK && storage.exact &&
        (strcmp(storage.format, "csr") == 0 || strcmp(storage.format, "sell") == 0))
        return device_matrix_of(op, A);
    return device_matrix_put_csr(job->device, &job->A->a, A);
}

spry_status precon_vector(const precon_job *job, int64_t n, const void *from, spry_vector **v)
{
    spry_context *ctx = job->A->ctx;
    const spry_type type = job->A->a.type;
    spry_status status = SPRY_STATUS_OK;
    if (!job->device)
        return spry_vector_new(ctx, type, n, (void *)(uintptr_t)from, SPRY_OWN_COPY, v);
    SPRY_GO(ctx, spry_vector_on(job->device, type, n, NULL, v));
    if (from) {
        const spry_vector on_host = vector_over(ctx, type, n, (void *)(uintptr_t)from);
        SPRY_GO(ctx, spry_vector_copy(&on_host, *v));
    }
done:
    if (status != SPRY_STATUS_OK) {
        spry_vector_free(*v);
        *v = NULL;
    }
    return status;
}

spry_status precon_operator(const precon_job *job, const operator_class *class, size_t size,
                            void *state, spry_operator **op)
{
    const spry_matrix *A = job->A;
    const spry_status status = operator_new(A->ctx, class, A->a.type, A->a.rows, A->a.rows, op);
    if (status != SPRY_STATUS_OK)
        return status;
    const spry_status made = base_calloc(A->ctx, 1, size, &(*op)->state);
    memcpy(state, &(*op)->state, sizeof(void *));
    return made;
}

spry_status precon_fill(spry_operator *op, const spry_matrix *A, spry_operator **M)
{
    const spry_status status = op->class->update(op, A);
    *M = status == SPRY_STATUS_OK ? op : NULL;
    if (!*M)
        spry_operator_free(op);
    return status;
}
