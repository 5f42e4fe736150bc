/* The first lines of a Matrix Market file: what it holds, comments, sizes. */
#include "io/mtx.h"

#include <stdarg.h>

/* Rows and columns that a file may have: indices are parsed up to this limit, whatever the index
 * type.
 */
#define MOST_LINES (INT64_C(1) << 55)

static const char banner[] = "%%matrixmarket";

static const char *const format_words[] = {"coordinate", "array", NULL};
/* The last two are spellings of real and integer that some writers use. */
static const char *const field_words[] = {"real",   "integer",          "complex", "pattern",
                                          "double", "unsigned-integer", NULL};
/* As in spry_symmetry. */
static const char *const symmetry_words[] = {"general", "symmetric", "skew-symmetric", "hermitian",
                                             NULL};

static bool refuse(mtx_problem *problem, size_t position, const char *format, ...)
    SPRY_PRINTF(3, 4);

/* Notes what is wrong, and is false. */
static bool refuse(mtx_problem *problem, size_t position, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    problem->position = position;
    vsnprintf(problem->text, sizeof problem->text, format, arguments);
    va_end(arguments);
    return false;
}

/* Takes the next word of the line, one of a list, and gives its place in it. */
static bool take_word(const io_bytes *bytes, mtx_problem *problem, const char **p, const char *what,
                      const char *const *words, int *index)
{
    const char *end = bytes->data + bytes->size, *start = mtx_skip_blanks(*p, end);
    const char *stop = start;
    while (stop < end && *stop != '\n' && !mtx_is_blank(*stop))
        stop++;
    for (int i = 0; words[i]; i++) {
        if (base_starts_with(start, stop, words[i]) && strlen(words[i]) == (size_t)(stop - start)) {
            *p = stop;
            *index = i;
            return true;
        }
    }
    char list[128] = "", word[MTX_WORD_SIZE];
    for (int i = 0; words[i]; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i > 0 ? ", " : "",
                 words[i]);
    return refuse(problem, (size_t)(start - bytes->data),
                  "the header's %s is %s; expected one of: %s", what,
                  io_mtx_quote(start, end, word), list);
}

/* Only the combinations that mean something. */
static bool check_kind(const mtx_header *h, mtx_problem *problem)
{
    if (h->array && h->field == MTX_PATTERN)
        return refuse(problem, 0, "an array cannot be a pattern: it has no entries left out");
    if (h->symmetry == SPRY_SYMMETRY_HERMITIAN && h->field != MTX_COMPLEX)
        return refuse(problem, 0, "a hermitian file must be complex, this one is %s",
                      field_words[h->field]);
    if (h->symmetry == SPRY_SYMMETRY_SKEW && h->field == MTX_PATTERN)
        return refuse(problem, 0, "a pattern cannot be skew-symmetric");
    return true;
}

static bool read_banner(const io_bytes *bytes, mtx_header *h, mtx_problem *problem)
{
    const char *p = bytes->data, *end = p + bytes->size;
    static const char *const objects[] = {"matrix", NULL};
    int object = 0, format = 0, field = 0, symmetry = 0;
    char word[MTX_WORD_SIZE];
    if (!base_starts_with(p, end, banner))
        return refuse(problem, 0,
                      "a Matrix Market file begins with %%%%MatrixMarket, this one with %s",
                      io_mtx_quote(p, end, word));
    p += strlen(banner);
    if (!take_word(bytes, problem, &p, "object", objects, &object) ||
        !take_word(bytes, problem, &p, "format", format_words, &format) ||
        !take_word(bytes, problem, &p, "field", field_words, &field) ||
        !take_word(bytes, problem, &p, "symmetry", symmetry_words, &symmetry))
        return false;
    h->array = format == 1;
    h->field = field > MTX_PATTERN ? (mtx_field)(field - MTX_PATTERN - 1) : (mtx_field)field;
    h->symmetry = (spry_symmetry)symmetry;
    p = mtx_skip_blanks(p, end);
    if (p < end && *p != '\n')
        return refuse(problem, 0, "the header goes on with %s", io_mtx_quote(p, end, word));
    return check_kind(h, problem);
}

static bool too_many(const mtx_header *h, mtx_problem *problem, int64_t size, const char *name)
{
    return refuse(problem, h->size_line, "%" PRId64 " %s are more than the %d spry can index", size,
                  name, INT32_MAX);
}

