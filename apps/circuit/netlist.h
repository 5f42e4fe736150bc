/* What the parts of the reader share: reader.c has words and names, netlist.c scopes and lines with
 * a dot, elements.c elements, couplings.c what K couples. */
#ifndef SPRY_CIRCUIT_NETLIST_H
#define SPRY_CIRCUIT_NETLIST_H

#include "circuit/circuit.h"

enum { NETLIST_PORTS = 1000, NETLIST_NAME = 64 };

/* A parameter, or one whose expression waits for others (text is not NULL). */
typedef struct parameter {
    char name[NETLIST_NAME];
    double value;
    char *text;
    int64_t line;
} parameter;

typedef struct definition {
    char name[NETLIST_NAME];
    int64_t first, last; /* lines between .subckt and .ends */
} definition;

/* A circuit, or an instance of a subcircuit, that is being read. */
typedef struct scope {
    const struct scope *parent;
    char prefix[WORD_SIZE]; /* "x1.x2." */
    char (*ports)[NETLIST_NAME];
    int *port_unknowns;
    int64_t port_count, port_room;
    parameter *parameters;
    int64_t count, room;
    int depth;
} scope;

/* K between two inductors, by names; then by numbers among those that are coupled. */
typedef struct coupling {
    int element;
    char names[2][2 * WORD_SIZE];
    int number[2];
    double k;
} coupling;

typedef struct reader {
    circuit *c;
    netlist_text *t;
    int64_t line; /* that is being read */
    const char *at;
    definition *definitions;
    int64_t definition_count, definition_room;
    coupling *couplings;
    int64_t coupling_count, coupling_room;
    struct names *model_names;
    int *branch_lines; /* of each unknown: where it was first spoken of; -1: it is an element's */
    int64_t branch_room;
} reader;

#define reader_fault(r, ...) text_fault((r)->t, &(r)->t->lines[(r)->line], __VA_ARGS__)

/* The next word; a fault where the line ends. */
void reader_need(reader *r, const char *what, char word[WORD_SIZE]);
/* A fault unless the line has as many ( as ). */
void reader_paired(reader *r);
/* A number, or an expression in braces or quotes. */
double reader_number(reader *r, const scope *s, const char *word);
double reader_need_number(reader *r, const scope *s, const char *what);
/* The value of a parameter in a scope, as expressions ask for it. */
bool reader_parameter(void *scope, const char *name, double *value);
/* An expression, with or without braces or quotes; false, and why, where it has no value. */
bool reader_evaluate(const expression_names *names, const char *from, double *value,
                     char message[256]);
/* NAME =, and with its VALUE; false at the end of the line. */
bool reader_name(reader *r, char name[WORD_SIZE]);
bool reader_pair(reader *r, const scope *s, char name[WORD_SIZE], double *value);
/* The number of an unknown that is new; whether a node is ground. */
int reader_unknown(reader *r, const char *name, bool current);
bool reader_is_ground(const char *name);
int reader_node(reader *r, const scope *s, const char *name);
int reader_branch(reader *r, const scope *s, const char *name, bool owned);

/* elements.c: a line that begins with a letter other than x. */
void reader_element(reader *r, const scope *s);
/* couplings.c: inductors of K, which can have them all; once all are read. */
void reader_couplings(reader *r);
/* Once all are read: inductors of K, pulses without times. */
void reader_finish(reader *r);

#endif
