/* New values for a matrix that is distributed over ranks: each has those of its own rows. */
#include "matrix/entries.h"
#include "ranks/distributed.h"

static spry_status check(const spry_matrix *A, const void *values)
{
    if (A->redistributed)
        return SPRY_FAIL(
            A->ctx, SPRY_STATUS_UNSUPPORTED,
            "rows of the matrix were distributed to ranks, which have others than they "
            "gave: create it again");
    const int64_t count = dist_entries(A);
    if (!values && count > 0)
        return SPRY_FAIL(A->ctx, SPRY_STATUS_BAD_USAGE,
                         "values is NULL, expected %" PRId64 " numbers of type %s", count,
                         spry_type_name(A->a.type));
    return matrix_check_changeable(A);
}

/* Rows keep the order of their entries, own and edge rows alike (distributed.c). */
static void put(const distributed *s, const char *values)
{
    const matrix_arrays *own = &s->own->a, *edge = &s->edge->a;
    const size_t size = spry_type_size(own->type);
    int64_t n = 0, e = 0;
    for (int64_t i = 0; i < own->rows; i++) {
        int64_t at = own->offsets[i];
        if (e < s->edges && s->edge_rows[e] == i) {
            for (int64_t k = edge->offsets[e]; k < edge->offsets[e + 1]; k++, n++) {
                element_move(size, edge->values, k, values, n);
                if (edge->col_index[k] < s->kept)
                    element_move(size, own->values, at++, values, n);
            }
            e++;
        }
        for (; at < own->offsets[i + 1]; at++, n++)
            element_move(size, own->values, at, values, n);
    }
}

spry_status dist_set_values(spry_matrix *A, const void *values)
{
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(A->ctx, team_agree(A->ctx, check(A, values)));
    put(A->distributed, values);
    matrix_changed(A->distributed->own);
    matrix_changed(A->distributed->edge);
    matrix_changed(A);
done:
    return status;
}
