/* Matrices that stay, on the host or on a device, between calls. */
#include "gate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static kept *first;
static uint64_t last_id;

/* Ids are not used again, also not by a gateway that was loaded again: it counts from its own time.
 */
static uint64_t new_id(void)
{
    const uint64_t now = (uint64_t)time(NULL) << 16;
    last_id = last_id < now ? now : last_id + 4;
    return last_id;
}

bool kept_is_id(const mxArray *array)
{
    return mxIsUint64(array) && mxGetNumberOfElements(array) == 1;
}

spry_transpose kept_transpose(const mxArray *id)
{
    static const spry_transpose kinds[] = {SPRY_TRANSPOSE_NO, SPRY_TRANSPOSE_YES,
                                           SPRY_TRANSPOSE_CONJUGATE, SPRY_TRANSPOSE_NO};
    return kinds[*(const uint64_t *)mxGetData(id) & 3];
}

kept *kept_enter(const mxArray *id)
{
    if (!kept_is_id(id)) {
        gate_fail("badType", "a kept matrix is named by its id, not by a %s", mxGetClassName(id));
        return NULL;
    }
    const uint64_t wanted = *(const uint64_t *)mxGetData(id) & ~UINT64_C(3);
    for (kept *k = first; k; k = k->next)
        if (k->id == wanted && !k->dead) {
            k->users++;
            return k;
        }
    gate_fail("released", "the matrix was released: spry_matrix(A) makes another");
    return NULL;
}

/* Frees what was made from the arrays; the place in the list stays. */
static void drop(kept *k)
{
    spry_solver_free(k->solver);
    spry_operator_free(k->op);
    spry_matrix_free(k->A);
    free(k->options);
    k->solver = NULL;
    k->op = NULL;
    k->A = NULL;
    k->options = NULL;
}

/* The gateway stays loaded as long as it keeps something: `clear all` clears the objects first. */
static void take_out(kept *k)
{
    for (kept **place = &first; *place; place = &(*place)->next)
        if (*place == k) {
            *place = k->next;
            break;
        }
    drop(k);
    free(k);
    if (!first)
        mexUnlock();
}

void kept_leave(kept *k)
{
    if (k && --k->users == 0 && k->dead)
        take_out(k);
}

void kept_free_all(void)
{
    while (first)
        take_out(first);
}

static void fingerprints(const mxArray *A, int64_t *pattern, int64_t *values)
{
    const size_t m = mxGetM(A), n = mxGetN(A), nnz = (size_t)mxGetJc(A)[n];
    const int64_t bytes = (int64_t)(nnz * sizeof(double));
    *pattern = spry_fingerprint(mxGetJc(A), (int64_t)((n + 1) * sizeof(mwIndex)), (int64_t)m);
    *pattern = spry_fingerprint(mxGetIr(A), (int64_t)(nnz * sizeof(mwIndex)), *pattern);
    *values = spry_fingerprint(mxGetData(A), bytes, mxIsComplex(A));
    if (mxIsComplex(A))
        *values = spry_fingerprint(mxGetImagData(A), bytes, *values);
}

/* A copy by rows, of its own memory. */
static bool by_rows(const mxArray *array, spry_type type, spry_matrix **A)
{
    spry_matrix *borrowed = NULL;
    if (!arrays_matrix(array, "the matrix", type, &borrowed))
        return false;
    const bool good = gate_check(spry_matrix_convert(borrowed, SPRY_FORMAT_CSR, A));
    spry_matrix_free(borrowed);
    return good;
}

static bool make_operator(kept *k)
{
    spry_device *device = NULL;
    if (strcmp(k->device, "cpu") != 0 &&
        !gate_check(spry_device_open(gate_context(), k->device, &device)))
        return false;
    return gate_check(spry_operator_from_matrix(k->A, device, k->format, &k->op));
}

/* What k keeps is made from an array; its format and device are set. */
static bool fill(kept *k, const mxArray *array)
{
    spry_type type;
    if (!arrays_type(array, "the matrix", &type))
        return false;
    k->type = arrays_join(type, k->type);
    if (!by_rows(array, k->type, &k->A) || !make_operator(k)) {
        drop(k);
        return false;
    }
    fingerprints(array, &k->pattern, &k->values);
    return true;
}

