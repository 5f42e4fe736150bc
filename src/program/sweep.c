/*
 * A sweep: each chunk of CHUNK elements goes through all bound operations while it is in the first
 * cache. Products come first and are made for several chunks at a time, which are then in the
 * second cache: a matrix is read best in long runs.
 *
 * Chunks are grouped into at most MOST_PARTS parts, by the vectors' length alone. A part belongs to
 * one share, which adds up its inner products in order; the parts' sums are added as a tree. So
 * results are bitwise the same for any number of threads, fused or not.
 */
#include "program/sweep.h"

enum { PANEL = 64 }; /* rows packed at a time: their lines stay in the first cache */

/* What a share has for a chunk. */
typedef struct place {
    const runner *r;
    int64_t run;      /* where the run of chunks begins */
    int64_t begin, n; /* the chunk */
    char *pieces;     /* the share's own, by right-hand side and number */
    const void **pointers;
    spry_scalar *sums; /* of the part */
} place;

static char *address(const place *at, const bound_op *s, const operand *o)
{
    const runner *r = at->r;
    if (o->base)
        return o->base + at->begin * r->size;
    char *piece =
        at->pieces + s->rhs * r->host->piece_at[r->p->locals] + r->host->piece_at[o->local];
    return piece + (o->wide ? (at->begin - at->run) * r->size : 0);
}

static void run_combine(const place *at, const bound_op *s)
{
    for (int k = 0; k < s->count; k++)
        at->pointers[k] = address(at, s, &s->list[k]);
    at->r->host->kernels->combine(at->n, s->count, s->factors, at->pointers,
                                  address(at, s, &s->out));
}

static void run_dot(const place *at, const bound_op *s)
{
    const host_kernels *kernels = at->r->host->kernels;
    const void *right = address(at, s, &s->in[1]);
    for (int k = 0; k < s->count; k++) {
        const void *left = address(at, s, &s->list[k]);
        const spry_scalar sum = s->o->conjugate ? kernels->dot(at->n, left, right)
                                                : kernels->dot_plain(at->n, left, right);
        at->sums[s->slot + k].re += sum.re;
        at->sums[s->slot + k].im += sum.im;
    }
}

/* Linear combinations of vectors of all right-hand sides: what each has of its own, then the
 * vectors that they share, which are read once for several sums. */
static void run_mix(const place *at, const bound_op *s, int rhs_count)
{
    const host_kernels *kernels = at->r->host->kernels;
    const int shared = s->count - s->own;
    const spry_scalar *factors[PROGRAM_COLUMNS];
    void *out[PROGRAM_COLUMNS];
    for (int j = 0; j < rhs_count; j++) {
        const bound_op *t = &s[j];
        out[j] = address(at, t, &t->out);
        factors[j] = t->factors + t->own;
        for (int k = 0; k < t->own; k++)
            at->pointers[k] = address(at, t, &t->list[k]);
        const bool in_place = t->own == 1 && at->pointers[0] == out[j] && t->factors[0].re == 1 &&
                              t->factors[0].im == 0;
        if (!in_place)
            kernels->combine(at->n, t->own, t->factors, at->pointers, out[j]);
    }
    for (int k = 0; k < shared; k++)
        at->pointers[k] = address(at, s, &s->list[s->own + k]);
    at->r->host->blocks->mix(at->n, shared, rhs_count, factors, at->pointers, out);
}

/* Inner products of the vectors of all right-hand sides with those of several. Sums of a chunk are
 * made by themselves, as ranks may send them. */
static void run_gram(const place *at, const bound_op *s, int rhs_count)
{
    const void *right[PROGRAM_COLUMNS];
    spry_scalar sums[PROGRAM_COLUMNS * PROGRAM_COLUMNS] = {{0, 0}};
    for (int k = 0; k < s->count; k++)
        at->pointers[k] = address(at, s, &s->list[k]);
    for (int j = 0; j < rhs_count; j++)
        right[j] = address(at, &s[j], &s[j].in[1]);
    /* All of them with all: half of the products says the rest. */
    const gram_kind kind = s->o->hermitian && rhs_count == s->count ? GRAM_HERMITIAN
                           : s->o->conjugate                        ? GRAM_CONJUGATED
                                                                    : GRAM_PLAIN;
    at->r->host->blocks->gram(at->n, kind, s->count, rhs_count, at->pointers, right, sums);
    for (int j = 0; j < rhs_count; j++)
        for (int k = 0; k < s->count; k++) {
            at->sums[s[j].slot + k].re += sums[j * s->count + k].re;
            at->sums[s[j].slot + k].im += sums[j * s->count + k].im;
        }
}

