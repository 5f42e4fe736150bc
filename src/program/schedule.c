/*
 * Phases. An operation needs a later phase than another when it needs the whole of its result (a
 * product needs all of its operand, a factor needs the complete inner product), and may share the
 * phase when it needs the same piece only. Within these bounds operations are shifted so that the
 * phases move as few vectors as possible.
 *
 * An update of x may run after an exit that comes later in the text, which saves reading its
 * operands twice: where the exit needs x, the update is made at once and skipped later
 * (host_run.c).
 */
#include "program/plan.h"

#include <stdlib.h>

typedef struct scheduling {
    plan *p;
    node *block;
    int n;
    const plan_op *ops;    /* of the block */
    signed char *distance; /* n x n: phases from i to a later j at least; -1: independent */
    int *phase, *best, *sequence;
    traffic_count traffic;
    int64_t patience; /* tries that are left to improve on what there is */
} scheduling;

/* What tries may cost together, in operations looked at: a second at most, with methods that no one
 * writes by hand. */
enum { MOST_TRIED = 100000000 };

/* Phases that a common place puts between operation a and a later one b. */
static int distance_by(const plan *p, const plan_op *a, const access *by_a, const plan_op *b,
                       const access *by_b)
{
    if ((!by_a->write && !by_b->write) || !access_touches(by_a, by_b))
        return -1;
    if (!op_sweeps(a))
        return op_sweeps(b); /* scalar time is after the sweep */
    if (!op_sweeps(b))
        return 0;
    if (!by_a->vector) /* an inner product is known when the sweep has ended */
        return by_a->write;
    if (p->setup.apart && plan_is_gram(b) && !plan_is_gram(a) && by_a->write && !by_b->all)
        return 0; /* of rows that the same group has made; those of others may not be made yet */
    if (p->setup.apart && (by_a->all || by_b->all || plan_is_gram(a) || plan_is_gram(b)))
        return 1; /* rows of others, or those of inner products, which are taken last */
    if (b->kind == OP_APPLY && a->kind != OP_APPLY)
        return 1; /* products come first in a sweep */
    const bool whole =
        (a->kind == OP_APPLY && !by_a->write) || (b->kind == OP_APPLY && !by_b->write);
    return whole;
}

bool plan_has_slice(const plan *p, const plan_op *o)
{
    const int count = plan_ref_count(p, o);
    for (int k = 0; k < count; k++) {
        bool write;
        const vref *v = plan_ref(p, o, k, &write);
        if (v->var != NONE && (v->all || v->first != v->last))
            return true;
    }
    return false;
}

bool plan_has_all(const plan *p, const plan_op *o)
{
    const int count = plan_ref_count(p, o);
    for (int k = 0; k < count; k++) {
        bool write;
        const vref *v = plan_ref(p, o, k, &write);
        if (v->var != NONE && v->all)
            return true;
    }
    return false;
}

static int distance_of(const plan *p, const plan_op *a, const plan_op *b)
{
    int distance = op_exits(a) && op_exits(b) ? 0 : -1;
    for (int i = 0; i < a->accesses; i++)
        for (int j = 0; j < b->accesses; j++) {
            const int d =
                distance_by(p, a, &p->accesses[a->access + i], b, &p->accesses[b->access + j]);
            distance = d > distance ? d : distance;
        }
    if (p->setup.apart && distance == 0 && op_sweeps(a) && op_sweeps(b) &&
        ((a->kind == OP_APPLY && plan_has_slice(p, b) && !plan_is_gram(b)) ||
         (b->kind == OP_APPLY && plan_has_slice(p, a))))
        distance = 1;
    if (p->setup.apart && distance < 1 && a->kind == OP_APPLY && b->kind == OP_APPLY &&
        a->transpose != b->transpose && !plan_calls(p, a) && !plan_calls(p, b))
        distance = 1; /* rows of A and of A^H go by different positions */
    return distance;
}

static int between(const scheduling *s, int i, int j)
{
    return s->distance[(size_t)i * (size_t)s->n + (size_t)j];
}

static void find_distances(scheduling *s)
{
    for (int i = 0; i < s->n; i++)
        for (int j = i + 1; j < s->n; j++)
            s->distance[(size_t)i * (size_t)s->n + (size_t)j] =
                (signed char)(s->ops[i].kind == OP_NONE || s->ops[j].kind == OP_NONE
                                  ? -1
                                  : distance_of(s->p, &s->ops[i], &s->ops[j]));
}

static bool updates_x(const scheduling *s, int i)
{
    return s->ops[i].kind == OP_COMBINE && s->ops[i].out.var == s->p->var_of_name[NAME_X];
}

