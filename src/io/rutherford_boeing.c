/*
 * Reading Harwell-Boeing and Rutherford-Boeing files: compressed columns as text in fixed places.
 * A line holds a known number of numbers, so each array is cut into blocks of lines that are read
 * in parallel. See rutherford_boeing_header.c for the header.
 */
#include "io/rutherford_boeing.h"

enum { BLOCK_LINES = 256 };

static const char *const part_names[RB_PARTS] = {"column pointer", "row index", "value"};

/* One of the file's arrays while it is read. */
typedef struct reading {
    const io_bytes *bytes;
    rb_part part;
    const fortran_format *format;
    int64_t count;  /* numbers */
    int64_t most;   /* the largest pointer or index */
    size_t *starts; /* where each block of lines begins */
    int64_t blocks;
    void *out; /* int64_t pointers, int32_t indices, double values */
} reading;

typedef enum trouble { FINE, MISSING, NOT_NUMBER, OUTSIDE } trouble;

/* The first number that could not be read. */
typedef struct first_trouble {
    trouble what;
    int64_t number;
    size_t position;
    int width;
    int64_t value;
} first_trouble;

/* Where a number's field lies in its line, cut at the line's end; false when it begins after it. */
static bool field_of(rb_line line, const fortran_field *field, size_t *begin, size_t *end)
{
    *begin = line.begin + (size_t)field->column;
    *end = *begin + (size_t)field->width;
    if (*end > line.end)
        *end = line.end;
    return *begin < line.end;
}

static trouble store(const reading *r, int64_t k, const fortran_field *field, size_t begin,
                     size_t end, int64_t *value)
{
    const char *p = r->bytes->data + begin, *stop = r->bytes->data + end;
    if (r->part == RB_VALUES)
        return io_fortran_real(field, p, stop, (double *)r->out + k) ? FINE : NOT_NUMBER;
    if (!io_fortran_int(p, stop, value))
        return NOT_NUMBER;
    if (*value < 1 || *value > r->most)
        return OUTSIDE;
    if (r->part == RB_POINTERS)
        ((int64_t *)r->out)[k] = *value - 1;
    else
        ((int32_t *)r->out)[k] = (int32_t)(*value - 1);
    return FINE;
}

/* Reads the numbers first .. end - 1 from the fields of a line. */
static first_trouble read_fields(const reading *r, rb_line line, int64_t first, int64_t end)
{
    first_trouble t = {.number = first};
    for (const fortran_field *field = r->format->field; t.number < end; field++, t.number++) {
        size_t stop;
        if (!field_of(line, field, &t.position, &stop)) {
            t.what = MISSING;
            t.position = line.begin;
            break;
        }
        t.width = (int)(stop - t.position);
        t.what = store(r, t.number, field, t.position, stop, &t.value);
        if (t.what != FINE)
            break;
    }
    return t;
}

/*
 * Some programs write numbers with blanks between them in other columns than their format states. A
 * line with as many words as it should have numbers cannot be mistaken: either its words are the
 * fields, or a field has a blank between two parts of words and is refused before.
 */
static bool read_words(const reading *r, rb_line line, int64_t first, int64_t end)
{
    static const fortran_field plain;
    const char *text = r->bytes->data;
    size_t at = line.begin;
    int64_t value, k = first;
    for (;; k++) {
        while (at < line.end && text[at] == ' ')
            at++;
        if (at == line.end)
            return k == end;
        const size_t begin = at;
        while (at < line.end && text[at] != ' ')
            at++;
        if (k == end || store(r, k, &plain, begin, at, &value) != FINE)
            return false;
    }
}

/* Reads one block of lines up to the first number that cannot be. */
static first_trouble read_block(const reading *r, int64_t block)
{
    const int64_t fields = r->format->fields;
    const int64_t first = block * BLOCK_LINES * fields, last = first + BLOCK_LINES * fields;
    const int64_t end = last < r->count ? last : r->count;
    rb_line line = {.next = r->starts[block]};
    first_trouble t = {.what = FINE};
    for (int64_t k = first; k < end && t.what == FINE; k += fields) {
        const int64_t stop = k + fields < end ? k + fields : end;
        io_rb_line(r->bytes, line.next, &line);
        t = read_fields(r, line, k, stop);
        if (t.what != FINE && read_words(r, line, k, stop))
            t.what = FINE;
    }
    return t;
}

