/* The store of parsed texts and plans, in a context of its own. */
#include "program/kept.h"

#include <pthread.h>

enum { KEPT = 8, MOST_TEXT = 1 << 14 };

typedef struct kept {
    program *given; /* as it was parsed, or before its plan was made */
    plan *made;
    plan_setup setup;
} kept;

static struct {
    pthread_mutex_t lock;
    spry_context *ctx;
    kept programs[KEPT], plans[KEPT];
    unsigned next_program, next_plan; /* the places that go next */
} store = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Never waits: a fork may have left the lock closed. */
static bool enter(const spry_context *ctx)
{
    if (ctx->fail_in != 0 || pthread_mutex_trylock(&store.lock) != 0)
        return false;
    if (store.ctx || spry_context_new("threads=1", &store.ctx) == SPRY_STATUS_OK)
        return true;
    spry_context_free(store.ctx);
    store.ctx = NULL;
    pthread_mutex_unlock(&store.lock);
    return false;
}

static void leave(void)
{
    pthread_mutex_unlock(&store.lock);
}

/* The place for one more. */
static kept *make_room(kept *all, unsigned *next)
{
    kept *k = &all[(*next)++ % KEPT];
    program_free(k->given);
    plan_free(k->made);
    *k = (kept){0};
    return k;
}

spry_status kept_program(spry_context *ctx, const char *source, const char *text, size_t size,
                         program **p)
{
    spry_status status = SPRY_STATUS_OK;
    *p = NULL;
    if (!enter(ctx))
        return SPRY_STATUS_OK;
    for (int k = 0; k < KEPT && !*p && status == SPRY_STATUS_OK; k++) {
        const program *g = store.programs[k].given;
        if (g && (size_t)g->size == size && strcmp(g->source, source) == 0 &&
            memcmp(g->text, text, size) == 0)
            status = program_copy(ctx, g, p);
    }
    leave();
    return status;
}

void keep_program(const program *p)
{
    if (p->size > MOST_TEXT || !enter(p->ctx))
        return;
    kept *k = make_room(store.programs, &store.next_program);
    (void)program_copy(store.ctx, p, &k->given);
    leave();
}

spry_status kept_plan(const program *g, const plan_setup *setup, plan **p)
{
    spry_status status = SPRY_STATUS_OK;
    *p = NULL;
    if (!enter(g->ctx))
        return SPRY_STATUS_OK;
    for (int i = 0; i < KEPT && !*p && status == SPRY_STATUS_OK; i++) {
        const kept *k = &store.plans[i];
        if (k->made && memcmp(&k->setup, setup, sizeof *setup) == 0 && program_same(k->given, g))
            status = plan_copy(g->ctx, k->made, p);
    }
    leave();
    return status;
}

void keep_plan(const program *g, const plan_setup *setup, plan *p)
{
    if (g->size > MOST_TEXT || !enter(g->ctx))
        return;
    kept *k = make_room(store.plans, &store.next_plan);
    k->setup = *setup;
    if (program_copy(store.ctx, g, &k->given) == SPRY_STATUS_OK)
        (void)plan_copy(store.ctx, p, &k->made);
    leave();
}