/* Whether i is an update of x that may be late for exit j. */
static bool may_sink(const scheduling *s, int i, int j)
{
    return updates_x(s, i) && op_exits(&s->ops[j]);
}

static int earliest(const scheduling *s, int j)
{
    int when = 0;
    for (int i = 0; i < j; i++) {
        const int d = between(s, i, j);
        if (d >= 0 && s->phase[i] + d > when && !may_sink(s, i, j))
            when = s->phase[i] + d;
    }
    return when;
}

static int latest(const scheduling *s, int i, int last)
{
    int when = last;
    for (int j = i + 1; j < s->n; j++) {
        const int d = between(s, i, j);
        if (d >= 0 && s->phase[j] - d < when && !may_sink(s, i, j))
            when = s->phase[j] - d;
    }
    return when;
}

/* The first phase in which an exit after operation i asks for x; its own phase, if none does
 * before. */
static int first_asked(const scheduling *s, int i)
{
    int first = s->phase[i];
    for (int j = i + 1; j < s->n; j++)
        if (op_exits(&s->ops[j]) && s->phase[j] < first)
            first = s->phase[j];
    return first;
}

/*
 * Every update of x that is late for an exit must find its operands complete when the exit asks
 * for it, whatever it waits for, and updates before it done or asked for as well.
 */
static bool exits_are_served(const scheduling *s)
{
    for (int i = 0; i < s->n; i++) {
        if (!updates_x(s, i))
            continue;
        const int asked = first_asked(s, i);
        for (int k = 0; k < i && asked < s->phase[i]; k++)
            if (between(s, k, i) >= 0 && s->phase[k] > asked && !updates_x(s, k))
                return false;
    }
    return true;
}

static int compare(const scheduling *s, int i, int j)
{
    if (s->phase[i] != s->phase[j])
        return s->phase[i] < s->phase[j] ? -1 : 1;
    if (op_sweeps(&s->ops[i]) != op_sweeps(&s->ops[j]))
        return op_sweeps(&s->ops[i]) ? -1 : 1;
    if ((s->ops[i].kind == OP_APPLY) != (s->ops[j].kind == OP_APPLY))
        return s->ops[i].kind == OP_APPLY ? -1 : 1;
    return i < j ? -1 : 1;
}

/* Insertion sort: the sequence hardly changes from one try to the next. */
static void sort_sequence(scheduling *s)
{
    for (int k = 1; k < s->n; k++) {
        const int i = s->sequence[k];
        int at = k;
        for (; at > 0 && compare(s, s->sequence[at - 1], i) > 0; at--)
            s->sequence[at] = s->sequence[at - 1];
        s->sequence[at] = i;
    }
}

static int64_t cost(scheduling *s)
{
    sort_sequence(s);
    return traffic_run(&s->traffic, s->sequence, s->phase, NULL, NULL);
}

/* Shifts operations one by one while the traffic falls. */
static int64_t improve(scheduling *s, int last)
{
    int64_t best = cost(s);
    bool better = true;
    for (int round = 0; better && round < 8; round++) {
        better = false;
        for (int i = 0; i < s->n; i++) {
            if (!op_sweeps(&s->ops[i]))
                continue;
            const int from = s->phase[i], low = earliest(s, i), high = latest(s, i, last);
            int chosen = from;
            for (int f = low; f <= high && s->patience > 0; f++, s->patience--) {
                s->phase[i] = f;
                const int64_t now = f == from || !exits_are_served(s) ? INT64_MAX : cost(s);
                if (now < best) {
                    best = now;
                    chosen = f;
                    better = true;
                }
            }
            s->phase[i] = chosen;
        }
    }
    return best;
}

/* All as early as possible, then as late as possible; the better end is taken. */
static void fuse(scheduling *s)
{
    int last = 0;
    for (int j = 0; j < s->n; j++) {
        s->phase[j] = earliest(s, j);
        for (int i = 0; i < j; i++) /* at first, exits find x up to date */
            if (may_sink(s, i, j) && s->phase[i] > s->phase[j])
                s->phase[j] = s->phase[i];
        last = s->phase[j] > last ? s->phase[j] : last;
    }
    const size_t bytes = (size_t)s->n * sizeof *s->phase;
    memcpy(s->best, s->phase, bytes);
    const int64_t early = improve(s, last);
    int *kept = s->phase;
    s->phase = s->best;
    for (int i = s->n - 1; i >= 0; i--) {
        const int from = s->phase[i];
        if (op_sweeps(&s->ops[i]))
            s->phase[i] = latest(s, i, last);
        if (!exits_are_served(s))
            s->phase[i] = from;
    }
    const int64_t late = improve(s, last);
    if (late < early) {
        s->best = kept;
    } else {
        s->best = s->phase;
        s->phase = kept;
    }
}

