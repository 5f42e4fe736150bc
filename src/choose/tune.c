/* The tuner: what is remembered, else a race; and the report. */
#include "choose/tune.h"

#include "matrix/entries.h"

#include <private/programs.h>
#include <stdlib.h>
#include <unistd.h>

enum { SMALL_THERE = 1 << 20 };

SPRY_OPTION_TABLE(rows, tune_options, TUNE_OPTIONS(SPRY_OPTION_ROW))

spry_option_list tune_option_list(void)
{
    return (spry_option_list)SPRY_OPTION_LIST(rows);
}

static const spry_tune_row *find_row(const tune_entry *entry, const char *format)
{
    for (int i = 0; i < entry->count; i++)
        if (strcmp(entry->rows[i].format, format) == 0 && entry->rows[i].seconds > 0)
            return &entry->rows[i];
    return NULL;
}

/* The winner was found for about as many products: what was timed then decides which wins for
 * these. What is close is no reason: the winner may have been the first of several. */
static void choose_again(tune_entry *entry, int64_t products)
{
    const spry_tune_row *csr = find_row(entry, "csr"), *best = find_row(entry, entry->winner);
    for (int i = 0; i < entry->count && csr && best; i++) {
        const spry_tune_row *row = &entry->rows[i];
        if ((row == csr || tune_replaces_csr(row, csr)) &&
            TUNE_CLOSE * tune_total(row, products) < tune_total(best, products))
            best = row;
    }
    if (best)
        memcpy(entry->winner, best->format, sizeof entry->winner);
}

/* A format that was chosen for about as many products, chosen again for these. */
static bool recall(spry_context *ctx, const tune_memory *m, int64_t products, tune_entry *entry)
{
    if (!tune_recall(ctx, m, entry))
        return false;
    choose_again(entry, products);
    return strncmp(entry->winner, "auto", 4) != 0; /* would ask for the choice again */
}

/* CSR first, then what was timed by total, then others by forecast; what is not possible last. */
static int by_worth(const void *a, const void *b)
{
    const spry_tune_row *x = a, *y = b;
    const int x_kind = x->seconds > 0 ? 0 : x->bytes > 0 ? 1 : 2;
    const int y_kind = y->seconds > 0 ? 0 : y->bytes > 0 ? 1 : 2;
    if (x_kind != y_kind)
        return x_kind - y_kind;
    const double p = x_kind == 0 ? x->total_seconds : x->model_seconds;
    const double q = y_kind == 0 ? y->total_seconds : y->model_seconds;
    return p != q ? (p > q) - (p < q) : strcmp(x->format, y->format);
}

static void keep(spry_context *ctx, const tune_memory *m, const spry_tune_report *report)
{
    tune_entry *entry = NULL;
    if (!m->usable || base_calloc(ctx, 1, sizeof *entry, &entry) != SPRY_STATUS_OK)
        return;
    entry->seconds = report->seconds;
    snprintf(entry->winner, sizeof entry->winner, "%s", report->format);
    for (int64_t i = 0; i < report->count && entry->count < TUNE_ROWS; i++)
        if (report->rows[i].bytes > 0)
            entry->rows[entry->count++] = report->rows[i];
    tune_keep(ctx, m, entry);
    base_free(ctx, entry);
}

/* --- reports --------------------------------------------------------------------------------- */

static const base_sized report_sized = BASE_SIZED(spry_tune_report, row_size);

void spry_tune_report_clear(spry_context *ctx, spry_tune_report *report)
{
    if (report && base_size(report, &report_sized) > 0) {
        base_free(ctx, report->rows);
        base_blank(ctx, report, &report_sized);
    }
}

const spry_tune_row *spry_tune_row_at(const spry_tune_report *report, int64_t index)
{
    if (!report || index < 0 || index >= report->count)
        return NULL;
    return (const spry_tune_row *)(const void *)((const char *)report->rows +
                                                 (size_t)index * report->row_size);
}

static spry_status report_entry(spry_context *ctx, const tune_entry *entry,
                                spry_tune_report *report)
{
    const spry_status status =
        base_alloc(ctx, entry->count + 1, sizeof *report->rows, &report->rows);
    if (status != SPRY_STATUS_OK)
        return status;
    memcpy(report->rows, entry->rows, (size_t)entry->count * sizeof *report->rows);
    for (int i = 0; i < entry->count; i++) {
        spry_tune_row *row = &report->rows[i];
        if (row->seconds > 0)
            row->total_seconds = tune_total(row, report->products);
    }
    report->count = entry->count;
    report->remembered = true;
    report->seconds = entry->seconds;
    snprintf(report->format, sizeof report->format, "%s", entry->winner);
    return SPRY_STATUS_OK;
}

