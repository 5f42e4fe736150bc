/* Programs at random. See the header. */
#include "support/programs.h"

#include "base/base.h"

#include <stdarg.h>
#include <stdlib.h>

enum { PER_SPACE = 4, SCALARS = 5, DEEPEST = 2 };
enum { ROWS, COLS }; /* spaces: as long as b, as long as x */

typedef struct writer {
    uint64_t seed, drawn;
    char *text;
    size_t used;
    bool square;
    bool vector[2][PER_SPACE], scalar[SCALARS]; /* assigned to so far */
    bool loop, finish, estimates;               /* the section; whether there is a finish */
    bool data;                                  /* inside an if that looks at the data */
    int depth;
    int loops; /* enclosing ones: variables i1, i2 */
} writer;

static int draw(writer *w, int below)
{
    return (int)(base_random(w->seed, w->drawn++) % (uint64_t)below);
}

static bool chance(writer *w, int percent)
{
    return draw(w, 100) < percent;
}

SPRY_PRINTF(2, 3) static void put(writer *w, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int size = vsnprintf(w->text + w->used, PROGRAMS_SIZE - w->used, format, arguments);
    va_end(arguments);
    if (size < 0 || w->used + (size_t)size >= PROGRAMS_SIZE)
        abort();
    w->used += (size_t)size;
}

static void line(writer *w)
{
    put(w, "\n%*s", 4 * (w->depth + 1), "");
}

/* An index from 0 to m - 1. */
static void put_index(writer *w)
{
    static const char *const fixed[] = {"0", "m - 1", "k", "mod(k + 1, m)"};
    if (w->loops > 0 && chance(w, 60))
        put(w, "i%d", 1 + draw(w, w->loops));
    else
        put(w, "%s", fixed[draw(w, 4)]);
}

/* A run of indices from 0 to m - 1, empty ones too; the same for the same number. */
static void put_run(writer *w, int which)
{
    static const char *const runs[] = {"0..k",     "0..m - 1", "k..m - 1", "0..k - 1",
                                       "1..m - 1", "0..0",     "k..k"};
    if (which >= 7)
        put(w, "0..i%d", w->loops);
    else
        put(w, "%s", runs[which]);
}

static int draw_run(writer *w)
{
    return draw(w, w->loops > 0 ? 8 : 7);
}

/* A vector that has been assigned to, or an element of an array. */
static void put_vector(writer *w, int space)
{
    if (w->square)
        space = draw(w, 2);
    if (chance(w, 15)) {
        put(w, space == COLS ? "V[" : "W[");
        put_index(w);
        put(w, "]");
        return;
    }
    const int which = draw(w, PER_SPACE + 1);
    if (which < PER_SPACE && w->vector[space][which])
        put(w, "%c%d", space == COLS ? 'c' : 'r', which);
    else
        put(w, space == COLS ? "x" : "b");
}

static void put_number(writer *w)
{
    static const char *const numbers[] = {"0.5", "0.25", "0.75", "1", "(-0.5)", "0.1"};
    put(w, "%s", numbers[draw(w, 6)]);
}

/* A scalar that has been assigned to, or an element of an array. */
static void put_scalar(writer *w)
{
    const int which = draw(w, SCALARS + 2);
    if (which < SCALARS && w->scalar[which]) {
        put(w, "s%d", which);
    } else if (which == SCALARS) {
        put(w, "h[");
        put_index(w);
        put(w, "]");
    } else if (which == SCALARS + 1) {
        put(w, "H[");
        put_index(w);
        put(w, ", ");
        put_index(w);
        put(w, "]");
    } else {
        put_number(w);
    }
}

static int draw_space(writer *w)
{
    return draw(w, 2);
}

/* An inner product or norm, of any size. */
static void put_product(writer *w)
{
    const int space = draw_space(w), kind = draw(w, 4);
    if (kind == 0) {
        put(w, "|");
        put_vector(w, space);
        put(w, "|");
    } else if (kind == 1) {
        put_vector(w, space);
        put(w, "^T ");
        put_vector(w, space);
    } else {
        put(w, "(");
        put_vector(w, space);
        put(w, ", ");
        put_vector(w, space);
        put(w, ")");
    }
}