/*
 * Scalar work is put off as far as it goes: inner products that are needed at one point are all
 * taken at it, and phases without an exit between them run in one parallel region. Exits are not
 * put off past a product that follows in the text, which would be wasted when the solve ends.
 */
static void put_off(scheduling *s)
{
    int last = 0;
    for (int i = 0; i < s->n; i++)
        last = s->phase[i] > last ? s->phase[i] : last;
    for (int i = s->n - 1; i >= 0; i--) {
        if (op_sweeps(&s->ops[i]) || s->ops[i].kind == OP_NONE)
            continue;
        int to = latest(s, i, last);
        /* Where an update of x that waits for it is late for an exit, the exit needs it. */
        for (int k = i + 1; k < s->n && !op_exits(&s->ops[i]); k++)
            if (between(s, i, k) >= 0 && updates_x(s, k) && first_asked(s, k) < s->phase[k])
                to = to < first_asked(s, k) ? to : first_asked(s, k);
        for (int k = i + 1; op_exits(&s->ops[i]) && k < s->n; k++)
            if (s->ops[k].kind == OP_APPLY && s->phase[k] > s->phase[i] && s->phase[k] <= to)
                to = s->phase[k] - 1;
        s->phase[i] = to;
    }
}

/* Whether operation j needs an inner product of a phase. */
static bool needs_sums(const scheduling *s, int j, int when)
{
    for (int i = 0; i < j; i++)
        if (s->ops[i].kind == OP_DOT && s->phase[i] == when &&
            plan_needs_sum(s->p, &s->ops[i], &s->ops[j]))
            return true;
    return false;
}

/* Whether a phase begins with a product, and its sweep does without the reductions of the one
 * before. */
static bool can_hide(const scheduling *s, int when)
{
    bool product = false, sums = false;
    for (int j = 0; j < s->n; j++) {
        const bool now = s->phase[j] == when && op_sweeps(&s->ops[j]);
        if (now && needs_sums(s, j, when - 1))
            return false;
        product = product || (now && s->ops[j].kind == OP_APPLY);
        sums = sums || (s->phase[j] == when - 1 && s->ops[j].kind == OP_DOT);
    }
    return product && sums;
}

/*
 * On ranks, where exits alone need the reductions of a phase at once, they are put off past a
 * product that follows: one product wasted at the end is less than to wait for reductions in each
 * iteration.
 */
static void hide_sums(scheduling *s)
{
    const size_t bytes = (size_t)s->n * sizeof *s->phase;
    int last = 0;
    for (int i = 0; i < s->n; i++)
        last = s->phase[i] > last ? s->phase[i] : last;
    for (int f = 0; f < last; f++) {
        bool can = can_hide(s, f + 1);
        memcpy(s->best, s->phase, bytes);
        for (int i = s->n - 1; i >= 0 && can; i--) {
            if (s->phase[i] != f || op_sweeps(&s->ops[i]) || s->ops[i].kind == OP_NONE ||
                (!op_exits(&s->ops[i]) && !needs_sums(s, i, f)))
                continue;
            can = op_exits(&s->ops[i]) && latest(s, i, last) > f;
            s->phase[i] = f + 1;
        }
        if (!can)
            memcpy(s->phase, s->best, bytes);
    }
}

/* Every operation of a sweep gets a phase of its own. */
static void separate(scheduling *s)
{
    int now = -1;
    for (int i = 0; i < s->n; i++) {
        if (op_sweeps(&s->ops[i]))
            now++;
        s->phase[i] = now < 0 ? 0 : now;
    }
    /* Scalar work at the beginning is done after the first sweep's phase: it must not be needed
     * in it. */
    if (s->n > 0 && !op_sweeps(&s->ops[0]))
        for (int i = 0; i < s->n; i++)
            if (op_sweeps(&s->ops[i]))
                s->phase[i]++;
    for (int i = 1; i < s->n; i++)
        if (!op_sweeps(&s->ops[i]) && s->phase[i] < s->phase[i - 1])
            s->phase[i] = s->phase[i - 1];
}

static void note_traffic(void *data, int phase_index, const vref *v, bool read, bool written)
{
    scheduling *s = data;
    plan *p = s->p;
    phase *f = &p->phases[s->block->phase + phase_index];
    /* Room for all was made before. */
    p->traffics[f->traffic + f->traffic_count++] = (traffic){*v, read, written};
}

