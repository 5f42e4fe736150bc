/* Inner products with vectors of all right-hand sides, as matrices of SP_COLUMNS x SP_COLUMNS sums:
 * teams of 32 work-items have a tile of them each. */
#include "program/emit_sweep.h"

/* A tile of inner products: vectors on the left and on the right. */
enum { TEAM = 32, TILE_LEFT = 4, TILE_RIGHT = 8, TILE = TILE_LEFT * TILE_RIGHT };
_Static_assert((int)TILE == (int)TEAM, "a work-item of a team gets one sum of a tile");

/* Where a team's vectors begin; a vector that is missing is replaced by another, whose sums are
 * dropped. */
static void put_gram_places(const sweep_text *t, int op, int side)
{
    const vref *v = &t->p->ops[op].in[side];
    const int count = side == 0 ? TILE_LEFT : TILE_RIGHT;
    const char *const name = side == 0 ? "left" : "right";
    PUT(t,
        "        SP_GLOBAL const scalar *at_%s[%d];\n"
        "        SP_UNROLL for (int k = 0; k < %d; k++) {\n"
        "            const int present = %s + k < SP_COLUMNS && (%s >> (%s + k) & 1);\n"
        "            const offset of = present ? %s + k : first;\n"
        "            at_%s[k] = ",
        name, count, count, name, side == 0 ? "st[ST_MEMBERS]" : "takes", name, name, name);
    if (v->all) {
        PUT(t, "mem + st[of * SP_WORDS + ST_SLOTS + %d]", emit_word(t->p, v->var));
        emit_step(t, op, side, v);
    } else {
        emit_put(t, "&");
        emit_place(t, op, side, v, "of", "0");
    }
    emit_put(t, ";\n        }\n");
}

/* How the teams of a group share the tiles of inner products of all columns. */
typedef struct gram_shape {
    int teams, across, tiles, side_by_side, pieces, passes;
} gram_shape;

static gram_shape shape_of(const sweep_text *t)
{
    const int C = t->w->columns, teams = t->w->group / TEAM;
    const int across = (C + TILE_LEFT - 1) / TILE_LEFT;
    const int tiles = across * ((C + TILE_RIGHT - 1) / TILE_RIGHT);
    return (gram_shape){.teams = teams,
                        .across = across,
                        .tiles = tiles,
                        .side_by_side = tiles < teams ? tiles : teams,
                        .pieces = teams > tiles ? teams / tiles : 1,
                        .passes = (tiles + teams - 1) / teams};
}

int emit_gram_sums(const sweep_text *t)
{
    return shape_of(t).passes;
}

bool emit_has_gram(const sweep_text *t)
{
    bool has = false;
    for (int i = 0; i < t->count; i++)
        has = has || (plan_is_gram(&t->ops[i]) && emit_space(t->p, &t->ops[i]) == t->space);
    return has;
}

/*
 * The inner products of all columns over some rows that the group has just made, or read, and that
 * are still near: those at `begin` to `end`. A team goes through rows, neighbours adjacent,
 * with the sums of a tile of TILE_LEFT x TILE_RIGHT in registers; then a work-item has one of them,
 * which it adds to what it has of the rows before. The teams of a group have different tiles of the
 * same rows, and where there are more teams than tiles different pieces of the rows. Tiles at the
 * edge have the last column several times. (Two rows at a time would not leave registers for two
 * groups.)
 */
