/* How large the entries of a matrix are, and how many its rows have: bars by decades and by powers
 * of two. */
#include "draw.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS = 256, BARS = 48 };

typedef struct sizing {
    spry_arrays a;
    magnitudes *found; /* one per thread */
    double *power;     /* 10^k, from DECADE_LEAST to DECADE_MOST + 1 */
} sizing;

/* The decade of a finite number above 0: by its binary exponent, and one comparison. */
static int decade_of(const double *power, double size)
{
    int exponent;
    (void)frexp(size, &exponent); /* 2^(exponent - 1) <= size */
    int k = (int)floor((exponent - 1) * 0.30102999566398120);
    k = k < DECADE_LEAST ? DECADE_LEAST : k;
    while (k < DECADE_MOST && size >= power[k + 1 - DECADE_LEAST])
        k++;
    return k - DECADE_LEAST;
}

static void size_part(void *data, int unit, int thread)
{
    const sizing *s = data;
    magnitudes *m = &s->found[thread];
    const bool complex = spry_type_is_complex(s->a.type);
    const bool single = s->a.type == SPRY_TYPE_S || s->a.type == SPRY_TYPE_C;
    const int64_t first = s->a.nnz / PARTS * unit;
    const int64_t last = unit + 1 < PARTS ? s->a.nnz / PARTS * (unit + 1) : s->a.nnz;
    for (int64_t k = first; k < last; k++) {
        const int64_t at = complex ? 2 * k : k;
        const double re =
            single ? (double)((const float *)s->a.values)[at] : ((const double *)s->a.values)[at];
        const double im = !complex ? 0
                          : single ? (double)((const float *)s->a.values)[at + 1]
                                   : ((const double *)s->a.values)[at + 1];
        const double size = complex ? hypot(re, im) : fabs(re);
        if (!isfinite(re) || !isfinite(im))
            m->nonfinite++;
        else if (size == 0)
            m->zero++;
        else
            (re < 0 ? m->negative : m->positive)[decade_of(s->power, fmin(size, DBL_MAX))]++;
    }
}

spry_status magnitudes_count(spry_context *ctx, const spry_matrix *A, magnitudes *m)
{
    const int threads = thread_pool_size(ctx);
    sizing s = {.a = SPRY_ARRAYS_INIT};
    const spry_status status = spry_matrix_arrays(A, &s.a);
    memset(m, 0, sizeof *m);
    if (status != SPRY_STATUS_OK)
        return status;
    s.found = cli_alloc((size_t)threads * sizeof *s.found);
    s.power = cli_alloc((DECADES + 1) * sizeof *s.power);
    for (int k = 0; k < DECADES; k++) {
        char text[16];
        snprintf(text, sizeof text, "1e%d", k + DECADE_LEAST);
        s.power[k] = strtod(text, NULL); /* rounded correctly, which pow() need not be */
    }
    thread_pool_run(ctx, PARTS, size_part, &s);
    for (int t = 0; t < threads; t++) {
        for (int k = 0; k < DECADES; k++) {
            m->positive[k] += s.found[t].positive[k];
            m->negative[k] += s.found[t].negative[k];
        }
        m->zero += s.found[t].zero;
        m->nonfinite += s.found[t].nonfinite;
    }
    free(s.found);
    free(s.power);
    return status;
}

static void put_bar(bar *b, double first, double second, int colour)
{
    b->length = first;
    b->second = second;
    b->colour = colour;
    snprintf(b->text, sizeof b->text, "%s", text_count((int64_t)(first + second)));
}

/* As many decades per bar as all need to fit. */
static int add_decades(const magnitudes *m, bar *b)
{
    int low = DECADES, high = -1, count = 0;
    for (int k = 0; k < DECADES; k++)
        if (m->positive[k] + m->negative[k] > 0) {
            low = k < low ? k : low;
            high = k;
        }
    if (high < 0)
        return 0;
    const int step = (high - low) / (BARS - 4) + 1;
    for (int k = low; k <= high; k += step, count++) {
        double above = 0, below = 0;
        for (int i = k; i < k + step && i < DECADES; i++) {
            above += (double)m->positive[i];
            below += (double)m->negative[i];
        }
        snprintf(b[count].label, sizeof b->label, "1e%d to 1e%d", k + DECADE_LEAST,
                 k + step + DECADE_LEAST);
        put_bar(&b[count], above, below, 0);
    }
    return count;
}

void draw_magnitudes(picture *p, const magnitudes *m, const char *name)
{
    bar b[BARS] = {0};
    char title[512];
    int count = 0;
    if (m->nonfinite > 0) {
        snprintf(b[count].label, sizeof b->label, "NaN or infinite");
        put_bar(&b[count++], (double)m->nonfinite, 0, 5);
    }
    if (m->zero > 0) {
        snprintf(b[count].label, sizeof b->label, "0");
        put_bar(&b[count++], (double)m->zero, 0, -1);
    }
    count += add_decades(m, b + count);
    snprintf(title, sizeof title, "Magnitudes of the entries of %.300s", name);
    draw_bars(p, &(bars){title, "Numbers of entries by their magnitude, a bar for a decade.",
                         "entries by their magnitude |a|", "positive", "negative", b, count});
}

void draw_rows(picture *p, const spry_stats *s, const char *name)
{
    bar b[SPRY_STATS_BINS] = {0};
    char title[512], note[160];
    int count = 0;
    for (int k = 0; k < SPRY_STATS_BINS; k++) {
        const int64_t low = k ? (int64_t)1 << (k - 1) : 0, high = k ? 2 * low - 1 : 0;
        if (s->row_histogram[k] == 0)
            continue;
        snprintf(b[count].label, sizeof b->label, low == high ? "%s" : "%s to %s", text_count(low),
                 text_count(high));
        put_bar(&b[count++], (double)s->row_histogram[k], 0, 0);
    }
    snprintf(title, sizeof title, "Lengths of the rows of %.300s", name);
    snprintf(note, sizeof note, "rows by their number of entries: %s to %s, %.4g on average",
             text_count(s->row_min), text_count(s->row_max), s->row_mean);
    draw_bars(p, &(bars){title, "Numbers of rows by how many entries they have.", note, NULL, NULL,
                         b, count});
}
