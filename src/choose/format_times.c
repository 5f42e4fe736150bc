/* What races on the host and on devices share: times, totals, and leaving. */
#include "choose/tune.h"

bool tune_replaces_csr(const spry_tune_row *row, const spry_tune_row *csr)
{
    static const double gain = 0.97;
    return row->seconds > 0 && row->seconds <= gain * csr->seconds;
}

double tune_total(const spry_tune_row *row, int64_t products)
{
    return row->conversion_seconds + (double)products * row->seconds;
}

void tune_leave(tune_candidate *c, const char *note)
{
    spry_operator_free(c->op);
    c->op = NULL;
    c->dropped = true;
    if (note)
        snprintf(c->row.note, sizeof c->row.note, "%.95s", note);
}

void tune_time(tune_candidate *c, double seconds)
{
    c->row.seconds = c->samples == 0 || seconds < c->row.seconds ? seconds : c->row.seconds;
    c->samples++;
}

void tune_excuse(tune_list *list, tune_candidate *c, spry_status status, const base_kept *before)
{
    char reason[sizeof c->row.note];
    list->cramped = list->cramped || status == SPRY_STATUS_NO_MEMORY;
    snprintf(reason, sizeof reason, "%.95s", list->ctx->message);
    base_forgive(list->ctx, before);
    tune_leave(c, reason);
}

void tune_finish(tune_list *list, int64_t products, int winner)
{
    for (int i = 0; i < list->count; i++) {
        tune_candidate *c = &list->all[i];
        if (c->row.seconds > 0)
            c->row.total_seconds = tune_total(&c->row, products);
        if (i != winner) {
            spry_operator_free(c->op);
            c->op = NULL;
        }
    }
}
