/*
 * Grids and operators as text: the first line is the grid, the rest the operator, with a field k
 * and a constant c. What is taken gives products; what is refused says why, and nothing leaks.
 */
#include "fuzz.h"

#include <spry/grid/grid.h>

static void try_operator(spry_context *ctx, const spry_grid *grid, const char *text,
                         const char *options)
{
    static const char *const names[] = {"k", "c"};
    spry_vector *k = NULL, *c = NULL, *x = NULL, *y = NULL;
    spry_operator *A = NULL;
    fuzz_require(spry_field_new(grid, SPRY_TYPE_D, true, NULL, NULL, &k) == SPRY_STATUS_OK);
    fuzz_require(vector_new_at(ctx, NULL, SPRY_TYPE_D, 1, &c) == SPRY_STATUS_OK);
    fuzz_require(spry_vector_fill(k, (spry_scalar){0.5, 0}) == SPRY_STATUS_OK);
    fuzz_require(spry_vector_fill(c, (spry_scalar){3, 0}) == SPRY_STATUS_OK);
    const spry_vector *values[] = {k, c};
    if (spry_operator_stencil(grid, text, options, 2, names, values, &A) == SPRY_STATUS_OK) {
        fuzz_require(spry_field_new(grid, SPRY_TYPE_D, false, NULL, NULL, &x) == SPRY_STATUS_OK);
        fuzz_require(spry_field_new(grid, SPRY_TYPE_D, false, NULL, NULL, &y) == SPRY_STATUS_OK);
        fuzz_require(spry_operator_apply(A, x, y) == SPRY_STATUS_OK);
        const spry_status status = spry_operator_multiply(
            A, SPRY_TRANSPOSE_YES, (spry_scalar){1, 0}, x, (spry_scalar){0, 0}, y);
        fuzz_require(status == SPRY_STATUS_OK || status == SPRY_STATUS_UNSUPPORTED ||
                     status == SPRY_STATUS_NO_MEMORY);
    } else {
        fuzz_require(A == NULL && spry_message(ctx)[0] != '\0');
    }
    spry_operator_free(A);
    spry_vector_free(k);
    spry_vector_free(c);
    spry_vector_free(x);
    spry_vector_free(y);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int64_t memory = 0;
    spry_context *ctx = fuzz_begin(&memory);
    spry_grid *grid = NULL;
    spry_grid_info info = SPRY_GRID_INFO_INIT;
    char *text = malloc(size + 1);
    fuzz_require(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    const size_t first = strcspn(text, "\n");
    const char *rest = text[first] ? text + first + 1 : "";
    text[first] = '\0';
    if (spry_grid_new(ctx, text, &grid) == SPRY_STATUS_OK) {
        fuzz_require(spry_grid_describe(grid, &info) == SPRY_STATUS_OK);
        if (info.points <= 4096) {
            try_operator(ctx, grid, rest, "order=2");
            try_operator(ctx, grid, rest, "order=6");
        }
    } else {
        fuzz_require(grid == NULL && spry_message(ctx)[0] != '\0');
    }
    spry_grid_free(grid);
    fuzz_end(ctx, memory);
    free(text);
    return 0;
}
