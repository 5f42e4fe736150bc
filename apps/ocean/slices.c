/*
 * Waves by slices of time side by side: parareal (section 11.6.2 of the source). The coarse run is
 * the fine one with longer steps, whose solves are as exact as such steps are.
 */
#include "ocean/ocean.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_WORKERS = 64 };

/* Each worker has a context and a flow of its own, that both runs of a slice use in turn. */
typedef struct worker {
    ocean_run *run; /* the first one's is the caller's */
    double slice;   /* in s */
    spry_stepper *coarse, *fine;
    struct rates {
        struct worker *of;
        double tol;
    } coarse_rates, fine_rates;
} worker;
typedef struct rates rates;

/* The first guess of a slice knows nothing of the slices before it, so that results are the same
 * for any number of workers. */
static spry_status rate(void *data, double t, const spry_vector *u, spry_vector *result)
{
    const rates *r = data;
    ocean_flow *f = &r->of->run->flow;
    const double slices = t / r->of->slice;
    if (signals_pending()) /* which the first worker's context alone is told of */
        return SPRY_STATUS_INTERRUPTED;
    spry_status status = spry_solver_set_real(f->solver, "tol", r->tol);
    if (status == SPRY_STATUS_OK && fabs(slices - round(slices)) < 1e-6)
        status = ocean_flow_forget(f);
    return status == SPRY_STATUS_OK ? ocean_flow_rate(f, t, u, result) : status;
}

static spry_status make_stepper(worker *w, double steps, double tol, rates *data,
                                spry_stepper **stepper)
{
    *data = (rates){w, tol};
    spry_status status = spry_stepper_new(w->run->ctx, "method=rk4", stepper);
    if (status == SPRY_STATUS_OK)
        status = spry_stepper_set_function(*stepper, rate, data);
    return status == SPRY_STATUS_OK
               ? spry_stepper_set_real(*stepper, "dt", w->slice / fmax(ceil(steps - 1e-9), 1))
               : status;
}

static spry_status make_worker(const ocean_run *r, int number, worker *w)
{
    const ocean_options *o = r->o;
    char text[192];
    spry_status status = SPRY_STATUS_OK;
    snprintf(text, sizeof text, "threads=1 memory-limit=%lld",
             (long long)(spry_context_memory_limit(r->ctx) / o->workers));
    w->slice = o->end / (double)o->slices;
    if (number > 0) {
        w->run = calloc(1, sizeof *w->run);
        if (!w->run)
            return SPRY_STATUS_NO_MEMORY;
        *w->run = (ocean_run){.o = o, .wave = r->wave, .period = r->period, .depths = r->depths};
        OCEAN_GO(spry_context_new(text, &w->run->ctx));
        OCEAN_GO(ocean_prepare(w->run));
    }
    const double fine = ceil(w->slice / r->dt - 1e-9), coarse = ceil(fine / (double)o->ratio);
    const double limit = ocean_flow_limit(&r->flow);
    if (w->slice / coarse > limit) {
        snprintf(text, sizeof text,
                 "coarse steps of %.4g s are not stable: the longest stable one is %.3g s; take a "
                 "smaller ratio, or more slices",
                 w->slice / coarse, limit);
        return ocean_fail(r->ctx, text);
    }
    OCEAN_GO(make_stepper(w, coarse, fmax(o->tol, 1e-4), &w->coarse_rates, &w->coarse));
    OCEAN_GO(make_stepper(w, fine, o->tol, &w->fine_rates, &w->fine));
done:
    return status;
}

static void free_worker(worker *w, int number)
{
    spry_stepper_free(w->coarse);
    spry_stepper_free(w->fine);
    if (number == 0 || !w->run)
        return;
    spry_vector_free(w->run->u);
    ocean_flow_free(&w->run->flow);
    spry_context_free(w->run->ctx);
    free(w->run);
}

static void print(const spry_result *r, const spry_parareal_stats *s)
{
    printf("slices        %d on %d worker%s\n", s->slices, s->workers, s->workers > 1 ? "s" : "");
    printf("iterations    %d, last change %.2e\n", (int)r->iterations, r->residual);
    printf("difference    %.2e from the fine run\n", s->difference);
    printf("a slice       fine %s, coarse %s: ratio %.1f\n", text_seconds(s->fine_seconds),
           text_seconds(s->coarse_seconds), s->ratio);
    printf("speed-up      %.2f, by the cost model %.2f\n", s->speedup, s->model_speedup);
}

spry_status slices_run(ocean_run *r)
{
    const ocean_options *o = r->o;
    const int count = (int)o->workers;
    worker workers[MOST_WORKERS] = {{.run = r}};
    spry_stepper *coarse[MOST_WORKERS], *fine[MOST_WORKERS];
    spry_result result = SPRY_RESULT_INIT;
    spry_parareal_stats stats = SPRY_PARAREAL_STATS_INIT;
    char options[96];
    spry_vector *last = NULL;
    spry_status status = SPRY_STATUS_OK;
    for (int w = 0; w < count; w++) {
        OCEAN_GO(make_worker(r, w, &workers[w]));
        coarse[w] = workers[w].coarse;
        fine[w] = workers[w].fine;
    }
    snprintf(options, sizeof options, "slices=%lld tol=%.17g compare=yes", (long long)o->slices,
             o->change);
    OCEAN_GO(spry_vector_like(r->u, spry_vector_size(r->u), &last));
    OCEAN_GO(ocean_flow_rate(&r->flow, 0, r->u, last));
    OCEAN_GO(record_state(r, 0, r->u, last));
    OCEAN_GO(spry_parareal(count, coarse, fine, 0, o->end, r->u, options, &result, &stats));
    print(&result, &stats);
    r->t = o->end;
    r->step = llround(ceil(workers[0].slice / r->dt - 1e-9)) * o->slices;
    OCEAN_GO(spry_solver_set_real(r->flow.solver, "tol", o->tol));
    OCEAN_GO(ocean_flow_rate(&r->flow, r->t, r->u, last));
    OCEAN_GO(record_state(r, r->t, r->u, last));
done:
    for (int w = 0; w < count; w++)
        free_worker(&workers[w], w);
    spry_result_clear(r->ctx, &result);
    spry_vector_free(last);
    return status;
}
