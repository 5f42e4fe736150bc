/*
 * Nested dissection and parts by METIS, which is used where the build found it:
 * G. Karypis, V. Kumar, A fast and high quality multilevel scheme for partitioning irregular
 * graphs, SIAM J. Sci. Comput. 20 (1998), 359-392
 */
#include "matrix/algebra/graph.h"

#ifdef SPRY_HAVE_METIS
#include <metis.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#endif

#ifdef SPRY_HAVE_METIS
/* Offsets of 32 bits, which is what METIS counts in as Debian builds it. */
static spry_status narrow(spry_context *ctx, const graph *g, const char *who, int32_t **offsets)
{
    if (g->offsets[g->n] > INT32_MAX)
        return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                         "order %s: the matrix has %" PRId64
                         " entries off the diagonal with those of its transpose; %d is the most",
                         who, g->offsets[g->n], INT32_MAX);
    const spry_status status = base_alloc(ctx, (int64_t)g->n + 1, sizeof **offsets, offsets);
    for (int64_t i = 0; status == SPRY_STATUS_OK && i <= g->n; i++)
        (*offsets)[i] = (int32_t)g->offsets[i];
    return status;
}
#endif

/* Pieces of the ordering rcm, one after the other. */
static spry_status partition_band(spry_context *ctx, const graph *g, const int64_t *weight,
                                  int32_t parts, const double *share, int32_t *part)
{
    int32_t *perm = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, g->n, sizeof *perm, &perm));
    SPRY_GO(ctx, graph_rcm(ctx, g, perm));
    double all = 0, before = 0;
    for (int64_t i = 0; i < g->n; i++)
        all += weight ? (double)weight[i] : 1;
    int32_t k = 0;
    double limit = all * (share ? share[0] : 1.0 / parts);
    for (int64_t i = 0; i < g->n; i++) {
        const double own = weight ? (double)weight[perm[i]] : 1;
        /* A row belongs where its middle lies. */
        while (k + 1 < parts && before + own / 2 > limit)
            limit += all * (share ? share[++k] : (++k, 1.0 / parts));
        part[perm[i]] = k;
        before += own;
    }
done:
    base_free(ctx, perm);
    return status;
}

spry_status graph_partition(spry_context *ctx, const graph *g, int32_t parts, int32_t *part)
{
    return graph_partition_weighted(ctx, g, NULL, parts, NULL, part);
}

#ifndef SPRY_HAVE_METIS
spry_status graph_partition_weighted(spry_context *ctx, const graph *g, const int64_t *weight,
                                     int32_t parts, const double *share, int32_t *part)
{
    return partition_band(ctx, g, weight, parts, share, part);
}

spry_status graph_nd(spry_context *ctx, const graph *g, int32_t *perm)
{
    (void)g;
    (void)perm;
    return SPRY_FAIL(
        ctx, SPRY_STATUS_UNSUPPORTED,
        "order nd: spry was built without METIS (libmetis-dev); rcm is always available");
}
#elif IDXTYPEWIDTH != 32
#error "METIS with 64-bit indices: give -DSPRY_METIS=OFF"
#else
/*
 * METIS takes SIGTERM and SIGABRT for itself while it works: it loses those that come to the thread
 * it works in, and jumps to nowhere in any other. So they wait in this thread, and a thread of ours
 * puts the caller's handlers back as soon as METIS has taken their place; from then on it listens,
 * for programs that have no other. That is the whole process's business: one call at a time.
 */
enum { TAKEN = 2 };
static const int taken[TAKEN] = {SIGTERM, SIGABRT};
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

typedef struct held_signals {
    sigset_t mask;
    struct sigaction actions[TAKEN];
    pthread_t keeper;
    bool kept;
    atomic_bool over;
} held_signals;

static bool is_same(const struct sigaction *a, const struct sigaction *b)
{
    return memcmp(&a->sa_sigaction, &b->sa_sigaction, sizeof a->sa_sigaction) == 0;
}

static void *put_back(void *data)
{
    held_signals *held = data;
    struct timespec pause = {.tv_nsec = 10000};
    while (!atomic_load(&held->over)) {
        for (int k = 0; k < TAKEN; k++) {
            struct sigaction now;
            sigaction(taken[k], NULL, &now);
            if (is_same(&now, &held->actions[k]))
                continue;
            sigset_t one;
            sigemptyset(&one);
            sigaddset(&one, taken[k]);
            sigaction(taken[k], &held->actions[k], NULL);
            pthread_sigmask(SIG_UNBLOCK, &one, NULL);
            pause.tv_nsec = 1000000;
        }
        nanosleep(&pause, NULL);
    }
    return NULL;
}

