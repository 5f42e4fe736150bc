/*
 * The sweep of a phase as a kernel. Elements go through all operations in registers: a vector that
 * lives in pieces on the host has no memory on the device either. Plain vectors are read before the
 * first operation and written after the last, a few elements of a work-item at a time, so that many
 * reads are under way; elements of arrays, which may be the same vector by different names, are
 * read and written where they stand.
 *
 * Where a phase has products, work-items go by the positions of the matrix's rows: the lanes of a
 * row add up its product, and the first of them does the rest. Rows of A^T and A^H have positions
 * of their own, so that a phase has products with one of these (see schedule.c).
 *
 * In texts whose right-hand sides see each other one launch, and one pass over the rows, serves the
 * columns of all of them. A work-item has the elements of all columns in registers: a vector of all
 * right-hand sides, [p], is read once for the sums of all columns, whose factors are in local
 * memory. Inner products with such vectors are matrices of SP_COLUMNS x SP_COLUMNS sums, of the
 * rows of each tile when all else of them is done (emit_gram.c).
 *
 * Vectors of a column are `apart` elements from those of the column before, x and b wherever the
 * caller has them. `takes` has the bits of the columns that take part in the launch; they have
 * their vectors in the same places. Those of [p] may be of columns that do not, and in other
 * places. Indices are counters, and so the same for all of them.
 */
#include "program/emit_sweep.h"

enum { LOCAL_SUMS_BYTES = 24 * 1024 };
/* Work-items per unit that registers must last for: where much is asked for at once, and with
 * columns (16 of doubles need about as many as leave room for two groups). */
enum { ITEMS_AT_ONCE = 1024, ITEMS_OF_COLUMNS = 512 };

/* Rows that ask for all they need at once are not waited for before the vectors are asked for;
 * others need the registers. */
static bool asks_at_once(const sweep_text *t)
{
    return !t->columns && t->turned != NONE && t->w->rows[t->turned].at_once &&
           t->w->group <= ITEMS_AT_ONCE;
}

static bool has_grams(const sweep_text *t)
{
    bool has = false;
    for (int i = 0; i < t->count; i++)
        has = has || plan_is_gram(&t->ops[i]);
    return has;
}

/* --- passes --------------------------------------------------------------------------------------
 */

/* The row's sum of a product with operand in[0] of operation op. */
static void put_product(const sweep_text *t, int op)
{
    const plan_op *o = &t->ops[op - t->first];
    PUT(t,
        "        scalar s%d[1];\n        s%d[0] = SP_ZERO;\n        if (i[0] >= 0)\n"
        "            %srow(%s, p%d",
        op, op, emit_prefix(t->turned), t->w->rows[t->turned].pass_text, o->in[0].var);
    emit_step(t, op, 0, &o->in[0]);
    PUT(t,
        ", 1, (int)at, lane, s%d);\n"
        "        s%d[0] = sp_lanes_sum(s%d[0], lanes, SP_LANES_PASS(lane_room));\n",
        op, op, op);
}

/* As many columns at a time as the rows' text makes; the last of them may be made twice. The
 * columns of x are apart by nothing that is known: one at a time. */
static void put_product_columns(const sweep_text *t, int op)
{
    const plan_op *o = &t->ops[op - t->first];
    const device_rows *rows = &t->w->rows[t->turned];
    const bool x = emit_is_caller(t->p, o->in[0].var);
    const int together = x ? 1 : rows->columns, C = t->w->columns;
    PUT(t,
        "        scalar s%d[SP_COLUMNS];\n        SP_UNROLL_SUMS for (int c = 0; c < %d; c++) {\n"
        "            const int j = c * %d < %d ? c * %d : %d;\n            scalar r[%d];\n"
        "            SP_UNROLL for (int k = 0; k < %d; k++)\n                r[k] = SP_ZERO;\n"
        "            if (i[0] >= 0 && (!%d || (ok%d >> j & 1)))\n                %srow(%s, &",
        op, (C + together - 1) / together, together, C - together, together, C - together,
        rows->columns, rows->columns, x, op, emit_prefix(t->turned), rows->pass_text);
    emit_place(t, op, 0, &o->in[0], "j", "0");
    PUT(t,
        ", %s, (int)at, lane, r);\n"
        "            SP_UNROLL_SUMS for (int k = 0; k < %d; k++)\n"
        "                s%d[j + k] = sp_lanes_sum(r[k], lanes, SP_LANES_PASS(lane_room));\n"
        "        }\n",
        x ? "0" : "apart", together, op);
}

/* Opens the loop over tiles: of the positions that all products of the phase have, with the row at
 * hand, ... */