static bool text_field(const mxArray *options, const char *name, char *text, size_t size)
{
    const mxArray *value = options ? mxGetField(options, 0, name) : NULL;
    if (value && mxGetString(value, text, (mwSize)size) != 0)
        return gate_fail("badType", "option %s is to be a text", name);
    return true;
}

static bool check_options(const mxArray *options)
{
    if (!options)
        return true;
    if (!mxIsStruct(options))
        return gate_fail("badType", "options are one struct");
    for (int i = 0; i < mxGetNumberOfFields(options); i++) {
        const char *name = mxGetFieldNameByNumber(options, i);
        if (strcmp(name, "device") != 0 && strcmp(name, "format") != 0 &&
            strcmp(name, "precision") != 0)
            return gate_fail("badUsage",
                             "unknown option %s: a kept matrix has device, format and precision",
                             name);
    }
    return true;
}

/* Puts it into the list; its id. */
static mxArray *enter(kept *k)
{
    if (!first)
        mexLock();
    k->id = new_id();
    k->next = first;
    first = k;
    mxArray *id = mxCreateNumericMatrix(1, 1, mxUINT64_CLASS, mxREAL);
    *(uint64_t *)mxGetData(id) = k->id;
    return id;
}

/* id = spry_mex('keep', A, OPTIONS) with device, format, precision */
bool command_keep(gate_call *call)
{
    char precision[16] = "double";
    if (!gate_count(call, 1, 2) || !gate_context())
        return false;
    const mxArray *options = call->in_count > 1 ? call->in[1] : NULL;
    if (!check_options(options))
        return false;
    kept *k = calloc(1, sizeof *k);
    if (!k)
        return gate_fail("noMemory", "memory is exhausted");
    strcpy(k->device, "cpu");
    strcpy(k->format, "auto");
    bool good = text_field(options, "device", k->device, sizeof k->device) &&
                text_field(options, "format", k->format, sizeof k->format) &&
                text_field(options, "precision", precision, sizeof precision);
    k->type = strcmp(precision, "single") == 0 ? SPRY_TYPE_S : SPRY_TYPE_D;
    if (good && k->type == SPRY_TYPE_D && strcmp(precision, "double") != 0)
        good = gate_fail("badUsage", "precision is 'single' or 'double', not '%s'", precision);
    if (!good || !fill(k, call->in[0])) {
        free(k);
        return false;
    }
    call->out[0] = enter(k);
    return true;
}

bool kept_operator(spry_operator *op, mxArray **id)
{
    kept *k = calloc(1, sizeof *k);
    if (!k) {
        spry_operator_free(op);
        return gate_fail("noMemory", "memory is exhausted");
    }
    const spry_device *device = spry_operator_device(op);
    snprintf(k->device, sizeof k->device, "%s", device ? spry_device_name(device) : "cpu");
    snprintf(k->format, sizeof k->format, "%s", spry_operator_name(op));
    k->op = op;
    k->type = spry_operator_type(op);
    *id = enter(k);
    return true;
}

/* spry_mex('free', ID); one that is not there any more is none. */
bool command_free(gate_call *call)
{
    if (!gate_count(call, 1, 1))
        return false;
    if (!kept_is_id(call->in[0]))
        return true;
    kept *k = kept_enter(call->in[0]);
    if (k) {
        k->dead = true;
        kept_leave(k);
    }
    return true;
}

/* Whether A is what is kept: 2 all of it, 1 its pattern alone, 0 neither. */
static int compare(const kept *k, const mxArray *A)
{
    int64_t pattern, values;
    if (!k->A || (int64_t)mxGetM(A) != spry_matrix_rows(k->A) ||
        (int64_t)mxGetN(A) != spry_matrix_cols(k->A))
        return 0;
    fingerprints(A, &pattern, &values);
    if (pattern != k->pattern)
        return 0;
    return values == k->values ? 2 : 1;
}

static bool check_matrix(const mxArray *A)
{
    spry_type type;
    if (!arrays_type(A, "the matrix", &type))
        return false;
    return mxIsSparse(A) ||
           gate_fail("badType", "the matrix is a full array: sparse() makes it sparse");
}

bool command_matches(gate_call *call)
{
    if (!gate_count(call, 2, 2) || !check_matrix(call->in[1]))
        return false;
    kept *k = kept_enter(call->in[0]);
    if (!k)
        return false;
    call->out[0] = mxCreateDoubleScalar(compare(k, call->in[1]));
    kept_leave(k);
    return true;
}

