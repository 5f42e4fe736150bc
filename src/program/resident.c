/* A plan's memory and program on a device, and its launches. */
#include "program/resident.h"

#include "program/sweep.h"

#include <stdlib.h>

enum { ALIGN_ELEMENTS = 128, MOST_ARGUMENTS = 96 };

/* Elements from a vector to the next. */
static int64_t stride_of(const runner *r, int space)
{
    return (r->n[space] / ALIGN_ELEMENTS + 1) * ALIGN_ELEMENTS;
}

/* --- memory -------------------------------------------------------------------------------------
 */

/* Gives vectors their places, in elements; the number of all. Tables: slots, then bases of arrays.
 */
static int64_t place_vectors(resident *s)
{
    const plan *p = s->p;
    control_word *table = s->block.mirror + ST_SLOTS;
    int64_t used = s->memory.before;
    for (int k = 0; k < p->slots; k++)
        table[k].whole = -1;
    for (int v = 0; v < p->var_count; v++) {
        const plan_var *var = &p->vars[v];
        const int64_t stride = s->memory.stride[var->space];
        if (var->array) {
            table[p->slots + v].whole = used;
            used += var->extent * stride;
        } else if (!var->in_pieces && var->number != NONE && table[var->number].whole < 0) {
            table[var->number].whole = used;
            used += stride;
        }
    }
    return used - s->memory.before;
}

/* The memory of vectors and the control block: its own, or a part of the first right-hand side's
 * where right-hand sides see each other. */
static spry_status open_vectors(resident *s, int rhs_index, int64_t elements)
{
    const int64_t count = resident_together(s);
    spry_status status = SPRY_STATUS_OK;
    s->memory.apart = elements;
    s->memory.before = s->memory.columns > 0 ? rhs_index * elements : 0;
    if (s->memory.borrows) {
        s->memory.vectors = s->r->host->residents[0]->memory.vectors;
        s->memory.control = s->r->host->residents[0]->memory.control;
        return SPRY_STATUS_OK;
    }
    SPRY_GO(s->r->ctx, device_alloc(s->d, count * s->block.words * 8, &s->memory.control));
    SPRY_GO(s->r->ctx, device_alloc(s->d, count * elements * s->r->size, &s->memory.vectors));
done:
    return status;
}

/* Slots that share a number are as long as the longer space: numbers are not shared between
 * spaces (plan_store). */
static spry_status open_memory(resident *s, int rhs_index)
{
    spry_context *ctx = s->r->ctx;
    const plan *p = s->p;
    const int64_t words = spry_type_is_complex(s->r->type) ? 2 : 1;
    spry_status status = SPRY_STATUS_OK;
    int64_t vectors[2] = {0, 0};
    for (int space = 0; space < 2; space++)
        s->memory.stride[space] = stride_of(s->r, space);
    for (int v = 0; v < p->var_count; v++)
        vectors[p->vars[v].space] += p->vars[v].array ? p->vars[v].extent : 1;
    for (int space = 0; space < 2; space++)
        if (vectors[space] > INT64_MAX / 64 / s->memory.stride[space])
            return SPRY_FAIL(ctx, SPRY_STATUS_NO_MEMORY,
                             "%" PRId64 " vectors of %" PRId64 " elements", vectors[space],
                             s->r->n[space]);
    s->block.num_at = ST_SLOTS + p->slots + p->var_count;
    s->block.num_at += s->block.num_at % 2;
    s->block.rep_at = s->block.num_at + (p->scalar_count + 1) * words;
    s->block.words = s->block.rep_at + REP_FIRST + (s->memory.columns > 0 ? 0 : 2 * MOST_REPORTS);
    s->block.words += s->block.words % 2;
    SPRY_GO(ctx, base_calloc(ctx, s->block.words, sizeof *s->block.mirror, &s->block.mirror));
    SPRY_GO(ctx, base_calloc(ctx, p->slots + 1, sizeof *s->memory.slots, &s->memory.slots));
    SPRY_GO(ctx,
            base_calloc(ctx, p->slots + 1, sizeof *s->course.graph_slots, &s->course.graph_slots));
    const int64_t elements = place_vectors(s);
    if (!s->r->precompiles)
        SPRY_GO(ctx, open_vectors(s, rhs_index, elements));
done:
    return status;
}

