/* Tables for the terminal: cells are gathered, then printed in columns as wide as they need. */
#include "output.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS_MOST = 16, CELL_SIZE = 160 };

struct table {
    int columns, cells, room;
    bool right[COLUMNS_MOST];
    char (*text)[CELL_SIZE]; /* row by row, heads first */
};

static char *next_cell(table *t)
{
    if (t->cells == t->room) {
        int room = t->room ? 2 * t->room : 4 * COLUMNS_MOST;
        char(*text)[CELL_SIZE] = cli_alloc((size_t)room * CELL_SIZE);
        if (t->cells)
            memcpy(text, t->text, (size_t)t->cells * CELL_SIZE);
        free(t->text);
        t->text = text;
        t->room = room;
    }
    return t->text[t->cells++];
}

table *table_new(const char *heads)
{
    table *t = cli_alloc(sizeof *t);
    for (const char *p = heads; *p && t->columns < COLUMNS_MOST; p += *p == '|') {
        bool right = *p == '>';
        p += right;
        size_t length = strcspn(p, "|");
        t->right[t->columns++] = right;
        snprintf(next_cell(t), CELL_SIZE, "%.*s", (int)length, p);
        p += length;
    }
    return t;
}

void table_cell(table *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(next_cell(t), CELL_SIZE, format, arguments);
    va_end(arguments);
}

void table_print(table *t, FILE *out)
{
    int width[COLUMNS_MOST] = {0};
    for (int i = 0; i < t->cells; i++) {
        int length = (int)strlen(t->text[i]), column = i % t->columns;
        width[column] = length > width[column] ? length : width[column];
    }
    for (int i = 0; i < t->cells; i++) {
        int column = i % t->columns;
        bool last = column == t->columns - 1;
        if (column > 0 && !(last && !*t->text[i])) /* no blanks at the end */
            fputs("  ", out);
        if (t->right[column])
            fprintf(out, "%*s", width[column], t->text[i]);
        else
            fprintf(out, "%-*s", last ? 0 : width[column], t->text[i]);
        if (last)
            fputc('\n', out);
    }
    free(t->text);
    free(t);
}