static void hold_signals(held_signals *held)
{
    sigset_t all, these;
    sigfillset(&all);
    sigemptyset(&these);
    for (int k = 0; k < TAKEN; k++)
        sigaddset(&these, taken[k]);
    atomic_init(&held->over, false);
    pthread_mutex_lock(&one_at_a_time);
    for (int k = 0; k < TAKEN; k++)
        sigaction(taken[k], NULL, &held->actions[k]);
    pthread_sigmask(SIG_BLOCK, &all, &held->mask); /* as the keeper has it */
    held->kept = pthread_create(&held->keeper, NULL, put_back, held) == 0;
    pthread_sigmask(SIG_SETMASK, &held->mask, NULL);
    pthread_sigmask(SIG_BLOCK, &these, NULL);
}

static void let_signals(held_signals *held)
{
    atomic_store(&held->over, true);
    if (held->kept)
        pthread_join(held->keeper, NULL);
    for (int k = 0; k < TAKEN; k++)
        sigaction(taken[k], &held->actions[k], NULL);
    pthread_sigmask(SIG_SETMASK, &held->mask, NULL);
    pthread_mutex_unlock(&one_at_a_time);
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
    held_signals held;
    hold_signals(&held);
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

/* METIS adds weights up in 32 bits: they are made smaller together until their sum fits. */
static spry_status narrow_weights(spry_context *ctx, const int64_t *weight, int32_t n,
                                  int32_t **narrowed)
{
    double all = 0;
    *narrowed = NULL;
    if (!weight)
        return SPRY_STATUS_OK;
    for (int32_t i = 0; i < n; i++)
        all += (double)weight[i];
    const double most = INT32_MAX / 4.0, scale = all > most ? most / all : 1;
    const spry_status status = base_alloc(ctx, n, sizeof **narrowed, narrowed);
    for (int32_t i = 0; status == SPRY_STATUS_OK && i < n; i++) {
        const double own = scale * (double)weight[i];
        (*narrowed)[i] = own < 1 ? 1 : (int32_t)own;
    }
    return status;
}

static spry_status narrow_shares(spry_context *ctx, const double *share, int32_t parts,
                                 real_t **narrowed)
{
    *narrowed = NULL;
    if (!share)
        return SPRY_STATUS_OK;
    const spry_status status = base_alloc(ctx, parts, sizeof **narrowed, narrowed);
    for (int32_t k = 0; status == SPRY_STATUS_OK && k < parts; k++)
        (*narrowed)[k] = (real_t)share[k];
    return status;
}

spry_status graph_partition_weighted(spry_context *ctx, const graph *g, const int64_t *weight,
                                     int32_t parts, const double *share, int32_t *part)
{
    int32_t *offsets = NULL, *weights = NULL;
    real_t *shares = NULL;
    idx_t n = g->n, constraints = 1, count = parts, cut = 0, options[METIS_NOPTIONS];
    spry_status status = SPRY_STATUS_OK;
    /* METIS wants parts, edges, and more rows than parts */
    if (parts == 1 || g->offsets[g->n] == 0 || (weight && parts > g->n / 2))
        return partition_band(ctx, g, weight, parts, share, part);
    SPRY_GO(ctx, narrow(ctx, g, "nd", &offsets));
    SPRY_GO(ctx, narrow_weights(ctx, weight, g->n, &weights));
    SPRY_GO(ctx, narrow_shares(ctx, share, parts, &shares));
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = 1;
    held_signals held;
    hold_signals(&held);
    const int result = METIS_PartGraphKway(&n, &constraints, offsets, g->neighbours, weights, NULL,
                                           NULL, &count, shares, NULL, options, &cut, part);
    let_signals(&held);
    if (result == METIS_ERROR_MEMORY)
        status = SPRY_FAIL(ctx, SPRY_STATUS_NO_MEMORY, "parts of a matrix: METIS found no memory");
    else if (result != METIS_OK)
        status = partition_band(ctx, g, weight, parts, share, part);
done:
    base_free(ctx, offsets);
    base_free(ctx, weights);
    base_free(ctx, shares);
    return status;
}
#endif
