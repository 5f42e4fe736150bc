/*
 * The header of Harwell-Boeing files (Duff, Grimes, Lewis: Users' guide for the Harwell-Boeing
 * sparse matrix collection, release I, 1992) and of Rutherford-Boeing files (the same: The
 * Rutherford-Boeing sparse matrix collection, 1997), which differ in the right-hand sides only:
 *
 *   title and key
 *   lines in all, of pointers, indices, values and (HB) right-hand sides
 *   type such as rua, rows, columns, entries, elements
 *   formats of pointers, indices, values and (HB) right-hand sides
 *   type of right-hand sides and their counts, when HB has any
 */
#include "io/rutherford_boeing.h"

#include <stdarg.h>

static bool refuse(rb_fault *fault, size_t position, const char *format, ...) SPRY_PRINTF(3, 4);
static bool refuse(rb_fault *fault, size_t position, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fault->text, sizeof fault->text, format, arguments);
    va_end(arguments);
    fault->position = position;
    return false;
}

bool io_rb_line(const io_bytes *bytes, size_t position, rb_line *line)
{
    if (position >= bytes->size)
        return false;
    const char *begin = bytes->data + position;
    const char *end = memchr(begin, '\n', bytes->size - position);
    line->begin = position;
    line->end = end ? (size_t)(end - bytes->data) : bytes->size;
    line->next = end ? line->end + 1 : bytes->size;
    if (line->end > line->begin && bytes->data[line->end - 1] == '\r')
        line->end--;
    return true;
}

