/* Expressions as notation again, with the fewest parentheses. */
#include "program/program.h"

/* How tightly things bind; what binds less than its place asks for goes in parentheses. */
enum {
    LEVEL_OR,
    LEVEL_AND,
    LEVEL_NOT,
    LEVEL_COMPARE,
    LEVEL_SUM,
    LEVEL_PRODUCT,
    LEVEL_FACTOR,
    LEVEL_PRIMARY
};

typedef struct printer {
    const program *p;
    char *text;
    size_t used, size;
} printer;

static const struct {
    const char *text;
    int arguments;
} words[] =
    {
#define WORD_LINE(name, text, arguments) {text, arguments},
        PROGRAM_WORDS(WORD_LINE)},
  small[] = {
#define SMALL_LINE(name, text, arguments, shapes) {text, arguments},
      PROGRAM_SMALL(SMALL_LINE)};
#undef WORD_LINE
#undef SMALL_LINE

static void put(printer *out, const char *text)
{
    for (; *text && out->used + 1 < out->size; text++)
        out->text[out->used++] = *text;
}

static void put_expr(printer *out, int e, int level);

static int level_of(const expr *e)
{
    switch (e->kind) {
    case EXPR_NUMBER:
        return e->value < 0 ? LEVEL_SUM : LEVEL_PRIMARY;
    case EXPR_APPLY:
    case EXPR_COMBINE:
        return LEVEL_FACTOR;
    case EXPR_DOT:
        return e->conjugate ? LEVEL_PRIMARY : LEVEL_FACTOR;
    case EXPR_CALL:
        break;
    default:
        return LEVEL_PRIMARY;
    }
    switch (e->word) {
    case WORD_OR:
        return LEVEL_OR;
    case WORD_AND:
        return LEVEL_AND;
    case WORD_NOT:
        return LEVEL_NOT;
    case WORD_ADD:
    case WORD_SUBTRACT:
    case WORD_NEGATE:
        return LEVEL_SUM;
    case WORD_MULTIPLY:
    case WORD_DIVIDE:
    case WORD_TIMES:
    case WORD_OVER:
        return LEVEL_PRODUCT;
    case WORD_POWER:
        return LEVEL_FACTOR;
    default:
        return e->word < WORD_AND ? LEVEL_COMPARE : LEVEL_PRIMARY;
    }
}

/* Whether a blank before the expression cannot mean a product: it begins with a digit or a bar. */
static bool needs_sign(const program *p, int e)
{
    const expr *x = &p->exprs[e];
    while (x->kind == EXPR_CALL && x->word == WORD_POWER &&
           level_of(&p->exprs[x->arg[0]]) == LEVEL_PRIMARY)
        x = &p->exprs[x->arg[0]];
    return (x->kind == EXPR_NUMBER && x->value >= 0) || x->kind == EXPR_NORM ||
           (x->kind == EXPR_CALL && x->word == WORD_ABS);
}

/* The number in side == left as the word it is; false where it is none. */
static bool put_option_word(printer *out, const expr *e)
{
    const expr *left = &out->p->exprs[e->arg[0]], *right = &out->p->exprs[e->arg[1]];
    if ((e->word != WORD_EQUAL && e->word != WORD_UNEQUAL) || left->kind != EXPR_NAME ||
        right->kind != EXPR_NUMBER)
        return false;
    const char *word = out->p->names[left->name].words;
    for (int i = 0; i < right->value && *word; i++)
        word += strcspn(word, " "), word += *word == ' ';
    char text[128];
    snprintf(text, sizeof text, "%.*s", (int)strcspn(word, " "), word);
    put(out, text);
    return text[0] != '\0';
}

static void put_list(printer *out, const expr *e, int count)
{
    for (int i = 0; i < count; i++) {
        put(out, i > 0 ? ", " : "");
        put_expr(out, e->arg[i], LEVEL_OR);
    }
}

/* Two arguments with a sign between; a minus after the sign needs no parentheses. */
static void put_binary(printer *out, const expr *e)
{
    const expr *right = &out->p->exprs[e->arg[1]];
    const int level = level_of(e);
    const bool power = e->word == WORD_POWER;
    const bool minus =
        level >= LEVEL_PRODUCT && right->kind == EXPR_CALL && right->word == WORD_NEGATE;
    put_expr(out, e->arg[0], power || level == LEVEL_COMPARE ? level + 1 : level);
    put(out, power ? "" : " ");
    if (e->word != WORD_MULTIPLY || minus || needs_sign(out->p, e->arg[1])) {
        put(out, words[e->word].text);
        put(out, power ? "" : " ");
    }
    if (minus) {
        put(out, "-");
        put_expr(out, right->arg[0], LEVEL_FACTOR);
    } else if (!put_option_word(out, e)) {
        put_expr(out, e->arg[1], power ? level : level + 1);
    }
}

