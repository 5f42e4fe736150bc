/* Smoothed aggregation: its options, and what its set-up on the host, on devices and across ranks
 * share. */
#ifndef SPRY_AMG_SMOOTHED_H
#define SPRY_AMG_SMOOTHED_H

#include "precon/amg/amg.h"

#define AMG_SMOOTHED(item)                                                                         \
    item(REAL, theta, "-1", -1, 1, NULL,                                                           \
         "neighbours are strong when |a_ij|^2 > theta^2 |a_ii a_jj|; halved from level to level; " \
         "-1: 0.08, less where rows have many neighbours; 0.02 where nodes have several unknowns") \
    item(INT, block, "0", 0, 16, NULL, "unknowns of a node; 0: as the pattern looks")              \
    item(REAL, smoothing, "1.33333", 0, 2, NULL,                                                   \
         "of the prolongation, over the largest eigenvalue; 0: none, also where it is unstable")   \
    item(                                                                                          \
        INT, rank_rows, "1000", 1, 2147483647, NULL,                                               \
        "across ranks: rows of a coarse level that a rank is to have; a level with fewer goes to " \
        "fewer ranks")

typedef struct smoothed_options {
    PRECON_COMMON(SPRY_OPTION_FIELD)
    AMG_COMMON(SPRY_OPTION_FIELD)
    AMG_SMOOTHED(SPRY_OPTION_FIELD)
} smoothed_options;
/* What P of smoothed aggregation is made of: rows with columns of others behind the own, which
 * aggregates all these belong to, and the tentative P of all. */
typedef struct amg_prolong_from {
    const matrix_arrays *a;
    int64_t rows;
    const int32_t *map;
    int64_t coarse;
    const void *tentative;
    double largest;   /* as amg_graph's */
    double smoothing; /* as the option */
} amg_prolong_from;
/* smoothed_ranks.c */
spry_status amg_smoothed_begin_ranks(amg *h, const precon_job *job);
spry_status amg_smoothed_coarsen_ranks(amg *h, const precon_job *job, int l, ranks_rows *P,
                                       int64_t **first);
/* prolong.c */
spry_status amg_make_tentative(amg *h, const amg_level *level, void **tentative);
spry_status amg_make_prolongation(const amg *h, const amg_level *level, const amg_graph *g,
                                  const amg_prolong_from *from, spry_matrix **P);
/* The first level's nodes and near-null vectors, which go to h->near. */
spry_status amg_smoothed_begin(amg *h, const precon_job *job, amg_level *level);
/* The near-null vectors alone, for nodes of `block` unknowns. */
spry_status amg_first_vectors(amg *h, const precon_job *job, int block);
/* theta of the first level, whose nodes have `block` unknowns. */
double amg_smoothed_theta(const amg *h, const spry_matrix *A, int block);
/* smoothed_device.c: the kind's on a device. */
spry_status amg_smoothed_begin_on_device(amg_on_device *w);
spry_status amg_smoothed_coarsen_on_device(amg_on_device *w, int l, device_matrix *P,
                                           int64_t *vanished);

#endif
