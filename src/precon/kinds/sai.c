/*
 * Sparse approximate inverses with a pattern that is known before.
 *
 *   sai   || A M - I ||_F is least, column by column, or || M A - I ||_F row by row (M. Benson, P.
 *         Frederickson, Iterative solution of large sparse linear systems arising in certain
 *         multidimensional approximation problems, Utilitas Math. 22 (1982), 127-140; on GPUs: M.
 *         Dehnavi, D. Fernandez, J. Gaudiot, D. Giannacopoulos, Parallel sparse approximate inverse
 *         preconditioning on graphic processing units, IEEE TPDS 24 (2013), 1852-1862)
 *   isai  A M is I where M has entries (H. Anzt, T. Huckle, J. Braeckle, J. Dongarra, Incomplete
 *         sparse approximate inverses for parallel preconditioning, Parallel Comput. 71 (2018),
 *         1-22)
 *
 * Each column is a dense problem of its own: see problems.h. Products with M are those with a
 * sparse matrix.
 */
#include "precon/inverse/local_ranks.h"

#define SAI_SIDE(item)                            \
    item(WORD, side, "right", 0, 0, "right left", \
         "right: A M is near I, columns of M; left: M A is, rows of M, without transposes")
enum { SIDE_RIGHT, SIDE_LEFT };
typedef struct sai_options {
    PRECON_COMMON(SPRY_OPTION_FIELD)
    LOCAL_PATTERN(SPRY_OPTION_FIELD)
    SAI_SIDE(SPRY_OPTION_FIELD)
} sai_options;
SPRY_OPTION_TABLE(table, sai_options,
                  PRECON_COMMON(SPRY_OPTION_ROW) LOCAL_PATTERN(SPRY_OPTION_ROW)
                      SAI_SIDE(SPRY_OPTION_ROW))

static local_pattern pattern_of(const sai_options *options)
{
    return (local_pattern){.tau = options->tau,
                           .power = options->power,
                           .most = options->most,
                           .transposed = options->side == SIDE_RIGHT};
}

static spry_status make(const precon_job *job, const char *name, local_kind kind, spry_operator **M)
{
    const local_pattern how = pattern_of(job->options);
    return job->A->distributed ? local_inverse_ranks(job, name, kind, &how, M)
                               : local_inverse_from(job, name, kind, &how, M);
}

static spry_status make_on_device(const precon_job *job, const struct device_matrix *A,
                                  const char *name, local_kind kind, bool *made, spry_operator **M)
{
    const local_pattern how = pattern_of(job->options);
    return local_inverse_on_device(job, A, name, kind, &how, made, M);
}

static spry_status make_sai(const precon_job *job, spry_operator **M)
{
    return make(job, "sai", LOCAL_LEAST_SQUARES, M);
}

static spry_status make_isai(const precon_job *job, spry_operator **M)
{
    return make(job, "isai", LOCAL_SQUARE, M);
}

static spry_status make_sai_on_device(const precon_job *job, const struct device_matrix *A,
                                      bool *made, spry_operator **M)
{
    return make_on_device(job, A, "sai", LOCAL_LEAST_SQUARES, made, M);
}

static spry_status make_isai_on_device(const precon_job *job, const struct device_matrix *A,
                                       bool *made, spry_operator **M)
{
    return make_on_device(job, A, "isai", LOCAL_SQUARE, made, M);
}

const precon_kind precon_kind_sai = {
    .name = "sai",
    .summary = "a sparse approximate inverse by least squares, with a pattern from A",
    .options = SPRY_OPTION_LIST(table),
    .make = make_sai,
    .make_ranks = make_sai,
    .make_on_device = make_sai_on_device,
    .on_devices = true,
    .ranks_on_devices = true,
    .half = true,
    .cost = {
        .kept = 1, .work = 1, .products = 200, .vectors = 1, .made_on_device = true, .share = 0.5}};
const precon_kind precon_kind_isai = {
    .name = "isai",
    .summary = "a sparse matrix whose product with A is I where it has entries",
    .options = SPRY_OPTION_LIST(table),
    .make = make_isai,
    .make_ranks = make_isai,
    .make_on_device = make_isai_on_device,
    .on_devices = true,
    .ranks_on_devices = true,
    .half = true,
    .cost = {
        .kept = 1, .work = 1, .products = 60, .vectors = 1, .made_on_device = true, .share = 0.5}};
