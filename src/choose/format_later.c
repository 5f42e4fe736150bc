/*
 * The format for a solve that goes on for much longer than it was taken to. Where formats were
 * raced, their times decide. Where they were not, forecasts do: while an iteration has the
 * cores the clock would show little, and so the choice is the same in every run.
 */
#include "choose/tune.h"
#include "host/stored.h"
#include "matrix/entries.h"

static const double gain = 0.95;   /* of the time of all products to come is worth a conversion, */
static const double promise = 0.9; /* and of their forecast */
static const double any_time = 1e-6; /* for one product: what counts are ratios of forecasts */

void tune_later(const spry_tune_report *raced, int64_t products, char format[TUNE_SPEC])
{
    const spry_tune_row *now = NULL, *best = NULL;
    format[0] = '\0';
    for (int64_t i = 0; i < raced->count; i++)
        if (strcmp(raced->rows[i].format, raced->format) == 0 && raced->rows[i].seconds > 0)
            now = &raced->rows[i];
    for (int64_t i = 0; i < raced->count && now; i++) {
        const spry_tune_row *row = &raced->rows[i];
        if (row->seconds > 0 && strcmp(row->format, "csr") != 0 &&
            tune_total(row, products) <= gain * (double)products * now->seconds &&
            (!best || tune_total(row, products) < tune_total(best, products)))
            best = row;
    }
    if (best)
        snprintf(format, TUNE_SPEC, "%s", best->format);
}

/* Whether a format has products by rows, as some of the rows show. */
static bool has_rows(const spry_matrix *some, const char *format)
{
    layout *L = NULL;
    const bool has = layout_build(some, format, &L) == SPRY_STATUS_OK && layout_by_rows(L);
    layout_free(L);
    return has;
}

/* The least forecast of conversion and products, where it is enough below that of CSR; of those
 * that are close the first of the list. */
static tune_candidate *most_promising(const tune_list *list, const tune_machine *machine,
                                      double products)
{
    tune_candidate *best = NULL;
    double least = promise * products * list->all[0].row.model_seconds;
    for (int i = 1; i < list->count; i++) {
        tune_candidate *c = &list->all[i];
        const double expected =
            tune_model_conversion(machine, list, c) + products * c->row.model_seconds;
        if (c->possible && expected < (best ? least / TUNE_CLOSE : least)) {
            best = c;
            least = expected;
        }
    }
    return best;
}

/* Candidates are looked at in full, and with `rows` at whether they have products by rows, when
 * they are the most promising: until one is that still is. */
static spry_status choose(const spry_matrix *A, const spry_matrix *some, int64_t products,
                          bool rows, char format[TUNE_SPEC])
{
    spry_context *ctx = A->ctx;
    tune_machine *machine = NULL; /* of which nothing was learned */
    tune_list list = {.ctx = ctx};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *machine, &machine));
    SPRY_GO(ctx, tune_list_make(A, NULL, products, &list));
    list.all[0].row.seconds = any_time;
    for (int tries = 0; tries < 2 * list.count && !spry_context_interrupted(ctx, false); tries++) {
        tune_model(A, machine, any_time, &list);
        tune_candidate *c = most_promising(&list, machine, (double)products);
        if (!c)
            break;
        if (rows && !has_rows(some, c->row.format)) {
            c->possible = false;
        } else if (c->estimated) {
            tune_estimate(A, c);
        } else {
            snprintf(format, TUNE_SPEC, "%s", c->row.format);
            break;
        }
    }
done:
    tune_list_free(&list);
    base_free(ctx, machine);
    return status;
}

spry_status tune_forecast_later(const spry_matrix *A, int64_t products, bool rows,
                                char format[TUNE_SPEC])
{
    spry_context *ctx = A->ctx;
    const spry_matrix *csr = NULL;
    spry_matrix *owned = NULL, *sample = NULL;
    spry_status status = SPRY_STATUS_OK;
    format[0] = '\0';
    if (matrix_csr_bytes(A->a.type, A->a.rows, A->a.nnz) <= tune_second_cache())
        return SPRY_STATUS_OK; /* products take no time */
    SPRY_GO(ctx, matrix_as_sorted_csr(A, &csr, &owned));
    if (host_scattered(csr->a.rows, csr->a.cols, csr->a.offsets, csr->a.col_index))
        goto done; /* products wait for x, and bytes say little */
    SPRY_GO(ctx, tune_sample(csr, true, &sample));
    SPRY_GO(ctx, choose(csr, sample ? sample : csr, products, rows, format));
done:
    spry_matrix_free(sample);
    spry_matrix_free(owned);
    return status;
}
