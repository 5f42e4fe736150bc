/* A program's tables: names, expressions, places. */
#include "program/program.h"

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

static spry_status copy_array(spry_context *ctx, const void *from, int count, size_t size, void *to)
{
    const spry_status status = base_alloc(ctx, count, size, to);
    if (status == SPRY_STATUS_OK && count > 0)
        memcpy(*(void **)to, from, (size_t)count * size);
    return status;
}

spry_status program_copy(const program *p, program **out)
{
    spry_context *ctx = p->ctx;
    program *copy = NULL;
    spry_status status = SPRY_STATUS_OK;
    *out = NULL;
    SPRY_GO(ctx, base_alloc(ctx, 1, sizeof *copy, &copy));
    *copy = *p;
    copy->text = NULL;
    copy->exprs = NULL;
    copy->stmts = NULL;
    copy->names = NULL;
    copy->expr_room = p->expr_count;
    copy->stmt_room = p->stmt_count;
    copy->name_room = p->name_count;
    SPRY_GO(ctx, copy_array(ctx, p->text, p->size + 1, 1, &copy->text));
    SPRY_GO(ctx, copy_array(ctx, p->exprs, p->expr_count, sizeof *p->exprs, &copy->exprs));
    SPRY_GO(ctx, copy_array(ctx, p->stmts, p->stmt_count, sizeof *p->stmts, &copy->stmts));
    SPRY_GO(ctx, copy_array(ctx, p->names, p->name_count, sizeof *p->names, &copy->names));
    *out = copy;
    copy = NULL;
done:
    program_free(copy);
    return status;
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
