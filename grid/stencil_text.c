/* The texts of a stencil's programs: the words that grid/kernels/stencil.knl is promised. */
#include "grid/stencil_device.h"
#include "grid/text.h"

/* Points of a brick. */
typedef struct brick {
    int width, height, depth;
} brick;

static brick brick_of(int dimensions, int group)
{
    if (dimensions == 1)
        return (brick){group, 1, 1};
    if (dimensions == 2)
        return (brick){64, group / 64, 1};
    return (brick){32, 4, group / 128};
}

int64_t stencil_positions(const stencil_copy *c, int group)
{
    const grid_axis *a = c->shape.axis;
    const brick b = brick_of(c->shape.dimensions, group);
    return (a[0].unknowns + b.width - 1) / b.width * ((a[1].unknowns + b.height - 1) / b.height) *
           ((a[2].unknowns + b.depth - 1) / b.depth) * group;
}

/* The number of a term. */
static void put_number(base_text *t, const stencil_copy *c, const stencil_writing *w, int term)
{
    const spry_scalar a = c->number[term];
    if (!w->written)
        base_text_put(t, "FORM_CONJ(weights.c[%d])", term);
    else if (spry_type_is_complex(c->type))
        base_text_put(t, "FORM_CONJ(sp_make2((real)%a, (real)%a))", a.re, a.im);
    else
        base_text_put(t, "((real)%a)", a.re);
}

/* FORM_SUM: groups one after the other, each a sum of terms times its fields. */
static void put_sum(base_text *t, const stencil_copy *c, const stencil_writing *w)
{
    base_text_put(t, "%s", "#define FORM_SUM ");
    for (int k = 0; k < c->groups; k++) {
        const stencil_group *g = &c->group[k];
        base_text_put(t, "%s", "all = SP_ZERO; mine = SP_ZERO; ");
        for (int i = g->first; i < g->first + g->count; i++) {
            const int *s = c->step[i];
            base_text_put(t, "%s", "all = SP_F(times)(");
            put_number(t, c, w, i);
            base_text_put(t, ", FORM_AT(%d, %d, %d), all); ", s[0], s[1], s[2]);
            if (s[0] != 0 || s[1] != 0 || s[2] != 0)
                continue;
            base_text_put(t, "%s", "mine = sp_add(mine, ");
            put_number(t, c, w, i);
            base_text_put(t, "%s", "); ");
        }
        for (int f = 0; f < 3; f++) {
            const int *at = g->at[f];
            if (g->field[f] >= 0)
                base_text_put(t,
                              "{ const scalar by = FORM_FIELD(%d, %d, %d, %d); "
                              "all = sp_mul(by, all); mine = sp_mul(by, mine); } ",
                              g->field[f], at[0], at[1], at[2]);
        }
        base_text_put(t, "%s", "*sum = sp_add(*sum, all); *own = sp_add(*own, mine); ");
    }
    base_text_put(t, "%s", "\n");
}

static void put_sizes(base_text *t, const stencil_copy *c, bool written)
{
#define STENCIL_SIZE_ROW(name) {#name, c->sizes.name},
    const struct {
        const char *name;
        int32_t value;
    } sizes[] = {STENCIL_SIZES(STENCIL_SIZE_ROW)};
    const int count = (int)(sizeof sizes / sizeof *sizes);
    if (!written) {
        base_text_put(t, "%s", "typedef struct {\n    int ");
        for (int k = 0; k < count; k++)
            base_text_put(t, "%s%s", k > 0 ? ", " : "", sizes[k].name);
        base_text_put(t,
                      ";\n} stencil_sizes;\ntypedef struct {\n    scalar c[%d];\n} "
                      "stencil_weights;\n",
                      c->terms > 0 ? c->terms : 1);
    }
    for (int k = 0; k < count; k++)
        if (written)
            base_text_put(t, "#define FORM_%s %d\n", sizes[k].name, (int)sizes[k].value);
        else
            base_text_put(t, "#define FORM_%s sizes.%s\n", sizes[k].name, sizes[k].name);
}

#define ARRAYS                                                                              \
    "SP_GLOBAL const scalar *%snumbers, SP_GLOBAL const offset *%stables, SP_GLOBAL const " \
    "scalar *%sfields"

void stencil_put_text(base_text *t, const char *name)
{
    const char *own = grid_text(name);
    const char *text = own ? own : device_text(name);
    if (text)
        base_text_put(t, "%s\n", text);
    else if (t->status == SPRY_STATUS_OK)
        t->status = SPRY_FAIL(t->ctx, SPRY_STATUS_UNSUPPORTED, "there is no kernel text %s", name);
}

