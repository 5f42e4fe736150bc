/* Names of unknowns and elements: a table with open addressing. */
#include "circuit/circuit.h"

#include <stdlib.h>
#include <string.h>

typedef struct entry {
    char *name;
    int number;
} entry;

struct names {
    entry *table;
    size_t count, room; /* room is a power of two */
};

struct names *names_new(void)
{
    struct names *n = cli_alloc(sizeof *n);
    *n = (struct names){.room = 64};
    n->table = cli_alloc(n->room * sizeof *n->table);
    return n;
}

void names_free(struct names *n)
{
    for (size_t k = 0; n && k < n->room; k++)
        free(n->table[k].name);
    if (n)
        free(n->table);
    free(n);
}

static entry *place_of(const struct names *n, const char *name)
{
    uint64_t sum = 14695981039346656037u; /* FNV-1a */
    for (const char *p = name; *p; p++)
        sum = (sum ^ (unsigned char)*p) * 1099511628211u;
    size_t k = (size_t)(sum ^ sum >> 32) & (n->room - 1);
    while (n->table[k].name && strcmp(n->table[k].name, name) != 0)
        k = (k + 1) & (n->room - 1);
    return &n->table[k];
}

int names_find(const struct names *n, const char *name)
{
    const entry *e = place_of(n, name);
    return e->name ? e->number : -1;
}

static void enlarge(struct names *n)
{
    const struct names old = *n;
    n->room = 2 * old.room;
    n->table = cli_alloc(n->room * sizeof *n->table);
    for (size_t k = 0; k < old.room; k++)
        if (old.table[k].name)
            *place_of(n, old.table[k].name) = old.table[k];
    free(old.table);
}

const char *names_put(struct names *n, const char *name, int number)
{
    const size_t length = strlen(name) + 1;
    if (2 * n->count >= n->room)
        enlarge(n);
    entry *e = place_of(n, name);
    if (!e->name) {
        e->name = memcpy(cli_alloc(length), name, length);
        n->count++;
    }
    e->number = number;
    return e->name;
}