static spry_status report_list(const tune_list *list, int winner, spry_tune_report *report)
{
    const spry_status status =
        base_alloc(list->ctx, list->count, sizeof *report->rows, &report->rows);
    if (status != SPRY_STATUS_OK)
        return status;
    for (int i = 0; i < list->count; i++)
        report->rows[i] = list->all[i].row;
    report->count = list->count;
    snprintf(report->format, sizeof report->format, "%s", list->all[winner].row.format);
    qsort(report->rows + 1, (size_t)list->count - 1, sizeof *report->rows, by_worth);
    return SPRY_STATUS_OK;
}

/* --- deciding -------------------------------------------------------------------------------- */

/* Where a race cannot pay: products take no time, or there are few. On a device a product takes the
 * time of its launch then. */
static bool not_worth(const spry_device *d, const spry_matrix *A, const tune_options *o)
{
    const int64_t bytes = matrix_csr_bytes(A->a.type, A->a.rows, A->a.nnz);
    return !o->always &&
           (bytes <= (d ? SMALL_THERE : tune_second_cache()) || o->products < TUNE_FEW_PRODUCTS);
}

/* Without a race: CSR; on a device what cuts rows where one would keep all others waiting, as a row
 * is the work of one work-item, or of a few. */
static const char *plain_format(const spry_device *d, const spry_matrix *A)
{
    enum { LONG = 2048 };
    tune_list list = {0};
    if (!d || !A->a.offsets)
        return "csr";
    tune_note_longest(&list, &A->a, matrix_longest_row(A->ctx, &A->a));
    const bool long_rows = list.uneven && list.longest > LONG;
    for (int i = 0; long_rows && layout_class_at(i); i++)
        if (layout_class_at(i)->cost.cuts)
            return layout_class_at(i)->name;
    return "csr";
}

/* A choice without a race, or where memory was short, is not worth remembering. */
static bool has_raced(const tune_list *list)
{
    for (int i = 1; i < list->count; i++)
        if (list->all[i].samples > 0)
            return true;
    return false;
}

static spry_status decide_by_race(spry_device *d, const spry_matrix *A, const tune_options *o,
                                  const tune_memory *m, spry_tune_report *report,
                                  spry_operator **op)
{
    spry_context *ctx = A->ctx;
    const double begin = base_seconds();
    const spry_matrix *csr = NULL;
    spry_matrix *owned = NULL;
    tune_machine *machine = NULL;
    tune_list list = {.ctx = ctx};
    int winner;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, matrix_as_sorted_csr(A, &csr, &owned));
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *machine, &machine));
    tune_recall_machine(ctx, m, machine);
    SPRY_GO(ctx, tune_list_make(csr, d, o->products, &list));
    base_log(ctx, SPRY_LOG_DEBUG, "tuner: %d candidates forecast in %.0f us", list.count,
             (base_seconds() - begin) * 1e6);
    SPRY_GO(ctx, d ? tune_race_on_device(csr, o, &list, &winner)
                   : tune_race(csr, o, machine, &list, &winner));
    SPRY_GO(ctx, report_list(&list, winner, report));
    report->seconds = base_seconds() - begin;
    if (!spry_context_interrupted(ctx, false)) {
        if (!d) /* what is tried on devices does not depend on other races */
            tune_learn(csr, &list, machine);
        if (has_raced(&list) && !list.cramped)
            keep(ctx, m, report);
        if (!d && has_raced(&list))
            tune_keep_machine(ctx, m, machine);
    }
    if (op && csr == A) { /* it was built from the caller's own arrays */
        *op = list.all[winner].op;
        list.all[winner].op = NULL;
    }
done:
    tune_list_free(&list);
    base_free(ctx, machine);
    spry_matrix_free(owned);
    return status;
}

static void warn_unsuited(spry_context *ctx, const char *format)
{
    base_log(ctx, SPRY_LOG_INFO, "format %s is remembered, but does not suit: choosing again",
             format);
}

/* Whether a format that is only to be reported would hold this matrix exactly: the fingerprint does
 * not know every entry. */
