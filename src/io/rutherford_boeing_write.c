/*
 * Writing Rutherford-Boeing files. Values have as many digits as their type needs to come back bit
 * by bit: 17 for double, 9 for single precision (also when read by way of double).
 */
#include "io/rutherford_boeing.h"

#include <math.h>

enum { LINE = 80, FIELD = 40 };

/* An array's format: numbers a line, columns each. */
typedef struct layout {
    int per_line, width;
    int64_t lines;
} layout;

static layout lay_out(int64_t count, int width)
{
    const int per_line = LINE / width;
    return (layout){per_line, width, (count + per_line - 1) / per_line};
}

static int digits(int64_t value)
{
    int n = 1;
    for (; value >= 10; value /= 10)
        n++;
    return n;
}

/* Puts text at the right end of field k; the last field of a line ends it. */
static void put(io_writer *w, const layout *l, int64_t k, int64_t count, const char *text,
                int length)
{
    char field[FIELD];
    memset(field, ' ', sizeof field);
    memcpy(field + l->width - length, text, (size_t)length);
    const bool last = k + 1 == count || (k + 1) % l->per_line == 0;
    field[l->width] = '\n';
    io_write(w, field, (size_t)l->width + last);
}

static void put_int(io_writer *w, const layout *l, int64_t k, int64_t count, int64_t value)
{
    char text[FIELD];
    put(w, l, k, count, text, io_print_int(text, value));
}

/* As %.*E prints it in the C locale: the mark after the first digit may be other bytes in others.
 */
static int print_real(char *out, int decimals, double value)
{
    char text[FIELD];
    const int length = snprintf(text, sizeof text, "%.*E", decimals, value);
    const int mark = text[0] == '-' ? 2 : 1;
    if (!isfinite(value)) {
        memcpy(out, text, (size_t)length);
        return length;
    }
    int rest = mark;
    while (rest < length && (text[rest] < '0' || text[rest] > '9'))
        rest++;
    memcpy(out, text, (size_t)mark);
    out[mark] = '.';
    memcpy(out + mark + 1, text + rest, (size_t)(length - rest));
    return mark + 1 + length - rest;
}

static void put_values(io_writer *w, const layout *l, const spry_arrays *a, int64_t count)
{
    const bool single = a->type == SPRY_S || a->type == SPRY_C;
    for (int64_t k = 0; k < count; k++) {
        char text[FIELD];
        const double value =
            single ? ((const float *)a->values)[k] : ((const double *)a->values)[k];
        put(w, l, k, count, text, print_real(text, single ? 8 : 16, value));
    }
}

static void put_header(io_writer *w, const spry_arrays *a, const layout l[RB_PARTS])
{
    static const char shapes[] = {'u', 's', 'z', 'h'};
    const bool single = a->type == SPRY_S || a->type == SPRY_C;
    const bool complex = spry_type_is_complex(a->type);
    char shape = shapes[a->symmetry];
    if (shape == 'u' && a->rows != a->cols)
        shape = 'r';
    else if (shape == 'h' && !complex)
        shape = 's';
    char format[RB_PARTS][32];
    for (int p = 0; p < RB_VALUES; p++)
        snprintf(format[p], sizeof format[p], "(%dI%d)", l[p].per_line, l[p].width);
    snprintf(format[RB_VALUES], sizeof format[RB_VALUES], "(%dE%d.%d)", l[RB_VALUES].per_line,
             l[RB_VALUES].width, single ? 8 : 16);
    io_printf(w, "%-72s%-8s\n", "Written by spry", "spry");
    io_printf(w, "%14" PRId64 " %13" PRId64 " %13" PRId64 " %13" PRId64 "\n",
              l[RB_POINTERS].lines + l[RB_INDICES].lines + l[RB_VALUES].lines, l[RB_POINTERS].lines,
              l[RB_INDICES].lines, l[RB_VALUES].lines);
    io_printf(w, "%c%ca%11s %13" PRId64 " %13" PRId64 " %13" PRId64 " %13d\n", complex ? 'c' : 'r',
              shape, "", a->rows, a->cols, a->nnz, 0);
    io_printf(w, "%-16s%-16s%-20s\n", format[RB_POINTERS], format[RB_INDICES], format[RB_VALUES]);
}

spry_status io_rb_write(const spry_matrix *A, const char *path)
{
    spry_context *ctx = A->ctx;
    spry_status status = SPRY_OK;
    spry_matrix *columns = NULL;
    io_writer *w = NULL;
    if (A->a.format != SPRY_CSC)
        SPRY_GO(ctx, spry_matrix_convert(A, SPRY_CSC, &columns));
    const spry_arrays *a = columns ? &columns->a : &A->a;
    const int64_t numbers = spry_type_is_complex(a->type) ? 2 * a->nnz : a->nnz;
    const bool single = a->type == SPRY_S || a->type == SPRY_C;
    const layout l[RB_PARTS] = {lay_out(a->cols + 1, digits(a->nnz + 1) + 1),
                                lay_out(a->nnz, digits(a->rows) + 1),
                                lay_out(numbers, single ? 16 : 25)};
    SPRY_GO(ctx, io_create(ctx, path, &w));
    put_header(w, a, l);
    for (int64_t j = 0; j <= a->cols; j++)
        put_int(w, &l[RB_POINTERS], j, a->cols + 1, a->offsets[j] + 1);
    for (int64_t k = 0; k < a->nnz; k++)
        put_int(w, &l[RB_INDICES], k, a->nnz, (int64_t)a->row_index[k] + 1);
    put_values(w, &l[RB_VALUES], a, numbers);
    SPRY_GO(ctx, io_commit(ctx, w));
done:
    spry_matrix_free(columns);
    return status;
}