static void put_gram(const sweep_text *t, int op, bool product)
{
    const plan_op *o = &t->p->ops[op];
    const gram_shape s = shape_of(t);
    PUT(t,
        "        for (int pass = 0; ok%d && pass < %d; pass++) {\n"
        "        const int team = SP_LOCAL_ID / %d, member_of = SP_LOCAL_ID %% %d;\n"
        "        const int gram = pass * %d + team %% %d, piece = team / %d;\n"
        "        const int left = gram %% %d * %d, right = gram / %d * %d;\n"
        "        number a[%d];\n"
        "        SP_UNROLL for (int k = 0; k < %d; k++)\n            a[k] = SP_NUMBER_ZERO;\n",
        op, s.passes, TEAM, TEAM, s.teams, s.side_by_side, s.side_by_side, s.across, TILE_LEFT,
        s.across, TILE_RIGHT, TILE, TILE);
    for (int side = 0; side < 2; side++)
        put_gram_places(t, op, side);
    PUT(t,
        "        if (gram < %d && piece < %d) {\n            SP_UNROLL_BY(1)\n"
        "            for (offset q = begin + piece * %d + member_of; q < end; q += %d) {\n"
        "                const offset i = ",
        s.tiles, s.pieces, TEAM, s.pieces * TEAM);
    if (product)
        PUT(t, "%srow_at(%s, (int)q);\n                if (i < 0)\n                    continue;\n",
            emit_prefix(t->turned), t->w->rows[t->turned].pass_text);
    else
        emit_put(t, "q;\n");
    PUT(t,
        "                number x[%d], y[%d];\n"
        "                SP_UNROLL for (int k = 0; k < %d; k++)\n"
        "                    x[k] = %s(sp_number(at_left[k][i]));\n"
        "                SP_UNROLL for (int k = 0; k < %d; k++)\n"
        "                    y[k] = sp_number(at_right[k][i]);\n",
        TILE_LEFT, TILE_RIGHT, TILE_LEFT, o->conjugate ? "SP_NUMBER_CONJ" : "", TILE_RIGHT);
    PUT(t,
        "                SP_UNROLL for (int k = 0; k < %d; k++)\n"
        "                    a[k] = sp_number_fma(x[k %% %d], y[k / %d], a[k]);\n"
        "            }\n        }\n"
        "        a%d[pass] = sp_number_add(a%d[pass], sp_team_sums(a, sum_room));\n        }\n",
        TILE, TILE_LEFT, TILE_LEFT, op, op);
}

void emit_grams(const sweep_text *t, bool product)
{
    if (!emit_has_gram(t))
        return;
    if (product) /* when a run of tiles has ended */
        emit_put(t, "        if (((tile + 1) & (run - 1)) == 0 || tile + 1 == tiles) {\n"
                    "        const offset begin = (tile & ~(run - 1)) * (SP_GROUP / lanes);\n"
                    "        const offset behind = (tile + 1) * (SP_GROUP / lanes);\n"
                    "        const offset end = behind < positions ? behind : positions;\n");
    else
        PUT(t,
            "        {\n        const offset begin = tile * (SP_GROUP * %d);\n"
            "        const offset behind = begin + SP_GROUP * %d;\n"
            "        const offset end = behind < n%d ? behind : n%d;\n",
            t->width, t->width, t->space, t->space);
    emit_put(t, "        SP_BARRIER_GLOBAL();\n");
    for (int i = 0; i < t->count; i++)
        if (plan_is_gram(&t->ops[i]) && emit_space(t->p, &t->ops[i]) == t->space)
            put_gram(t, t->first + i, product);
    emit_put(t, "        }\n");
}

void emit_collect_gram(const sweep_text *t, int op)
{
    const gram_shape s = shape_of(t);
    PUT(t,
        "    for (int pass = 0; ok%d && pass < %d; pass++) {\n"
        "        kept[SP_LOCAL_ID] = a%d[pass];\n        SP_BARRIER();\n"
        "        for (int at = SP_LOCAL_ID; at < %d; at += SP_GROUP) {\n"
        "            const int of = pass * %d + at / %d, k = at %% %d;\n"
        "            const int i = of %% %d * %d + k %% %d, j = of / %d * %d + k / %d;\n",
        op, s.passes, op, s.side_by_side * TILE, s.teams, TILE, TILE, s.across, TILE_LEFT,
        TILE_LEFT, s.across, TILE_RIGHT, TILE_LEFT);
    PUT(t,
        "            number sum = kept[at];\n"
        "            for (int more = 1; more < %d; more++)\n"
        "                sum = sp_number_add(sum, kept[at + more * %d]);\n"
        "            if (of < %d && i < SP_COLUMNS && j < SP_COLUMNS)\n"
        "                part[(offset)(j * %" PRId64 " + %" PRId64 " + i) * SP_GROUPS + "
        "SP_GROUP_ID] = sum;\n        }\n        SP_BARRIER();\n    }\n",
        s.pieces, s.tiles * TILE, s.tiles, t->slots, emit_slot(t->p, t->f, op));
}