/* A scalar of modulus 1 or little more. */
static void put_small(writer *w)
{
    switch (draw(w, 9)) {
    case 0:
        put_number(w);
        break;
    case 1:
        put(w, "sign(");
        put_scalar(w);
        put(w, ")");
        break;
    case 2:
        put(w, "(");
        put_product(w);
        put(w, " / (1 + n0))");
        break;
    case 3:
        put(w, "where(real(");
        put_scalar(w);
        put(w, ") > 0, 0.5, ");
        put_number(w);
        put(w, ")");
        break;
    case 4:
        put(w, "conj(q0)");
        break;
    default:
        put(w, "q%d", draw(w, 2));
        break;
    }
}

/* factor vector */
static void put_term(writer *w, int space)
{
    switch (draw(w, 6)) {
    case 0:
    case 1:
        put_vector(w, space);
        break;
    case 2:
        put_vector(w, space);
        put(w, " / (1 + |");
        put_scalar(w);
        put(w, "|)");
        break;
    case 3:
        put_small(w);
        put(w, " * (");
        put_vector(w, space);
        put(w, chance(w, 50) ? " - " : " + ");
        put_vector(w, space);
        put(w, ")");
        break;
    default:
        put_small(w);
        put(w, " * ");
        put_vector(w, space);
        break;
    }
}

static void put_sum(writer *w, int space)
{
    const int count = 1 + draw(w, 3);
    if (chance(w, 10))
        put(w, "-");
    put_term(w, space);
    for (int k = 1; k < count; k++) {
        put(w, chance(w, 50) ? " - " : " + ");
        put_term(w, space);
    }
}

/* A product with an operator; M belongs to the columns of A. */
static void put_apply(writer *w, int space)
{
    const bool sum = chance(w, 25);
    int from = space;
    if (space == COLS && chance(w, 60)) {
        static const char *const inner[] = {"M", "M^H", "L", "R", "R^T", "M M", "M R"};
        put(w, "%s ", inner[draw(w, 7)]);
    } else if (w->square && chance(w, 60)) {
        static const char *const inner[] = {"A", "L A R", "A M", "M A", "A", "A^T", "A^H"};
        put(w, "%s ", inner[draw(w, 7)]);
    } else {
        from = 1 - space;
        put(w, space == ROWS ? "A " : chance(w, 70) ? "A^H " : "A^T ");
        if (space == ROWS && chance(w, 30))
            put(w, chance(w, 50) ? "M " : "R ");
    }
    put(w, sum ? "(" : "");
    if (sum)
        put_sum(w, from);
    else
        put_vector(w, from);
    put(w, sum ? ")" : "");
}

/* A random vector: any kind of expression. */
static void put_expression(writer *w, int space)
{
    const int kind = draw(w, 20);
    if (kind < 6) {
        put_sum(w, space);
    } else if (kind < 11) {
        put_apply(w, space);
    } else if (kind < 13) {
        put_apply(w, space);
        put(w, chance(w, 50) ? " - " : " + ");
        put_term(w, space);
    } else if (kind < 15) {
        put_vector(w, space);
        put(w, " .* ");
        put_vector(w, space);
    } else if (kind < 16) {
        put_vector(w, space);
        put(w, " ./ e%d", space);
    } else if (kind < 17) {
        put(w, "random(%d) + 0.5 * %s + ", draw(w, 5), space == COLS ? "x" : "b");
        put_term(w, space);
    } else if (kind < 19) {
        const int run = draw_run(w);
        if (chance(w, 70)) {
            put_term(w, space);
            put(w, chance(w, 50) ? " - " : " + ");
        }
        put(w, space == COLS ? "V[" : "W[");
        put_run(w, run);
        put(w, "] g[");
        put_run(w, run);
        put(w, "]");
    } else {
        put_vector(w, space); /* a copy */
    }
}

static void assign_vector(writer *w)
{
    const int space = draw_space(w), which = draw(w, PER_SPACE);
    const char letter = space == COLS ? 'c' : 'r';
    line(w);
    if (chance(w, 12)) {
        put(w, space == COLS ? "V[" : "W[");
        put_index(w);
        put(w, "] = ");
        put_expression(w, space);
        return;
    }
    put(w, "%c%d = ", letter, which);
    if (which == PER_SPACE - 1 && chance(w, 10))
        put(w, "0"); /* declared, so that this is a vector */
    else
        put_expression(w, space);
    w->vector[space][which] = true;
    if (chance(w, 40)) {
        line(w);
        put(w, "%c%d = %c%d / (%s + |%c%d|)", letter, which, letter, which,
            chance(w, 50) ? "1" : "eps", letter, which);
    }
}

