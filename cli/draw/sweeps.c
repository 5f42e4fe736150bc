/* A method's loop as it is written and as it runs: a box for each pass over memory, and a mark for
 * each vector that it reads or writes. */
#include "draw.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SWEEPS = 64, VECTORS = 24, NAME = 24, TEXT = 2048 };
enum { TOP = 92, SIDE = 20, LINE = 20, STEP = 24, LETTER = 8, GAP = 40, LEAST = 300, MOST = 1000 };

typedef struct sweep {
    char text[TEXT], reads[256], writes[256];
} sweep;

typedef struct loop {
    sweep *sweeps;
    int count, left_out; /* beyond SWEEPS */
    int moved;           /* vectors, in all; 0: not known */
} loop;

/* A line of a text, cut to the room there is; moves on. */
static bool next_line(const char **text, char line[TEXT])
{
    const size_t length = strcspn(*text, "\n");
    if (!**text)
        return false;
    snprintf(line, TEXT, "%.*s", (int)(length < TEXT ? length : TEXT - 1), *text);
    *text += length + ((*text)[length] == '\n');
    return true;
}

/* "reads A p; writes q" */
static void take_traffic(sweep *s, const char *line)
{
    const char *reads = strstr(line, "reads "), *writes = strstr(line, "writes ");
    if (reads)
        snprintf(s->reads, sizeof s->reads, "%.*s", (int)strcspn(reads + 6, ";"), reads + 6);
    if (writes)
        snprintf(s->writes, sizeof s->writes, "%.255s", writes + 7);
}

/* From an explanation: lines "  sweep 1   STATEMENTS" in "the loop as it runs", each followed by
 * its traffic, and "vectors  12 read". */
static loop take_loop(const char *explained)
{
    loop l = {.sweeps = cli_alloc(SWEEPS * sizeof *l.sweeps)};
    char line[TEXT];
    bool within = false;
    sweep *last = NULL;
    while (next_line(&explained, line)) {
        const char *word = line + strspn(line, " ");
        int number = 0, used = 0;
        if (*line && *line != ' ')
            within = strncmp(line, "the loop as it runs", 19) == 0;
        if (strncmp(word, "vectors ", 8) == 0)
            (void)sscanf(word, "vectors %d", &l.moved);
        if (!within)
            continue;
        if (sscanf(word, "sweep %d %n", &number, &used) == 1 && used > 0) {
            last = l.count < SWEEPS ? &l.sweeps[l.count++] : NULL;
            l.left_out += last == NULL;
            if (last)
                snprintf(last->text, sizeof last->text, "%s", word + used);
        } else if (strncmp(word, "reads ", 6) == 0 || strncmp(word, "writes ", 7) == 0) {
            if (last)
                take_traffic(last, word);
        }
    }
    return l;
}

/* The statements of a sweep, one after the other: "q = A p;  pq = (p, q)". */
static bool next_statement(const char **p, char statement[TEXT])
{
    while (**p == ' ' || **p == ';')
        (*p)++;
    if (!**p)
        return false;
    const size_t length = strcspn(*p, ";");
    snprintf(statement, TEXT, "%.*s", (int)length, *p);
    *p += length;
    return true;
}

static int count_statements(const sweep *s, int *widest)
{
    char statement[TEXT];
    int count = 0;
    for (const char *p = s->text; next_statement(&p, statement); count++)
        *widest = (int)strlen(statement) > *widest ? (int)strlen(statement) : *widest;
    return count;
}

/* All vectors in the order of the alphabet, capitals first. */
static void add_names(const char *names, char all[VECTORS][NAME], int *count)
{
    char name[NAME];
    int used;
    for (const char *p = names; sscanf(p, "%23s%n", name, &used) == 1; p += used) {
        int at = 0;
        while (at < *count && strcmp(all[at], name) < 0)
            at++;
        if (*count == VECTORS || (at < *count && strcmp(all[at], name) == 0))
            continue;
        memmove(all[at + 1], all[at], (size_t)(*count - at) * NAME);
        memcpy(all[at], name, NAME);
        (*count)++;
    }
}

/* A and a are two vectors. */
static bool has_name(const char *names, const char *name)
{
    const size_t length = strlen(name);
    for (const char *p = names; *p; p += strspn(p, " ")) {
        const size_t size = strcspn(p, " ");
        if (size == length && strncmp(p, name, size) == 0)
            return true;
        p += size;
    }
    return false;
}

