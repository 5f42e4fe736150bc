/* Files, and matrices made to order. */
#include "gate.h"

#include <string.h>

/* A dense array of a file, as a full one of doubles. */
static bool read_columns(const char *path, mxArray **out)
{
    spry_vector *v = NULL;
    int64_t cols = 0;
    if (!gate_check(spry_columns_read(gate_context(), path, NULL, &v, &cols)))
        return false;
    const spry_type type = spry_type_is_complex(spry_vector_type(v)) ? SPRY_TYPE_Z : SPRY_TYPE_D;
    const int64_t n = spry_vector_size(v);
    *out = arrays_full(type, cols > 0 ? n / cols : 0, cols);
    spry_vector *to = NULL;
    const bool good =
        n == 0 || (gate_check(spry_vector_new(gate_context(), type, n, mxGetData(*out),
                                              SPRY_OWN_BORROW, &to)) &&
                   gate_check(spry_vector_copy(v, to)));
    spry_vector_free(to);
    spry_vector_free(v);
    return good;
}

/* A = spry_mex('read', FILE, OPTIONS, DENSE) */
bool command_read(gate_call *call)
{
    if (!gate_count(call, 1, 3) || !gate_context())
        return false;
    char *path = gate_text(call->in[0], "the file's name");
    char *options = call->in_count > 1 ? options_text(call->in[1]) : NULL;
    if (!path || (call->in_count > 1 && !options))
        return false;
    spry_matrix *A = NULL;
    bool good;
    gate_listen();
    if (call->in_count > 2 && mxGetScalar(call->in[2]) != 0)
        good = read_columns(path, &call->out[0]);
    else
        good = gate_check(spry_matrix_read_with(gate_context(), path, options, &A)) &&
               arrays_sparse(A, &call->out[0]);
    if (gate_listen_end())
        good = gate_fail("interrupted", "interrupted");
    spry_matrix_free(A);
    return good;
}

static bool write_full(const mxArray *array, spry_type type, const char *path)
{
    spry_vector *v = NULL;
    void *numbers = arrays_numbers(array, "the array", type);
    const bool good =
        numbers &&
        gate_check(spry_vector_new(gate_context(), type, (int64_t)mxGetNumberOfElements(array),
                                   numbers, SPRY_OWN_BORROW, &v)) &&
        gate_check(spry_columns_write(v, (int64_t)mxGetN(array), path));
    spry_vector_free(v);
    return good;
}

/* spry_mex('write', FILE, A) */
bool command_write(gate_call *call)
{
    spry_type type;
    if (!gate_count(call, 2, 2) || !gate_context())
        return false;
    char *path = gate_text(call->in[0], "the file's name");
    if (!path || !arrays_type(call->in[1], "the array", &type))
        return false;
    spry_matrix *A = NULL;
    bool good;
    gate_listen();
    if (mxIsSparse(call->in[1]))
        good = arrays_matrix(call->in[1], "the matrix", type, &A) &&
               gate_check(spry_matrix_write(A, path));
    else
        good = write_full(call->in[1], type, path);
    if (gate_listen_end())
        good = gate_fail("interrupted", "interrupted");
    spry_matrix_free(A);
    return good;
}

/* A = spry_mex('generate', KIND, OPTIONS) */
bool command_generate(gate_call *call)
{
    if (!gate_count(call, 1, 2) || !gate_context())
        return false;
    char *kind = gate_text(call->in[0], "the kind");
    char *options = call->in_count > 1 ? options_text(call->in[1]) : NULL;
    if (!kind || (call->in_count > 1 && !options))
        return false;
    spry_matrix *A = NULL;
    const bool good = gate_check(spry_generate(gate_context(), kind, options, &A)) &&
                      arrays_sparse(A, &call->out[0]);
    spry_matrix_free(A);
    return good;
}
