/*
 * Nested dissection and parts by METIS, which is used where the build found it:
 * G. Karypis, V. Kumar, A fast and high quality multilevel scheme for partitioning irregular
 * graphs, SIAM J. Sci. Comput. 20 (1998), 359-392
 */
#include "algebra/graph.h"

#ifdef SPRY_HAVE_METIS
#include <metis.h>
#include <pthread.h>
#include <signal.h>
#endif

#ifdef SPRY_HAVE_METIS
/* Offsets of 32 bits, which is what METIS counts in as Debian builds it. */
static spry_status narrow(spry_context *ctx, const graph *g, const char *who, int32_t **offsets)
{
    if (g->offsets[g->n] > INT32_MAX)
        return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                         "order %s: the matrix has %" PRId64
                         " entries beside the diagonal with those of its transpose; %d is the most",
                         who, g->offsets[g->n], INT32_MAX);
    const spry_status status = base_alloc(ctx, (int64_t)g->n + 1, sizeof **offsets, offsets);
    for (int64_t i = 0; status == SPRY_STATUS_OK && i <= g->n; i++)
        (*offsets)[i] = (int32_t)g->offsets[i];
    return status;
}
#endif

/* Pieces of the order rcm, one after the other. */
static spry_status partition_band(spry_context *ctx, const graph *g, int32_t parts, int32_t *part)
{
    int32_t *perm = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, g->n, sizeof *perm, &perm));
    SPRY_GO(ctx, graph_rcm(ctx, g, perm));
    for (int64_t i = 0; i < g->n; i++)
        part[perm[i]] = (int32_t)(i * parts / g->n);
done:
    base_free(ctx, perm);
    return status;
}

#ifndef SPRY_HAVE_METIS
spry_status graph_partition(spry_context *ctx, const graph *g, int32_t parts, int32_t *part)
{
    return partition_band(ctx, g, parts, part);
}

spry_status graph_nd(spry_context *ctx, const graph *g, int32_t *perm)
{
    (void)g;
    (void)perm;
    return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                     "order nd: spry was built without METIS (libmetis-dev); rcm is always there");
}
#elif IDXTYPEWIDTH != 32
#error "METIS with 64-bit indices: give -DSPRY_METIS=OFF"
#else
/* METIS takes SIGTERM and SIGABRT for itself while it works, and loses them: they wait, and the
 * caller's handlers are put back as they were. */
typedef struct held_signals {
    sigset_t mask;
    struct sigaction terminate, stop;
} held_signals;

static held_signals hold_signals(void)
{
    held_signals held;
    sigset_t both;
    sigemptyset(&both);
    sigaddset(&both, SIGTERM);
    sigaddset(&both, SIGABRT);
    pthread_sigmask(SIG_BLOCK, &both, &held.mask);
    sigaction(SIGTERM, NULL, &held.terminate);
    sigaction(SIGABRT, NULL, &held.stop);
    return held;
}

static void let_signals(const held_signals *held)
{
    sigaction(SIGTERM, &held->terminate, NULL);
    sigaction(SIGABRT, &held->stop, NULL);
    pthread_sigmask(SIG_SETMASK, &held->mask, NULL);
}

spry_status graph_nd(spry_context *ctx, const graph *g, int32_t *perm)
{
    int32_t *offsets = NULL, *inverse = NULL;
    idx_t n = g->n, options[METIS_NOPTIONS];
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, narrow(ctx, g, "nd", &offsets));
    SPRY_GO(ctx, base_alloc(ctx, g->n, sizeof *inverse, &inverse));
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = 1;
    const held_signals held = hold_signals();
    const int result = METIS_NodeND(&n, offsets, g->neighbours, NULL, options, perm, inverse);
    let_signals(&held);
    if (result == METIS_ERROR_MEMORY)
        status = SPRY_FAIL(ctx, SPRY_STATUS_NO_MEMORY, "order nd: METIS found no memory");
    else if (result != METIS_OK)
        status = SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED, "order nd: METIS ended with %d", result);
done:
    base_free(ctx, inverse);
    base_free(ctx, offsets);
    return status;
}

spry_status graph_partition(spry_context *ctx, const graph *g, int32_t parts, int32_t *part)
{
    int32_t *offsets = NULL;
    idx_t n = g->n, constraints = 1, count = parts, cut = 0, options[METIS_NOPTIONS];
    spry_status status = SPRY_STATUS_OK;
    if (parts == 1 || g->offsets[g->n] == 0) /* METIS wants parts, and edges */
        return partition_band(ctx, g, parts, part);
    SPRY_GO(ctx, narrow(ctx, g, "nd", &offsets));
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = 1;
    const held_signals held = hold_signals();
    const int result = METIS_PartGraphKway(&n, &constraints, offsets, g->neighbours, NULL, NULL,
                                           NULL, &count, NULL, NULL, options, &cut, part);
    let_signals(&held);
    if (result == METIS_ERROR_MEMORY)
        status = SPRY_FAIL(ctx, SPRY_STATUS_NO_MEMORY, "parts of a matrix: METIS found no memory");
    else if (result != METIS_OK)
        status = partition_band(ctx, g, parts, part);
done:
    base_free(ctx, offsets);
    return status;
}
#endif