/* What both sides share. */
typedef struct columns {
    char names[VECTORS + 1][NAME];
    int count, step;
} columns;

static double panel_width(const loop *l, const columns *c)
{
    int widest = 0;
    for (int k = 0; k < l->count; k++)
        count_statements(&l->sweeps[k], &widest);
    const double width = 20.0 + LETTER * widest + c->step * c->count + 10;
    return fmin(fmax(width, LEAST), MOST);
}

static double panel_height(const loop *l)
{
    int widest = 0;
    double height = 0;
    for (int k = 0; k < l->count; k++)
        height += LINE * count_statements(&l->sweeps[k], &widest) + 12;
    return height;
}

static double put_sweep(const picture *p, const sweep *s, const columns *c, double left,
                        double width, double y)
{
    int widest = 0;
    char statement[TEXT];
    const double height = LINE * count_statements(s, &widest) + 12;
    const double dots = left + width - c->step * c->count + c->step / 2.0 - 4;
    draw_rect(p, left, y, width, height - 5, "panel", NULL);
    double at = y + 19;
    for (const char *q = s->text; next_statement(&q, statement); at += LINE)
        draw_fitted(p, left + 10, at, "code", "start", dots - c->step / 2.0 - left - 10, "%s",
                    statement);
    for (int k = 0; k < c->count; k++) {
        const bool reads = has_name(s->reads, c->names[k]);
        const bool writes = has_name(s->writes, c->names[k]);
        const double x = dots + k * c->step, middle = y + (height - 5) / 2;
        if (reads)
            draw_mark(p, x - (writes ? 6 : 0), middle, 'o', "mark s0", NULL);
        if (writes)
            draw_mark(p, x + (reads ? 7 : 0), middle, '.', "f1", NULL);
    }
    return y + height;
}

static void put_panel(const picture *p, const loop *l, const columns *c, double left, double width,
                      const char *title)
{
    double y = TOP;
    const double dots = left + width - c->step * c->count + c->step / 2.0 - 4;
    draw_text(p, left, 30, "head", "start", "%s", title);
    draw_text(p, left, 52, "soft", "start",
              l->moved > 0 ? "%d passes over memory, %d vectors moved" : "%d passes over memory",
              l->count + l->left_out, l->moved);
    for (int k = 0; k < c->count; k++)
        draw_text(p, dots + k * c->step, TOP - 10, "code soft", "middle", "%s", c->names[k]);
    for (int k = 0; k < l->count; k++)
        y = put_sweep(p, &l->sweeps[k], c, left, width, y);
    if (l->left_out > 0)
        draw_text(p, left, y + 14, "soft", "start", "and %d more", l->left_out);
}

void draw_sweeps(picture *p, const char *method, const char *apart, const char *fused)
{
    loop both[2] = {take_loop(apart), take_loop(fused)};
    columns c = {.step = STEP};
    char title[256];
    for (int side = 0; side < 2; side++)
        for (int k = 0; k < both[side].count; k++) {
            add_names(both[side].sweeps[k].reads, c.names, &c.count);
            add_names(both[side].sweeps[k].writes, c.names, &c.count);
        }
    const double left = panel_width(&both[0], &c), right = panel_width(&both[1], &c);
    const double end = TOP + fmax(panel_height(&both[0]), panel_height(&both[1])) + 14;
    p->width = 2 * SIDE + left + GAP + right;
    p->height = end + 34;
    snprintf(title, sizeof title, "The loop of %.160s: as it is written, and as it runs", method);
    draw_begin(p, title,
               "Boxes are passes over memory with their statements; a ring is a vector that is "
               "read, a dot one that is written.");
    put_panel(p, &both[0], &c, SIDE, left, "As it is written");
    put_panel(p, &both[1], &c, SIDE + left + GAP, right, "As it runs");
    draw_mark(p, SIDE + 8, end + 4, 'o', "mark s0", NULL);
    draw_text(p, SIDE + 20, end + 9, "soft", "start", "read");
    draw_mark(p, SIDE + 68, end + 4, '.', "f1", NULL);
    draw_fitted(p, SIDE + 80, end + 9, "soft", "start", p->width - 2 * SIDE - 80,
                "written.  %.160s; A is the matrix, M the preconditioner.", method);
    draw_end(p);
    free(both[0].sweeps);
    free(both[1].sweeps);
}
