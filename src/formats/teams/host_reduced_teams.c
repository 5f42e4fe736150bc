/* Products with rows sorted by length (formats/teams/teams.h): a row's entries are side by side,
 * `lanes` at a time. */
#include "formats/teams/teams.h"
#include "host/kernels/walk_kernel.h"

/* The teams of a unit. */
typedef struct unit {
    int64_t begin, end, lanes, teams;
    const int32_t *rows;
} unit;

ALWAYS_INLINE unit open_unit(const layout *A, int64_t u)
{
    const int64_t *offsets = (const int64_t *)A->array[TEAMS_OFFSETS].data + u;
    const int64_t *firsts = (const int64_t *)A->array[TEAMS_FIRSTS].data + u;
    const int64_t teams = firsts[1] - firsts[0];
    return (unit){offsets[0], offsets[1], TEAMS_UNIT / teams, teams,
                  (const int32_t *)A->array[TEAMS_ROWS].data + firsts[0]};
}

void W(teams_multiply)(const layout *A, int64_t begin, int64_t end, const host_product *p)
{
    const factors f = factors_of(p->alpha, p->beta);
    const stored *values = A->array[TEAMS_VALUES].data;
    const int32_t *columns = A->array[TEAMS_COLUMNS].data;
    const scalar *x = p->x;
    for (int64_t i = begin; i < end; i++) {
        const unit u = open_unit(A, i);
        for (int64_t t = 0; t < u.teams && u.rows[t] >= 0; t++) {
            scalar sum = from_scalar((spry_scalar){0, 0});
            for (int64_t at = u.begin + t * u.lanes; at < u.end; at += TEAMS_UNIT)
                for (int64_t k = at; k < at + u.lanes; k++) {
                    const scalar value = value_of(values[k]);
                    sum = muladd(p->conjugate ? conjugate(value) : value, x[columns[k]], sum);
                }
            if (A->carry_at[i + 1] > A->carry_at[i])
                ((scalar *)p->carry)[A->carry_at[i]] = mul(f.alpha, sum);
            else
                put(f, sum, (scalar *)p->y + (u.rows[t] - p->first));
        }
    }
}

ALWAYS_INLINE void units(const layout *A, int64_t begin, int64_t end, const host_columns *p,
                         int vectors)
{
    const factors f = factors_of(p->alpha, p->beta);
    const stored *values = A->array[TEAMS_VALUES].data;
    const int32_t *columns = A->array[TEAMS_COLUMNS].data;
    for (int64_t i = begin; i < end; i++) {
        const unit u = open_unit(A, i);
        for (int64_t t = 0; t < u.teams && u.rows[t] >= 0; t++) {
            tile sum = {0};
            for (int64_t at = u.begin + t * u.lanes; at < u.end; at += TEAMS_UNIT)
                for (int64_t k = at; k < at + u.lanes; k++)
                    tile_add(&sum, vectors, value_of(values[k]),
                             tile_row(p->x, columns[k], p->x_stride));
            if (A->carry_at[i + 1] > A->carry_at[i])
                tile_carry(&sum, vectors, p, f, A->carry_at[i]);
            else
                tile_put(&sum, vectors, p, f, u.rows[t]);
        }
    }
}

void W(teams_columns)(const layout *A, int64_t begin, int64_t end, const host_columns *p)
{
    if (p->packs == 1)
        units(A, begin, end, p, TILE_PACK);
    else
        units(A, begin, end, p, TILE_MOST);
}