/* Without waiting: the mirror does not change before the next resident_fetch(). */
spry_status resident_send(resident *s)
{
    /* All but the reports, which only come back. */
    return device_put_on(s->d->stream, s->memory.control, 0, s->block.mirror,
                         (s->block.rep_at + REP_FIRST) * 8);
}

spry_status resident_fetch(resident *s)
{
    return device_get(s->memory.control, 0, s->block.mirror, s->block.words * 8);
}

/* --- the program --------------------------------------------------------------------------------
 */

/* Variables of loops around sweeps. */
static spry_status find_counters(resident *s)
{
    spry_context *ctx = s->r->ctx;
    const plan *p = s->p;
    spry_status status = SPRY_STATUS_OK;
    const int names = p->program->name_count;
    SPRY_GO(ctx, base_alloc(ctx, names + 1, sizeof *s->code.counter, &s->code.counter));
    SPRY_GO(ctx, base_alloc(ctx, names + 1, sizeof *s->code.counter_names, &s->code.counter_names));
    for (int k = 0; k < names; k++)
        s->code.counter[k] = NONE;
    for (int n = 0; n < p->node_count; n++) {
        const node *loop = &p->nodes[n];
        if (loop->kind != NODE_FOR || s->code.counter[loop->name] != NONE)
            continue;
        s->code.counter_names[s->code.counters] = loop->name;
        s->code.counter[loop->name] = s->code.counters++;
    }
    if (s->code.counters > MOST_COUNTERS)
        status = SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                           "%s: loops with %d different variables; on a device %d at most",
                           p->program->source, s->code.counters, MOST_COUNTERS);
done:
    return status;
}

/* Whether what an operator that is called makes can be held back: made aside, it is copied by a
 * kernel that knows of stops. A caller's function may count on being called no more than needed. */
static bool can_hold(const resident *s, const plan_op *o)
{
    const spry_operator *op = s->r->operators[o->op];
    return op && device_of(op) == s->d && !op->class->gave_nonfinite &&
           o->out.var != s->p->var_of_name[NAME_X];
}

static spry_status open_operators(resident *s)
{
    const plan *p = s->p;
    spry_status status = SPRY_STATUS_OK;
    s->code.group = RESIDENT_GROUP;
    s->course.held = true;
    for (int i = 0; i < p->op_count; i++) {
        const plan_op *o = &p->ops[i];
        s->course.calls = s->course.calls || plan_calls(p, o);
        s->course.held = s->course.held && (!plan_calls(p, o) || can_hold(s, o));
        if (o->kind == OP_DIAGONAL && s->r->operators[o->op])
            s->code.diagonal[o->transpose] = device_diagonal(s->r->operators[o->op], o->transpose);
        device_rows *rows = &s->code.rows[o->transpose];
        if (o->kind != OP_APPLY || plan_calls(p, o) || rows->text)
            continue;
        SPRY_GO(p->ctx,
                device_open_rows(s->r->operators[OPERATOR_A], o->transpose,
                                 emit_prefix((int)o->transpose), resident_together(s), rows));
        if (rows->group > 0 &&
            s->memory.columns == 0) /* else teams for all tiles of inner products */
            s->code.group = rows->group;
    }
done:
    return status;
}

/* What there is to do at once: numbers of the longer vectors, or positions of the rows' lanes where
 * there is a product. */
static int64_t work_of(const resident *s, int turned)
{
    const int64_t numbers = s->r->n[0] > s->r->n[1] ? s->r->n[0] : s->r->n[1];
    const int64_t places =
        turned == NONE ? 0 : s->code.rows[turned].positions * s->code.rows[turned].lanes;
    return places > numbers ? places : numbers;
}

/* Elements per work-item at a time: several where there is enough for all groups all the same; sums
 * over lanes, which slices have for each of their vectors, are worth more. */