static spry_status make_room(plan *p, int phases, int traffics)
{
    spry_context *ctx = p->ctx;
    spry_status status = SPRY_STATUS_OK;
    if (p->phase_count + phases > p->phase_room) {
        const int room = 2 * (p->phase_count + phases);
        SPRY_GO(ctx, base_grow(ctx, p->phase_count, room, sizeof *p->phases, &p->phases));
        p->phase_room = room;
    }
    if (p->traffic_count + traffics > p->traffic_room) {
        const int room = 2 * (p->traffic_count + traffics);
        SPRY_GO(ctx, base_grow(ctx, p->traffic_count, room, sizeof *p->traffics, &p->traffics));
        p->traffic_room = room;
    }
done:
    return status;
}

/* Puts the operations into the order of the phases and notes what each phase moves. */
static spry_status settle(scheduling *s)
{
    plan *p = s->p;
    spry_context *ctx = p->ctx;
    node *block = s->block;
    plan_op *sorted = NULL;
    spry_status status = SPRY_STATUS_OK;
    int phases = 0, kept = 0;
    sort_sequence(s);
    for (int i = 0; i < s->n; i++)
        phases = s->phase[i] >= phases ? s->phase[i] + 1 : phases;
    const int items = s->traffic.item_count;
    SPRY_GO(ctx, make_room(p, phases, phases * items));
    block->phase = p->phase_count;
    block->phases = phases;
    for (int f = 0; f < phases; f++)
        p->phases[p->phase_count + f] =
            (phase){.first = block->first, .traffic = p->traffic_count + f * items};
    p->phase_count += phases;
    p->traffic_count += phases * items;
    traffic_run(&s->traffic, s->sequence, s->phase, note_traffic, s);
    SPRY_GO(ctx, base_alloc(ctx, s->n, sizeof *sorted, &sorted));
    for (int k = 0; k < s->n; k++) {
        plan_op o = s->ops[s->sequence[k]];
        if (o.kind == OP_NONE)
            continue;
        o.phase = s->phase[s->sequence[k]];
        phase *f = &p->phases[block->phase + o.phase];
        if (f->count == 0)
            f->first = block->first + kept;
        f->count++;
        f->sweep_count += op_sweeps(&o);
        sorted[kept++] = o;
    }
    memcpy(&p->ops[block->first], sorted, (size_t)kept * sizeof *sorted);
    for (int k = kept; k < s->n; k++)
        p->ops[block->first + k].kind = OP_NONE;
    block->count = kept;
done:
    base_free(ctx, sorted);
    return status;
}

static spry_status schedule_block(plan *p, node *block)
{
    spry_context *ctx = p->ctx;
    spry_status status = SPRY_STATUS_OK;
    scheduling s = {.p = p, .block = block, .n = block->count, .ops = &p->ops[block->first]};
    if (s.n == 0)
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, traffic_open(p, block, &s.traffic));
    SPRY_GO(ctx, base_alloc(ctx, (int64_t)s.n * s.n, 1, &s.distance));
    SPRY_GO(ctx, base_calloc(ctx, s.n, sizeof *s.phase, &s.phase));
    SPRY_GO(ctx, base_calloc(ctx, s.n, sizeof *s.best, &s.best));
    SPRY_GO(ctx, base_alloc(ctx, s.n, sizeof *s.sequence, &s.sequence));
    for (int i = 0; i < s.n; i++)
        s.sequence[i] = i;
    find_distances(&s);
    if (p->setup.ranked)
        SPRY_GO(ctx, plan_part_products(p, s.ops, s.n, s.distance));
    if (p->setup.fuse) {
        int updates = 0;
        for (int i = 0; i < s.n; i++)
            updates += updates_x(&s, i);
        s.patience = MOST_TRIED / ((int64_t)s.n * (8 + updates));
        fuse(&s);
        put_off(&s);
        if (p->setup.ranked)
            hide_sums(&s);
    } else {
        separate(&s);
    }
    SPRY_GO(ctx, settle(&s));
    plan_find_waits(p, block);
done:
    if (s.traffic.p)
        traffic_close(&s.traffic);
    base_free(ctx, s.distance);
    base_free(ctx, s.phase);
    base_free(ctx, s.best);
    base_free(ctx, s.sequence);
    return status;
}

spry_status plan_schedule(plan *p)
{
    for (int i = 0; i < p->node_count; i++) {
        if (p->nodes[i].kind != NODE_BLOCK)
            continue;
        const spry_status status = schedule_block(p, &p->nodes[i]);
        if (status != SPRY_STATUS_OK)
            return status;
    }
    return SPRY_STATUS_OK;
}
