/* An operator in the format a caller names, or in the one that suits best. */
#include "choose/tune.h"
#include "device/linalg/operator.h"
#include "ranks/operator.h"

static spry_status host_operator(const spry_matrix *A, const char *format, spry_operator **op)
{
    if (strcmp(format, "csr") == 0)
        return host_csr_operator(A, op);
    if (A->distributed) {
        spry_operator *own = NULL;
        /* in two statements: arguments are evaluated in any order */
        const spry_status made = host_operator(A->distributed->own, format, &own);
        return dist_operator(A, NULL, made, own, op);
    }
    if (strcmp(format, "auto") == 0)
        return tune_decide(NULL, A, NULL, NULL, op);
    if (strncmp(format, "auto:", 5) == 0)
        return tune_decide(NULL, A, format + 5, NULL, op);
    return tune_build(NULL, A, format, op);
}

static spry_status build_on(spry_device *device, const spry_matrix *A, const char *format,
                            spry_operator **op)
{
    const bool chosen = strcmp(format, "auto") == 0 || strncmp(format, "auto:", 5) == 0;
    if (chosen && !device_has_room(device, A)) /* copies decide then, not the format */
        return device_operator(device, A, "csr", op);
    if (chosen)
        return tune_decide(device, A, format[4] ? format + 5 : NULL, NULL, op);
    return device_operator(device, A, format, op);
}

spry_status spry_operator_from_matrix(const spry_matrix *A, spry_device *device, const char *format,
                                      spry_operator **op)
{
    SPRY_NEED(CTX_OF(A), A, op);
    spry_matrix *view = NULL;
    spry_status status = SPRY_STATUS_OK;
    *op = NULL;
    format = format ? format : "csr";
    if (!device)
        return host_operator(A, format, op);
    if (A->distributed) {
        spry_operator *own = NULL;
        const spry_status made =
            spry_operator_from_matrix(A->distributed->own, device, format, &own);
        return dist_operator(A, device, made, own, op);
    }
    if (A->ctx != device->ctx)
        SPRY_GO(device->ctx, matrix_view(device->ctx, A, &view));
    SPRY_GO(device->ctx, build_on(device, view ? view : A, format, op));
    operator_made_from(*op, A, view);
    view = NULL;
done:
    spry_matrix_free(view);
    return status;
}