static void choose_widths(const resident *s, int group, emit_job *w)
{
    const int64_t n = work_of(s, NONE);
    const int64_t items = (int64_t)group * s->d->facts.units;
    const int wide = s->r->size > 8 ? 4 : 8, slice_wide = 4;
    w->width = n > 8 * wide * items ? wide : 1;
    w->slice_width = n >= slice_wide * items ? slice_wide : 1;
    if (s->memory.columns > 0) /* a work-item has as many of all columns */
        w->width = w->slice_width = s->r->size <= 8 && n >= 2 * items ? 2 : 1;
}

typedef spry_status text_writer(emit_job *w);

enum { WHOLE_GROUP = 512 };

/* A text, and the options to compile it with. */
typedef struct resident_text {
    char *text, options[160];
} resident_text;

static device_text_job job_of(const resident_text *t)
{
    return (device_text_job){.text = t->text, .options = t->options};
}

/* Of the values of all rows: the same. */
static stored_kind rows_kind(const resident *s)
{
    stored_kind kind = s->code.rows[0].kind;
    for (int turned = 0; turned < 3; turned++)
        kind = s->code.rows[turned].text ? s->code.rows[turned].kind : kind;
    return kind;
}

static spry_status write_text(resident *s, text_writer *write, int part, resident_text *t)
{
    spry_context *ctx = s->r->ctx;
    const bool whole = write == emit_whole;
    const int group = whole ? WHOLE_GROUP : s->code.group;
    base_text out = {.ctx = ctx};
    emit_job w = {.p = s->p,
                  .group = group,
                  .type = s->r->type,
                  .tickets = s->d->facts.has_tickets,
                  .joined = s->joined,
                  .columns = s->memory.columns,
                  .words = s->block.words,
                  .rows = s->code.rows,
                  .counters = s->code.counters,
                  .counter = s->code.counter,
                  .num_at = s->block.num_at,
                  .rep_at = s->block.rep_at,
                  .part = part,
                  .parts = s->code.parts,
                  .out = &out};
    choose_widths(s, group, &w);
    (void)write(&w);
    const spry_status status = base_text_take(&out, &t->text);
    const char *dump = getenv("SPRY_DEVICE_DUMP");
    if (status == SPRY_STATUS_OK && dump && dump[0])
        base_log(ctx, SPRY_LOG_DEBUG, "%s", t->text);
    snprintf(t->options, sizeof t->options, "-DSP_TYPE=%d -DSP_KIND=%d -DSP_GROUP=%d %s",
             (int)s->r->type, (int)rows_kind(s), group, whole ? "-DSP_RESIDENT=1" : "");
    return status;
}

/* A device that can run the loop as one kernel does so where a turn's data stay in its cache, and
 * what a group needs fits into local memory. */
static bool may_be_whole(const resident *s, int64_t turn_bytes)
{
    enum { MOST_LOCAL = 44 * 1024 };
    const int64_t size = emit_number_size(s->r->type);
    const int64_t slots = emit_whole_slots(s->p);
    const int64_t local = (s->block.rep_at + REP_FIRST) * 8 + slots * size * (1 + WHOLE_GROUP / 32);
    return s->course.turns_alike && !s->course.calls && s->d->facts.has_cooperation &&
           local <= MOST_LOCAL && turn_bytes <= s->d->facts.cache_bytes;
}

/* The programs of the phases. The loop as one kernel, which is asked for later, is compiled at the
 * same time where it is likely to be used. */
