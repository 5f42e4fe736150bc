/* The result record as a struct, with the names that it has everywhere. */
#include "gate.h"

#include <string.h>

static mxArray *words_of(const char *text)
{
    char *words = gate_words(text ? text : "");
    mxArray *array = mxCreateString(words);
    mxFree(words);
    return array;
}

static mxArray *history_of(const spry_result *r)
{
    mxArray *history = mxCreateDoubleMatrix((mwSize)r->history_size, 1, mxREAL);
    if (r->history_size > 0)
        memcpy(mxGetData(history), r->history, (size_t)r->history_size * sizeof(double));
    return history;
}

mxArray *result_struct(const spry_result *results, int64_t count)
{
    static const char *const names[] = {
        "converged",
        "reason",
        "detail",
        "iterations",
        "residual",
        "true_residual",
        "initial_residual",
        "method",
        "precon",
        "format",
        "device",
        "type",
        "rows",
        "cols",
        "nnz",
        "choose_seconds",
        "setup_seconds",
        "solve_seconds",
        "memory_bytes",
        "bytes_per_iteration",
        "history",
        "warnings",
        "tried",
        "nullity",
        "energy_error",
    };
    enum { FIELDS = sizeof names / sizeof *names };
    mxArray *all = mxCreateStructMatrix(1, (mwSize)count, FIELDS, (const char **)names);
    for (int64_t i = 0; i < count; i++) {
        const spry_result *r = &results[i];
        mxArray *const fields[FIELDS] = {
            mxCreateLogicalScalar(r->converged),
            mxCreateString(spry_reason_name(r->reason)),
            words_of(r->detail),
            mxCreateDoubleScalar((double)r->iterations),
            mxCreateDoubleScalar(r->residual),
            mxCreateDoubleScalar(r->true_residual),
            mxCreateDoubleScalar(r->initial_residual),
            mxCreateString(r->method),
            mxCreateString(r->precon),
            mxCreateString(r->format),
            mxCreateString(r->device),
            mxCreateString(spry_type_name(r->type)),
            mxCreateDoubleScalar((double)r->rows),
            mxCreateDoubleScalar((double)r->cols),
            mxCreateDoubleScalar((double)r->nnz),
            mxCreateDoubleScalar(r->choose_seconds),
            mxCreateDoubleScalar(r->setup_seconds),
            mxCreateDoubleScalar(r->solve_seconds),
            mxCreateDoubleScalar((double)r->memory_bytes),
            mxCreateDoubleScalar((double)r->bytes_per_iteration),
            history_of(r),
            words_of(r->warnings),
            words_of(r->tried),
            mxCreateDoubleScalar((double)r->nullity),
            mxCreateDoubleScalar(r->energy_error),
        };
        for (int k = 0; k < FIELDS; k++)
            mxSetFieldByNumber(all, (mwIndex)i, k, fields[k]);
    }
    return all;
}
