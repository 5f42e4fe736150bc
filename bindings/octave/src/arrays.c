/* Arrays of Octave's and MATLAB's, and the library's matrices and vectors. */
#include "gate.h"

#include <string.h>

bool arrays_type(const mxArray *array, const char *what, spry_type *type)
{
    const bool complex = mxIsComplex(array);
    if (mxGetNumberOfDimensions(array) > 2)
        return gate_fail("badShape", "%s has more than two dimensions", what);
    if (mxIsDouble(array))
        *type = complex ? SPRY_TYPE_Z : SPRY_TYPE_D;
    else if (mxIsSingle(array))
        *type = complex ? SPRY_TYPE_C : SPRY_TYPE_S;
    else
        return gate_fail("badType",
                         "%s is of class %s: numbers are to be double or single; double() makes "
                         "them so",
                         what, mxGetClassName(array));
    return true;
}

spry_type arrays_join(spry_type a, spry_type b)
{
    const bool complex = spry_type_is_complex(a) || spry_type_is_complex(b);
    const bool single =
        a == SPRY_TYPE_S || a == SPRY_TYPE_C || b == SPRY_TYPE_S || b == SPRY_TYPE_C;
    if (single)
        return complex ? SPRY_TYPE_C : SPRY_TYPE_S;
    return complex ? SPRY_TYPE_Z : SPRY_TYPE_D;
}

/* Number i of an array; complex arrays have real and imaginary parts apart. */
static spry_scalar number_at(const mxArray *array, const void *re, const void *im, size_t i)
{
    spry_scalar a = {0, 0};
    if (mxIsDouble(array)) {
        a.re = ((const double *)re)[i];
        a.im = im ? ((const double *)im)[i] : 0;
    } else {
        a.re = ((const float *)re)[i];
        a.im = im ? ((const float *)im)[i] : 0;
    }
    return a;
}

static void set_number(void *numbers, spry_type type, size_t i, spry_scalar a)
{
    double *d = numbers;
    float *s = numbers;
    switch (type) {
    case SPRY_TYPE_S:
        s[i] = (float)a.re;
        break;
    case SPRY_TYPE_D:
        d[i] = a.re;
        break;
    case SPRY_TYPE_C:
        s[2 * i] = (float)a.re, s[2 * i + 1] = (float)a.im;
        break;
    default:
        d[2 * i] = a.re, d[2 * i + 1] = a.im;
    }
}

/* The first `count` stored numbers of an array, as those of a type. */
static void *numbers_of(const mxArray *array, spry_type from, spry_type type, size_t count)
{
    void *re = mxGetData(array), *im = mxIsComplex(array) ? mxGetImagData(array) : NULL;
    if (from == type && !im)
        return re;
    void *numbers = mxMalloc((count + 1) * spry_type_size(type));
    for (size_t i = 0; i < count; i++)
        set_number(numbers, type, i, number_at(array, re, im, i));
    return numbers;
}

bool arrays_matrix(const mxArray *array, const char *what, spry_type type, spry_matrix **A)
{
    spry_context *ctx = gate_context();
    spry_arrays arrays = SPRY_ARRAYS_INIT;
    spry_matrix *given = NULL;
    if (!ctx || !arrays_type(array, what, &arrays.type))
        return false;
    if (!mxIsSparse(array))
        return gate_fail("badType", "%s is a full array: sparse() makes it sparse", what);
    arrays.format = SPRY_FORMAT_CSC;
    arrays.rows = (int64_t)mxGetM(array);
    arrays.cols = (int64_t)mxGetN(array);
    arrays.offsets = mxGetJc(array);
    arrays.row_index = mxGetIr(array);
    arrays.nnz = (int64_t)mxGetJc(array)[arrays.cols];
    arrays.values = numbers_of(array, arrays.type, arrays.type, (size_t)arrays.nnz);
    arrays.offset_bits = arrays.index_bits = 8 * (int)sizeof(mwIndex);
    if (!gate_check(spry_matrix_new(ctx, &arrays, SPRY_OWN_BORROW, &given)))
        return false;
    *A = given;
    if (type == arrays.type)
        return true;
    const bool good = gate_check(spry_matrix_cast(given, type, A));
    spry_matrix_free(given);
    return good;
}

void *arrays_numbers(const mxArray *array, const char *what, spry_type type)
{
    spry_type from;
    if (!arrays_type(array, what, &from))
        return NULL;
    if (mxIsSparse(array))
        gate_fail("badType", "%s is sparse: full() makes it full", what);
    else if (spry_type_is_complex(from) && !spry_type_is_complex(type))
        gate_fail("badType", "%s is complex, and is to be real", what);
    else {
        /* an empty array has no numbers, and may have no address */
        static char none;
        void *numbers = numbers_of(array, from, type, mxGetNumberOfElements(array));
        return numbers ? numbers : &none;
    }
    return NULL;
}

