/* The lines of a Matrix Market file's body: counting them, parsing one after the other, reporting
 * errors. */
#include "io/mtx.h"

#include <ctype.h>
#include <math.h>

enum {
    BLOCK = 128,        /* counters of one byte do not overflow in it */
    LONGEST_NUMBER = 20 /* digits shown in a message */
};

static bool is_plain_start(char c)
{
    return (unsigned char)c > ' ' && c != '%';
}

/* The first line at or after p that holds an entry: where its text begins. */
static const char *content(const char *p, const char *end)
{
    while (p < end) {
        p = mtx_skip_blanks(p, end);
        if (p == end || (*p != '\n' && *p != '%'))
            break;
        p = mtx_next_line(p, end);
    }
    return p;
}

const char *io_mtx_quote(const char *p, const char *end, char word[MTX_WORD_SIZE])
{
    size_t length = 0;
    if (p == end || *p == '\n')
        return "the end of the line";
    word[length++] = '\'';
    for (; p < end && *p != '\n' && !mtx_is_blank(*p) && length < MTX_WORD_SIZE - 5; p++)
        word[length++] = isprint((unsigned char)*p) ? *p : '?';
    if (p < end && *p != '\n' && !mtx_is_blank(*p)) {
        memcpy(word + length, "...", 3);
        length += 3;
    }
    word[length++] = '\'';
    word[length] = '\0';
    return word;
}

const char *io_mtx_find(const char *begin, const char *end, int64_t k)
{
    const char *p = content(begin, end);
    for (; k > 0 && p < end; k--)
        p = content(mtx_next_line(p, end), end);
    return p;
}

int64_t io_mtx_count(const char *begin, const char *end)
{
    if (begin == end)
        return 0;
    int64_t plain = is_plain_start(*begin), lines = 1;
    /* Written for the vectoriser; the last byte has no successor in this block. */
    for (const char *p = begin; p < end - 1; p += BLOCK) {
        uint8_t plain_of_block = 0, lines_of_block = 0;
        const int n = end - 1 - p < BLOCK ? (int)(end - 1 - p) : BLOCK;
        for (int i = 0; i < n; i++) {
            const uint8_t newline = p[i] == '\n';
            const uint8_t start = (uint8_t)(((uint8_t)p[i + 1] > ' ') & (p[i + 1] != '%'));
            lines_of_block = (uint8_t)(lines_of_block + newline);
            plain_of_block = (uint8_t)(plain_of_block + (newline & start));
        }
        lines += lines_of_block;
        plain += plain_of_block;
    }
    if (plain == lines)
        return plain;
    /* Some line begins with a blank or is a comment: look at each. */
    int64_t count = 0;
    for (const char *p = content(begin, end); p < end; p = content(mtx_next_line(p, end), end))
        count++;
    return count;
}

/* An index from 1 to limit as one from 0; *p moves past it. */
static inline bool parse_index(const char **p, const char *end, int64_t limit, int64_t *index)
{
    uint64_t value = 0;
    const char *q = *p;
    for (; q < end && (unsigned char)(*q - '0') < 10; q++)
        value = value < (uint64_t)1 << 56 ? value * 10 + (uint64_t)(*q - '0') : value;
    if (value - 1 >= (uint64_t)limit)
        return false;
    *p = q;
    *index = (int64_t)(value - 1);
    return true;
}

static inline mtx_fault parse_place(const mtx_header *h, const char **p, const char *end,
                                    mtx_entry *e)
{
    if (!parse_index(p, end, h->rows, &e->row))
        return MTX_ROW_RANGE;
    if (*p < end && !mtx_is_blank(**p) && **p != '\n')
        return MTX_NO_ROW;
    *p = mtx_skip_blanks(*p, end);
    if (!parse_index(p, end, h->cols, &e->col))
        return MTX_COL_RANGE;
    if (*p < end && !mtx_is_blank(**p) && **p != '\n')
        return MTX_NO_COL;
    return MTX_FINE;
}

static inline mtx_fault parse_value(mtx_field field, const char **p, const char *end, mtx_entry *e)
{
    e->re = 1;
    e->im = 0;
    if (field == MTX_PATTERN)
        return MTX_FINE;
    *p = mtx_skip_blanks(*p, end);
    const char *q = base_parse_double(*p, end, &e->re);
    if (!q)
        return MTX_NO_VALUE;
    if (field == MTX_INTEGER && isfinite(e->re) && e->re != rint(e->re))
        return MTX_NOT_INTEGER;
    *p = q;
    if (field == MTX_COMPLEX) {
        if (*p < end && !mtx_is_blank(**p))
            return MTX_NO_VALUE;
        *p = mtx_skip_blanks(*p, end);
        q = base_parse_double(*p, end, &e->im);
        if (!q)
            return MTX_NO_VALUE;
        *p = q;
    }
    return MTX_FINE;
}

/* What a symmetric kind forbids. */
static inline mtx_fault check_symmetry(spry_symmetry symmetry, const mtx_entry *e)
{
    if (symmetry == SPRY_SYMMETRY_GENERAL || e->row > e->col)
        return MTX_FINE;
    if (e->row < e->col)
        return MTX_ABOVE_DIAGONAL;
    if (symmetry == SPRY_SYMMETRY_SKEW && (e->re != 0 || e->im != 0))
        return MTX_SKEW_DIAGONAL;
    if (symmetry == SPRY_SYMMETRY_HERMITIAN && e->im != 0)
        return MTX_COMPLEX_DIAGONAL;
    return MTX_FINE;
}