/* New numbers for the pattern that is kept; a format that cannot hold them is built again. */
static bool new_values(kept *k, const mxArray *array)
{
    spry_matrix *A = NULL;
    spry_arrays arrays = SPRY_ARRAYS_INIT;
    bool good = by_rows(array, k->type, &A) && gate_check(spry_matrix_arrays(A, &arrays)) &&
                gate_check(spry_matrix_set_values(k->A, arrays.values, SPRY_OWN_COPY));
    spry_matrix_free(A);
    if (good && spry_operator_update(k->op, k->A) != SPRY_STATUS_OK) {
        spry_operator_free(k->op);
        k->op = NULL;
        good = make_operator(k);
    }
    if (good)
        fingerprints(array, &k->pattern, &k->values);
    return good;
}

/* what = spry_mex('update', ID, A): 2 nothing to do, 1 new values, 0 a new set-up */
bool command_update(gate_call *call)
{
    spry_type type;
    if (!gate_count(call, 2, 2) || !check_matrix(call->in[1]) ||
        !arrays_type(call->in[1], "the matrix", &type))
        return false;
    kept *k = kept_enter(call->in[0]);
    if (!k)
        return false;
    int same = compare(k, call->in[1]);
    bool good = true;
    if (arrays_join(type, k->type) != k->type)
        same = 0;
    if (!k->A)
        good = gate_fail("unsupported", "an operator of a grid has no values to update");
    else if (k->users > 1 && same < 2)
        good = gate_fail("badUsage", "the matrix is in use by the call that runs");
    else if (same == 1)
        good = new_values(k, call->in[1]);
    else if (same == 0) {
        kept fresh = {.type = k->type == SPRY_TYPE_S || k->type == SPRY_TYPE_C ? SPRY_TYPE_S
                                                                               : SPRY_TYPE_D};
        strcpy(fresh.device, k->device);
        strcpy(fresh.format, k->format);
        good = fill(&fresh, call->in[1]);
        if (good) {
            fresh.id = k->id;
            fresh.users = k->users;
            fresh.next = k->next;
            drop(k);
            *k = fresh;
        }
    }
    kept_leave(k);
    call->out[0] = mxCreateDoubleScalar(same);
    return good;
}

/* A = spry_mex('arrays', ID): what is kept as a sparse array; a transpose's is that of its owner */
bool command_arrays(gate_call *call)
{
    kept *k = gate_count(call, 1, 1) ? kept_enter(call->in[0]) : NULL;
    spry_matrix *made = NULL;
    bool good = k && (k->A || gate_check(spry_operator_to_matrix(k->op, &made)));
    good = good && arrays_sparse(made ? made : k->A, call->out);
    spry_matrix_free(made);
    kept_leave(k);
    return good;
}

bool command_describe(gate_call *call)
{
    static const char *const names[] = {"rows",   "cols",  "nnz",  "type", "device",
                                        "format", "bytes", "fill", "exact"};
    enum { FIELDS = sizeof names / sizeof *names };
    spry_storage storage = SPRY_STORAGE_INIT;
    kept *k = gate_count(call, 1, 1) ? kept_enter(call->in[0]) : NULL;
    if (!k)
        return false;
    bool good = true;
    if (k->A)
        good = gate_check(spry_operator_storage(k->op, &storage));
    else
        storage.bytes = spry_operator_bytes(k->op);
    if (good) {
        char format[256];
        snprintf(format, sizeof format, "%s%s%s", k->A ? storage.format : k->format,
                 k->A && *storage.options ? ":" : "", k->A ? storage.options : "");
        mxArray *const fields[FIELDS] = {
            mxCreateDoubleScalar((double)spry_operator_rows(k->op)),
            mxCreateDoubleScalar((double)spry_operator_cols(k->op)),
            mxCreateDoubleScalar((double)storage.nnz),
            mxCreateString(spry_type_name(k->type)),
            mxCreateString(k->device),
            mxCreateString(format),
            mxCreateDoubleScalar((double)storage.bytes),
            mxCreateDoubleScalar(storage.fill),
            mxCreateLogicalScalar(storage.exact),
        };
        call->out[0] = mxCreateStructMatrix(1, 1, FIELDS, (const char **)names);
        for (int i = 0; i < FIELDS; i++)
            mxSetFieldByNumber(call->out[0], 0, i, fields[i]);
    }
    kept_leave(k);
    return good;
}
