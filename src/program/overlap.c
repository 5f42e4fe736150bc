/*
 * Reductions over ranks take time: a phase whose inner products are not needed at once begins the
 * message, and what follows goes on meanwhile, up to the first operation that needs them. Where
 * more inner products come before that, all go together in one message. Which operation that is
 * follows from what operations read and write, as everything about a plan does: pipelined methods
 * are those whose texts leave a product between an inner product and its first use.
 */
#include "program/plan.h"

bool plan_needs_sum(const plan *p, const plan_op *dot, const plan_op *o)
{
    for (int i = 0; i < dot->accesses; i++)
        for (int j = 0; j < o->accesses; j++) {
            const access *a = &p->accesses[dot->access + i], *b = &p->accesses[o->access + j];
            if (!a->vector && (a->write || b->write) && access_touches(a, b))
                return true;
        }
    return false;
}

/* Whether one of the operations first..end-1 needs an inner product of phases from..to-1 of the
 * block, or may be the end: what comes then needs everything. */
static bool any_needs(const plan *p, const phase *from, const phase *to, int first, int end)
{
    for (int k = first; k < end; k++) {
        if (op_exits(&p->ops[k]))
            return true;
        for (const phase *f = from; f < to; f++)
            for (int i = f->first; i < f->first + f->sweep_count; i++)
                if (p->ops[i].kind == OP_DOT && plan_needs_sum(p, &p->ops[i], &p->ops[k]))
                    return true;
    }
    return false;
}

static bool has_dots(const plan *p, const phase *f)
{
    for (int i = f->first; i < f->first + f->sweep_count; i++)
        if (p->ops[i].kind == OP_DOT)
            return true;
    return false;
}

void plan_find_waits(plan *p, const node *block)
{
    phase *const begin = &p->phases[block->phase], *const end = begin + block->phases;
    phase *first = NULL, *last = NULL; /* with reductions that nothing has needed so far */
    for (phase *f = begin; f < end; f++) {
        const int sweep_end = f->first + f->sweep_count;
        f->waits_before = first && any_needs(p, first, f, f->first, sweep_end);
        if (f->waits_before)
            first = NULL;
        if (has_dots(p, f)) {
            for (phase *g = last; first && g < f; g++)
                g->joins = true;
            first = first ? first : f;
            last = f;
        }
        f->waits_after =
            first && (f + 1 == end || any_needs(p, first, f + 1, sweep_end, f->first + f->count));
        if (f->waits_after)
            first = NULL;
    }
}

/* Sets of inner products, one bit each. */
enum { WORD = 64 };

/* For each operation the inner products that it comes after, whatever the way. */
static void find_needs(const plan_op *ops, int n, const signed char *distance, int words,
                       uint64_t *needs)
{
    int dot = 0;
    for (int j = 0; j < n; j++) {
        uint64_t *mine = &needs[(size_t)j * (size_t)words];
        for (int i = 0; i < j; i++)
            if (distance[(size_t)i * (size_t)n + (size_t)j] >= 0)
                for (int w = 0; w < words; w++)
                    mine[w] |= needs[(size_t)i * (size_t)words + (size_t)w];
        if (ops[j].kind == OP_DOT) {
            mine[dot / WORD] |= UINT64_C(1) << dot % WORD;
            dot++;
        }
    }
}

/* Whether an operation needs inner products that the product does not. */
static bool needs_more(const uint64_t *mine, const uint64_t *product, int words)
{
    for (int w = 0; w < words; w++)
        if (mine[w] & ~product[w])
            return true;
    return false;
}

spry_status plan_part_products(const plan *p, const plan_op *ops, int n, signed char *distance)
{
    uint64_t *needs = NULL;
    int dots = 0;
    for (int i = 0; i < n; i++)
        dots += ops[i].kind == OP_DOT;
    const int words = (dots + WORD - 1) / WORD;
    if (dots == 0)
        return SPRY_STATUS_OK;
    const spry_status status = base_calloc(p->ctx, (int64_t)n * words, sizeof *needs, &needs);
    if (status != SPRY_STATUS_OK)
        return status;
    find_needs(ops, n, distance, words, needs);
    for (int i = 0; i < n; i++)
        for (int j = i + 1; ops[i].kind == OP_APPLY && j < n; j++) {
            signed char *d = &distance[(size_t)i * (size_t)n + (size_t)j];
            if (*d < 1 && op_sweeps(&ops[j]) && ops[j].kind != OP_DOT &&
                needs_more(&needs[(size_t)j * (size_t)words], &needs[(size_t)i * (size_t)words],
                           words))
                *d = 1;
        }
    base_free(p->ctx, needs);
    return status;
}
