/*
 * Linear programs in MPS, fixed or free, gzip or not: sections NAME, OBJSENSE, OBJSENSEMAX, ROWS,
 * COLUMNS with integer markers, RHS, RANGES, BOUNDS, ENDATA. Free form is tried first: in fixed
 * form names may have blanks, and stand in columns 5, 15 and 40, numbers in 25 and 50.
 */
#include "lp/lp.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { FIELDS = 6, LINE = 4096, MOST = 100000000 };
#define MOST_BYTES ((size_t)4 << 30)

/* Numbers of names, by a hash. */
typedef struct names {
    char **list;
    int *slot;
    int count, room, slots;
} names;

typedef struct triple {
    int row, col;
    double value;
} triple;

enum { NONE, ROWS, COLUMNS, RHS, RANGES, BOUNDS, OBJSENSE, END };

typedef struct row_read {
    char kind;           /* N L G E */
    double right, range; /* range NaN: none */
    int last, filled;    /* the column, and the section, that gave it a number last */
} row_read;

typedef struct col_read {
    double lower, upper;
    bool set, capped, whole; /* a bound below, one above was set; integer */
} col_read;

typedef struct reader {
    const char *path;
    char *text, *at;
    int line, section, exit_status;
    bool fixed, integer, seen[END + 1], named[END + 1];
    char *field[FIELDS], buffer[LINE], fault[LINE + 256];
    int fields;
    names rows, cols;
    row_read *row; /* as many as names of rows, and of columns */
    col_read *col;
    int64_t room_rows, room_cols;
    int objective;               /* the row that is one; -1 */
    char set_name[END + 1][128]; /* of right-hand sides, ranges, bounds: the first */
    triple *list;
    int64_t count, room;
    bool maximise;
    char name[128];
} reader;

static int fault(reader *r, const char *format, ...) SPRY_PRINTF(2, 3);
static int fault(reader *r, const char *format, ...)
{
    va_list arguments;
    if (r->exit_status != EXIT_DONE)
        return r->exit_status;
    va_start(arguments, format);
    (void)vsnprintf(r->fault, sizeof r->fault, format, arguments);
    va_end(arguments);
    return r->exit_status = EXIT_INPUT;
}

static void *grown(void *list, int64_t count, int64_t *room, size_t size)
{
    if (count < *room)
        return list;
    *room = 2 * (count > *room ? count : *room) + 64;
    void *larger = realloc(list, (size_t)*room * size);
    if (!larger)
        exit(cli_fail(EXIT_RESOURCES, "no memory for %lld numbers of a file", (long long)*room));
    return larger;
}

/* --- names ---------------------------------------------------------------------------------------
 */

static uint64_t hash_of(const char *name)
{
    uint64_t h = 14695981039346656037u;
    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 1099511628211u;
    return h ^ (h >> 29);
}

static int *slot_of(const names *n, const char *name)
{
    size_t at = (size_t)(hash_of(name) % (uint64_t)n->slots);
    while (n->slot[at] >= 0 && strcmp(n->list[n->slot[at]], name) != 0)
        at = (at + 1) % (size_t)n->slots;
    return &n->slot[at];
}

static int name_find(const names *n, const char *name)
{
    return n->slots == 0 ? -1 : *slot_of(n, name);
}

static int name_add(names *n, const char *name)
{
    if (2 * n->count >= n->slots) {
        n->slots = 4 * n->slots + 64;
        free(n->slot);
        n->slot = cli_alloc((size_t)n->slots * sizeof *n->slot);
        for (int k = 0; k < n->slots; k++)
            n->slot[k] = -1;
        for (int k = 0; k < n->count; k++)
            *slot_of(n, n->list[k]) = k;
    }
    int64_t room = n->room;
    n->list = grown(n->list, n->count, &room, sizeof *n->list);
    n->room = (int)room;
    const size_t length = strlen(name) + 1;
    memcpy(n->list[n->count] = cli_alloc(length), name, length);
    *slot_of(n, name) = n->count;
    return n->count++;
}