static void open_product_tiles(const sweep_text *t)
{
    const device_rows *rows = &t->w->rows[t->turned];
    PUT(t,
        "    enum { lanes = %d };\n"
        "    const offset tiles = (positions + SP_GROUP / lanes - 1) / (SP_GROUP / lanes);\n"
        "    const offset run = sp_run(tiles);\n"
        "    for (offset tile = SP_GROUP_ID * run; tile < tiles;\n"
        "         tile += (tile + 1) & (run - 1) ? 1 : 1 + (SP_GROUPS - 1) * run) {\n"
        "        const offset at = tile * (SP_GROUP / lanes) + SP_LOCAL_ID / lanes;\n"
        "        const int lane = SP_LOCAL_ID %% lanes;\n"
        "        offset i[1] = {-1};\n"
        "        if (at < positions)\n            i[0] = %srow_at(%s, (int)at);\n"
        "        int on[1];\n        on[0] = i[0] >= 0 && lane == 0;\n",
        rows->lanes, emit_prefix(t->turned), rows->pass_text);
}

/* ... or of elements, which a pass with inner products of all columns alone does not need. */
static void open_tiles(const sweep_text *t, bool elements)
{
    PUT(t,
        "    for (offset tile = SP_GROUP_ID; tile * (SP_GROUP * %d) < n%d;\n"
        "         tile += SP_GROUPS) {\n",
        t->width, t->space);
    if (elements)
        PUT(t,
            "        offset i[%d];\n        int on[%d];\n"
            "        " EACH "{\n"
            "            i[u] = tile * (SP_GROUP * %d) + u * SP_GROUP + SP_LOCAL_ID;\n"
            "            on[u] = i[u] < n%d;\n        }\n",
            t->width, t->width, t->width, t->width, t->space);
}

static void put_loads(sweep_text *t)
{
    for (int i = 0; i < t->count; i++)
        if (emit_in_pass(t, &t->ops[i]))
            emit_loads(t, t->first + i);
}

static void put_stores(const sweep_text *t)
{
    for (int v = 0; v < t->p->var_count; v++)
        if (t->written[v])
            PUT(t, "        " EACH "if (on[u]) p%d[i[u]] = v%d[u];\n", t->width, v, v);
}

/* What a tile goes through. Columns, which need many registers, are loaded operation by operation.
 */
static void put_tile(sweep_text *t, bool product)
{
    const bool before = product && asks_at_once(t);
    if (before)
        put_loads(t);
    for (int i = 0; i < t->count; i++)
        if (t->ops[i].kind == OP_APPLY && emit_in_pass(t, &t->ops[i]))
            (t->columns ? put_product_columns : put_product)(t, t->first + i);
    if (!before && !t->columns)
        put_loads(t);
    for (int i = 0; i < t->count; i++) {
        if (!emit_in_pass(t, &t->ops[i]))
            continue;
        if (t->columns)
            emit_loads(t, t->first + i);
        emit_operation(t, t->first + i);
    }
    put_stores(t);
    emit_grams(t, product);
}

static void put_pass(sweep_text *t)
{
    bool any = false, slices = false, product = false;
    for (int i = 0; i < t->count; i++) {
        if (!emit_in_pass(t, &t->ops[i]))
            continue;
        any = true;
        product = product || t->ops[i].kind == OP_APPLY;
        slices = slices || plan_has_slice(t->p, &t->ops[i]);
    }
    if (!any && !emit_has_gram(t))
        return;
    t->width = product ? 1 : slices ? t->w->slice_width : t->w->width;
    memset(t->known, 0, (size_t)t->p->var_count);
    memset(t->written, 0, (size_t)t->p->var_count);
    if (product)
        open_product_tiles(t);
    else
        open_tiles(t, any);
    put_tile(t, product);
    emit_put(t, "    }\n");
}

/* --- reductions ----------------------------------------------------------------------------------
 */

/* Local memory of a kernel. */
static void put_rooms(const sweep_text *t)
{
    if (t->columns) {
        emit_put(t, "    SP_SUM_ROOM(sum_room);\n");
        emit_shared(t);
        if (has_grams(t))
            emit_put(t, "    SP_SHARED number kept[SP_GROUP];\n");
    } else if (t->slots > 0) {
        emit_put(t, "    SP_WARP_ROOM(room);\n");
        if (t->local_sums)
            PUT(t, "    SP_SHARED number sums[%" PRId64 " * SP_WARPS];\n", t->slots);
        else
            emit_put(t, "    SP_SUM_ROOM(sum_room);\n");
    }
    if (t->turned != NONE)
        emit_put(t, "    SP_LANE_ROOM(lane_room);\n");
    if (!t->columns && emit_has_tail(t->p, t->f))
        emit_put(t, "#ifdef SP_TICKETS\n    SP_TAIL_ROOM;\n#endif\n");
}