static void put_call(printer *out, const expr *e)
{
    const char *text = words[e->word].text;
    const int count = words[e->word].arguments;
    if (e->word == WORD_ABS) {
        put(out, "|");
        put_list(out, e, 1);
        put(out, "|");
    } else if (level_of(e) == LEVEL_PRIMARY) {
        put(out, text);
        put(out, count > 0 ? "(" : "");
        put_list(out, e, count);
        put(out, count > 0 ? ")" : "");
    } else if (count == 1) {
        put(out, e->word == WORD_NOT ? "not " : "-");
        put_expr(out, e->arg[0], e->word == WORD_NOT ? LEVEL_NOT : LEVEL_PRODUCT);
    } else {
        put_binary(out, e);
    }
}

/* name, name[i, j], name[a..b, j], [name], [name[i]] */
static void put_name(printer *out, const expr *e)
{
    put(out, e->all ? "[" : "");
    put(out, out->p->names[e->name].text);
    if (e->shape == SHAPE_MATRIX)
        return;
    for (int i = 0; i < 3 && e->arg[i] != NONE; i++) {
        put(out, i == 0 ? "[" : i == 1 && e->kind == EXPR_SLICE ? ".." : ", ");
        put_expr(out, e->arg[i], LEVEL_OR);
    }
    put(out, e->arg[0] != NONE ? "]" : "");
    put(out, e->all ? "]" : "");
}

static void put_apply(printer *out, const expr *e)
{
    static const char *const operators[] = {"A", "M", "L", "R"};
    static const char *const transposes[] = {" ", "^T ", "^H "};
    put(out, operators[e->op]);
    put(out, transposes[e->transpose]);
    put_expr(out, e->arg[0], LEVEL_FACTOR);
}

static void put_dot(printer *out, const expr *e)
{
    if (e->conjugate) {
        put(out, "(");
        put_list(out, e, 2);
        put(out, ")");
    } else {
        put_expr(out, e->arg[0], LEVEL_PRIMARY);
        put(out, "^T ");
        put_expr(out, e->arg[1], LEVEL_FACTOR);
    }
}

static void put_inner(printer *out, const expr *e)
{
    char text[32];
    switch (e->kind) {
    case EXPR_NUMBER:
        snprintf(text, sizeof text, "%g", e->value);
        put(out, text);
        break;
    case EXPR_NAME:
    case EXPR_SLICE:
        put_name(out, e);
        break;
    case EXPR_CALL:
        put_call(out, e);
        break;
    case EXPR_APPLY:
        put_apply(out, e);
        break;
    case EXPR_DOT:
        put_dot(out, e);
        break;
    case EXPR_NORM:
        put(out, "|");
        put_list(out, e, 1);
        put(out, "|");
        break;
    case EXPR_COMBINE:
        put_expr(out, e->arg[0], LEVEL_PRIMARY);
        put(out, " ");
        put_expr(out, e->arg[1], LEVEL_PRIMARY);
        break;
    case EXPR_SMALL:
        put(out, small[e->small].text);
        put(out, "(");
        put_list(out, e, small[e->small].arguments);
        put(out, ")");
        break;
    case EXPR_RANDOM:
        put(out, "random(");
        put_list(out, e, 1);
        put(out, ")");
        break;
    case EXPR_POWERS:
        put(out, "powers(");
        put_list(out, e, e->arg[2] == NONE ? 2 : 3);
        put(out, ")");
        break;
    case EXPR_SHARE:
        put(out, "share(");
        put_list(out, e, 2);
        put(out, ")");
        break;
    }
}

static void put_expr(printer *out, int e, int level)
{
    const expr *x = &out->p->exprs[e];
    const bool parentheses = level_of(x) < level;
    put(out, parentheses ? "(" : "");
    put_inner(out, x);
    put(out, parentheses ? ")" : "");
}

void program_print_expr(const program *p, int e, char *text, size_t size)
{
    printer out = {.p = p, .text = text, .size = size};
    if (size == 0)
        return;
    if (e != NONE)
        put_expr(&out, e, LEVEL_OR);
    text[out.used] = '\0';
}