static void names_free(names *n)
{
    for (int k = 0; k < n->count; k++)
        free(n->list[k]);
    free(n->list);
    free(n->slot);
}

/* --- lines ---------------------------------------------------------------------------------------
 */

/* All of a file, unpacked; its size is bounded by what its bytes unpack to. */
static char *read_all(const char *path)
{
    gzFile in = gzopen(path, "rb");
    size_t count = 0;
    int64_t room = 0;
    char *text = NULL;
    if (!in) {
        cli_fail(EXIT_INPUT, "%s: %s", text_name(path), strerror(errno ? errno : ENOMEM));
        return NULL;
    }
    for (;;) {
        text = grown(text, (int64_t)count + 65536, &room, 1);
        const int got = gzread(in, text + count, 65536);
        int kind = Z_OK;
        const char *why = gzerror(in, &kind);
        if (got < 0 || (got == 0 && kind != Z_OK) || count > MOST_BYTES) {
            cli_fail(EXIT_INPUT, "%s: %s", text_name(path),
                     count > MOST_BYTES ? "more than 4 GB"
                     : kind == Z_ERRNO  ? strerror(errno)
                                        : why);
            gzclose(in);
            free(text);
            return NULL;
        }
        if (got == 0)
            break;
        count += (size_t)got;
    }
    gzclose(in);
    text[count] = '\0';
    if (memchr(text, 0, count)) {
        cli_fail(EXIT_INPUT, "%s: a byte of 0 (NUL): this is no text", text_name(path));
        free(text);
        return NULL;
    }
    return text;
}

static void add_field(reader *r, char *text)
{
    if (r->fields < FIELDS)
        r->field[r->fields] = text;
    r->fields++;
}

/* Fields of fixed form: columns 2-3, 5-12, 15-22, 25-36, 40-47, 50-61; blanks around them go. */
static void cut_fixed(reader *r, size_t length)
{
    static const int begin[FIELDS] = {1, 4, 14, 24, 39, 49}, end[FIELDS] = {3, 12, 22, 36, 47, 61};
    static const bool named[FIELDS] = {false, true, true, false, true, false};
    const bool bounds = r->section == BOUNDS || r->section == ROWS;
    for (int k = bounds ? 0 : 1; k < FIELDS && (size_t)begin[k] < length; k++) {
        char *from = r->buffer + begin[k];
        char *to = r->buffer + ((size_t)end[k] < length ? (size_t)end[k] : length);
        while (from < to && *from == ' ')
            from++;
        while (to > from && to[-1] == ' ')
            to--;
        if (from == to && !named[k])
            break;
        *to = '\0';
        add_field(r, from);
    }
    while (r->fields > 0 && r->fields <= FIELDS && !*r->field[r->fields - 1])
        r->fields--;
}

/* The next line with anything on it, cut; false: there is none. */
static bool next_line(reader *r)
{
    while (*r->at) {
        char *end = strchr(r->at, '\n');
        const char *const from = r->at;
        size_t length = end ? (size_t)(end - from) : strlen(from);
        r->at += length + (end != NULL);
        r->line++;
        while (length > 0 && strchr(" \t\r", from[length - 1]))
            length--;
        if (length == 0 || *from == '*')
            continue;
        if (length >= sizeof r->buffer - 1) {
            fault(r, "a line of %zu characters, %d at most", length, LINE - 2);
            return false;
        }
        memcpy(r->buffer, from, length);
        r->buffer[length] = '\0';
        r->fields = 0;
        if (r->fixed && *from == ' ') {
            for (char *p = r->buffer; *p; p++)
                *p = *p == '\t' ? ' ' : *p;
            cut_fixed(r, length);
            return true;
        }
        for (char *p = strtok(r->buffer, " \t"); p && (p[0] != '$' || r->fields == 0);
             p = strtok(NULL, " \t"))
            add_field(r, p);
        return true;
    }
    return false;
}