static spry_status complain(spry_context *ctx, const reading *r, const first_trouble *t)
{
    const char *name = part_names[r->part];
    if (t->what == MISSING)
        return io_fault(ctx, r->bytes, t->position,
                        "the line ends before %s %" PRId64 " of %" PRId64, name, t->number + 1,
                        r->count);
    if (t->what == OUTSIDE)
        return io_fault(ctx, r->bytes, t->position, "%s %" PRId64 " is outside 1..%" PRId64, name,
                        t->value, r->most);
    return io_fault(ctx, r->bytes, t->position, "%s %" PRId64 ": '%.*s' is not %s", name,
                    t->number + 1, t->width < 40 ? t->width : 40, r->bytes->data + t->position,
                    r->part == RB_VALUES ? "a number" : "an integer");
}

/* Finds where the array's blocks of lines begin; *position moves behind its last line. */
static spry_status find_blocks(spry_context *ctx, reading *r, size_t *position)
{
    spry_status status = SPRY_STATUS_OK;
    const int64_t fields = r->format->fields, lines = (r->count + fields - 1) / fields;
    int64_t room = 0;
    for (int64_t i = 0; i < lines; i++) {
        rb_line line;
        if (!io_rb_line(r->bytes, *position, &line))
            return io_fault(ctx, r->bytes, r->bytes->size,
                            "the file ends before %s %" PRId64 " of %" PRId64, part_names[r->part],
                            i * fields + 1, r->count);
        if (i % BLOCK_LINES == 0) {
            if (r->blocks == room) {
                room = room ? 2 * room : 64;
                SPRY_GO(ctx, base_grow(ctx, r->blocks, room, sizeof *r->starts, &r->starts));
            }
            r->starts[r->blocks++] = *position;
        }
        *position = line.next;
    }
done:
    return status;
}

/* Reads all blocks in parallel; of several faults the first in the file is reported. */
static spry_status read_blocks(spry_context *ctx, const reading *r)
{
    first_trouble first = {.what = FINE};
#pragma omp parallel for schedule(dynamic, 4) num_threads(spry_context_threads(ctx))
    for (int64_t block = 0; block < r->blocks; block++) {
        const first_trouble t = read_block(r, block);
        if (t.what != FINE) {
#pragma omp critical(io_rb_first_trouble)
            if (first.what == FINE || t.number < first.number)
                first = t;
        }
    }
    return first.what == FINE ? SPRY_STATUS_OK : complain(ctx, r, &first);
}

/* Walks along the numbers of a part, for messages. */
typedef struct cursor {
    const io_bytes *bytes;
    const fortran_format *format;
    rb_line line;
    int field;
    bool valid; /* false behind the end of the file */
} cursor;

/* The cursor at number k of a part, found by counting lines. */
static cursor cursor_at(const io_bytes *bytes, const rb_header *h, rb_part part, int64_t k)
{
    cursor c = {.bytes = bytes, .format = &h->format[part], .valid = true};
    int64_t lines = k / c.format->fields;
    for (int p = 0; p < (int)part; p++)
        lines += (h->count[p] + h->format[p].fields - 1) / h->format[p].fields;
    c.field = (int)(k % c.format->fields);
    c.line.next = h->begin;
    for (int64_t i = 0; i <= lines && c.valid; i++)
        c.valid = io_rb_line(bytes, c.line.next, &c.line);
    return c;
}

static void cursor_next(cursor *c)
{
    if (++c->field < c->format->fields)
        return;
    c->field = 0;
    c->valid = c->valid && io_rb_line(c->bytes, c->line.next, &c->line);
}

static size_t cursor_place(const cursor *c)
{
    size_t begin, end;
    if (!c->valid)
        return c->bytes->size;
    return field_of(c->line, &c->format->field[c->field], &begin, &end) ? begin : c->line.begin;
}

