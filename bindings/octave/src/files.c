/* Files, and generated test matrices. */
#include "gate.h"

#include <string.h>

/* A matrix that has every entry, as dense arrays of files have: as a full array of doubles. */
static bool as_full(const spry_matrix *A, mxArray **out)
{
    const spry_type type = spry_type_is_complex(spry_matrix_type(A)) ? SPRY_TYPE_Z : SPRY_TYPE_D;
    spry_matrix *cast = NULL, *columns = NULL;
    spry_arrays arrays = SPRY_ARRAYS_INIT;
    const bool good = gate_check(spry_matrix_cast(A, type, &cast)) &&
                      gate_check(spry_matrix_convert(cast, SPRY_FORMAT_CSC, &columns)) &&
                      gate_check(spry_matrix_sort(columns)) &&
                      gate_check(spry_matrix_arrays(columns, &arrays));
    if (good) {
        *out = arrays_full(type, arrays.rows, arrays.cols);
        void *room = arrays_room(*out, type);
        if (arrays.nnz > 0)
            memcpy(room, arrays.values, (size_t)arrays.nnz * spry_type_size(type));
        arrays_set(*out, type, room);
    }
    spry_matrix_free(columns);
    spry_matrix_free(cast);
    return good;
}

static bool has_every_entry(const spry_matrix *A)
{
    spry_truth unique = SPRY_TRUTH_NO;
    return spry_matrix_rows(A) * spry_matrix_cols(A) == spry_matrix_nnz(A) &&
           spry_matrix_find_fact(A, SPRY_FACT_UNIQUE, &unique) == SPRY_STATUS_OK &&
           unique == SPRY_TRUTH_YES;
}

/* A = spry_mex('read', FILE, OPTIONS) */
bool command_read(gate_call *call)
{
    if (!gate_count(call, 1, 2) || !gate_context())
        return false;
    char *path = gate_text(call->in[0], "the file's name");
    char *options = call->in_count > 1 ? options_text(call->in[1]) : NULL;
    if (!path || (call->in_count > 1 && !options))
        return false;
    spry_matrix *A = NULL;
    gate_listen();
    bool good = gate_check(spry_matrix_read(gate_context(), path, options, &A));
    if (good)
        good = has_every_entry(A) ? as_full(A, &call->out[0]) : arrays_sparse(A, &call->out[0]);
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