static double number_of(reader *r, const char *text)
{
    char *end = NULL;
    double value = strtod(text, &end);
    if (end == text || *end)
        fault(r, "%.100s is no number", text);
    else if (isnan(value))
        fault(r, "%.100s is not finite", text);
    return value;
}

/* A number that has to be finite: all but bounds. */
static double finite_of(reader *r, const char *text)
{
    const double value = number_of(r, text);
    if (!isfinite(value))
        fault(r, "%.100s is not finite", text);
    return value;
}

/* --- sections ------------------------------------------------------------------------------------
 */

static void take_row(reader *r)
{
    const char *kind = r->fields > 0 ? r->field[0] : "";
    if (r->fields != 2 || strlen(kind) != 1 || !strchr("NLGEnlge", *kind)) {
        fault(r, "expected a row: one of N, L, G, E, and a name");
        return;
    }
    if (name_find(&r->rows, r->field[1]) >= 0) {
        fault(r, "row %.100s is there twice", r->field[1]);
        return;
    }
    const int i = name_add(&r->rows, r->field[1]);
    r->row = grown(r->row, i, &r->room_rows, sizeof *r->row);
    r->row[i] = (row_read){.kind = *kind >= 'a' ? (char)(*kind - 'a' + 'A') : *kind,
                           .range = NAN,
                           .last = -1,
                           .filled = NONE};
    if (r->row[i].kind == 'N' && r->objective < 0)
        r->objective = i;
}

static int add_column(reader *r, const char *name)
{
    const int j = name_add(&r->cols, name);
    r->col = grown(r->col, j, &r->room_cols, sizeof *r->col);
    r->col[j] = (col_read){.upper = r->integer ? 1 : INFINITY, .whole = r->integer};
    return j;
}

static void take_column(reader *r)
{
    if (r->fields >= 3 && strcmp(r->field[1], "'MARKER'") == 0) {
        const char *what = r->field[r->fields - 1 < FIELDS ? r->fields - 1 : FIELDS - 1];
        if (strcmp(what, "'INTORG'") != 0 && strcmp(what, "'INTEND'") != 0)
            fault(r, "a marker %.100s, expected 'INTORG' or 'INTEND'", what);
        r->integer = strcmp(what, "'INTORG'") == 0;
        return;
    }
    if (r->fields != 3 && r->fields != 5) {
        fault(r, "expected a column: its name, and one or two of a row and a number");
        return;
    }
    int j = r->cols.count - 1;
    if (j < 0 || strcmp(r->cols.list[j], r->field[0]) != 0) {
        if (name_find(&r->cols, r->field[0]) >= 0) {
            fault(r, "column %.100s goes on after another", r->field[0]);
            return;
        }
        j = add_column(r, r->field[0]);
    }
    for (int k = 1; k + 1 < r->fields && r->exit_status == EXIT_DONE; k += 2) {
        const int i = name_find(&r->rows, r->field[k]);
        const double value = finite_of(r, r->field[k + 1]);
        if (i < 0)
            fault(r, "column %.100s: there is no row %.100s", r->field[0], r->field[k]);
        else if (r->row[i].last == j)
            fault(r, "column %.100s has two numbers in row %.100s", r->field[0], r->field[k]);
        if (r->exit_status != EXIT_DONE)
            return;
        r->row[i].last = j;
        if (value == 0)
            continue;
        r->list = grown(r->list, r->count, &r->room, sizeof *r->list);
        r->list[r->count++] = (triple){i, j, value};
    }
}

/* A file may have several sets of such numbers; which of them is meant is not ours to say. */
static void check_set(reader *r, const char *name)
{
    char *first = r->set_name[r->section];
    if (!r->named[r->section])
        snprintf(first, sizeof r->set_name[0], "%.100s", name);
    else if (strcmp(first, name) != 0)
        fault(r, "a second set, %.100s, behind %s: leave one of them", name,
              *first ? first : "one without a name");
    r->named[r->section] = true;
}

