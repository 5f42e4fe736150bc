/* What matrices look like, what there is to choose from, and files. */
#include "gate.h"

#include <string.h>

/* Sets a field by name, which is added. */
static void put(mxArray *to, mwIndex index, const char *name, mxArray *value)
{
    if (mxGetFieldNumber(to, name) < 0)
        mxAddField(to, name);
    mxSetField(to, index, name, value);
}

static void put_number(mxArray *to, const char *name, double value)
{
    put(to, 0, name, mxCreateDoubleScalar(value));
}

static void put_bool(mxArray *to, const char *name, bool value)
{
    put(to, 0, name, mxCreateLogicalScalar(value));
}

static void put_stats(mxArray *to, const spry_stats *s)
{
    put_number(to, "rows", (double)s->rows);
    put_number(to, "cols", (double)s->cols);
    put_number(to, "nnz", (double)s->nnz);
    put_number(to, "row_min", (double)s->row_min);
    put_number(to, "row_max", (double)s->row_max);
    put_number(to, "row_mean", s->row_mean);
    put_number(to, "row_deviation", s->row_deviation);
    put_number(to, "empty_rows", (double)s->empty_rows);
    put_number(to, "empty_cols", (double)s->empty_cols);
    put_number(to, "lower_bandwidth", (double)s->lower_bandwidth);
    put_number(to, "upper_bandwidth", (double)s->upper_bandwidth);
    put_number(to, "profile", (double)s->profile);
    put_number(to, "diagonals", (double)s->diagonals);
    put_number(to, "missing_diagonal", (double)s->missing_diagonal);
    put_number(to, "zero_diagonal", (double)s->zero_diagonal);
    put_number(to, "nonfinite", (double)s->nonfinite);
    put_number(to, "pattern_symmetry", s->pattern_symmetry);
    put_number(to, "value_symmetry", s->value_symmetry);
    put_bool(to, "symmetric", s->symmetric);
    put_bool(to, "hermitian", s->hermitian);
    put_bool(to, "skew", s->skew);
    put_number(to, "dominant_rows", (double)s->dominant_rows);
    put_number(to, "positive_diagonal", (double)s->positive_diagonal);
    put_number(to, "block_size", s->block_size);
    put_number(to, "block_fill", s->block_fill);
    put_number(to, "value_min", s->value_min);
    put_number(to, "value_max", s->value_max);
    put_number(to, "norm_one", s->norm_one);
    put_number(to, "norm_inf", s->norm_inf);
    put_number(to, "norm_frobenius", s->norm_frobenius);
    mxArray *histogram = mxCreateDoubleMatrix(1, SPRY_STATS_BINS, mxREAL);
    for (int k = 0; k < SPRY_STATS_BINS; k++)
        ((double *)mxGetData(histogram))[k] = (double)s->row_histogram[k];
    put(to, 0, "row_histogram", histogram);
}

/* A matrix of the call: a sparse array, or a kept one. *own is to be freed, *k to be left. */
static const spry_matrix *matrix_of(const mxArray *array, spry_matrix **own, kept **k)
{
    spry_type type;
    if (kept_is_id(array)) {
        *k = kept_enter(array);
        return *k ? (*k)->A : NULL;
    }
    if (!arrays_type(array, "A", &type) || !arrays_matrix(array, "A", type, own))
        return NULL;
    return *own;
}

/* info = spry_mex('info', A) */
bool command_info(gate_call *call)
{
    spry_matrix *own = NULL;
    kept *k = NULL;
    spry_stats stats = SPRY_STATS_INIT;
    if (!gate_count(call, 1, 1) || !gate_context())
        return false;
    const spry_matrix *A = matrix_of(call->in[0], &own, &k);
    const bool good = A && gate_check(spry_matrix_stats(A, &stats));
    if (good) {
        call->out[0] = mxCreateStructMatrix(1, 1, 0, NULL);
        put_stats(call->out[0], &stats);
    }
    spry_matrix_free(own);
    kept_leave(k);
    return good;
}

static mxArray *tune_rows(const spry_tune_report *report)
{
    static const char *const names[] = {
        "format",        "bytes", "model_seconds", "seconds", "conversion_seconds",
        "total_seconds", "note"};
    mxArray *rows = mxCreateStructMatrix(1, (mwSize)report->count, 7, (const char **)names);
    for (int64_t i = 0; i < report->count; i++) {
        const spry_tune_row *row = spry_tune_row_at(report, i);
        const mwIndex at = (mwIndex)i;
        mxSetFieldByNumber(rows, at, 0, mxCreateString(row->format));
        mxSetFieldByNumber(rows, at, 1, mxCreateDoubleScalar((double)row->bytes));
        mxSetFieldByNumber(rows, at, 2, mxCreateDoubleScalar(row->model_seconds));
        mxSetFieldByNumber(rows, at, 3, mxCreateDoubleScalar(row->seconds));
        mxSetFieldByNumber(rows, at, 4, mxCreateDoubleScalar(row->conversion_seconds));
        mxSetFieldByNumber(rows, at, 5, mxCreateDoubleScalar(row->total_seconds));
        mxSetFieldByNumber(rows, at, 6, mxCreateString(row->note));
    }
    return rows;
}