/* Up to `most` integers of a line from a column on; -1 when something else is met before. */
static int integers(const io_bytes *bytes, rb_line line, size_t column, int most, int64_t *out)
{
    const char *p = bytes->data + line.begin + column, *end = bytes->data + line.end;
    int found = 0;
    while (found < most) {
        while (p < end && (*p == ' ' || *p == '\t'))
            p++;
        if (p >= end)
            break;
        p = base_parse_int(p, end, out + found);
        if (p == NULL || (p < end && *p != ' ' && *p != '\t'))
            return -1;
        found++;
    }
    return found;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Line 3: the type's three letters, and the sizes. */
static bool parse_sizes(const io_bytes *bytes, rb_line line, rb_header *h, bool *pattern,
                        rb_fault *fault)
{
    const char *at = bytes->data + line.begin;
    if (line.end - line.begin < 3)
        return refuse(fault, line.begin, "a matrix type such as rua is missing");
    const char kind = lower(at[0]), shape = lower(at[1]), storage = lower(at[2]);
    if (!strchr("rcipq", kind) || !strchr("suhzr", shape) || !strchr("ae", storage) || !kind ||
        !shape || !storage)
        return refuse(fault, line.begin,
                      "the type is not that of a matrix: r, c, i, p or q, then s, u, h, z or r, "
                      "then a");
    if (storage == 'e')
        return refuse(fault, line.begin,
                      "the matrix is stored by elements (type %.3s); only assembled ones, whose "
                      "type ends in a, can be read",
                      at);
    if (kind == 'q')
        return refuse(fault, line.begin,
                      "the matrix has its values in another file (type %.3s), which cannot be read",
                      at);
    int64_t size[3] = {0};
    if (integers(bytes, line, 3, 3, size) != 3)
        return refuse(fault, line.begin, "rows, columns and entries are not three integers");
    h->rows = size[0], h->cols = size[1], h->nnz = size[2];
    if (h->rows < 0 || h->rows > INT32_MAX || h->cols < 0 || h->cols > INT32_MAX || h->nnz < 0)
        return refuse(fault, line.begin,
                      "%" PRId64 " rows, %" PRId64 " columns, %" PRId64
                      " entries: sides are at most %" PRId32 " and nothing is negative",
                      h->rows, h->cols, h->nnz, INT32_MAX);
    h->symmetry = shape == 's'   ? SPRY_SYMMETRY_SYMMETRIC
                  : shape == 'z' ? SPRY_SYMMETRY_SKEW
                  : shape == 'h' ? (kind == 'c' ? SPRY_SYMMETRY_HERMITIAN : SPRY_SYMMETRY_SYMMETRIC)
                                 : SPRY_SYMMETRY_GENERAL;
    if (h->symmetry != SPRY_SYMMETRY_GENERAL && h->rows != h->cols)
        return refuse(fault, line.begin,
                      "a %s matrix has as many rows as columns, not %" PRId64 " and %" PRId64,
                      spry_symmetry_name(h->symmetry), h->rows, h->cols);
    h->type = kind == 'c' ? SPRY_TYPE_Z : SPRY_TYPE_D;
    *pattern = kind == 'p';
    return true;
}

/* Line 4: a format for each array there is. */
static bool parse_formats(const io_bytes *bytes, rb_line line, rb_header *h, rb_fault *fault)
{
    static const char *const names[RB_PARTS] = {"column pointers", "row indices", "values"};
    const char *p = bytes->data + line.begin, *end = bytes->data + line.end;
    for (int part = 0; part < RB_PARTS; part++) {
        const char *why = NULL;
        if (part == RB_VALUES && h->count[RB_VALUES] == 0)
            break;
        while (p < end && *p == ' ')
            p++;
        const char *begin = p;
        p = io_fortran_parse(p, end, &h->format[part], &why);
        if (p == NULL)
            return refuse(fault, line.begin, "the format of the %s cannot be used: %s", names[part],
                          why);
        if (part != RB_VALUES && !h->format[part].integer)
            return refuse(fault, line.begin, "the format %.*s of the %s is not one of integers",
                          (int)(p - begin < 32 ? p - begin : 32), begin, names[part]);
    }
    return true;
}

/* The lines that line 2 counts are those the formats make. */
static bool check_lines(size_t position, const int64_t *cards, const rb_header *h, rb_fault *fault)
{
    static const char *const names[RB_PARTS] = {"column pointers", "row indices", "values"};
    for (int part = 0; part < RB_PARTS; part++) {
        const int64_t count = h->count[part], fields = h->format[part].fields;
        const int64_t lines = count > 0 ? (count + fields - 1) / fields : 0;
        if (cards[part] != lines)
            return refuse(fault, position,
                          "%" PRId64 " lines of %s are counted, but %" PRId64
                          " numbers in their format take %" PRId64,
                          cards[part], names[part], count, lines);
    }
    return true;
}

/* HB's line 5 is present when there are right-hand sides; some files have it without counting them.
 */
static void skip_right_sides(const io_bytes *bytes, int64_t lines, rb_header *h)
{
    rb_line line;
    if (!io_rb_line(bytes, h->begin, &line) || line.end == line.begin)
        return;
    const char first = lower(bytes->data[line.begin]);
    h->right_sides = lines > 0 || first == 'f' || first == 'm';
    if (h->right_sides)
        h->begin = line.next;
}

bool io_rb_header(const io_bytes *bytes, rb_header *h, rb_fault *fault)
{
    enum { HEADER_LINES = 4 };
    rb_line line[HEADER_LINES];
    int64_t cards[5] = {0};
    bool pattern = false;
    size_t position = 0;
    *h = (rb_header){0};
    for (int i = 0; i < HEADER_LINES; i++) {
        if (!io_rb_line(bytes, position, &line[i]))
            return refuse(fault, bytes->size, "the file ends within the header of four lines");
        position = line[i].next;
    }
    if (integers(bytes, line[1], 0, 5, cards) < 4)
        return refuse(fault, line[1].begin,
                      "the counts of lines (all, pointers, indices, values) are not integers");
    if (!parse_sizes(bytes, line[2], h, &pattern, fault))
        return false;
    if (!pattern && cards[3] <= 0 && h->nnz > 0)
        return refuse(fault, line[1].begin,
                      "there are no lines of values, but the matrix's type is not p");
    /* Each number takes a byte at least: what the header promises is bounded by the file's size. */
    if (h->nnz > (int64_t)bytes->size || h->cols >= (int64_t)bytes->size)
        return refuse(fault, line[2].begin,
                      "%" PRId64 " columns and %" PRId64 " entries do not fit a file of %zu bytes",
                      h->cols, h->nnz, bytes->size);
    h->count[RB_POINTERS] = h->cols + 1;
    h->count[RB_INDICES] = h->nnz;
    h->count[RB_VALUES] = pattern ? 0 : spry_type_is_complex(h->type) ? 2 * h->nnz : h->nnz;
    h->begin = position;
    if (!parse_formats(bytes, line[3], h, fault) ||
        !check_lines(line[1].begin, cards + 1, h, fault))
        return false;
    skip_right_sides(bytes, cards[4], h);
    return true;
}