/* Right-hand sides and ranges: the set's name may be missing. */
static void take_rows(reader *r)
{
    const int first = r->fields % 2;
    if (r->fields < 2 || r->fields > 5) {
        fault(r, "expected a name, and one or two of a row and a number");
        return;
    }
    check_set(r, first ? r->field[0] : "");
    for (int k = first; k + 1 < r->fields && r->exit_status == EXIT_DONE; k += 2) {
        const int i = name_find(&r->rows, r->field[k]);
        const double value = finite_of(r, r->field[k + 1]);
        if (i < 0)
            fault(r, "there is no row %.100s", r->field[k]);
        else if (r->row[i].filled == r->section)
            fault(r, "a second number of row %.100s", r->field[k]);
        if (r->exit_status != EXIT_DONE)
            return;
        *(r->section == RHS ? &r->row[i].right : &r->row[i].range) = value;
        r->row[i].filled = r->section;
    }
}

/* An upper bound below 0 where none was set below makes that -inf, as most readers have it. */
static void take_upper(reader *r, int j, double value)
{
    if (value == -INFINITY)
        fault(r, "an upper bound of -inf");
    r->col[j].upper = value;
    r->col[j].capped = true;
    if (value < 0 && r->col[j].lower == 0 && !r->col[j].set)
        r->col[j].lower = -INFINITY;
}

static void take_lower(reader *r, int j, double value)
{
    if (value == INFINITY)
        fault(r, "a lower bound of inf");
    r->col[j].lower = value;
    r->col[j].set = true;
    if (r->col[j].whole && !r->col[j].capped)
        r->col[j].upper = INFINITY;
}

static void take_bound(reader *r)
{
    static const char *const kinds[] = {"UP", "LO", "FX", "FR", "MI", "PL", "BV", "UI", "LI"};
    const char *kind = r->fields > 0 ? r->field[0] : "";
    size_t k = 0;
    while (k < sizeof kinds / sizeof *kinds && strcmp(kinds[k], kind) != 0)
        k++;
    if (k == sizeof kinds / sizeof *kinds) {
        fault(r, "a bound %.100s, expected UP, LO, FX, FR, MI, PL, BV, UI or LI", kind);
        return;
    }
    const bool valued = k < 3 || k > 6;
    /* the set's name may be missing, and a value be there that means nothing */
    const bool bare =
        !valued && (r->fields == 2 || (r->fields == 3 && name_find(&r->cols, r->field[2]) < 0 &&
                                       name_find(&r->cols, r->field[1]) >= 0));
    const int named = valued ? r->fields - 2 : bare ? 1 : 2;
    if (r->fields < (valued ? 3 : 2) || r->fields > 4 || named < 1) {
        fault(r, "expected a bound: its kind, a name, a column%s", valued ? ", a number" : "");
        return;
    }
    check_set(r, named > 1 ? r->field[1] : "");
    const int j = name_find(&r->cols, r->field[named]);
    const double value = valued ? number_of(r, r->field[named + 1]) : 0;
    if (j < 0)
        fault(r, "there is no column %.100s", r->field[named]);
    if (r->exit_status != EXIT_DONE)
        return;
    switch (k) {
    case 0:
    case 7:
        r->col[j].whole = r->col[j].whole || k == 7;
        take_upper(r, j, value);
        break;
    case 1:
    case 8:
        r->col[j].whole = r->col[j].whole || k == 8;
        take_lower(r, j, value);
        break;
    case 2:
        if (!isfinite(value))
            fault(r, "column %.100s is fixed to %g", r->field[named], value);
        take_lower(r, j, value);
        take_upper(r, j, value);
        break;
    case 3:
        take_lower(r, j, -INFINITY);
        take_upper(r, j, INFINITY);
        break;
    case 4:
        take_lower(r, j, -INFINITY);
        break;
    case 5:
        take_upper(r, j, INFINITY);
        break;
    default:
        r->col[j].whole = true;
        take_lower(r, j, 0);
        take_upper(r, j, 1);
        break;
    }
}