/* The bound operations from s on that are done together: of as many right-hand sides. */
static int run_coupled(const place *at, const bound_op *s, const bound_op *end)
{
    int rhs_count = 1;
    while (s + rhs_count < end && s[rhs_count].o == s->o)
        rhs_count++;
    if (s->o->kind == OP_DOT)
        run_gram(at, s, rhs_count);
    else
        run_mix(at, s, rhs_count);
    return rhs_count;
}

/* The same product for the right-hand sides that share it; gives their number. One that is known is
 * copied.
 */
static int run_rows(const place *at, const bound_op *s)
{
    enum { MOST = HOST_MOST_PACKS * HOST_PACK };
    const int64_t end = at->begin + at->n;
    void *y[MOST];
    if (s->packed) {
        for (int k = 0; k < s->together; k++)
            y[k] = address(at, &s[k], &s[k].out);
        s->rows->run_packed(s->rows, at->begin, end, s->packs, s->packed, s->together, y);
        return s->together;
    }
    if (!s->rows) {
        memcpy(address(at, s, &s->out), s->known + at->begin * at->r->size,
               (size_t)(at->n * at->r->size));
        return 1;
    }
    for (int k = 0; k < s->together; k++)
        s[k].rows->run(s[k].rows, at->begin, end, s[k].in[0].base, address(at, &s[k], &s[k].out));
    return s->together;
}

/* A share of packing the operands of products. */
static void pack(void *argument, int share, int shares)
{
    const runner *r = argument;
    const int64_t line = HOST_PACK * r->size / (1 + spry_type_is_complex(r->type));
    for (int i = 0; i < r->host->bound_count && r->host->bound[i].o->kind == OP_APPLY;
         i += r->host->bound[i].together) {
        const bound_op *s = &r->host->bound[i];
        const range mine =
            base_share(r->n[r->p->vars[s->o->in[0].var].space], shares, share, CHUNK);
        for (int64_t row = mine.begin; s->packed && row < mine.end; row += PANEL) {
            const void *x[HOST_MOST_PACKS * HOST_PACK];
            for (int k = 0; k < s->together; k++)
                x[k] = s[k].in[0].base + row * r->size;
            r->host->kernels->pack(mine.end - row < PANEL ? mine.end - row : PANEL, s->packs,
                                   s->together, x, 1, s->packed + row * s->packs * line);
        }
    }
}

static void run_part(const place *at, const bound_op *s)
{
    const runner *r = at->r;
    const vector_part *part = &r->parts[s->space];
    const int64_t first = (part->is ? part->first : 0) + at->begin, end = first + at->n;
    const int64_t from = s->ones.begin > first ? s->ones.begin : first;
    const int64_t to = s->ones.end < end ? s->ones.end : end;
    char *out = address(at, s, &s->out);
    r->host->kernels->fill(at->n, (spry_scalar){0, 0}, out);
    if (from < to)
        r->host->kernels->fill(to - from, (spry_scalar){1, 0}, out + (from - first) * r->size);
}

static void run_bound(const place *at, const bound_op *s)
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
        r->host->kernels->multiply(at->n, address(at, s, &s->in[0]), address(at, s, &s->in[1]),
                                   out);
        break;
    case OP_OVER:
        out = address(at, s, &s->out);
        r->host->kernels->divide(at->n, address(at, s, &s->in[0]), address(at, s, &s->in[1]), out);
        break;
    case OP_DIAGONAL:
        out = address(at, s, &s->out);
        r->host->kernels->multiply(at->n, s->diagonal + at->begin * r->size,
                                   address(at, s, &s->in[0]), out);
        break;
    case OP_RANDOM:
        r->host->kernels->random(at->n, s->seed, r->parts[s->space].first + at->begin,
                                 address(at, s, &s->out));
        break;
    case OP_SHARE:
        run_part(at, s);
        break;
    default:
        break;
    }
}

/* The bound operations of one right-hand side, or of all where they see each other, that are no
 * products, for the chunks from..to-1 of a run. Each part's sums begin with its first chunk. */
