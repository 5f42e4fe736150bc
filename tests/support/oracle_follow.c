/* The way through a program: sections, loops, branches, exits. */
#include "support/oracle.h"

typedef enum state { GOES_ON, ENDED, RESTARTS } state;

typedef struct follower {
    const program *p;
    const oracle_arithmetic *does;
    void *data;
    const rhs *listener;
    state state;
    bool looping; /* in the section loop */
    int64_t reports, reports_at_restart;
    spry_status status;
} follower;

static void run_list(follower *f, int first);

/* x is brought up to date; then the solve ends or begins again. */
static void leave(follower *f, state how)
{
    f->state = GOES_ON;
    run_list(f, f->p->section[SECTION_FINISH]);
    f->state = how;
}

static void report(follower *f, const stmt *s)
{
    static const report_kind kinds[] = {[STMT_RESIDUAL] = REPORT_RESIDUAL,
                                        [STMT_ESTIMATE] = REPORT_ESTIMATE,
                                        [STMT_GRADIENT] = REPORT_GRADIENT,
                                        [STMT_ENERGY] = REPORT_ENERGY};
    bool go_on = true;
    const double value = f->does->report(f->data, s->value);
    f->status = f->does->status(f->data);
    if (f->status != SPRY_STATUS_OK)
        return;
    f->reports += f->looping && s->kind != STMT_GRADIENT && s->kind != STMT_ENERGY;
    f->status = f->listener->report(f->listener->data, kinds[s->kind], f->looping, value, &go_on);
    if (!go_on)
        leave(f, ENDED);
}

/* breakdown, restart */
static void judge(follower *f, const stmt *s)
{
    const bool holds = f->does->holds(f->data, s->value);
    f->status = f->does->status(f->data);
    if (!holds || f->status != SPRY_STATUS_OK)
        return;
    if (s->kind == STMT_RESTART && f->reports != f->reports_at_restart) {
        f->reports_at_restart = f->reports;
        leave(f, RESTARTS);
        return;
    }
    f->listener->breakdown(f->listener->data, "", true);
    leave(f, ENDED);
}

static void run_for(follower *f, const stmt *s)
{
    const int64_t from = f->does->count(f->data, s->from);
    const int64_t to = f->does->count(f->data, s->to), by = s->down ? -1 : 1;
    f->status = f->does->status(f->data);
    for (int64_t k = from; (s->down ? k >= to : k <= to) && f->state == GOES_ON; k += by) {
        f->does->set_counter(f->data, s->name, k);
        run_list(f, s->body);
        if (f->status != SPRY_STATUS_OK)
            return;
    }
}

static void run_if(follower *f, const stmt *s)
{
    const bool holds = f->does->holds(f->data, s->value);
    f->status = f->does->status(f->data);
    run_list(f, holds ? s->body : s->other);
}

static void run_list(follower *f, int first)
{
    for (int i = first; i != NONE && f->state == GOES_ON && f->status == SPRY_STATUS_OK;
         i = f->p->stmts[i].next) {
        const stmt *s = &f->p->stmts[i];
        switch (s->kind) {
        case STMT_SET:
            f->does->assign(f->data, s);
            f->status = f->does->status(f->data);
            break;
        case STMT_FOR:
            run_for(f, s);
            break;
        case STMT_IF:
            run_if(f, s);
            break;
        case STMT_BREAKDOWN:
        case STMT_RESTART:
            judge(f, s);
            break;
        default:
            report(f, s);
            break;
        }
    }
}

spry_status oracle_follow(const program *p, const oracle_arithmetic *does, void *data,
                          const rhs *listener)
{
    follower f = {
        .p = p, .does = does, .data = data, .listener = listener, .reports_at_restart = -1};
    do {
        f.state = GOES_ON;
        f.looping = false;
        run_list(&f, p->section[SECTION_START]);
        f.looping = true;
        while (f.state == GOES_ON && f.status == SPRY_STATUS_OK) {
            const int64_t before = f.reports;
            run_list(&f, p->section[SECTION_LOOP]);
            if (f.reports == before && f.state == GOES_ON && f.status == SPRY_STATUS_OK)
                f.status = SPRY_STATUS_BAD_INPUT; /* a turn reported nothing */
        }
    } while (f.state == RESTARTS && f.status == SPRY_STATUS_OK);
    return f.status;
}