static void clear_sum(const sweep_text *t, int op)
{
    const plan_op *o = &t->p->ops[op];
    if (t->columns) {
        const int count = plan_is_gram(o) ? emit_gram_sums(t) : t->w->columns;
        PUT(t,
            "    number a%d[%d];\n    SP_UNROLL for (int k = 0; k < %d; k++)\n"
            "        a%d[k] = SP_NUMBER_ZERO;\n",
            op, count, count, op);
    } else {
        PUT(t, "    number a%d = SP_NUMBER_ZERO;\n", op);
    }
}

/* Sums in registers begin with zero, and those of slices where they are added up. */
static void clear_sums(const sweep_text *t)
{
    bool slices = false;
    for (int op = t->first; op < t->first + t->count; op++) {
        const plan_op *o = &t->p->ops[op];
        if (o->kind != OP_DOT)
            continue;
        if (plan_is_gram(o) || !emit_is_slice(&o->in[0])) {
            clear_sum(t, op);
            continue;
        }
        slices = true;
        if (!t->columns)
            PUT(t, "    const offset SLOT%d = %" PRId64 ";\n", op, emit_slot(t->p, t->f, op));
    }
    if (!t->columns && t->slots > 0 && t->local_sums)
        PUT(t,
            "    for (int k = SP_LOCAL_ID; k < %" PRId64 " * SP_WARPS; k += SP_GROUP)\n"
            "        sums[k] = SP_NUMBER_ZERO;\n    SP_BARRIER();\n",
            t->slots);
    else if (t->columns ? slices : t->slots > 0)
        PUT(t,
            "    for (int k = SP_LOCAL_ID; k < %" PRId64 "; k += SP_GROUP)\n"
            "        part[(offset)k * SP_GROUPS + SP_GROUP_ID] = SP_NUMBER_ZERO;\n"
            "    SP_BARRIER_GLOBAL();\n",
            t->columns ? t->slots * t->w->columns : t->slots);
}

static void collect_sums(const sweep_text *t)
{
    for (int op = t->first; op < t->first + t->count; op++) {
        const plan_op *o = &t->p->ops[op];
        const int64_t slot = emit_slot(t->p, t->f, op);
        if (plan_is_gram(o))
            emit_collect_gram(t, op);
        else if (o->kind != OP_DOT || emit_is_slice(&o->in[0]))
            continue;
        else if (t->columns)
            PUT(t,
                "    " COLUMN_SUMS "{\n"
                "        const number sum = sp_group_sum(a%d[j], sum_room);\n"
                "        if (SP_LOCAL_ID == 0)\n"
                "            part[(offset)(j * %" PRId64 " + %" PRId64 ") * SP_GROUPS + "
                "SP_GROUP_ID] = sum;\n    }\n",
                op, t->slots, slot);
        else if (t->local_sums)
            PUT(t, "    sp_put_sum(a%d, %d, room, sums);\n", op, (int)slot);
        else
            PUT(t, "    sp_keep_part(sp_group_sum(a%d, sum_room), %d, part);\n", op, (int)slot);
    }
    if (!t->columns && t->slots > 0 && t->local_sums)
        PUT(t, "    sp_put_part(%d, sums, part);\n", (int)t->slots);
}

/* --- the kernels ---------------------------------------------------------------------------------
 */

static spry_status open_text(sweep_text *t, emit_job *w, const phase *f)
{
    const plan *p = w->p;
    const int64_t warps = w->group / 32, size = emit_number_size(w->type);
    const bool columns = w->columns > 0;
    spry_status status = SPRY_STATUS_OK;
    *t = (sweep_text){.w = w,
                      .p = p,
                      .f = f,
                      .ops = &p->ops[f->first],
                      .first = f->first,
                      .count = f->sweep_count,
                      .slots = emit_slots(p, f),
                      .turned = emit_turned(p, f),
                      .columns = columns,
                      .over = columns ? COLUMN : "",
                      .of = columns ? "[j]" : "",
                      .at = columns ? "[j][u]" : "[u]",
                      .own = columns ? "own" : "st"};
    t->local_sums = t->slots * warps * size <= LOCAL_SUMS_BYTES;
    SPRY_GO(p->ctx, base_calloc(p->ctx, p->var_count + 1, 1, &t->known));
    SPRY_GO(p->ctx, base_calloc(p->ctx, p->var_count + 1, 1, &t->written));
done:
    return status;
}