/* The pointer or index at the cursor; 0 when there is none. */
static int64_t cursor_number(const cursor *c)
{
    size_t begin, end;
    int64_t value = 0;
    if (!c->valid || !field_of(c->line, &c->format->field[c->field], &begin, &end) ||
        !io_fortran_int(c->bytes->data + begin, c->bytes->data + end, &value))
        return 0;
    return value;
}

static size_t place_of(const io_bytes *bytes, const rb_header *h, rb_part part, int64_t k)
{
    const cursor c = cursor_at(bytes, h, part, k);
    return cursor_place(&c);
}

/* Pointers rise from 1 to entries + 1; a triangle's entries lie on or below the diagonal. */
static spry_status check_columns(spry_context *ctx, const io_bytes *bytes, const rb_header *h,
                                 const matrix_arrays *a)
{
    if (a->offsets[0] != 0)
        return io_fault(ctx, bytes, place_of(bytes, h, RB_POINTERS, 0),
                        "the first column pointer is %" PRId64 ", not 1", a->offsets[0] + 1);
    for (int64_t j = 0; j < h->cols; j++) {
        if (a->offsets[j + 1] < a->offsets[j])
            return io_fault(ctx, bytes, place_of(bytes, h, RB_POINTERS, j + 1),
                            "column pointer %" PRId64 " is %" PRId64 ", less than the %" PRId64
                            " before it",
                            j + 2, a->offsets[j + 1] + 1, a->offsets[j] + 1);
    }
    if (a->offsets[h->cols] != h->nnz)
        return io_fault(ctx, bytes, place_of(bytes, h, RB_POINTERS, h->cols),
                        "the last column pointer is %" PRId64 ", not entries + 1 = %" PRId64,
                        a->offsets[h->cols] + 1, h->nnz + 1);
    if (h->symmetry == SPRY_SYMMETRY_GENERAL)
        return SPRY_STATUS_OK;
    for (int64_t j = 0; j < h->cols; j++)
        for (int64_t k = a->offsets[j]; k < a->offsets[j + 1]; k++)
            if (a->row_index[k] < j)
                return io_fault(ctx, bytes, place_of(bytes, h, RB_INDICES, k),
                                "row %" PRId32 " of column %" PRId64
                                " is above the diagonal of a %s matrix",
                                a->row_index[k] + 1, j + 1, spry_symmetry_name(h->symmetry));
    return SPRY_STATUS_OK;
}

/* On the diagonal a skew-symmetric matrix has zeros, a hermitian one real numbers. */
static spry_status check_diagonal(spry_context *ctx, const io_bytes *bytes, const rb_header *h,
                                  const matrix_arrays *a)
{
    if (h->symmetry != SPRY_SYMMETRY_SKEW && h->symmetry != SPRY_SYMMETRY_HERMITIAN)
        return SPRY_STATUS_OK;
    const rb_part shown = h->count[RB_VALUES] > 0 ? RB_VALUES : RB_INDICES;
    for (int64_t j = 0; j < h->cols; j++)
        for (int64_t k = a->offsets[j]; k < a->offsets[j + 1]; k++) {
            const spry_scalar v = value_get(a->type, a->values, k);
            if (a->row_index[k] != j ||
                (v.im == 0 && (h->symmetry == SPRY_SYMMETRY_HERMITIAN || v.re == 0)))
                continue;
            return io_fault(ctx, bytes, place_of(bytes, h, shown, k * (h->count[shown] / h->nnz)),
                            "the diagonal entry of column %" PRId64
                            " is (%g, %g), but that of a %s matrix is %s",
                            j + 1, v.re, v.im, spry_symmetry_name(h->symmetry),
                            h->symmetry == SPRY_SYMMETRY_SKEW ? "0" : "real");
        }
    return SPRY_STATUS_OK;
}

static spry_status read_part(spry_context *ctx, const io_bytes *bytes, const rb_header *h,
                             rb_part part, void *out, size_t *position)
{
    spry_status status = SPRY_STATUS_OK;
    reading r = {.bytes = bytes,
                 .part = part,
                 .format = &h->format[part],
                 .count = h->count[part],
                 .most = part == RB_POINTERS ? h->nnz + 1 : h->rows,
                 .out = out};
    SPRY_GO(ctx, find_blocks(ctx, &r, position));
    SPRY_GO(ctx, read_blocks(ctx, &r));
done:
    base_free(ctx, r.starts);
    return status;
}