/* old = now; now = new: what three-term recurrences do. */
static void rotate(writer *w)
{
    const int space = draw_space(w);
    const char letter = space == COLS ? 'c' : 'r';
    int last = draw(w, PER_SPACE);
    for (int k = 0; k < 2 + draw(w, 2); k++) {
        const int from = draw(w, PER_SPACE);
        if (!w->vector[space][from])
            continue;
        line(w);
        put(w, "%c%d = %c%d", letter, last, letter, from);
        w->vector[space][last] = true;
        last = from;
    }
}

static void update_x(writer *w)
{
    line(w);
    switch (draw(w, 6)) {
    case 0:
        put(w, "x = ");
        put_sum(w, COLS);
        break;
    case 1:
        put(w, "x = x + ");
        put_apply(w, COLS);
        break;
    case 2: {
        const int run = draw_run(w);
        put(w, "x = x - V[");
        put_run(w, run);
        put(w, "] g[");
        put_run(w, run);
        put(w, "]");
        break;
    }
    default:
        put(w, "x = x + ");
        put_term(w, COLS);
        break;
    }
}

/* Scalars of any size go to s, h and H; small ones to q, g and n. */
static void assign_scalar(writer *w)
{
    line(w);
    switch (draw(w, 7)) {
    case 0:
        put(w, "n0 = |");
        put_vector(w, draw_space(w));
        put(w, "|");
        return;
    case 1:
    case 2: {
        const int which = draw(w, 2);
        put(w, "q%d = ", which);
        put_scalar(w);
        line(w);
        put(w, "q%d = q%d / (1 + |q%d|)", which, which, which);
        return;
    }
    case 3:
        put(w, "g[");
        put_index(w);
        put(w, "] = ");
        put_small(w);
        return;
    case 4:
        put(w, "h[");
        put_index(w);
        put(w, "] = ");
        break;
    default: {
        const int which = draw(w, SCALARS);
        put(w, "s%d = ", which);
        if (chance(w, 40)) {
            put_scalar(w);
            put(w, " / (1 + |");
            put_scalar(w);
            put(w, "|) + ");
        }
        w->scalar[which] = true;
        break;
    }
    }
    put_product(w);
    if (chance(w, 20))
        put(w, " * q0 - q1");
}

static void products_of_run(writer *w)
{
    const int run = draw_run(w), space = draw_space(w);
    line(w);
    if (chance(w, 70)) {
        put(w, "h[");
        put_run(w, run);
        put(w, "] = ");
    } else {
        put(w, "H[");
        put_run(w, run);
        put(w, ", ");
        put_index(w);
        put(w, "] = ");
    }
    const bool conjugate = chance(w, 70);
    put(w, conjugate ? "(" : "");
    put(w, space == COLS ? "V[" : "W[");
    put_run(w, run);
    put(w, conjugate ? "], " : "]^T ");
    put_vector(w, space);
    put(w, conjugate ? ")" : "");
}

/* Scalars alone: done without sweeps. */
static void scalar_loop(writer *w)
{
    static const char *const loops[] = {
        "for j = 0 .. m - 1: g[j] = h[j] / (1 + |h[j]|); end",
        "for j = m - 1 down to 0: h[j] = h[j] + 0.5 * g[j]; g[j] = g[j] * 0.5; end",
        "for j = 0 .. k: if real(h[j]) > 0: g[j] = 0.5; else: g[j] = -0.25; end; end",
        "for j = 0 .. k - 1: for l = j .. k: H[j, l] = H[j, l] * 0.5 + g[l]; end; end",
        "for j = 1 .. k: g[j] = 0.5 * g[j - 1] + 0.25 * g[j]; end",
        "if real(q0) > 0.1: q1 = q0 * 0.5; else: q1 = g[0]; end"};
    line(w);
    put(w, "%s", loops[draw(w, 6)]);
}

static void put_condition(writer *w)
{
    if (chance(w, 10)) { /* not 0 */
        put_scalar(w);
        return;
    }
    put(w, "real(");
    put_scalar(w);
    put(w, chance(w, 50) ? ") > " : ") <= ");
    put_number(w);
}

static void report(writer *w)
{
    line(w);
    put(w, w->estimates && chance(w, 60) ? "estimate " : "residual ");
    if (chance(w, 60)) {
        put(w, "|");
        put_vector(w, draw_space(w));
        put(w, "|");
    } else {
        put(w, "|");
        put_scalar(w);
        put(w, "|");
    }
}