void stencil_put_words(base_text *t, const stencil_copy *c, const stencil_writing *w)
{
    const brick b = brick_of(c->shape.dimensions, w->group);
    const bool complex = spry_type_is_complex(c->type);
    base_text_put(t, "#define SP_F(name) %s##name\n", w->prefix);
    base_text_put(t, "#define FORM_ARGS " ARRAYS "%s\n", "", "", "",
                  w->written ? "" : ", const stencil_sizes sizes, const stencil_weights weights");
    base_text_put(t, "#define FORM_PASS numbers, tables, fields%s\n",
                  w->written ? "" : ", sizes, weights");
    base_text_put(t, "#define FORM_CONJ(a) %s(a)\n", complex && w->conjugate ? "sp_conj" : "");
    base_text_put(t, "#define FORM_INSIDE %d\n#define FORM_REGULAR %d\n#define FORM_REAL %d\n",
                  (int)c->inside, (int)c->regular, (int)c->is_real);
    for (int a = 0; a < GRID_AXES; a++)
        base_text_put(t, "#define FORM_PERIODIC_%d %d\n", a,
                      c->shape.axis[a].intervals > 0 && c->shape.axis[a].face[0] == GRID_PERIODIC);
    base_text_put(t, "#define WIDTH %d\n#define HEIGHT %d\n#define DEPTH %d\n", b.width, b.height,
                  b.depth);
    base_text_put(t, "#define REACH %d\n#define REACH_0 %d\n#define REACH_1 %d\n", c->reach[2],
                  c->reach[0], c->reach[1]);
    base_text_put(t, "#define COLUMNS_0 %d\n#define COLUMNS_1 %d\n", STENCIL_COLUMNS,
                  STENCIL_ROWS * c->lines);
    base_text_put(t, "#define LINES %d\n#define AHEAD %d\n#define DIMENSIONS %d\n", c->lines,
                  c->ahead, c->shape.dimensions);
    put_sizes(t, c, w->written);
    if (c->inside)
        put_sum(t, c, w);
    stencil_put_text(t, "stencil");
}

void stencil_put_march(base_text *t, const stencil_march *m)
{
    base_text_put(t,
                  "#define MARCH_KERNEL SP_F(%s)\n#define MARCH_ARGS %s\n"
                  "#define MARCH_BEGIN %s\n"
                  "#define MARCH_ON(i, j, k) (%s)\n#define MARCH_ENDS %d\n"
                  "#define MARCH_VALUE(sum, own) %s\n#define MARCH_PUT %s\n",
                  m->kernel, m->args, m->begin ? m->begin : "const int group = SP_GROUP_ID;", m->on,
                  (int)m->ends, m->value, m->put);
    stencil_put_text(t, "stencil_march");
    base_text_put(t, "%s",
                  "#undef MARCH_KERNEL\n#undef MARCH_ARGS\n#undef MARCH_BEGIN\n#undef MARCH_ON\n"
                  "#undef MARCH_ENDS\n#undef MARCH_VALUE\n#undef MARCH_PUT\n");
}

void stencil_end_words(base_text *t)
{
    static const char *const words[] = {"SP_F",    "ARGS", "PASS",       "CONJ",       "INSIDE",
                                        "REGULAR", "REAL", "PERIODIC_0", "PERIODIC_1", "PERIODIC_2",
                                        "SUM",     "STEP", "PLACE",      "FIELD",      "AT_ONCE"};
    static const char *const sizes[] = {"WIDTH",     "HEIGHT",     "DEPTH",     "REACH",
                                        "REACH_0",   "REACH_1",    "LINES",     "AHEAD",
                                        "COLUMNS_0", "COLUMNS_1",  "TILE_LINE", "TILE_SIZE",
                                        "TILES",     "TILE_SHARE", "DIMENSIONS"};
#define STENCIL_SIZE_NAME(name) base_text_put(t, "#undef FORM_" #name "\n");
    STENCIL_SIZES(STENCIL_SIZE_NAME)
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        base_text_put(t, "#undef %s%s\n", k > 0 ? "FORM_" : "", words[k]);
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        base_text_put(t, "#undef %s\n", sizes[k]);
}

void stencil_compile_options(const stencil_copy *c, bool in_place, char options[STENCIL_OPTIONS])
{
    snprintf(options, STENCIL_OPTIONS, "-DSP_TYPE=%d -DSP_GROUP=%d%s", (int)c->type, STENCIL_GROUP,
             in_place ? " -DSP_RESIDENT=1" : "");
}

spry_status stencil_build(const stencil_copy *c, stencil_put *put, bool in_place,
                          device_program **p)
{
    spry_context *ctx = c->d->ctx;
    base_text t = {.ctx = ctx};
    char *text = NULL, options[STENCIL_OPTIONS];
    spry_status status = SPRY_STATUS_OK;
    put(&t, c);
    SPRY_GO(ctx, base_text_take(&t, &text));
    stencil_compile_options(c, in_place, options);
    SPRY_GO(ctx, device_build(c->d, text, options, p));
done:
    base_free(ctx, text);
    return status;
}
