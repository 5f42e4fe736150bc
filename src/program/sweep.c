/*
 * A sweep: each chunk of CHUNK elements goes through all steps while it is in the first cache.
 * Products come first and are made for several chunks at a time, which are then in the second
 * cache: a matrix is read best in long runs.
 *
 * Chunks are grouped into at most MOST_PARTS parts, by the vectors' length alone. A part belongs to
 * one thread, which adds up its inner products in order; the parts' sums are added as a tree. So
 * results are bitwise the same for any number of threads, fused or not.
 */
#include "program/sweep.h"

/* What a thread has for a chunk. */
typedef struct place {
    const runner *r;
    int64_t run;      /* where the run of chunks begins */
    int64_t begin, n; /* the chunk */
    char *pieces;     /* the thread's own, by lane and number */
    const void **pointers;
    spry_scalar *sums; /* of the part */
} place;

static char *address(const place *at, const step *s, const operand *o)
{
    const runner *r = at->r;
    if (o->base)
        return o->base + at->begin * r->size;
    const int64_t first = ((int64_t)s->lane * r->p->locals + o->local) * RUN * CHUNK;
    return at->pieces + (first + (o->wide ? at->begin - at->run : 0)) * r->size;
}

static void run_combine(const place *at, const step *s)
{
    for (int k = 0; k < s->count; k++)
        at->pointers[k] = address(at, s, &s->list[k]);
    at->r->kernels->combine(at->n, s->count, s->factors, at->pointers, address(at, s, &s->out));
}

static void run_dot(const place *at, const step *s)
{
    const host_kernels *kernels = at->r->kernels;
    const void *right = address(at, s, &s->in[1]);
    for (int k = 0; k < s->count; k++) {
        const void *left = address(at, s, &s->list[k]);
        const spry_scalar sum = s->o->conjugate ? kernels->dot(at->n, left, right)
                                                : kernels->dot_plain(at->n, left, right);
        at->sums[s->slot + k].re += sum.re;
        at->sums[s->slot + k].im += sum.im;
    }
}

/* The same product for as many lanes as stand next to each other; gives their number. */
static int run_rows(const place *at, const step *s, const step *end)
{
    enum { MOST = 8 };
    const void *x[MOST];
    void *y[MOST];
    int count = 0;
    for (; count < MOST && s + count < end && s[count].o == s->o; count++) {
        x[count] = s[count].in[0].base;
        y[count] = address(at, &s[count], &s[count].out);
    }
    s->rows->run(s->rows, at->begin, at->begin + at->n, count, x, y);
    return count;
}

static void run_step(const place *at, const step *s)
{
    const runner *r = at->r;
    void *out;
    switch (s->o->kind) {
    case OP_COMBINE:
        run_combine(at, s);
        break;
    case OP_DOT:
        run_dot(at, s);
        break;
    case OP_TIMES:
        out = address(at, s, &s->out);
        r->kernels->multiply(at->n, address(at, s, &s->in[0]), address(at, s, &s->in[1]), out);
        break;
    case OP_OVER:
        out = address(at, s, &s->out);
        r->kernels->divide(at->n, address(at, s, &s->in[0]), address(at, s, &s->in[1]), out);
        break;
    case OP_DIAGONAL:
        out = address(at, s, &s->out);
        r->kernels->multiply(at->n, s->diagonal + at->begin * r->size, address(at, s, &s->in[0]),
                             out);
        break;
    case OP_RANDOM:
        r->kernels->random(at->n, s->seed, at->begin, address(at, s, &s->out));
        break;
    default:
        break;
    }
}

static void clear_sums(const place *at, int space)
{
    const runner *r = at->r;
    for (int i = 0; i < r->step_count; i++) {
        const step *s = &r->steps[i];
        for (int k = 0; s->space == space && s->o->kind == OP_DOT && k < s->count; k++)
            at->sums[s->slot + k] = (spry_scalar){0, 0};
    }
}

/* Parts of one space that follow each other, by one thread: in runs, whose ends need not be ends of
 * parts. */