/* Behind the arrays are right-hand sides, or nothing. */
static spry_status check_end(spry_context *ctx, const io_bytes *bytes, const rb_header *h,
                             size_t position)
{
    while (position < bytes->size && strchr(" \t\r\n\032", bytes->data[position]))
        position++;
    if (position == bytes->size || h->right_sides)
        return SPRY_STATUS_OK;
    return io_fault(ctx, bytes, position,
                    "the file goes on behind the lines that its header counts");
}

static spry_status read_matrix(spry_context *ctx, io_bytes *bytes, io_content *content)
{
    spry_status status = SPRY_STATUS_OK;
    rb_header h;
    rb_fault fault = {0};
    matrix_arrays a = {0};
    if (!io_rb_header(bytes, &h, &fault))
        return io_fault(ctx, bytes, fault.position, "%s", fault.text);
    a = (matrix_arrays){.type = h.type,
                        .format = SPRY_FORMAT_CSC,
                        .symmetry = h.symmetry,
                        .rows = h.rows,
                        .cols = h.cols,
                        .nnz = h.nnz};
    SPRY_GO(ctx, matrix_allocate(ctx, &a));
    size_t position = h.begin;
    SPRY_GO(ctx, read_part(ctx, bytes, &h, RB_POINTERS, a.offsets, &position));
    SPRY_GO(ctx, read_part(ctx, bytes, &h, RB_INDICES, a.row_index, &position));
    SPRY_GO(ctx, check_columns(ctx, bytes, &h, &a));
    if (h.count[RB_VALUES] > 0)
        SPRY_GO(ctx, read_part(ctx, bytes, &h, RB_VALUES, a.values, &position));
    else
        for (int64_t k = 0; k < h.nnz; k++)
            ((double *)a.values)[k] = 1;
    SPRY_GO(ctx, check_diagonal(ctx, bytes, &h, &a));
    SPRY_GO(ctx, check_end(ctx, bytes, &h, position));
done:
    if (status != SPRY_STATUS_OK) {
        matrix_free_arrays(ctx, &a);
        return status;
    }
    return matrix_wrap(ctx, &a, &content->matrix);
}

/* The file was read before, but may have changed meanwhile: nothing found in it is trusted. */
static size_t position_of(const io_bytes *bytes, int64_t row, int64_t col, int occurrence)
{
    rb_header h;
    rb_fault fault = {0};
    if (!io_rb_header(bytes, &h, &fault) || col < 0 || col >= h.cols)
        return bytes->size;
    cursor c = cursor_at(bytes, &h, RB_POINTERS, col);
    const int64_t first = cursor_number(&c);
    cursor_next(&c);
    const int64_t last = cursor_number(&c);
    if (first < 1 || last > h.nnz + 1)
        return bytes->size;
    const rb_part shown = h.count[RB_VALUES] > 0 ? RB_VALUES : RB_INDICES;
    c = cursor_at(bytes, &h, RB_INDICES, first - 1);
    for (int64_t k = first - 1; k < last - 1; k++, cursor_next(&c))
        if (cursor_number(&c) == row + 1 && --occurrence == 0)
            return place_of(bytes, &h, shown, k * (h.count[shown] / h.nnz));
    return bytes->size;
}

static bool matches(const io_bytes *bytes)
{
    rb_header h;
    rb_fault fault = {0};
    return io_rb_header(bytes, &h, &fault);
}

const io_format io_rutherford_boeing = {
    .name = "rb",
    .endings = ".rb .hb .rua .rsa .rra .rza .rha .pua .psa .pra .pza .cua .csa .cra .cza .cha .iua "
               ".isa .ira .iza .rse .rue .pse .pue .cse .cue",
    .summary = "Rutherford-Boeing and Harwell-Boeing, assembled; written as Rutherford-Boeing",
    .text = true,
    .matches = matches,
    .read = read_matrix,
    .write_matrix = io_rb_write,
    .position_of = position_of,
};