static void run_rhs(place at, int space, const bound_op *first, const bound_op *end, int64_t to)
{
    const runner *r = at.r;
    range rows = {0, 0};
    for (; at.begin < to; at.begin += at.n) {
        if (at.begin >= rows.end) {
            const int part = base_share_of(r->n[space], r->host->parts[space], at.begin, CHUNK);
            rows = base_share(r->n[space], r->host->parts[space], part, CHUNK);
            at.sums = r->host->sums + (int64_t)part * r->host->slot_count;
        }
        at.n = to - at.begin < CHUNK ? to - at.begin : CHUNK;
        for (const bound_op *s = first; s < end; s++)
            if (s->space == space && s->o->kind == OP_DOT && at.begin == rows.begin)
                memset(&at.sums[s->slot], 0, (size_t)s->count * sizeof *at.sums);
        for (const bound_op *s = first; s < end;) {
            const bool in_space = s->space == space;
            if (in_space && s->coupled) {
                s += run_coupled(&at, s, end);
                continue;
            }
            if (in_space)
                run_bound(&at, s);
            s++;
        }
    }
}

/* Rows of one space, of one share: in runs, whose ends need not be ends of parts. Right-hand sides
 * that have nothing to do with each other go through the run one by one. */
static void run_rows_of(runner *r, int space, range rows, int share)
{
    const bound_op *end = r->host->bound + r->host->bound_count;
    place at = {.r = r,
                .pieces = r->host->pieces + share * r->host->pieces_bytes,
                .pointers = r->host->pointers + (int64_t)share * r->host->most_terms,
                .sums = r->host->sums};
    const int64_t length = (sweep_couples(r) ? COUPLED_RUN : RUN) * CHUNK;
    for (at.run = rows.begin; at.run < rows.end; at.run += length) {
        const int64_t stop = rows.end - at.run < length ? rows.end : at.run + length;
        const bound_op *s = r->host->bound;
        at.begin = at.run;
        at.n = stop - at.run;
        while (s < end && s->o->kind == OP_APPLY)
            s += s->space == space ? run_rows(&at, s) : s->together;
        while (s < end) {
            const bound_op *first = s;
            while (s < end && (sweep_couples(r) || s->rhs == first->rhs))
                s++;
            run_rhs(at, space, first, s, stop);
        }
    }
}

/* Whether a part needs what other ranks send: all of it waits then, as its sums are made in order.
 */
static bool part_waits(const runner *r, int space, int64_t part)
{
    const range rows = base_share(r->n[space], r->host->parts[space], (int)part, CHUNK);
    for (int i = 0; i < r->host->bound_count && r->host->bound[i].o->kind == OP_APPLY; i++) {
        const bound_op *s = &r->host->bound[i];
        if (s->space == space && s->rows && s->rows->waits &&
            s->rows->waits(s->rows, rows.begin, rows.end))
            return true;
    }
    return false;
}

/* Parts of one space, of one share: those at hand. */
static void run_parts(runner *r, int space, range mine, int share)
{
    const int parts = r->host->parts[space];
    const bool waiting = r->host->rows_at_hand == ROWS_WAITING;
    while (mine.begin < mine.end) {
        int64_t end = mine.end;
        bool run = true;
        if (r->host->rows_at_hand != ROWS_ALL) {
            run = part_waits(r, space, mine.begin) == waiting;
            for (end = mine.begin + 1; end < mine.end; end++)
                if ((part_waits(r, space, end) == waiting) != run)
                    break;
        }
        if (run)
            run_rows_of(r, space,
                        (range){base_share(r->n[space], parts, (int)mine.begin, CHUNK).begin,
                                base_share(r->n[space], parts, (int)end - 1, CHUNK).end},
                        share);
        mine.begin = end;
    }
}

static void run_share(void *argument, int share, int shares)
{
    runner *r = argument;
    for (int space = 0; space < 2; space++) {
        bool any = false;
        for (int i = 0; i < r->host->bound_count && !any; i++)
            any = r->host->bound[i].space == space;
        if (!any)
            continue;
        range mine = base_share(r->host->parts[space], shares, share, 1);
        if (r->host->shares && r->host->share_space == space)
            mine = (range){r->host->shares[share], r->host->shares[share + 1]};
        run_parts(r, space, mine, share);
    }
}

/* Whether messages of two products go together: A^T and A^H of real types are the same rows. */
static bool shares_messages(const operator_rows *a, const operator_rows *b)
{
    return a && b && a->begin == b->begin && a->state == b->state;
}

