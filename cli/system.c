/* Reading a system to look at it. */
#include "system.h"

#include <string.h>

/* A and b of one type; a b of another is brought to A's. */
static spry_status unify(spry_context *ctx, spry_matrix **A, spry_vector **b)
{
    const spry_type type = (spry_type)((int)spry_matrix_type(*A) | (int)spry_vector_type(*b));
    spry_status status = SPRY_STATUS_OK;
    if (type != spry_matrix_type(*A)) {
        spry_matrix *cast = NULL;
        status = spry_matrix_cast(*A, type, &cast);
        if (status != SPRY_STATUS_OK)
            return status;
        spry_matrix_free(*A);
        *A = cast;
    }
    if (type != spry_vector_type(*b)) {
        spry_vector *cast = NULL;
        status = spry_vector_new(ctx, type, spry_vector_size(*b), NULL, SPRY_OWN_TAKE, &cast);
        if (status == SPRY_STATUS_OK)
            status = spry_vector_copy(*b, cast);
        spry_vector_free(*b);
        *b = cast;
    }
    return status;
}

/* Of several right-hand sides the first. */
static spry_status read_b(spry_context *ctx, const char *path, spry_vector **b)
{
    spry_vector *all = NULL;
    int64_t cols = 1;
    spry_status status = spry_columns_read(ctx, path, "nonfinite=keep", &all, &cols);
    if (status != SPRY_STATUS_OK || cols == 1) {
        *b = all;
        return status;
    }
    char text[CLI_WORDS];
    snprintf(text, sizeof text, "%s has %s columns: the doctor looks at the first", path,
             text_count(cols));
    cli_log(NULL, SPRY_LOG_WARNING, text);
    const int64_t n = spry_vector_size(all) / cols;
    status = spry_vector_new(ctx, spry_vector_type(all), n, NULL, SPRY_OWN_COPY, b);
    if (status == SPRY_STATUS_OK)
        memcpy(spry_vector_data(*b), spry_vector_data(all),
               (size_t)n * spry_type_size(spry_vector_type(all)));
    spry_vector_free(all);
    return status;
}

spry_status system_check_order(spry_context *ctx, const cli_arguments *a, const spry_matrix *A)
{
    const int64_t n = spry_matrix_rows(A);
    spry_matrix *second = NULL;
    if (a->count < 2 || n < 2 || spry_matrix_cols(A) != 1 ||
        spry_matrix_read(ctx, a->operands[1], "duplicates=keep nonfinite=keep", &second) !=
            SPRY_STATUS_OK)
        return SPRY_STATUS_OK; /* what is wrong with it will be said where it is read as b */
    const bool swapped = spry_matrix_rows(second) == n && spry_matrix_cols(second) == n;
    spry_matrix_free(second);
    if (!swapped)
        return SPRY_STATUS_OK;
    char text[CLI_WORDS];
    snprintf(text, sizeof text,
             "%.200s is one column, and %.200s a matrix of as many rows: the matrix comes first",
             a->operands[0], a->operands[1]);
    spry_context_set_message(ctx, text);
    return SPRY_STATUS_BAD_INPUT;
}

spry_status system_read(spry_context *ctx, const cli_arguments *a, spry_matrix **A, spry_vector **b)
{
    spry_status status = spry_matrix_read(ctx, a->operands[0], "duplicates=keep nonfinite=keep", A);
    if (status == SPRY_STATUS_OK)
        status = system_check_order(ctx, a, *A);
    if (status == SPRY_STATUS_OK && a->count > 1)
        status = read_b(ctx, a->operands[1], b);
    return status == SPRY_STATUS_OK && *b ? unify(ctx, A, b) : status;
}