/* An index that is outside its array where k is m - 1, behind an exit that holds then. */
static void step_over(writer *w)
{
    const bool restart = w->loop && chance(w, 50);
    line(w);
    put(w, restart ? "restart if k == m - 1" : "breakdown if k == m - 1 \"k is {k}\"");
    line(w);
    switch (draw(w, 4)) {
    case 0:
        put(w, "h[k + 2] = 0.5");
        break;
    case 1:
        put(w, "c0 = c0 - V[k + 2]");
        break;
    case 2:
        put(w, "h[0..k + 2] = (V[0..k + 2], c0)");
        break;
    default:
        put(w, "V[k + 2] = c0");
        break;
    }
}

/* Ends that hold now and then. */
static void exit_if(writer *w)
{
    line(w);
    if (w->loop && chance(w, 50)) {
        put(w, "restart if %s", chance(w, 50) ? "k == m - 1 and " : "");
        put_condition(w);
        return;
    }
    put(w, "breakdown if |q0| > 0.%d and ", 5 + draw(w, 4));
    put_condition(w);
    put(w, " \"q0 is {q0}\"");
}

static void statements(writer *w, int count);

static void block(writer *w)
{
    w->depth++;
    statements(w, 1 + draw(w, 3));
    w->depth--;
    line(w);
}

static void loop(writer *w)
{
    static const char *const ends[] = {"0 .. m - 1",  "0 .. k",     "m - 1 down to 0",
                                       "k down to 0", "0 .. k - 1", "0 .. 1 - 1"};
    line(w);
    put(w, "for i%d = %s:", w->loops + 1, ends[draw(w, 6)]);
    w->loops++;
    block(w);
    w->loops--;
    put(w, "end");
}

static void branch(writer *w)
{
    const bool data = w->data;
    line(w);
    switch (draw(w, 4)) {
    case 0:
        put(w, "if side == left:");
        break;
    case 1:
        put(w, "if k == 0:");
        break;
    default:
        put(w, "if ");
        put_condition(w);
        put(w, ":");
        w->data = true;
        break;
    }
    block(w);
    if (chance(w, 50)) {
        put(w, "else:");
        block(w);
    }
    put(w, "end");
    w->data = data;
}

static void statement(writer *w)
{
    const int kind = draw(w, 100);
    if (kind < 35)
        assign_vector(w);
    else if (kind < 52)
        assign_scalar(w);
    else if (kind < 60)
        rotate(w);
    else if (kind < 70)
        update_x(w);
    else if (kind < 75)
        products_of_run(w);
    else if (kind < 80)
        scalar_loop(w);
    else if (kind < 84 && !w->data) {
        line(w);
        put(w, "k = mod(k + 1, m)");
    } else if (kind < 89 && !w->finish)
        report(w);
    else if (kind < 91 && !w->finish)
        exit_if(w);
    else if (kind < 92 && !w->finish)
        step_over(w);
    else if (kind < 96 && w->depth < DEEPEST)
        loop(w);
    else if (w->depth < DEEPEST)
        branch(w);
}

static void statements(writer *w, int count)
{
    const size_t before = w->used;
    for (int k = 0; k < count; k++)
        statement(w);
    if (w->used == before)
        update_x(w);
}

static void head(writer *w)
{
    put(w, "method chance \"at random\"\noption m = %d 1..9 \"steps\"\n", 1 + draw(w, 4));
    put(w, "option side = %s (left right) \"side\"\n", chance(w, 50) ? "left" : "right");
    put(w, "vectors V[m + 1], W[m + 1], c3, r3\n");
    put(w, "scalars h[m + 1], g[m + 1], H[m + 1, m + 1]\n");
    put(w, "start:\n    k = 0; n0 = 1; q0 = 0.5; q1 = 0.25");
    put(w, "\n    e0 = random(8) + 0 * b; e0 = e0 ./ e0 + 0.25 random(9)");
    put(w, "\n    e1 = random(8) + 0 * x; e1 = e1 ./ e1 + 0.25 random(9)");
    put(w, "\n    r0 = b - A x\n    c0 = A^H r0");
    w->vector[ROWS][0] = w->vector[COLS][0] = true;
}

void programs_write(uint64_t seed, bool square, char text[PROGRAMS_SIZE])
{
    writer w = {.seed = seed, .text = text, .square = square};
    w.estimates = chance(&w, 30);
    head(&w);
    statements(&w, 2 + draw(&w, 8));
    put(&w, "\nloop:");
    w.loop = true;
    statements(&w, draw(&w, 8));
    report(&w);
    statements(&w, draw(&w, 10));
    w.loop = false;
    if (w.estimates || chance(&w, 20)) {
        w.finish = true;
        put(&w, "\nfinish:");
        statements(&w, 1 + draw(&w, 4));
    }
    put(&w, "\n");
}