static void take_sense(reader *r, const char *word)
{
    const bool most =
        strcmp(word, "MAX") == 0 || strcmp(word, "MAXIMIZE") == 0 || strcmp(word, "MAXIMISE") == 0;
    if (!most && strcmp(word, "MIN") != 0 && strcmp(word, "MINIMIZE") != 0 &&
        strcmp(word, "MINIMISE") != 0)
        fault(r, "a sense %.100s, expected MIN or MAX", word);
    r->maximise = most;
}

static void begin_section(reader *r)
{
    static const char *const heads[] = {"",       "ROWS",   "COLUMNS",  "RHS",
                                        "RANGES", "BOUNDS", "OBJSENSE", "ENDATA"};
    const char *word = r->field[0];
    if (strcmp(word, "NAME") == 0) {
        if (r->fields > 1)
            snprintf(r->name, sizeof r->name, "%s", r->field[1]);
        return;
    }
    if (strcmp(word, "OBJSENSEMAX") == 0) {
        r->maximise = true;
        return;
    }
    int k = ROWS;
    while (k <= END && strcmp(heads[k], word) != 0)
        k++;
    if (k > END) {
        fault(r,
              "a section %.100s, expected one of MPS: NAME, OBJSENSE, ROWS, COLUMNS, RHS, RANGES, "
              "BOUNDS, ENDATA",
              word);
        return;
    }
    if (r->seen[k])
        fault(r, "a second section %s", word);
    else if (k > ROWS && k <= BOUNDS && !r->seen[k == COLUMNS ? ROWS : COLUMNS])
        fault(r, "section %s before %s", word, k == COLUMNS ? "ROWS" : "COLUMNS");
    if (r->exit_status != EXIT_DONE)
        return;
    r->section = k;
    r->seen[k] = true;
    if (k == OBJSENSE && r->fields > 1)
        take_sense(r, r->field[1]);
}

static void read_lines(reader *r)
{
    while (r->exit_status == EXIT_DONE && r->section != END && next_line(r)) {
        const bool head = r->fields > 0 && r->field[0] == r->buffer;
        if (r->fields == 0)
            continue;
        if (head)
            begin_section(r);
        else if (r->section == ROWS)
            take_row(r);
        else if (r->section == COLUMNS)
            take_column(r);
        else if (r->section == RHS || r->section == RANGES)
            take_rows(r);
        else if (r->section == BOUNDS)
            take_bound(r);
        else if (r->section == OBJSENSE)
            take_sense(r, r->field[0]);
        else
            fault(r, "expected a section of MPS: NAME, ROWS, ...");
        if (r->rows.count > MOST || r->cols.count > MOST)
            fault(r, "more than %d rows or columns", MOST);
    }
    if (r->exit_status == EXIT_DONE && r->section != END)
        fault(r, "the file ends without ENDATA");
}

/* --- the problem ---------------------------------------------------------------------------------
 */

static void set_row_bounds(const reader *r, int i, double *lower, double *upper)
{
    const double b = r->row[i].right, range = r->row[i].range;
    *lower = r->row[i].kind == 'L' ? -INFINITY : b;
    *upper = r->row[i].kind == 'G' ? INFINITY : b;
    if (isnan(range))
        return;
    if (r->row[i].kind == 'L' || (r->row[i].kind == 'E' && range < 0))
        *lower = b - fabs(range);
    else
        *upper = b + fabs(range);
}