static spry_status build_programs(resident *s)
{
    spry_context *ctx = s->r->ctx;
    const spry_operator *A = s->r->operators[OPERATOR_A];
    const base_kept before = base_try(ctx);
    resident_text texts[RESIDENT_MOST_PARTS + 1] = {{0}};
    device_text_job jobs[RESIDENT_MOST_PARTS + 1];
    int count = 0;
    spry_status status = SPRY_STATUS_OK;
    const bool parallel = s->d->facts.has_compilers;
    s->code.parts = !parallel                                 ? 1
                    : s->p->phase_count < RESIDENT_MOST_PARTS ? s->p->phase_count
                                                              : RESIDENT_MOST_PARTS;
    s->code.parts = s->code.parts > 0 ? s->code.parts : 1;
    for (; count < s->code.parts; count++)
        SPRY_GO(ctx, write_text(s, emit_program, count, &texts[count]));
    const double each = A->rows > 0 ? (double)A->own_bytes / (double)A->rows : 0;
    if (parallel && may_be_whole(s, (int64_t)(each * (double)s->r->n[0])))
        SPRY_GO(ctx, write_text(s, emit_whole, 0, &texts[count++]));
    for (int k = 0; k < count; k++)
        jobs[k] = job_of(&texts[k]);
    for (int k = 0; s->r->precompiles && k < count; k++)
        device_precompile(s->d, jobs[k].text, jobs[k].options);
    if (s->r->precompiles)
        goto done;
    status = device_build_all(s->d, jobs, count);
    if (status != SPRY_STATUS_OK && count > s->code.parts && !s->d->lost) {
        base_forgive(ctx, &before); /* it may go without the other */
        status = device_build_all(s->d, jobs, s->code.parts);
    }
    SPRY_GO(ctx, status);
    for (int k = 0; k < s->code.parts; k++)
        s->code.programs[k] = jobs[k].program;
done:
    for (int k = 0; k <= RESIDENT_MOST_PARTS; k++)
        base_free(ctx, texts[k].text);
    return status;
}

spry_status resident_build_whole(resident *s, int64_t turn_bytes)
{
    spry_context *ctx = s->r->ctx;
    const int64_t size = emit_number_size(s->r->type);
    const int64_t slots = emit_whole_slots(s->p);
    resident_text t = {0};
    spry_status status = SPRY_STATUS_OK;
    s->whole.tried = true;
    if (!may_be_whole(s, turn_bytes))
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, write_text(s, emit_whole, 0, &t));
    SPRY_GO(ctx, device_build(s->d, t.text, t.options, &s->whole.program));
    const phase all = {.sweep_count = s->p->op_count};
    const int64_t work = work_of(s, emit_turned(s->p, &all));
    const int64_t most = device_whole_groups(s->whole.program, "whole", WHOLE_GROUP);
    const int64_t enough = (work + WHOLE_GROUP - 1) / WHOLE_GROUP;
    s->whole.group = WHOLE_GROUP;
    s->whole.groups = most < enough ? most : enough;
    if (s->whole.groups > 0)
        SPRY_GO(ctx, device_alloc(s->d, 2 * slots * s->whole.groups * size, &s->whole.partials));
    else
        s->whole.program = NULL;
done:
    base_free(ctx, t.text);
    return status;
}

/* As many groups as run at once; fewer where there is not enough to do. (Not fewer for the sake of
 * the one that adds up what all have: what is in flight at once counts for more.) */
static int64_t groups_of(const resident *s, const emit_job *w, int index)
{
    const phase *f = &s->p->phases[index];
    const int64_t work = work_of(s, emit_turned(s->p, f)), units = s->d->facts.units;
    const int64_t piece = (int64_t)s->code.group * emit_width(w, f);
    const int64_t enough = (work + piece - 1) / piece;
    char name[32];
    snprintf(name, sizeof name, "phase_%d", index);
    int64_t groups =
        device_whole_groups(s->code.programs[index % s->code.parts], name, s->code.group);
    if (groups <= 0)
        groups = units * (s->d->facts.processor ? 1 : 8);
    return groups < enough ? groups : enough > 0 ? enough : 1;
}

static spry_status find_groups(resident *s)
{
    spry_context *ctx = s->r->ctx;
    const plan *p = s->p;
    const int64_t size = emit_number_size(s->r->type);
    int64_t most_sums = 1;
    emit_job w = {.p = p};
    spry_status status = SPRY_STATUS_OK;
    choose_widths(s, s->code.group, &w);
    SPRY_GO(ctx, base_alloc(ctx, p->phase_count + 1, sizeof *s->code.groups, &s->code.groups));
    for (int f = 0; f < p->phase_count; f++) {
        s->code.groups[f] = groups_of(s, &w, f);
        const int64_t slots = emit_slots(p, &p->phases[f]) * resident_together(s);
        const int64_t sums = slots * (s->code.groups[f] + 1);
        most_sums = sums > most_sums ? sums : most_sums;
    }
    SPRY_GO(ctx, device_alloc(s->d, most_sums * size, &s->memory.partials));
done:
    return status;
}

