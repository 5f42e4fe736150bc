/*
 * Methods as text. What is taken is written out again from the parsed form, and must be taken again
 * and come out the same; every scalar expression is evaluated over arrays of the smallest extents.
 */
#include "fuzz.h"

#include "program/program.h"

enum { LONGEST = 8192, EXTENT = 2 };

typedef struct writer {
    const program *p;
    char *text;
    size_t used, size;
    bool cut; /* an expression was longer than LONGEST */
} writer;

static void put(writer *w, const char *text, size_t size)
{
    if (w->size - w->used < size) {
        w->size = 2 * (w->used + size);
        w->text = realloc(w->text, w->size);
        fuzz_require(w->text != NULL);
    }
    memcpy(w->text + w->used, text, size);
    w->used += size;
}

static void put_text(writer *w, const char *text)
{
    put(w, text, strlen(text));
}

static void put_expr(writer *w, int e)
{
    static char text[LONGEST];
    program_print_expr(w->p, e, text, sizeof text);
    w->cut = w->cut || strlen(text) == sizeof text - 1;
    put_text(w, text);
}

static void put_list(writer *w, int list);

static void put_stmt(writer *w, const stmt *s)
{
    static const char *const words[] = {[STMT_RESIDUAL] = "residual ",
                                        [STMT_ESTIMATE] = "estimate ",
                                        [STMT_GRADIENT] = "gradient ",
                                        [STMT_ENERGY] = "energy ",
                                        [STMT_BREAKDOWN] = "breakdown if ",
                                        [STMT_RESTART] = "restart if ",
                                        [STMT_IF] = "if "};
    if (s->kind == STMT_FOR) {
        put_text(w, "for ");
        put_text(w, w->p->names[s->name].text);
        put_text(w, " = ");
        put_expr(w, s->from);
        put_text(w, s->down ? " down to " : " .. ");
        put_expr(w, s->to);
    } else if (s->kind == STMT_SET) {
        put_expr(w, s->target);
        put_text(w, " = ");
        put_expr(w, s->value);
    } else {
        put_text(w, words[s->kind]);
        put_expr(w, s->value);
    }
    if (s->kind == STMT_BREAKDOWN) /* with its quotes */
        put(w, w->p->text + s->message - 1, (size_t)s->message_size + 2);
    if (s->kind == STMT_FOR || s->kind == STMT_IF) {
        put_text(w, ":\n");
        put_list(w, s->body);
        if (s->other != NONE)
            put_text(w, "else:\n");
        put_list(w, s->other);
        put_text(w, "end");
    }
    put_text(w, "\n");
}

static void put_list(writer *w, int list)
{
    for (int i = list; i != NONE; i = w->p->stmts[i].next)
        put_stmt(w, &w->p->stmts[i]);
}

/* The declarations are taken as they are: all up to the first section. */
static writer write_out(const program *p, const char *head, size_t head_size)
{
    static const char *const sections[] = {"\nstart:\n", "loop:\n", "finish:\n"};
    writer w = {.p = p};
    put(&w, head, head_size);
    for (int i = 0; i < SECTION_COUNT; i++) {
        put_text(&w, sections[i]);
        put_list(&w, p->section[i]);
    }
    return w;
}

/* Where the first section begins: start and a colon, in no comment and no text. */
static size_t head_size(const char *text, size_t size)
{
    bool comment = false, quoted = false;
    for (size_t i = 0; i + 5 < size; i++) {
        const char c = text[i];
        comment = (comment || (c == '#' && !quoted)) && c != '\n';
        quoted = quoted != (c == '"' && !comment);
        if (comment || quoted || memcmp(text + i, "start", 5) != 0)
            continue;
        size_t after = i + 5;
        while (after < size && (text[after] == ' ' || text[after] == '\t' || text[after] == '\r'))
            after++;
        if (after < size && text[after] == ':')
            return i;
    }
    return size;
}

/* Parentheses that printing needs and the text had not may nest too deep. */
static bool too_deep(const spry_context *ctx)
{
    return strstr(spry_message(ctx), "levels of nesting") != NULL;
}

static void round_trip(spry_context *ctx, const program *p, const char *text, size_t size)
{
    program *again = NULL;
    const size_t head = head_size(text, size);
    writer first = write_out(p, text, head);
    const spry_status status = program_parse(ctx, "again", first.text, first.used, &again);
    fuzz_require(status == SPRY_STATUS_OK || first.cut || too_deep(ctx));
    if (status == SPRY_STATUS_OK && !first.cut) {
        writer second = write_out(again, text, head);
        fuzz_require(first.used == second.used);
        fuzz_require(memcmp(first.text, second.text, first.used) == 0);
        fuzz_require(p->uses_transpose == again->uses_transpose);
        free(second.text);
    }
    program_free(again);
    free(first.text);
}

static void evaluate(const program *p, bool real)
{
    const size_t count = (size_t)p->name_count;
    int64_t *offset = calloc(count, sizeof *offset), used = 0;
    int64_t(*extent)[2] = calloc(count, sizeof *extent);
    fuzz_require(offset && extent);
    for (int i = 0; i < p->name_count; i++) {
        const program_name *n = &p->names[i];
        offset[i] = used;
        extent[i][0] = n->extent[0] == NONE ? 1 : EXTENT;
        extent[i][1] = n->extent[1] == NONE ? 1 : EXTENT;
        if (n->kind != NAME_VECTOR && n->kind != NAME_VECTORS)
            used += extent[i][0] * extent[i][1];
    }
    spry_scalar *values = calloc((size_t)used + 1, sizeof *values);
    fuzz_require(values != NULL);
    for (int64_t i = 0; i < used; i++)
        values[i] = (spry_scalar){(double)(i % 3), (double)(i % 2)};
    for (int e = 0; e < p->expr_count; e++) {
        scalars s = {.program = p,
                     .offset = offset,
                     .extent = (const int64_t(*)[2])extent,
                     .values = values,
                     .real = real,
                     .eps = 1e-16,
                     .fault = NONE};
        if (p->exprs[e].shape != SHAPE_SCALAR)
            continue;
        const spry_scalar value = program_eval(&s, e);
        fuzz_require(!real || value.im == 0);
        s.fault = NONE;
        const int64_t index = program_eval_index(&s, e, EXTENT);
        fuzz_require(index >= 0 && index < EXTENT);
    }
    free(values);
    free(extent);
    free(offset);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int64_t memory = 0;
    spry_context *ctx = fuzz_begin(&memory);
    program *p = NULL;
    if (program_parse(ctx, "fuzz", (const char *)data, size, &p) == SPRY_STATUS_OK) {
        round_trip(ctx, p, (const char *)data, size);
        evaluate(p, true);
        evaluate(p, false);
    } else {
        fuzz_require(p == NULL && strncmp(spry_message(ctx), "fuzz:", 5) == 0);
    }
    program_free(p);
    fuzz_end(ctx, memory);
    return 0;
}