static void close_text(sweep_text *t, spry_status status)
{
    if (status != SPRY_STATUS_OK)
        t->w->out->status = status;
    base_free(t->p->ctx, t->known);
    base_free(t->p->ctx, t->written);
}

static void put_body(sweep_text *t)
{
    clear_sums(t);
    emit_prologue(t);
    for (t->space = 0; t->space < 2; t->space++)
        put_pass(t);
    collect_sums(t);
}

/* The tail, by the last group. Sums of a slice that is shorter than its array are left out. */
static void put_end(const sweep_text *t, int phase_index)
{
    const plan *p = t->p;
    int slices = 0, slice = NONE;
    if (!emit_has_tail(p, t->f))
        return;
    if (t->w->joined) {
        if (t->slots > 0)
            PUT(t,
                "#ifdef SP_TICKETS\n    if (sp_last(st, &sp_flag))\n"
                "        sp_total(%d, SP_GROUPS, 0, 0, part, tail_room, tail_pieces, "
                "SP_TOTALS_AT(%d, SP_GROUPS));\n#endif\n",
                (int)t->slots, (int)t->slots);
        return;
    }
    for (int i = t->first; i < t->first + t->count; i++)
        if (p->ops[i].kind == OP_DOT && emit_is_slice(&p->ops[i].in[0])) {
            slices++;
            slice = i;
        }
    PUT(t,
        "#ifdef SP_TICKETS\n    if (sp_last(st, &sp_flag))\n        SP_END(tail_%d, %d, SP_GROUPS, "
        "0, ",
        phase_index, (int)t->slots);
    if (slices == 1)
        PUT(t, "(int)(SLOT%d + n%d_0), %d", slice, slice, (int)(emit_slot(p, t->f, slice + 1)));
    else
        emit_put(t, "0, 0");
    emit_put(t, ");\n#endif\n");
}

/* Groups that registers must last for; 0: as many as they happen to. Tiles of complex inner
 * products have more sums than leave room for two. */
static int groups_at_once(const sweep_text *t)
{
    if (t->columns)
        return has_grams(t) && spry_type_is_complex(t->w->type) ? 0
                                                                : ITEMS_OF_COLUMNS / t->w->group;
    return asks_at_once(t) ? ITEMS_AT_ONCE / t->w->group : 0;
}

/* The kernel NAME_NUMBER; of columns also sums_NUMBER, which adds up the sums of its groups. */
static void put_kernel(sweep_text *t, const char *name, int number)
{
    if (groups_at_once(t) > 0)
        PUT(t, "\nSP_KERNEL_OF(%d) %s_%d(", groups_at_once(t), name, number);
    else
        PUT(t, "\nSP_KERNEL %s_%d(", name, number);
    emit_arguments(t->w, t->f);
    emit_put(t, ")\n{\n");
    put_rooms(t);
    if (!t->columns)
        emit_put(t, "    SP_GLOBAL const number *const num = SP_NUM;\n");
    if (!t->columns && !t->alone)
        emit_put(t, "    if (st[ST_STOP] != 0)\n        return;\n"
                    "    if (SP_LEADER)\n        st[ST_PHASES]++;\n");
    put_body(t);
    if (!t->columns)
        put_end(t, number);
    emit_put(t, "}\n");
    if (t->columns && t->slots > 0)
        PUT(t,
            "\nSP_KERNEL sums_%d(SP_COMMON SP_COUNTERS, const int groups)\n{\n"
            "    SP_WARP_ROOM(room);\n    sp_total_columns(%" PRId64 " * SP_COLUMNS, groups, part, "
            "room);\n}\n",
            number, t->slots);
}

void emit_phase(emit_job *w, int phase_index)
{
    sweep_text t;
    const spry_status status = open_text(&t, w, &w->p->phases[phase_index]);
    if (status == SPRY_STATUS_OK)
        put_kernel(&t, "phase", phase_index);
    close_text(&t, status);
}

void emit_settle(emit_job *w, int op)
{
    const phase alone = {.first = op, .sweep_count = 1, .count = 1};
    sweep_text t;
    const spry_status status = open_text(&t, w, &alone);
    t.alone = true;
    if (status == SPRY_STATUS_OK)
        put_kernel(&t, "settle", op);
    close_text(&t, status);
}

void emit_body(emit_job *w, int phase_index)
{
    sweep_text t;
    const spry_status status = open_text(&t, w, &w->p->phases[phase_index]);
    if (status == SPRY_STATUS_OK)
        put_body(&t);
    close_text(&t, status);
}
