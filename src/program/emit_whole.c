/*
 * The loop of a method as one kernel, for systems so small that launches would take most of the
 * time: all groups run at once, and a barrier of all is where a phase ended. Only CUDA has
 * launches that allow it, so the text is CUDA's.
 */
#include "program/resident.h"

#define PUT(w, ...) base_text_put((w)->out, __VA_ARGS__)

static void put_phase(emit_job *w, int f)
{
    const phase *at = &w->p->phases[f];
    const int slots = (int)emit_slots(w->p, at);
    PUT(w, "    {\n    if (SP_LEADER)\n        st[ST_PHASES]++;\n");
    emit_body(w, f);
    PUT(w, "    }\n    sp_all(control, ++come);\n");
    if (slots > 0)
        PUT(w, "    sp_total_whole(%d, part, tot);\n    __syncthreads();\n", slots);
    if (emit_has_tail(w->p, at))
        PUT(w,
            "    if (SP_LOCAL_ID == 0)\n"
            "        tail_%d(SP_COMMON_PASS SP_COUNTERS_PASS, num, tot, 0, list);\n"
            "    __syncthreads();\n    if (st[ST_STOP] != 0)\n        goto out;\n",
            f);
    for (int i = at->first + at->sweep_count; i < at->first + at->count; i++)
        emit_counter(w, i);
    /* A group may write its next sums while another still reads these. */
    if (slots > 0)
        PUT(w, "    { number *const other = part; part = next_part; next_part = other; }\n");
}

static void put_nodes(emit_job *w, int first)
{
    const plan *p = w->p;
    emitter m = emit_expressions(w);
    for (int n = first; n != NONE; n = p->nodes[n].next) {
        const node *at = &p->nodes[n];
        const int c = at->kind == NODE_FOR ? w->counter[at->name] : NONE;
        if (at->kind == NODE_BLOCK) {
            for (int f = at->phase; f < at->phase + at->phases; f++)
                put_phase(w, f);
            continue;
        }
        PUT(w, "    {\n    int fault = -1;\n");
        if (at->kind == NODE_FOR) {
            PUT(w, "    const offset from = ");
            emit_count(&m, at->from);
            PUT(w, ", to = ");
            emit_count(&m, at->to);
            PUT(w, ";\n    for (offset k = from; k %s to; k%s) {\n    c%d = k;\n",
                at->down ? ">=" : "<=", at->down ? "--" : "++", c);
            put_nodes(w, at->body);
        } else {
            PUT(w, "    if (");
            emit_holds(&m, at->expr);
            PUT(w, ") {\n");
            put_nodes(w, at->body);
            PUT(w, "    } else {\n");
            put_nodes(w, at->other);
        }
        PUT(w, "    }\n    (void)fault;\n    }\n");
    }
}

/* Sums and scalars of the largest phase of the loop. */
static int64_t most_slots(const plan *p, int first)
{
    int64_t most = 1;
    for (int n = first; n != NONE; n = p->nodes[n].next) {
        const node *at = &p->nodes[n];
        int64_t own = 1;
        for (int f = at->phase; at->kind == NODE_BLOCK && f < at->phase + at->phases; f++)
            own = emit_slots(p, &p->phases[f]) > own ? emit_slots(p, &p->phases[f]) : own;
        if (at->kind != NODE_BLOCK)
            own = most_slots(p, at->body);
        if (at->kind == NODE_IF && most_slots(p, at->other) > own)
            own = most_slots(p, at->other);
        most = own > most ? own : most;
    }
    return most;
}

int64_t emit_whole_slots(const plan *p)
{
    return most_slots(p, p->section[SECTION_LOOP]);
}

spry_status emit_whole(emit_job *w)
{
    const plan *p = w->p;
    const int64_t words = w->rep_at + REP_FIRST, slots = emit_whole_slots(p);
    PUT(w, "#define SP_WHOLE 1\n");
    emit_common(w);
    for (int f = 0; f < p->phase_count; f++)
        emit_tail(w, f);
    PUT(w, "\nSP_KERNEL whole(");
    emit_arguments(w, NULL);
    PUT(w,
        ", const offset turns)\n{\n"
        "    __shared__ offset words[%" PRId64 "];\n"
        "    __shared__ number tot[%" PRId64 "];\n"
        "    __shared__ number sums[%" PRId64 " * SP_WARPS];\n"
        "    SP_WARP_ROOM(room);\n    SP_LANE_ROOM(lane_room);\n"
        "    offset *const control = st;\n",
        words + words % 2, slots, slots);
    PUT(w,
        "    for (int k = SP_LOCAL_ID; k < %" PRId64 "; k += SP_GROUP)\n"
        "        words[k] = control[k];\n    __syncthreads();\n    st = words;\n"
        "    number *const num = SP_NUM;\n"
        "    double *const list = SP_GROUP_ID == 0 ? (double *)(control + ST_REP) + REP_FIRST : "
        "0;\n"
        "    number *next_part = part + %" PRId64 " * (offset)SP_GROUPS;\n"
        "    unsigned int come = 0;\n",
        words, slots);
    for (int k = 0; k < w->counters; k++)
        PUT(w, "    offset c%d = 0;\n", k);
    PUT(w, "    if (st[ST_STOP] != 0)\n        return;\n"
           "    for (offset turn = 0; turn < turns; turn++) {\n");
    put_nodes(w, p->section[SECTION_LOOP]);
    PUT(w,
        "    }\nout:\n    __syncthreads();\n"
        "    for (int k = SP_LOCAL_ID; SP_GROUP_ID == 0 && k < %" PRId64 "; k += SP_GROUP)\n"
        "        if (k != ST_BARRIER)\n            control[k] = words[k];\n}\n",
        words);
    return w->out->status;
}