/* Begins or finishes the messages of the sweep's products: one for all x of an operator. */
static bool exchange(runner *r, bool begin)
{
    const void *x[MOST_RHS];
    const int products = r->host->bound_count;
    const bound_op *bound = r->host->bound;
    bool any = false;
    for (int i = 0; i < products && bound[i].o->kind == OP_APPLY; i++) {
        const operator_rows *rows = bound[i].rows;
        int count = 0;
        bool first = rows && rows->begin, many = false;
        for (int k = 0; k < i && first; k++)
            first = !shares_messages(bound[k].rows, rows);
        for (int k = i; first && k < products && bound[k].o->kind == OP_APPLY; k++)
            if (shares_messages(bound[k].rows, rows)) {
                many = many || count == MOST_RHS;
                if (!many)
                    x[count++] = bound[k].in[0].base;
            }
        if (many && begin) /* alike on all ranks */
            course_note(r, SPRY_FAIL(r->ctx, SPRY_STATUS_UNSUPPORTED,
                                     "more than %d products with A in one sweep on ranks: fuse=no "
                                     "keeps them apart",
                                     MOST_RHS));
        if (first)
            course_note(r, begin ? rows->begin(rows, count, x) : rows->finish(rows));
        any = any || first;
    }
    return any;
}

void sweep_run(runner *r, const phase *f, const plan_op *alone)
{
    (void)f, (void)alone; /* what is bound */
    if (r->host->bound_count == 0)
        return;
    if (r->host->packs)
        base_share_out(r->ctx, r->host->threads, pack, r);
    const bool waits = r->ranked && exchange(r, true);
    r->host->rows_at_hand = waits ? ROWS_FREE : ROWS_ALL;
    base_share_out(r->ctx, r->host->threads, run_share, r);
    if (!waits)
        return;
    exchange(r, false);
    r->host->rows_at_hand = ROWS_WAITING;
    base_share_out(r->ctx, r->host->threads, run_share, r);
}

spry_scalar sweep_add_parts(spry_scalar *sums, int parts, int64_t apart)
{
    for (int width = 1; width < parts; width *= 2)
        for (int k = 0; k + width < parts; k += 2 * width) {
            sums[k * apart].re += sums[(k + width) * apart].re;
            sums[k * apart].im += sums[(k + width) * apart].im;
        }
    return sums[0];
}

/* Where inner product k of a bound operation goes. */
static spry_scalar *target_of(const runner *r, rhs *l, const bound_op *s, int k)
{
    const expr *target = &l->scalars.program->exprs[s->o->target];
    if (target->kind == EXPR_NAME)
        return program_scalar_at(&l->scalars, s->o->target);
    const int64_t rows = l->scalars.extent[target->name][0];
    const int64_t cols = l->scalars.extent[target->name][1];
    const int64_t row = program_eval_count(&l->scalars, target->arg[0]) +
                        (s->o->in[0].all ? r->host->members[k] : k);
    const int64_t column =
        target->arg[2] == NONE ? 0 : program_eval_index(&l->scalars, target->arg[2], cols);
    if (row < 0 || row >= rows)
        l->scalars.fault = target->place;
    if (l->scalars.fault != NONE)
        return NULL;
    return &l->scalars.values[l->scalars.offset[target->name] + row * cols + column];
}

/* As many inner products as there are places for them. */
static void check_lengths(rhs *l, const bound_op *s)
{
    const expr *target = &l->scalars.program->exprs[s->o->target];
    if (target->kind != EXPR_SLICE)
        return;
    const int64_t first = program_eval_count(&l->scalars, target->arg[0]);
    const int64_t last = program_eval_count(&l->scalars, target->arg[1]);
    const int64_t length = last < first ? 0 : last - first + 1;
    const int64_t needed = s->o->in[0].all ? PROGRAM_COLUMNS : s->count;
    if (length != needed && l->scalars.fault == NONE)
        l->scalars.fault = target->place;
}

void sweep_store(runner *r, const bound_op *s, const spry_scalar *sums)
{
    rhs *l = &r->rhs[s->rhs];
    check_lengths(l, s);
    for (int k = 0; k < s->count && l->scalars.fault == NONE; k++) {
        spry_scalar *to = target_of(r, l, s, k);
        if (to)
            *to = sums[k];
    }
    course_check(l, s->o);
}

void sweep_reduce(runner *r)
{
    for (int i = 0; i < r->host->bound_count; i++) {
        const bound_op *s = &r->host->bound[i];
        if (s->o->kind != OP_DOT)
            continue;
        spry_scalar *sums = &r->host->sums[s->slot];
        for (int k = 0; k < s->count; k++)
            sweep_add_parts(&sums[k], r->host->parts[s->space], r->host->slot_count);
        sweep_store(r, s, sums);
    }
}