/* Parses one line from its first text on; *p ends after it, or at the fault. */
static inline mtx_fault parse_line(const mtx_header *h, bool array, mtx_field field, const char **p,
                                   const char *end, mtx_entry *e)
{
    const char *start = *p;
    mtx_fault fault = array ? MTX_FINE : parse_place(h, p, end, e);
    if (fault == MTX_FINE)
        fault = parse_value(field, p, end, e);
    if (fault != MTX_FINE)
        return fault;
    *p = mtx_skip_blanks(*p, end);
    if (*p < end && **p != '\n')
        return MTX_NO_END;
    if (!array) {
        fault = check_symmetry(h->symmetry, e);
        if (fault != MTX_FINE)
            *p = start;
    }
    return fault;
}

/* The loop over lines, instantiated for each kind of line. */
static inline void parse_lines(const mtx_header *h, bool array, mtx_field field, mtx_lines *lines,
                               const mtx_target *target)
{
    const char *p = lines->begin, *end = lines->end;
    int64_t k = lines->first;
    for (p = content(p, end); p < end; k++) {
        mtx_entry e;
        lines->fault = parse_line(h, array, field, &p, end, &e);
        if (lines->fault != MTX_FINE) {
            lines->place = p;
            return;
        }
        if (!array && target->row_index) {
            target->row_index[k] = (int32_t)e.row;
            target->col_index[k] = (int32_t)e.col;
        } else if (!array) {
            target->row[k] = e.row;
            target->col[k] = e.col;
        }
        if (field == MTX_COMPLEX) {
            target->values[2 * k] = e.re;
            target->values[2 * k + 1] = e.im;
        } else {
            target->values[k] = e.re;
        }
        if (p < end)
            p++;
        if (p < end && !is_plain_start(*p))
            p = content(p, end);
    }
}

void io_mtx_parse(const mtx_header *h, mtx_lines *lines, const mtx_target *target)
{
    const bool complex = h->field == MTX_COMPLEX;
    if (h->array && complex)
        parse_lines(h, true, MTX_COMPLEX, lines, target);
    else if (h->array)
        parse_lines(h, true, h->field, lines, target);
    else if (complex)
        parse_lines(h, false, MTX_COMPLEX, lines, target);
    else if (h->field == MTX_PATTERN)
        parse_lines(h, false, MTX_PATTERN, lines, target);
    else
        parse_lines(h, false, h->field, lines, target);
}

spry_status io_mtx_explain(spry_context *ctx, const io_bytes *bytes, const mtx_header *h,
                           const mtx_lines *lines)
{
    const char *p = lines->place, *end = lines->end;
    const size_t position = (size_t)(p - bytes->data);
    const char *symmetry = spry_symmetry_name(h->symmetry);
    char word[MTX_WORD_SIZE];
    mtx_entry e = {0};
    int digits = 0;
    while (digits < LONGEST_NUMBER && p + digits < end && (unsigned char)(p[digits] - '0') < 10)
        digits++;
    switch (lines->fault) {
    case MTX_ROW_RANGE:
    case MTX_COL_RANGE: {
        const bool is_row = lines->fault == MTX_ROW_RANGE;
        const char *what = is_row ? "row" : "column";
        const bool zero = digits == 1 && *p == '0';
        if (digits > 0)
            return io_fault(ctx, bytes, position, "%s %.*s is outside 1..%" PRId64 "%s", what,
                            digits, p, is_row ? h->rows : h->cols,
                            zero ? "; Matrix Market counts from 1, this file seems to count from 0"
                                 : "");
        return io_fault(ctx, bytes, position, "expected a %s number, found %s", what,
                        io_mtx_quote(p, end, word));
    }
    case MTX_NO_ROW:
    case MTX_NO_COL:
        return io_fault(ctx, bytes, position, "expected a blank after the %s number, found %s",
                        lines->fault == MTX_NO_ROW ? "row" : "column", io_mtx_quote(p, end, word));
    case MTX_NO_VALUE:
        return io_fault(ctx, bytes, position, "expected a %snumber, found %s",
                        h->field == MTX_COMPLEX ? "complex " : "", io_mtx_quote(p, end, word));
    case MTX_NOT_INTEGER:
        return io_fault(ctx, bytes, position, "expected an integer, found %s",
                        io_mtx_quote(p, end, word));
    case MTX_NO_END:
        return io_fault(ctx, bytes, position, "expected the end of the line, found %s",
                        io_mtx_quote(p, end, word));
    default:
        break;
    }
    parse_place(h, &p, end, &e);
    const char *reason = lines->fault == MTX_ABOVE_DIAGONAL  ? "lies above the diagonal"
                         : lines->fault == MTX_SKEW_DIAGONAL ? "is on the diagonal and not 0"
                                                             : "is on the diagonal and not real";
    return io_fault(ctx, bytes, position, "entry (%" PRId64 ", %" PRId64 ") of a %s matrix %s",
                    e.row + 1, e.col + 1, symmetry, reason);
}
