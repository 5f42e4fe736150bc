/* What lines of a netlist are made of: words, numbers, parameters, nodes, models. */
#include "circuit/netlist.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_UNKNOWNS = 200000000 };

void reader_need(reader *r, const char *what, char word[WORD_SIZE])
{
    if (!text_word_next(&r->at, false, word) || strcmp(word, "=") == 0)
        reader_fault(r, "%s is missing", what);
}

/* Parentheses count as blanks, but have to be in pairs. */
void reader_paired(reader *r)
{
    int depth = 0;
    for (const char *p = r->t->lines[r->line].text; *p && depth >= 0; p++)
        depth += (*p == '(') - (*p == ')');
    if (depth != 0)
        reader_fault(r, "a %c is missing", depth > 0 ? ')' : '(');
}

/* --- parameters ------------------------------------------------------------------------------- */

bool reader_parameter(void *data, const char *name, double *value)
{
    for (const scope *s = data; s; s = s->parent)
        for (int64_t k = s->count; k-- > 0;)
            if (strcmp(s->parameters[k].name, name) == 0) {
                *value = s->parameters[k].value;
                return !s->parameters[k].text;
            }
    return false;
}

bool reader_evaluate(const expression_names *names, const char *from, double *value,
                     char message[256])
{
    char inner[WORD_SIZE];
    const size_t length = strlen(from);
    const bool enclosed = strchr("{'\"", *from);
    if (enclosed && (length < 2 || from[length - 1] != (*from == '{' ? '}' : *from))) {
        snprintf(message, 256, "%.100s has no end", from);
        return false;
    }
    snprintf(inner, sizeof inner, "%.*s", (int)(length - 2 * enclosed), from + enclosed);
    expression *e = expression_new(inner, names, message);
    if (!e)
        return false;
    *value = expression_value(e, NULL, 0, NULL);
    expression_free(e);
    if (!isfinite(*value))
        snprintf(message, 256, "%.100s is %g", from, *value);
    return isfinite(*value);
}

double reader_number(reader *r, const scope *s, const char *word)
{
    const expression_names names = {(void *)(uintptr_t)s, reader_parameter, NULL, NULL};
    char message[256];
    double value;
    if (*word != '{' && *word != '\'') {
        if (!text_number(word, &value))
            reader_fault(r, "%.100s is no number", word);
    } else if (!reader_evaluate(&names, word, &value, message)) {
        reader_fault(r, "%s", message);
    }
    return value;
}

double reader_need_number(reader *r, const scope *s, const char *what)
{
    char word[WORD_SIZE];
    reader_need(r, what, word);
    return reader_number(r, s, word);
}

bool reader_name(reader *r, char name[WORD_SIZE])
{
    char word[WORD_SIZE];
    if (!text_word_next(&r->at, false, name))
        return false;
    if (!text_word_next(&r->at, false, word) || strcmp(word, "=") != 0)
        reader_fault(r, "%.100s is not understood here: expected NAME=VALUE", name);
    return true;
}

bool reader_pair(reader *r, const scope *s, char name[WORD_SIZE], double *value)
{
    if (!reader_name(r, name))
        return false;
    *value = reader_need_number(r, s, name);
    return true;
}

/* --- names ------------------------------------------------------------------------------------ */

int reader_unknown(reader *r, const char *name, bool current)
{
    circuit *c = r->c;
    char key[2 * WORD_SIZE];
    if (c->size >= MOST_UNKNOWNS)
        reader_fault(r, "there are more than %d unknowns", MOST_UNKNOWNS);
    c->unknowns = grow(c->unknowns, c->size, &c->unknown_room, sizeof *c->unknowns);
    r->branch_lines = grow(r->branch_lines, c->size, &r->branch_room, sizeof *r->branch_lines);
    r->branch_lines[c->size] = (int)r->line;
    snprintf(key, sizeof key, "%s%s", current ? "#" : "", name);
    const char *const kept = names_put(c->unknown_names, key, (int)c->size);
    c->unknowns[c->size] = (unknown_name){kept + current, current};
    return (int)c->size++;
}

bool reader_is_ground(const char *name)
{
    return strcmp(name, "0") == 0 || strcmp(name, "gnd") == 0;
}

int reader_node(reader *r, const scope *s, const char *name)
{
    char full[2 * WORD_SIZE];
    if (reader_is_ground(name))
        return 0;
    for (int64_t k = 0; k < s->port_count; k++)
        if (strcmp(s->ports[k], name) == 0)
            return s->port_unknowns[k];
    if (strlen(name) > MOST_NAME)
        reader_fault(r, "%.40s... is longer than %d characters", name, MOST_NAME);
    if (strpbrk(name, "=#{}'\""))
        reader_fault(r, "%.100s is no name of a node", name);
    snprintf(full, sizeof full, "%s%s", s->prefix, name);
    const int found = names_find(r->c->unknown_names, full);
    return found >= 0 ? found : reader_unknown(r, full, false);
}

int reader_branch(reader *r, const scope *s, const char *name, bool owned)
{
    char full[2 * WORD_SIZE];
    snprintf(full, sizeof full, "#%s%.200s", s->prefix, name);
    int found = names_find(r->c->unknown_names, full);
    if (found < 0)
        found = reader_unknown(r, full + 1, true);
    if (owned)
        r->branch_lines[found] = -1;
    return found;
}

int circuit_unknown(const circuit *c, const char *name, bool *found)
{
    const int k = reader_is_ground(name) ? 0 : names_find(c->unknown_names, name);
    *found = k >= 0;
    return k;
}

bool circuit_reference(void *data, char kind, const char *a, const char *b, int unknowns[2])
{
    const circuit *c = data;
    char name[2 * WORD_SIZE];
    bool found;
    snprintf(name, sizeof name, "%s%s", kind == 'i' ? "#" : "", a);
    unknowns[0] = circuit_unknown(c, name, &found);
    if (found && *b)
        unknowns[1] = circuit_unknown(c, b, &found);
    return found && (kind == 'v' || !*b);
}