/* Rows that are not the objective, numbered anew in `number`; other rows N go. */
static void make_model(reader *r, lp_model *p, int *number)
{
    const int n = r->cols.count;
    for (int i = 0; i < r->rows.count; i++)
        number[i] = r->row[i].kind == 'N' ? -1 : p->rows++;
    const int m = p->rows;
    p->cols = n;
    p->maximise = r->maximise;
    memcpy(p->name, r->name, sizeof p->name);
    p->cost = cli_alloc((size_t)(n + 1) * sizeof *p->cost);
    p->lower = cli_alloc((size_t)(n + m + 1) * sizeof *p->lower);
    p->upper = cli_alloc((size_t)(n + m + 1) * sizeof *p->upper);
    p->integer = cli_alloc((size_t)n + 1);
    p->names = cli_alloc((size_t)(n + m + 1) * sizeof *p->names);
    p->by_col = (lp_sparse){.major = n, .minor = m};
    p->by_col.start = cli_alloc((size_t)(n + 1) * sizeof *p->by_col.start);
    p->by_col.index = cli_alloc((size_t)(r->count + 1) * sizeof *p->by_col.index);
    p->by_col.value = cli_alloc((size_t)(r->count + 1) * sizeof *p->by_col.value);
    p->constant = r->objective >= 0 ? -r->row[r->objective].right : 0;
    for (int j = 0; j < n; j++) {
        p->cost[j] = 0;
        p->lower[j] = r->col[j].lower;
        p->upper[j] = r->col[j].upper;
        p->integer[j] = r->col[j].whole;
        p->names[j] = r->cols.list[j];
        r->cols.list[j] = NULL;
    }
    for (int i = 0; i < r->rows.count; i++)
        if (number[i] >= 0) {
            set_row_bounds(r, i, &p->lower[n + number[i]], &p->upper[n + number[i]]);
            p->names[n + number[i]] = r->rows.list[i];
            r->rows.list[i] = NULL;
        }
    int64_t used = 0, k = 0;
    for (int j = 0; j < n; j++) {
        p->by_col.start[j] = used;
        for (; k < r->count && r->list[k].col == j; k++) {
            const triple *t = &r->list[k];
            if (t->row == r->objective)
                p->cost[j] = t->value;
            if (number[t->row] < 0)
                continue;
            p->by_col.index[used] = number[t->row];
            p->by_col.value[used++] = t->value;
        }
    }
    p->by_col.start[n] = used;
    if (p->maximise) {
        p->constant = -p->constant;
        for (int j = 0; j < n; j++)
            p->cost[j] = -p->cost[j];
    }
}

static void reader_free(reader *r)
{
    names_free(&r->rows);
    names_free(&r->cols);
    free(r->row);
    free(r->col);
    free(r->list);
}

static reader read_as(const char *path, char *text, bool fixed)
{
    reader r = {.path = path, .text = text, .at = text, .fixed = fixed, .objective = -1};
    read_lines(&r);
    return r;
}

int lp_read(const char *path, lp_model *p)
{
    char *text = read_all(path);
    *p = (lp_model){0};
    if (!text)
        return EXIT_INPUT;
    reader r = read_as(path, text, false);
    if (r.exit_status != EXIT_DONE) {
        reader other = read_as(path, text, true);
        if (other.exit_status == EXIT_DONE) {
            reader_free(&r);
            r = other;
        } else {
            cli_fail(EXIT_INPUT, "%s:%d: %s", text_name(path), r.line, text_name(r.fault));
            if (other.line > r.line)
                cli_fail(EXIT_INPUT, "%s:%d: and if its form is fixed: %s", text_name(path),
                         other.line, text_name(other.fault));
            reader_free(&other);
        }
    }
    if (r.exit_status == EXIT_DONE) {
        int *number = cli_alloc((size_t)(r.rows.count + 1) * sizeof *number);
        make_model(&r, p, number);
        free(number);
    }
    const int exit_status = r.exit_status;
    reader_free(&r);
    free(text);
    return exit_status;
}