static spry_status check_remembered(const spry_matrix *A, const char *format, bool *suits)
{
    const spry_matrix *csr = NULL;
    spry_matrix *owned = NULL;
    *suits = strcmp(format, "csr") == 0;
    if (*suits)
        return SPRY_STATUS_OK;
    const spry_status status = matrix_as_sorted_csr(A, &csr, &owned);
    if (status == SPRY_STATUS_OK) {
        *suits = tune_holds(csr, format);
        if (!*suits)
            warn_unsuited(A->ctx, format);
    }
    spry_matrix_free(owned);
    return status;
}

/* A remembered format is built again from this matrix, and taken only if it holds it exactly. */
static bool build_remembered(spry_device *d, const spry_matrix *A, const char *format,
                             spry_operator **op)
{
    spry_context *ctx = A->ctx;
    spry_storage storage = SPRY_STORAGE_INIT;
    const base_kept before = base_try(ctx);
    spry_status status = tune_build(d, A, format, op);
    if (status == SPRY_STATUS_OK)
        status = spry_operator_storage(*op, &storage);
    if (status == SPRY_STATUS_OK && storage.exact)
        return true;
    warn_unsuited(ctx, format);
    base_forgive(ctx, &before);
    spry_operator_free(*op);
    *op = NULL;
    return false;
}

static spry_status decide(spry_device *d, const spry_matrix *A, const tune_options *o,
                          spry_tune_report *report, spry_operator **op)
{
    spry_context *ctx = A->ctx;
    tune_memory *m = NULL;
    tune_entry *entry = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *m, &m));
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *entry, &entry));
    tune_memory_open(d, A, tune_products_class(o->products), o->remember, m);
    bool known = !o->again && recall(ctx, m, o->products, entry);
    if (known && op)
        known = build_remembered(d, A, entry->winner, op);
    else if (known)
        SPRY_GO(ctx, check_remembered(A, entry->winner, &known));
    if (known)
        SPRY_GO(ctx, report_entry(ctx, entry, report));
    else
        SPRY_GO(ctx, decide_by_race(d, A, o, m, report, op));
    if (m->usable && access(m->path, R_OK) == 0)
        snprintf(report->place, sizeof report->place, "%.255s", m->path);
    base_log(ctx, SPRY_LOG_INFO, "format %s for %" PRId64 " products, %s", report->format,
             o->products, report->remembered ? "remembered" : "chosen by timing");
done:
    base_free(ctx, m);
    base_free(ctx, entry);
    return status;
}

spry_status tune_decide(spry_device *d, const spry_matrix *A, const char *options,
                        spry_tune_report *report, spry_operator **op)
{
    spry_context *ctx = A->ctx;
    spry_tune_report unseen = {0};
    tune_options o;
    spry_status status = SPRY_STATUS_OK;
    status = options_take(ctx, tune_option_list(), &o, options);
    if (status != SPRY_STATUS_OK)
        return SPRY_CAUSE(ctx, status, "tuner");
    spry_tune_report *r = report ? report : &unseen;
    r->products = o.products;
    if (not_worth(d, A, &o)) {
        r->untried = true;
        snprintf(r->format, sizeof r->format, "%s", plain_format(d, A));
    } else {
        SPRY_GO(ctx, decide(d, A, &o, r, op));
    }
    if (op && !*op)
        SPRY_GO(ctx, tune_build(d, A, r->format, op));
done:
    if (!report)
        spry_tune_report_clear(ctx, &unseen);
    if (status != SPRY_STATUS_OK && op) {
        spry_operator_free(*op);
        *op = NULL;
    }
    return status;
}

spry_status spry_tune(const spry_matrix *A, spry_device *device, const char *options,
                      spry_tune_report *report)
{
    SPRY_NEED(CTX_OF(A), A, report);
    spry_context *ctx = A->ctx;
    spry_tune_report made = SPRY_TUNE_REPORT_INIT;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_blank(ctx, report, &report_sized));
    if (device && ctx != device->ctx)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "the matrix and device %s are of different contexts", device->facts.name);
    status = tune_decide(device, A, options, &made, NULL);
    made.row_size = sizeof *made.rows;
    base_give(report, &made, &report_sized);
done:
    return status;
}

spry_status spry_tune_forget(spry_context *ctx, const spry_matrix *A, int64_t *count)
{
    SPRY_NEED(ctx, ctx);
    char folder[TUNE_PATH], prefix[32] = "";
    int64_t dropped = 0;
    if (A)
        snprintf(prefix, sizeof prefix, "%016" PRIx64 "-", tune_fingerprint(A));
    if (base_cache_folder(folder, sizeof folder)) /* which need not exist */
        dropped = tune_files_drop(folder, prefix);
    if (count)
        *count = dropped;
    return SPRY_STATUS_OK;
}