static int add_common(const resident *s, const device_memory *partials, device_arg *args)
{
    int used = 0;
    args[used++] = device_arg_memory(s->memory.control);
    args[used++] = device_arg_memory(s->memory.vectors);
    const int rhs_count = resident_together(s);
    for (int k = 0; !s->d->facts.has_pointers && k < rhs_count; k++) {
        /* else their addresses are in the control block */
        const rhs *l = s->memory.columns > 0 && k < s->r->rhs_count ? &s->r->rhs[k] : s->l;
        args[used++] = device_arg_memory(l->x);
        args[used++] = device_arg_memory(l->b);
    }
    args[used++] = device_arg_memory(partials);
    return used;
}

/* What a phase reads in addition to vectors: the matrix, diagonals. */
static int add_operators(const resident *s, const phase *f, device_arg *args, int used)
{
    const plan *p = s->p;
    bool given[3] = {false};
    for (int turned = 0; turned < 3; turned++) {
        const device_rows *rows = &s->code.rows[turned];
        const int count = emit_has_product(p, f, turned) ? rows->arg_count : 0;
        for (int k = 0; k < count; k++)
            args[used++] = rows->args[k];
    }
    for (int i = f->first; i < f->first + f->sweep_count; i++) {
        const plan_op *o = &p->ops[i];
        if (o->kind != OP_DIAGONAL || given[o->transpose])
            continue;
        given[o->transpose] = true;
        args[used++] = device_arg_memory(s->code.diagonal[o->transpose]);
    }
    return used;
}

spry_status resident_launch_whole(resident *s, int64_t turns)
{
    const phase all = {.sweep_count = s->p->op_count};
    device_arg args[MOST_ARGUMENTS];
    int used = add_operators(s, &all, args, add_common(s, s->whole.partials, args));
    args[used++] = DEVICE_VALUE(turns);
    return device_launch_whole(s->whole.program, "whole", s->whole.groups, s->whole.group, args,
                               used);
}

spry_status resident_launch(resident *s, const char *kernel, int number, const phase *f,
                            int64_t groups, const device_arg *more, int count)
{
    const plan *p = s->p;
    device_arg args[MOST_ARGUMENTS];
    int64_t counters[MOST_COUNTERS];
    char name[48];
    int used = add_common(s, s->memory.partials, args);
    for (int k = 0; k < s->code.counters; k++) {
        counters[k] = (int64_t)s->l->scalars.values[p->offset[s->code.counter_names[k]]].re;
        args[used++] = DEVICE_VALUE(counters[k]);
    }
    if (f)
        used = add_operators(s, f, args, used);
    for (int k = 0; k < count; k++)
        args[used++] = more[k];
    snprintf(name, sizeof name, number == NONE ? "%s" : "%s_%d", kernel, number);
    device_program *part = s->code.programs[number == NONE ? 0 : number % s->code.parts];
    return device_launch(part, name, NULL, groups, s->code.group, args, used);
}

/* --- the object ---------------------------------------------------------------------------------
 */

spry_status resident_open(runner *r)
{
    return resident_make(r, false, 0, &r->resident);
}

spry_status resident_make(runner *r, bool joined, int rhs_index, resident **out)
{
    spry_context *ctx = r->ctx;
    resident *s = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *s, &s));
    *out = s;
    s->r = r;
    s->p = r->p;
    s->joined = joined;
    s->d = device_of(r->operators[OPERATOR_A]);
    s->memory.columns = r->p->program->block ? r->rhs_room : 0;
    s->memory.borrows = s->memory.columns > 0 && rhs_index > 0;
    SPRY_GO(ctx, find_counters(s));
    SPRY_GO(ctx, open_operators(s));
    SPRY_GO(ctx, open_memory(s, rhs_index));
    if (joined)
        s->course.held = false;
    else
        SPRY_GO(ctx, resident_open_course(s));
    if (!s->memory.borrows)
        SPRY_GO(ctx, build_programs(s));
    if (!s->memory.borrows && !r->precompiles)
        SPRY_GO(ctx, find_groups(s));