bool io_mtx_check_sizes(const mtx_header *h, mtx_problem *problem)
{
    if (h->rows > INT32_MAX)
        return too_many(h, problem, h->rows, "rows");
    return h->cols <= INT32_MAX || too_many(h, problem, h->cols, "columns");
}

/* Reads the line of sizes: rows, columns, and for coordinate files entries. */
static bool read_sizes(const io_bytes *bytes, mtx_header *h, mtx_problem *problem)
{
    static const char *const names[] = {"rows", "columns", "entries"};
    const char *end = bytes->data + bytes->size, *p = bytes->data + h->size_line;
    int64_t sizes[3] = {0};
    char word[MTX_WORD_SIZE];
    for (int i = 0; i < (h->array ? 2 : 3); i++) {
        p = mtx_skip_blanks(p, end);
        const char *after = base_parse_int(p, end, &sizes[i]);
        if (!after || sizes[i] < 0)
            return refuse(problem, h->size_line, "expected the number of %s, found %s", names[i],
                          io_mtx_quote(p, end, word));
        if (i < 2 && sizes[i] > MOST_LINES)
            return too_many(h, problem, sizes[i], names[i]);
        p = after;
    }
    p = mtx_skip_blanks(p, end);
    if (p < end && *p != '\n')
        return refuse(problem, h->size_line, "expected the end of the line of sizes, found %s",
                      io_mtx_quote(p, end, word));
    h->rows = sizes[0];
    h->cols = sizes[1];
    h->entries = sizes[2];
    h->body = (size_t)(mtx_next_line(p, end) - bytes->data);
    /* Rows times columns must not overflow: an array has many rows in one column alone. */
    if (h->array && (h->cols != 1 || h->symmetry != SPRY_SYMMETRY_GENERAL) &&
        !io_mtx_check_sizes(h, problem))
        return false;
    if (h->symmetry != SPRY_SYMMETRY_GENERAL && h->rows != h->cols)
        return refuse(problem, h->size_line,
                      "a %s matrix must be square, this one is %" PRId64 " x %" PRId64,
                      symmetry_words[h->symmetry], h->rows, h->cols);
    return true;
}

/* Nothing is allocated for entries that the rest of the file is too short to hold. */
static bool check_promise(const io_bytes *bytes, const mtx_header *h, mtx_problem *problem)
{
    static const int in_value[] = {[MTX_REAL] = 1, [MTX_INTEGER] = 1, [MTX_COMPLEX] = 2};
    const int64_t numbers = (h->array ? 0 : 2) + (h->field == MTX_PATTERN ? 0 : in_value[h->field]);
    /* A digit and a separator each; the last line end may be missing. */
    const int64_t left = (int64_t)(bytes->size - h->body);
    const int64_t most = numbers > 0 ? (left + 1) / (2 * numbers) : 0;
    if (h->entries > most)
        return refuse(problem, h->size_line,
                      "the header promises %" PRId64 " entries, the %" PRId64
                      " bytes after it hold at most %" PRId64,
                      h->entries, left, most);
    return true;
}

/* Entries of an array: all of them, or those on (skew: below) and below the diagonal. */
static int64_t array_entries(const mtx_header *h)
{
    switch (h->symmetry) {
    case SPRY_SYMMETRY_SYMMETRIC:
    case SPRY_SYMMETRY_HERMITIAN:
        return h->rows * (h->rows + 1) / 2;
    case SPRY_SYMMETRY_SKEW:
        return h->rows * (h->rows - 1) / 2;
    default:
        return h->rows * h->cols;
    }
}

bool io_mtx_read_header(const io_bytes *bytes, mtx_header *h, mtx_problem *problem)
{
    *h = (mtx_header){0};
    if (!read_banner(bytes, h, problem))
        return false;
    const char *end = bytes->data + bytes->size;
    const char *sizes = io_mtx_find(mtx_next_line(bytes->data, end), end, 0);
    if (sizes == end)
        return refuse(problem, bytes->size, "the file ends before its line of sizes");
    h->size_line = (size_t)(sizes - bytes->data);
    if (!read_sizes(bytes, h, problem))
        return false;
    if (h->array)
        h->entries = array_entries(h);
    return check_promise(bytes, h, problem);
}
