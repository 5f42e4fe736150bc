/* The program of a plan, or of some of its phases: what it defines, then its kernels. */
#include "program/resident.h"

enum { LOCAL_NUMBERS_BYTES = 16 * 1024, LOCAL_TOTALS_BYTES = 2 * 1024 };

#define PUT(w, ...) base_text_put((w)->out, __VA_ARGS__)

/* What kernels for the columns of all right-hand sides have: x and b of each come one by one where
 * memory has no addresses. */
static void put_columns(const emit_job *w)
{
    static const char *const kinds[] = {"SP_GLOBAL scalar *x", "SP_GLOBAL const scalar *b"};
    PUT(w, "#define SP_COLUMNS %d\n#define SP_WORDS ((offset)%" PRId64 ")\n", w->columns, w->words);
    PUT(w, "#define SP_COLUMN_VECTORS ");
    for (int k = 0; k < 2 * w->columns; k++)
        PUT(w, "%s%s%d", k > 0 ? ", " : "", kinds[k % 2], k / 2);
    for (int kind = 0; kind < 2; kind++) {
        PUT(w, "\n#define SP_ALL_%c {", "XB"[kind]);
        for (int k = 0; k < w->columns; k++)
            PUT(w, "%s%c%d", k > 0 ? ", " : "", "xb"[kind], k);
        PUT(w, "}");
    }
    PUT(w, "\n");
}

static void put_defines(const emit_job *w)
{
#define WORD_DEFINE(name) PUT(w, "#define ST_%s %d\n", #name, ST_##name);
    RESIDENT_WORDS(WORD_DEFINE)
#undef WORD_DEFINE
    const int64_t size = emit_number_size(w->type);
    PUT(w, "#define ST_SLOTS %d\n#define ST_NUM %" PRId64 "\n#define ST_REP %" PRId64 "\n",
        ST_SLOTS, w->num_at, w->rep_at);
    PUT(w, "#define REP_LOW %d\n#define REP_HIGH %d\n#define REP_LOOK %d\n", REP_LOW, REP_HIGH,
        REP_LOOK);
    PUT(w, "#define REP_GRADIENT_LOW %d\n#define REPORT_GRADIENT %d\n", REP_GRADIENT_LOW,
        REPORT_GRADIENT);
    PUT(w, "#define REP_GRADIENT %d\n#define REP_FIRST %d\n#define MOST_REPORTS %d\n", REP_GRADIENT,
        REP_FIRST, MOST_REPORTS);
    PUT(w, "#define SCALARS %" PRId64 "\n", w->p->scalar_count + 1);
    if ((w->p->scalar_count + 1) * size <= LOCAL_NUMBERS_BYTES && !w->joined)
        PUT(w, "#define SP_LOCAL_NUMBERS 1\n");
    int64_t slots = 1;
    for (int f = 0; f < w->p->phase_count; f++)
        slots =
            emit_slots(w->p, &w->p->phases[f]) > slots ? emit_slots(w->p, &w->p->phases[f]) : slots;
    if (slots * size <= LOCAL_TOTALS_BYTES && !w->joined)
        PUT(w, "#define SP_LOCAL_TOTALS %d\n", (int)slots);
    if (w->tickets)
        PUT(w, "#define SP_TICKETS 1\n");
    if (w->columns > 0)
        put_columns(w);
    PUT(w, "#define SP_COUNTERS");
    for (int k = 0; k < w->counters; k++)
        PUT(w, ", offset c%d", k);
    PUT(w, "\n#define SP_COUNTERS_PASS");
    for (int k = 0; k < w->counters; k++)
        PUT(w, ", c%d", k);
    PUT(w, "\n");
}

/* A stop keeps the loop variables for the host, which may be ahead. */
static void put_stop(const emit_job *w)
{
    const plan *p = w->p;
    PUT(w, "#define SP_STOP(kind, op) do { st[ST_STOP] = kind; st[ST_OP] = op;");
    for (int name = 0; name < p->program->name_count; name++) {
        if (w->counter[name] == NONE)
            continue;
        PUT(w, " num[%" PRId64 "] = ", p->offset[name]);
        PUT(w, spry_type_is_complex(w->type) ? "sp_make2d((double)c%d, 0.0);" : "(double)c%d;",
            w->counter[name]);
    }
    PUT(w, " return; } while (0)\n");
    PUT(w, "#define SP_TAIL_ROOM SP_SHARED int sp_flag; SP_WARP_ROOM(tail_room); SP_TAIL_TOTALS "
           "SP_TAIL_NUMBERS; "
           "(void)sp_flag\n");
}

void emit_common(emit_job *w)
{
    put_defines(w);
    PUT(w, "%s\n%s\n%s\n", device_text("numbers"), device_text("random"), device_text("resident"));
    put_stop(w);
    for (int turned = 0; turned < 3; turned++)
        if (w->rows[turned].text)
            PUT(w, "%s\n", w->rows[turned].text);
}

spry_status emit_program(emit_job *w)
{
    const plan *p = w->p;
    emit_common(w);
    for (int f = w->part; f < p->phase_count; f += w->parts) {
        emit_tail(w, f);
        emit_phase(w, f);
    }
    for (int i = w->part; i < p->op_count; i += w->parts)
        if (emit_skip_bit(p, i) >= 0)
            emit_settle(w, i);
    if (w->part > 0)
        return w->out->status;
    PUT(w, "\nSP_KERNEL unskip(SP_COMMON SP_COUNTERS, const offset left)\n{\n    if (SP_LEADER && "
           "st[ST_STOP] == 0)\n"
           "        st[ST_SKIP] = left;\n}\n");
    PUT(w,
        "\nSP_KERNEL accept(SP_COMMON SP_COUNTERS, SP_GLOBAL const scalar *made, const offset at, "
        "const offset n)\n{\n    if (st[ST_STOP] != 0)\n        return;\n"
        "    for (offset i = SP_GLOBAL_ID; i < n; i += (offset)SP_GROUPS * SP_GROUP)\n"
        "        mem[at + i] = made[i];\n}\n");
    return w->out->status;
}
