/* Expressions of numbers and names, and their derivatives: of netlists, and of fields on a grid. */
#ifndef SPRY_APP_EXPRESSION_H
#define SPRY_APP_EXPRESSION_H

#include "common/app.h"

/* 4.7k, 10meg, 3.3pF: false where it is no number. */
bool text_number(const char *word, double *value);

enum { EXPRESSION_UNKNOWNS = 16 };

/* What names in an expression are. value: a number; reference: unknowns a - b of v(a,b) or i(a),
 * false where there is none; variable: the number of an unknown, from 1 on, or 0. Any of them may
 * be NULL. */
typedef struct expression_names {
    void *data;
    bool (*value)(void *data, const char *name, double *value);
    bool (*reference)(void *data, char kind, const char *a, const char *b, int unknowns[2]);
    int (*variable)(void *data, const char *name);
} expression_names;

typedef struct expression expression;

/* NULL, and what is wrong, where the text is none. */
expression *expression_new(const char *text, const expression_names *names, char message[256]);
void expression_free(expression *e);
/* Whether it refers to time; the unknowns that it refers to. */
int expression_unknowns(const expression *e, const int **unknowns);
/* Its value at x, and its derivatives by its unknowns (NULL: not wanted). */
double expression_value(const expression *e, const double *x, double t, double *slopes);

#endif
