/* Functions of the caller's: products, preconditioners, monitors. */
#include "gate.h"

#include <stdio.h>
#include <string.h>

/* [y, message] = f(in ...); false leaves the error's text with the context. */
static bool call_handle(int count, mxArray **in, mxArray **y)
{
    mxArray *out[2] = {NULL, NULL};
    char text[1024] = "a function of yours failed";
    mxArray *error = mexCallMATLABWithTrap(2, out, count, in, "feval");
    bool good = !error && out[1] && mxIsEmpty(out[1]);
    if (error)
        mxDestroyArray(error);
    else if (out[1] && mxIsChar(out[1]))
        mxGetString(out[1], text, sizeof text);
    if (out[1])
        mxDestroyArray(out[1]);
    *y = out[0];
    if (!good)
        spry_context_set_message(gate_context(), text);
    return good;
}

static void conjugate(spry_type type, int64_t n, void *numbers)
{
    for (int64_t i = 0; i < n; i++)
        if (type == SPRY_TYPE_Z)
            ((double *)numbers)[2 * i + 1] = -((double *)numbers)[2 * i + 1];
        else if (type == SPRY_TYPE_C)
            ((float *)numbers)[2 * i + 1] = -((float *)numbers)[2 * i + 1];
}

/* The numbers of what a function gave, as the operator's. */
static spry_status take(mxArray **given, spry_type type, int64_t n, void *y)
{
    mxArray *full = NULL;
    char text[160] = "";
    spry_type has;
    if (mxIsSparse(*given) && mexCallMATLAB(1, &full, 1, given, "full") == 0) {
        mxDestroyArray(*given);
        *given = full;
    }
    if (!arrays_type(*given, "what a function of yours gave", &has))
        snprintf(text, sizeof text, "a function of yours gave something of class %s, not numbers",
                 mxGetClassName(*given));
    else if ((int64_t)mxGetNumberOfElements(*given) != n)
        snprintf(text, sizeof text, "a function of yours gave %.0f numbers in the place of %.0f",
                 (double)mxGetNumberOfElements(*given), (double)n);
    else if (spry_type_is_complex(has) && !spry_type_is_complex(type))
        snprintf(text, sizeof text,
                 "a function of yours gave complex numbers for real ones: make b complex");
    else {
        void *numbers = arrays_numbers(*given, "", type);
        if (n > 0)
            memcpy(y, numbers, (size_t)n * spry_type_size(type));
        if (n > 0 && numbers != mxGetData(*given))
            mxFree(numbers);
        return SPRY_STATUS_OK;
    }
    spry_context_set_message(gate_context(), text);
    return SPRY_STATUS_BAD_INPUT;
}

static spry_status apply(void *data, spry_transpose op, const void *x, void *y)
{
    const function *f = data;
    const int64_t n = op == SPRY_TRANSPOSE_NO ? f->cols : f->rows;
    const int64_t m = op == SPRY_TRANSPOSE_NO ? f->rows : f->cols;
    mxArray *given = NULL, *vector = arrays_full(f->type, n, 1);
    void *room = arrays_room(vector, f->type);
    memcpy(room, x, (size_t)n * spry_type_size(f->type));
    /* 'transp' is A'; A^T x is the conjugate of A' times that of x */
    if (op == SPRY_TRANSPOSE_YES)
        conjugate(f->type, n, room);
    arrays_set(vector, f->type, room);
    mxArray *flag =
        f->flags ? mxCreateString(op == SPRY_TRANSPOSE_NO ? "notransp" : "transp") : NULL;
    mxArray *in[] = {(mxArray *)f->handle, vector, flag};
    spry_status status = SPRY_STATUS_BAD_INPUT;
    if (call_handle(f->flags ? 3 : 2, in, &given) && given)
        status = take(&given, f->type, m, y);
    if (status == SPRY_STATUS_OK && op == SPRY_TRANSPOSE_YES)
        conjugate(f->type, m, y);
    mxDestroyArray(vector);
    if (flag)
        mxDestroyArray(flag);
    if (given)
        mxDestroyArray(given);
    return status;
}

bool function_open(function *f, const mxArray *handle, spry_type type, int64_t rows, int64_t cols,
                   bool flags)
{
    *f = (function){handle, type, rows, cols, flags, NULL};
    return gate_check(
        spry_operator_from_function(gate_context(), type, rows, cols, flags, apply, f, &f->op));
}

void function_close(function *f)
{
    spry_operator_free(f->op);
    f->op = NULL;
}

bool function_watch(void *data, int64_t iteration, double residual)
{
    if (gate_stop_asked())
        return false;
    watching *w = data;
    if (!w->handle)
        return true;
    mxArray *in[] = {(mxArray *)(uintptr_t)w->handle, mxCreateDoubleScalar((double)iteration),
                     mxCreateDoubleScalar(residual)};
    mxArray *out = NULL;
    bool go_on = call_handle(3, in, &out);
    if (!go_on) {
        w->failed = true;
        gate_fail("badInput", "the monitor failed: %s", spry_message(gate_context()));
    }
    if (out && (mxIsLogical(out) || mxIsNumeric(out)) && mxGetNumberOfElements(out) == 1)
        go_on = go_on && mxGetScalar(out) != 0;
    mxDestroyArray(in[1]);
    mxDestroyArray(in[2]);
    if (out)
        mxDestroyArray(out);
    return go_on;
}
