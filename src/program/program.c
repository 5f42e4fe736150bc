/* A program's tables: names, expressions, places. */
#include "program/program.h"
#include "base/base.h"

#include <stdarg.h>

void program_free(program *p)
{
    if (!p)
        return;
    base_free(p->ctx, p->text);
    base_free(p->ctx, p->exprs);
    base_free(p->ctx, p->stmts);
    base_free(p->ctx, p->names);
    base_free(p->ctx, p);
}

spry_status program_copy(spry_context *ctx, const program *p, program **out)
{
    program *copy = NULL;
    spry_status status = SPRY_STATUS_OK;
    *out = NULL;
    SPRY_GO(ctx, base_copy(ctx, p, &copy));
    copy->ctx = ctx;
    copy->text = NULL;
    copy->exprs = NULL;
    copy->stmts = NULL;
    copy->names = NULL;
    SPRY_GO(ctx, base_copy(ctx, p->text, &copy->text));
    SPRY_GO(ctx, base_copy(ctx, p->exprs, &copy->exprs));
    SPRY_GO(ctx, base_copy(ctx, p->stmts, &copy->stmts));
    SPRY_GO(ctx, base_copy(ctx, p->names, &copy->names));
    *out = copy;
    copy = NULL;
done:
    program_free(copy);
    return status;
}

static bool same(const void *a, const void *b, int count, size_t size)
{
    return count == 0 || memcmp(a, b, (size_t)count * size) == 0;
}

bool program_same(const program *a, const program *b)
{
    return a->size == b->size && strcmp(a->source, b->source) == 0 &&
           a->expr_count == b->expr_count && a->stmt_count == b->stmt_count &&
           a->name_count == b->name_count && same(a->text, b->text, a->size, 1) &&
           same(a->names, b->names, a->name_count, sizeof *a->names) &&
           same(a->exprs, b->exprs, a->expr_count, sizeof *a->exprs) &&
           same(a->stmts, b->stmts, a->stmt_count, sizeof *a->stmts);
}

spry_status program_add_expr(program *p, const expr *e, int *index)
{
    const expr copy = *e; /* e may lie in the array that grows */
    spry_status status = SPRY_STATUS_OK;
    *index = NONE;
    if (p->expr_count == p->expr_room) {
        const int room = p->expr_room > 0 ? 2 * p->expr_room : 64;
        SPRY_GO(p->ctx, base_grow(p->ctx, p->expr_count, room, sizeof(expr), &p->exprs));
        p->expr_room = room;
    }
    *index = p->expr_count++;
    p->exprs[*index] = copy;
done:
    return status;
}

void program_locate(const program *p, int place, int *line, int *column)
{
    *line = 1, *column = 1;
    for (int i = 0; i < place; i++) {
        const unsigned char c = (unsigned char)p->text[i];
        if (c == '\n')
            ++*line, *column = 1;
        else
            *column += (c & 0xc0) != 0x80; /* bytes that go on a character count nothing */
    }
}

spry_status program_fault(const program *p, int place, const char *format, ...)
{
    char what[MESSAGE_SIZE / 2];
    int line, column;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    program_locate(p, place, &line, &column);
    return SPRY_FAIL(p->ctx, SPRY_STATUS_BAD_INPUT, "%s:%d:%d: %s", p->source, line, column, what);
}

int program_find_name(const program *p, const char *name)
{
    for (int i = 0; i < p->name_count; i++)
        if (*p->names[i].text == *name && strcmp(p->names[i].text, name) == 0)
            return i;
    return NONE;
}
