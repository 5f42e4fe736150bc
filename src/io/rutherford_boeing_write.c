/*
 * Writing Rutherford-Boeing files. Values are printed as the shortest text that reads back as the
 * same double (single precision comes back by way of it), all in columns as wide as the longest.
 */
#include "io/rutherford_boeing.h"

#include <math.h>

enum { LINE = 80, FIELD = 40 };

/* An array's format: numbers per line, columns each. */
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

static bool is_single(const matrix_arrays *a)
{
    return type_is_single(a->type);
}

/* A number with a point: Fortran would put one before the last decimals of a number without. */
static int print_value(char *out, const matrix_arrays *a, int64_t k)
{
    const double value =
        is_single(a) ? (double)((const float *)a->values)[k] : ((const double *)a->values)[k];
    const int length = io_print_double(out, value);
    if (!isfinite(value) || memchr(out, '.', (size_t)length))
        return length;
    char *exponent = memchr(out, 'e', (size_t)length);
    char *at = exponent ? exponent : out + length;
    memmove(at + 1, at, (size_t)(out + length - at));
    *at = '.';
    return length + 1;
}

static int longest_value(const spry_context *ctx, const matrix_arrays *a, int64_t count)
{
    int longest = 1;
#pragma omp parallel for num_threads(spry_context_threads(ctx)) reduction(max : longest)
    for (int64_t k = 0; k < count; k++) {
        char text[FIELD];
        const int length = print_value(text, a, k);
        longest = length > longest ? length : longest;
    }
    return longest;
}

static void put_header(io_writer *w, const matrix_arrays *a, const layout l[RB_PARTS])
{
    static const char shapes[] = {'u', 's', 'z', 'h'};
    const bool complex = spry_type_is_complex(a->type);
    char shape = shapes[a->symmetry];
    if (shape == 'u' && a->rows != a->cols)
        shape = 'r';
    else if (shape == 'h' && !complex)
        shape = 's';
    char format[RB_PARTS][32];
    for (int p = 0; p < RB_VALUES; p++)
        snprintf(format[p], sizeof format[p], "(%dI%d)", l[p].per_line, l[p].width);
    const int width = l[RB_VALUES].width; /* decimals do not matter: see print_value */
    snprintf(format[RB_VALUES], sizeof format[RB_VALUES], "(%dE%d.%d)", l[RB_VALUES].per_line,
             width, width > 9 ? width - 9 : 0);
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
    spry_status status = SPRY_STATUS_OK;
    spry_matrix *columns = NULL;
    io_writer *w = NULL;
    if (A->a.format != SPRY_FORMAT_CSC)
        SPRY_GO(ctx, spry_matrix_convert(A, SPRY_FORMAT_CSC, &columns));
    const matrix_arrays *a = columns ? &columns->a : &A->a;
    const int64_t numbers = spry_type_is_complex(a->type) ? 2 * a->nnz : a->nnz;
    const layout l[RB_PARTS] = {lay_out(a->cols + 1, digits(a->nnz + 1) + 1),
                                lay_out(a->nnz, digits(a->rows) + 1),
                                lay_out(numbers, longest_value(ctx, a, numbers) + 1)};
    SPRY_GO(ctx, io_create(ctx, path, &w));
    put_header(w, a, l);
    for (int64_t j = 0; j <= a->cols; j++)
        put_int(w, &l[RB_POINTERS], j, a->cols + 1, a->offsets[j] + 1);
    for (int64_t k = 0; k < a->nnz && !io_write_failed(w); k++)
        put_int(w, &l[RB_INDICES], k, a->nnz, (int64_t)a->row_index[k] + 1);
    for (int64_t k = 0; k < numbers && !io_write_failed(w); k++) {
        char text[FIELD];
        const int length = print_value(text, a, k);
        put(w, &l[RB_VALUES], k, numbers, text, length);
    }
    SPRY_GO(ctx, io_commit(ctx, w));
done:
    spry_matrix_free(columns);
    return status;
}