void *arrays_part(const mxArray *array, bool imaginary, spry_type type)
{
    void *part = imaginary ? mxGetImagData(array) : mxGetData(array);
    if (mxIsDouble(array) == (type == SPRY_TYPE_D))
        return part;
    const size_t n = mxGetNumberOfElements(array);
    void *numbers = mxMalloc((n + 1) * spry_type_size(type));
    for (size_t i = 0; i < n; i++)
        set_number(numbers, type, i, number_at(array, part, NULL, i));
    return numbers;
}

mxArray *arrays_full(spry_type type, int64_t rows, int64_t cols)
{
    const bool single = type == SPRY_TYPE_S || type == SPRY_TYPE_C;
    return mxCreateNumericMatrix((mwSize)rows, (mwSize)cols,
                                 single ? mxSINGLE_CLASS : mxDOUBLE_CLASS,
                                 spry_type_is_complex(type) ? mxCOMPLEX : mxREAL);
}

void *arrays_room(mxArray *array, spry_type type)
{
    if (!spry_type_is_complex(type))
        return mxGetData(array);
    return mxCalloc(mxGetNumberOfElements(array) + 1, spry_type_size(type));
}

/* Takes pairs apart. */
static void set_parts(mxArray *array, spry_type type, const void *numbers, size_t count)
{
    void *re = mxGetData(array), *im = mxGetImagData(array);
    for (size_t i = 0; i < count; i++)
        if (type == SPRY_TYPE_Z) {
            ((double *)re)[i] = ((const double *)numbers)[2 * i];
            ((double *)im)[i] = ((const double *)numbers)[2 * i + 1];
        } else {
            ((float *)re)[i] = ((const float *)numbers)[2 * i];
            ((float *)im)[i] = ((const float *)numbers)[2 * i + 1];
        }
}

void arrays_set(mxArray *array, spry_type type, void *room)
{
    if (!spry_type_is_complex(type))
        return;
    set_parts(array, type, room, mxGetNumberOfElements(array));
    mxFree(room);
}

/* CSC of doubles with sorted rows and no place twice, as sparse arrays are. */
static bool as_columns(const spry_matrix *A, spry_type type, spry_matrix **B)
{
    spry_matrix *cast = NULL;
    if (!gate_check(spry_matrix_cast(A, type, &cast)))
        return false;
    bool good = gate_check(spry_matrix_convert(cast, SPRY_FORMAT_CSC, B));
    spry_matrix_free(cast);
    if (good && !gate_check(spry_matrix_sum_duplicates(*B))) {
        spry_matrix_free(*B);
        good = false;
    }
    return good;
}

bool arrays_sparse(const spry_matrix *A, mxArray **array)
{
    const spry_type type = spry_type_is_complex(spry_matrix_type(A)) ? SPRY_TYPE_Z : SPRY_TYPE_D;
    spry_arrays arrays = SPRY_ARRAYS_INIT;
    spry_matrix *B = NULL;
    if (!as_columns(A, type, &B))
        return false;
    const bool good = gate_check(spry_matrix_arrays(B, &arrays));
    if (good) {
        *array = mxCreateSparse((mwSize)arrays.rows, (mwSize)arrays.cols, (mwSize)arrays.nnz,
                                type == SPRY_TYPE_Z ? mxCOMPLEX : mxREAL);
        mwIndex *ir = mxGetIr(*array), *jc = mxGetJc(*array);
        const int64_t *offsets = arrays.offsets;
        const int32_t *rows = arrays.row_index;
        for (int64_t j = 0; j <= arrays.cols; j++)
            jc[j] = (mwIndex)offsets[j];
        for (int64_t k = 0; k < arrays.nnz; k++)
            ir[k] = (mwIndex)rows[k];
        if (type == SPRY_TYPE_Z)
            set_parts(*array, type, arrays.values, (size_t)arrays.nnz);
        else if (arrays.nnz > 0)
            memcpy(mxGetData(*array), arrays.values, (size_t)arrays.nnz * sizeof(double));
    }
    spry_matrix_free(B);
    return good;
}

bool arrays_columns(const mxArray *array, const char *what, int64_t rows, int64_t *cols)
{
    const int64_t m = (int64_t)mxGetM(array), n = (int64_t)mxGetN(array);
    *cols = n;
    return m == rows || gate_fail("badShape", "%s is %.0f x %.0f: %.0f rows are needed", what,
                                  (double)m, (double)n, (double)rows);
}