done:
    return status;
}

void resident_close(runner *r)
{
    resident_free(r, r->resident);
    r->resident = NULL;
}

void resident_free(runner *r, resident *s)
{
    if (!s)
        return;
    if (s->memory.control && !s->d->lost) /* what was sent without waiting is the mirror's */
        (void)device_finish(s->d);
    device_graph_free(s->course.graph);
    device_memory *const blocks[] = {s->memory.borrows ? NULL : s->memory.control,
                                     s->memory.borrows ? NULL : s->memory.vectors,
                                     s->memory.partials,
                                     s->memory.call_in,
                                     s->memory.call_out,
                                     s->whole.partials};
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++)
        device_free(blocks[k]);
    void *const arrays[] = {s->code.rows[0].text,  s->code.rows[1].text, s->code.rows[2].text,
                            s->block.mirror,       s->memory.slots,      s->code.counter,
                            s->code.counter_names, s->code.groups,       s->course.legs,
                            s->course.leg_of,      s->course.loop_end,   s->batch.bytes,
                            s->batch.turn_bytes,   s->memory.host_in,    s->memory.host_out,
                            s->course.graph_slots, s->course.loose,      s->block.copies};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        base_free(r->ctx, arrays[k]);
    base_free(r->ctx, s);
}

/* The right-hand side has the device's memory now. */
spry_status resident_clear(runner *r, rhs *l)
{
    return resident_prepare(r->resident, l);
}

spry_status resident_prepare(resident *s, rhs *l)
{
    const runner *r = s->r;
    const plan *p = s->p;
    spry_context *ctx = r->ctx;
    control_word *mirror = s->block.mirror;
    spry_status status = SPRY_STATUS_OK;
    s->l = l;
    (void)place_vectors(s); /* where they were at first: a recording may know addresses */
    mirror[ST_FAULT].whole = NONE;
    mirror[ST_BEFORE].whole = s->memory.before;
    mirror[ST_APART].whole = s->memory.apart;
    for (int space = 0; space < 2; space++) {
        mirror[ST_STRIDE0 + space].whole = s->memory.stride[space];
        mirror[ST_N0 + space].whole = r->n[space];
        mirror[ST_FIRST0 + space].whole = r->parts[space].is ? r->parts[space].first : 0;
        mirror[ST_ALL0 + space].whole = r->parts[space].is ? r->parts[space].all : r->n[space];
    }
    for (int turned = 0; turned < 3; turned++)
        mirror[ST_POSITIONS + turned].whole = s->code.rows[turned].positions;
    if (s->d->facts.has_pointers) {
        mirror[ST_X].whole = (int64_t)(intptr_t)device_address(l->x);
        mirror[ST_B].whole = (int64_t)(intptr_t)device_address(l->b);
    }
    for (int k = 0; k < p->slots; k++)
        s->memory.slots[k] = mirror[ST_SLOTS + k].whole;
    resident_give(s);
    /* Last: a rank that fails at this point goes on for the sake of the others, with what is in
     * place. */
    for (int v = 0; v < p->var_count; v++) {
        const plan_var *var = &p->vars[v];
        const bool plain = !var->array && !var->in_pieces && var->number != NONE;
        const int64_t bytes = s->memory.stride[var->space] * r->size;
        if (!var->seen_before || !(plain || var->array) || (r->used && plan_keeps(p, v)))
            continue;
        const int64_t at = mirror[ST_SLOTS + (var->array ? p->slots + v : var->number)].whole;
        SPRY_GO(ctx, device_clear(s->memory.vectors, at * r->size,
                                  var->array ? var->extent * bytes : bytes));
    }
done:
    return status;
}