/* report = spry_mex('tune', A, OPTIONS, DEVICE) */
bool command_tune(gate_call *call)
{
    spry_matrix *own = NULL;
    kept *k = NULL;
    spry_device *device = NULL;
    spry_tune_report report = SPRY_TUNE_REPORT_INIT;
    if (!gate_count(call, 1, 3) || !gate_context())
        return false;
    char *options = call->in_count > 1 ? options_text(call->in[1]) : NULL;
    if (call->in_count > 1 && !options)
        return false;
    char *name = call->in_count > 2 ? gate_text(call->in[2], "device") : NULL;
    if (call->in_count > 2 &&
        (!name || (strcmp(name, "cpu") != 0 &&
                   !gate_check(spry_device_open(gate_context(), name, &device)))))
        return false;
    const spry_matrix *A = matrix_of(call->in[0], &own, &k);
    gate_listen();
    bool good = A && gate_check(spry_tune(A, device, options, &report));
    if (gate_listen_end())
        good = gate_fail("interrupted", "interrupted");
    if (good) {
        mxArray *out = call->out[0] = mxCreateStructMatrix(1, 1, 0, NULL);
        put(out, 0, "format", mxCreateString(report.format));
        put_bool(out, "remembered", report.remembered);
        put_bool(out, "untried", report.untried);
        put_number(out, "products", (double)report.products);
        put_number(out, "seconds", report.seconds);
        put(out, 0, "rows", tune_rows(&report));
    }
    spry_tune_report_clear(gate_context(), &report);
    spry_matrix_free(own);
    kept_leave(k);
    return good;
}

static mxArray *text_or_empty(const char *text)
{
    return mxCreateString(text ? text : "");
}

/* entries = spry_mex('list', NAME) */
bool command_list(gate_call *call)
{
    static const char *const names[] = {"name", "summary", "purpose", "reference"};
    char *wanted = gate_count(call, 1, 1) ? gate_text(call->in[0], "the list") : NULL;
    if (!wanted)
        return false;
    int list = 0, count = 0;
    while (spry_list_name((spry_list)list) && strcmp(spry_list_name((spry_list)list), wanted) != 0)
        list++;
    if (!spry_list_name((spry_list)list))
        return gate_fail("badUsage", "there is no list '%s'", wanted);
    spry_entry entry = SPRY_ENTRY_INIT;
    while (spry_list_at((spry_list)list, count, &entry))
        count++;
    call->out[0] = mxCreateStructMatrix((mwSize)count, 1, 4, (const char **)names);
    for (int i = 0; i < count; i++) {
        spry_list_at((spry_list)list, i, &entry);
        mxSetFieldByNumber(call->out[0], (mwIndex)i, 0, text_or_empty(entry.name));
        mxSetFieldByNumber(call->out[0], (mwIndex)i, 1, text_or_empty(entry.summary));
        mxSetFieldByNumber(call->out[0], (mwIndex)i, 2, text_or_empty(entry.purpose));
        mxSetFieldByNumber(call->out[0], (mwIndex)i, 3, text_or_empty(entry.reference));
    }
    return true;
}

bool command_devices(gate_call *call)
{
    static const char *const names[] = {"name",   "kind", "description",
                                        "usable", "why",  "memory_bytes"};
    if (!gate_count(call, 0, 0) || !gate_context())
        return false;
    spry_device_info info = SPRY_DEVICE_INFO_INIT;
    int count = 0;
    while (spry_device_describe(gate_context(), count, &info))
        count++;
    call->out[0] = mxCreateStructMatrix((mwSize)count, 1, 6, (const char **)names);
    for (int i = 0; i < count; i++) {
        spry_device_describe(gate_context(), i, &info);
        const mwIndex at = (mwIndex)i;
        mxSetFieldByNumber(call->out[0], at, 0, mxCreateString(info.name));
        mxSetFieldByNumber(call->out[0], at, 1, mxCreateString(info.kind));
        mxSetFieldByNumber(call->out[0], at, 2, mxCreateString(info.description));
        mxSetFieldByNumber(call->out[0], at, 3, mxCreateLogicalScalar(info.usable));
        mxSetFieldByNumber(call->out[0], at, 4, mxCreateString(info.why));
        mxSetFieldByNumber(call->out[0], at, 5, mxCreateDoubleScalar((double)info.memory_bytes));
    }
    return true;
}
