/*
 * Solving with P A P^T in the place of A, where rows are in an order that does not suit the
 * caches. All that the solver makes, runs and measures is of that matrix; the caller's vectors are
 * put into its order where they come in, and back where they go out.
 */
#ifndef SPRY_REORDER_INTERNAL_H
#define SPRY_REORDER_INTERNAL_H

#include "operator/operator.h"

typedef struct solver_order {
    int32_t *from, *to;  /* row from[i] of A is row i in order, row i of A is row to[i] in order */
    spry_matrix *matrix; /* P A P^T; NULL: all stays as it is */
    const char *name;    /* "rcm", "hubs" */
} solver_order;

/* What a decision depends on, besides the matrix. All but the first two are seconds. */
typedef struct order_forecast {
    double cache;    /* bytes of x that are near */
    double products; /* that wait for x as those with A do */
    /* that a product waits for a line of x that is not near: of grids, of hubs */
    double line, hub_line;
    /* to find the order of rows without one, and to count the entries of columns, per entry */
    double search, count;
    /* to bring the matrix into it: per entry, with rows of all lengths, and per row */
    double entry, hub_entry, row;
    double level;        /* to search by one level of rows more; 0: they cost nothing */
    spry_device *device; /* where the order is found; NULL: on the host */
} order_forecast;
/* On the host, where `cores` cores share products, and the order is one thread's work; and on a
 * device. */
order_forecast order_on_host(double cache, double products, double workers);
order_forecast order_on_device(double cache, double products);

/* Finds the order that pays, for general CSR, or the one that is asked for (NULL: none is), but not
 * the matrix in it; all stays NULL where there is none. Rows stay together in blocks of `block`. */
spry_status order_find(const spry_matrix *csr, const order_forecast *f, const char *asked,
                       int block, solver_order *order);

/* P A P^T of general CSR, made on a device (NULL: on the host). */
spry_status order_apply(const solver_order *order, spry_device *d, const spry_matrix *csr,
                        spry_matrix **B);
void order_free(spry_context *ctx, solver_order *order);

/* A vector of the caller's in the solver's order, and back; where they are does not matter. With
 * NULL, or where there is no order, it is a copy. */
spry_status order_put(const solver_order *order, const spry_vector *v, spry_vector *inside);
spry_status order_get(const solver_order *order, const spry_vector *inside, spry_vector *v);
/* Rows that a text names, as "row 5 (from 0)", become those of the caller's matrix. */
void order_name_rows(const solver_order *order, char *text, size_t size);

#endif