static void run_parts(runner *r, int space, range parts, int thread)
{
    const step *end = r->steps + r->step_count;
    place at = {.r = r,
                .pieces = r->pieces + thread * r->pieces_bytes,
                .pointers = r->pointers + (int64_t)thread * r->most_terms};
    if (parts.begin >= parts.end)
        return;
    int part = (int)parts.begin;
    range rows = base_share(r->n[space], r->parts[space], part, CHUNK);
    const int64_t last = base_share(r->n[space], r->parts[space], (int)parts.end - 1, CHUNK).end;
    at.sums = r->sums + (int64_t)part * r->slot_count;
    clear_sums(&at, space);
    for (at.run = rows.begin; at.run < last; at.run += RUN * CHUNK) {
        const int64_t stop = last - at.run < RUN * CHUNK ? last : at.run + RUN * CHUNK;
        at.begin = at.run;
        at.n = stop - at.run;
        for (const step *s = r->steps; s < end && s->o->kind == OP_APPLY;)
            s += s->space == space ? run_rows(&at, s, end) : 1;
        for (; at.begin < stop; at.begin += at.n) {
            if (at.begin >= rows.end) {
                rows = base_share(r->n[space], r->parts[space], ++part, CHUNK);
                at.sums = r->sums + (int64_t)part * r->slot_count;
                clear_sums(&at, space);
            }
            at.n = stop - at.begin < CHUNK ? stop - at.begin : CHUNK;
            for (const step *s = r->steps; s < end; s++)
                if (s->space == space && s->o->kind != OP_APPLY)
                    run_step(&at, s);
        }
    }
}

void sweep_run(runner *r, int team, int me)
{
    for (int space = 0; space < 2; space++) {
        bool any = false;
        for (int i = 0; i < r->step_count && !any; i++)
            any = r->steps[i].space == space;
        if (!any)
            continue;
        /* The team may be smaller than asked for: shares go round. */
        for (int share = me; share < r->threads; share += team) {
            range mine = base_share(r->parts[space], r->threads, share, 1);
            if (r->shares && r->share_space == space)
                mine = (range){r->shares[share], r->shares[share + 1]};
            run_parts(r, space, mine, me);
        }
    }
}

static spry_scalar add_parts(spry_scalar *sums, int parts, int64_t apart)
{
    for (int width = 1; width < parts; width *= 2)
        for (int k = 0; k + width < parts; k += 2 * width) {
            sums[k * apart].re += sums[(k + width) * apart].re;
            sums[k * apart].im += sums[(k + width) * apart].im;
        }
    return sums[0];
}

/* Where inner product k of a step goes. */
static spry_scalar *target_of(lane *l, const step *s, int k)
{
    const expr *target = &l->scalars.program->exprs[s->o->target];
    if (target->kind == EXPR_NAME)
        return program_scalar_at(&l->scalars, s->o->target);
    const int64_t rows = l->scalars.extent[target->name][0];
    const int64_t cols = l->scalars.extent[target->name][1];
    const int64_t row = program_eval_count(&l->scalars, target->arg[0]) + k;
    const int64_t column =
        target->arg[2] == NONE ? 0 : program_eval_index(&l->scalars, target->arg[2], cols);
    if (row < 0 || row >= rows)
        l->scalars.fault = target->place;
    if (l->scalars.fault != NONE)
        return NULL;
    return &l->scalars.values[l->scalars.offset[target->name] + row * cols + column];
}

void sweep_reduce(runner *r)
{
    for (int i = 0; i < r->step_count; i++) {
        const step *s = &r->steps[i];
        if (s->o->kind != OP_DOT)
            continue;
        lane *l = &r->lanes[s->lane];
        for (int k = 0; k < s->count; k++) {
            spry_scalar *to = target_of(l, s, k);
            if (to)
                *to = add_parts(&r->sums[s->slot + k], r->parts[s->space], r->slot_count);
        }
        sweep_check(l, s->o);
    }
}
