/*
 * Every text of every format must be CUDA C: compiled here by NVRTC for sm_90, without a device.
 * SPRY_NVRTC_LIBRARY names the library where the system does not find it. Combinations are few;
 * SPRY_TEST_FULL=1 takes all options of all formats, SPRY_TEST_FORMAT=NAME one format alone.
 */
#include "support/generated.h"
#include "support/layouts.h"

#include "device/engine/cuda.h"
#include "formats/shared/device_layout_text.h"
#include "grid/bounded.h"
#include "grid/gmg_device.h"
#include "grid/text.h"
#include "grid/wave/wave.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARCH = 90, SKIPPED = 77 };

static nvrtc_library nvrtc;
/* That a text is CUDA C shows without most of the work on its code, which takes half of the time;
 * libraries before 12.8 do not know the word, SPRY_TEST_FULL=1 does the work. */
static const char *quickly = "--Ofast-compile=max";

/* Whether the k-th of some texts is compiled in a type: all in double precision, and each in one of
 * the other types. */
static bool is_taken(int type, int k)
{
    return support_full() || support_types[type] == SPRY_TYPE_D || type == (k % 3 + (k % 3 > 0));
}

/* Compiles a text with the dialect before it. */
static void compile(spry_context *ctx, const char *what, const char *text, const char *options)
{
    base_text whole = {.ctx = ctx};
    char complaint[2048] = "", *all = NULL, words[2048];
    void *binary = NULL;
    size_t size = 0;
    base_text_put(&whole, "%s\n%s", device_text("dialect"), text);
    assert_ok(ctx, base_text_take(&whole, &all));
    assert_in_range(snprintf(words, sizeof words, "%s %s", options, quickly), 0, sizeof words - 1);
    const spry_status status =
        nvrtc_compile(ctx, &nvrtc, ARCH, all, words, &binary, &size, complaint, sizeof complaint);
    if (status != SPRY_STATUS_OK || strstr(complaint, "warning"))
        fail_msg("%s with %s: %s\n%s", what, options,
                 status == SPRY_STATUS_OK ? "" : spry_message(ctx), complaint);
    assert_true(size > 64 && memcmp(binary, "\177ELF", 4) == 0);
    spry_free(ctx, binary);
    spry_free(ctx, all);
}

/* What NVRTC complains of is seen: a test that could not fail would be none. */
static void test_complaint(void **state)
{
    spry_context *ctx = *state;
    char complaint[256] = "";
    void *binary = NULL;
    size_t size = 0;
    assert_status(ctx, SPRY_STATUS_DEVICE,
                  nvrtc_compile(ctx, &nvrtc, ARCH, "int f() { return nothing; }", "", &binary,
                                &size, complaint, sizeof complaint));
    assert_null(binary);
    assert_non_null(strstr(complaint, "spry.cu(1): error: identifier \"nothing\" is undefined"));
    /* Lines of a caller's text are its own. */
    assert_status(ctx, SPRY_STATUS_DEVICE,
                  nvrtc_compile(ctx, &nvrtc, ARCH,
                                "int g() { return 1; }\n#line 1 \"own\"\n\nint f() { return a; }\n",
                                "", &binary, &size, complaint, sizeof complaint));
    assert_non_null(strstr(complaint, "own(2): error: identifier \"a\" is undefined"));
}

/* The words of the dialect, in every type and kind of values. */
static const char words[] =
    "SP_KERNEL all_words(SP_GLOBAL const stored *SP_RESTRICT v, SP_GLOBAL scalar *y,\n"
    "                    SP_GLOBAL number *sums, SP_GLOBAL int *ticket)\n"
    "{\n"
    "    SP_LANE_ROOM(lanes);\n"
    "    SP_SUM_ROOM(room);\n"
    "    SP_SHARED int last;\n"
    "    scalar a = sp_value(v, SP_GLOBAL_ID), b = sp_often(y + SP_GLOBAL_ID);\n"
    "    a = sp_fma(a, sp_conj(b), sp_sub(sp_mul(a, b), sp_scale((real)2, sp_add(a, SP_ZERO))));\n"
    "    a = sp_lanes_sum(a, 8, SP_LANES_PASS(lanes));\n"
    "    number sum = sp_group_sum(sp_number_fma(sp_number(a), SP_NUMBER_CONJ(sp_number(b)),\n"
    "                              sp_number_add(SP_NUMBER_ZERO, sp_number(b))), room);\n"
    "    if (SP_LOCAL_ID == 0) {\n"
    "        sums[SP_GROUP_ID] = sum;\n"
    "        SP_FENCE();\n"
    "        last = SP_ATOMIC_NEXT(ticket) == SP_GROUPS - 1;\n"
    "    }\n"
    "    SP_BARRIER();\n"
    "    y[SP_GLOBAL_ID] = last ? sp_scalar(sum) : a;\n"
    "}\n";

/* Ranges of more dimensions: places, shapes, and numbers that go through all of them. */
static const char range_words[] =
    "SP_KERNEL range_words(const int n, SP_GLOBAL number *y, SP_GLOBAL offset *places)\n"
    "{\n"
    "    SP_SUM_ROOM(room);\n"
    "    const offset at = (SP_GLOBAL_ID_2 * n + SP_GLOBAL_ID_1) * n + SP_GLOBAL_ID_0;\n"
    "    places[SP_GLOBAL_ID] = at + SP_LOCAL_ID_0 + SP_LOCAL_ID_1 + SP_LOCAL_ID_2 +\n"
    "                           SP_GROUP_ID_0 + SP_GROUP_ID_1 + SP_GROUP_ID_2 + SP_GROUPS_0 +\n"
    "                           SP_GROUPS_1 + SP_GROUPS_2 + SP_GROUPS + SP_GROUP_0 * SP_GROUP_1;\n"
    "    const number sum = sp_group_sum(y[at], room);\n"
    "    if (SP_LOCAL_ID == 0)\n"
    "        y[SP_GROUP_ID] = sum;\n"
    "}\n";

static void test_ranges(void **state)
{
    compile(*state, "ranges", range_words, "-DSP_TYPE=3");
    compile(*state, "ranges", range_words,
            "-DSP_TYPE=1 -DSP_GROUP=256 -DSP_DIMENSIONS=3 -DSP_GROUP_0=64 -DSP_GROUP_1=4 "
            "-DSP_GROUP_2=1");
}

static void test_bandwidth(void **state)
{
    compile(*state, "bandwidth", device_text("bandwidth"), "-DSP_GROUP=256");
    compile(*state, "bandwidth", device_text("bandwidth"), "-DSP_GROUP=1 -DCHUNKS");
}

static void test_dialect(void **state)
{
    char options[96];
    for (int type = 0; type < 4; type++)
        for (int kind = 0; kind < 4; kind++) {
            snprintf(options, sizeof options, "-DSP_TYPE=%d -DSP_KIND=%d%s", type, kind,
                     kind == 1 ? " -DSP_RESIDENT" : "");
            compile(*state, "the dialect", words, options);
        }
}

static void test_vectors(void **state)
{
    char options[64];
    for (int type = 0; type < 4; type++) {
        snprintf(options, sizeof options, "-DSP_TYPE=%d -DSP_GROUP=256", type);
        compile(*state, "vectors", device_text("vector"), options);
        compile(*state, "dense", device_text("dense"), options);
        compile(*state, "blocks", device_text("blocks"), options);
        snprintf(options, sizeof options, "-DSP_TYPE=%d -DSP_GROUP=512 -DLANES=%d -DROOM=2000",
                 type, type < 2 ? 8 : 4);
        compile(*state, "powers", device_text("powers"), options);
    }
}

/* Fourier transforms, with all radices of ours and others. */
static void test_fourier(void **state)
{
    static const int64_t n[] = {60, 14, 27};
    static const int lines[] = {4, 4, 4};
    for (int axes = 1; axes <= 3; axes++) {
        const int type = axes == 2 ? SPRY_TYPE_C : SPRY_TYPE_Z;
        char *text, options[48];
        fourier *f;
        assert_ok(*state, fourier_new(*state, NULL, (spry_type)type, axes, n, &f));
        assert_ok(*state, wave_device_text(f, lines, &text));
        snprintf(options, sizeof options, "-DSP_TYPE=%d -DSP_GROUP=128", type);
        compile(*state, "Fourier transforms", text, options);
        spry_free(*state, text);
        fourier_free(f);
    }
}

/* Media of waves, of each type for solves of both. */
static void test_medium(void **state)
{
    for (int type = 0; type < 4; type++) {
        char options[64];
        snprintf(options, sizeof options, "-DSP_TYPE=%d -DSP_GROUP=128 -DMEDIUM_TYPE=%d",
                 (int)(type % 2 == 0 ? SPRY_TYPE_C : SPRY_TYPE_Z), type);
        compile(*state, "media of waves", grid_text("medium"), options);
    }
}

/* Vectors to another type. */
static void test_retype(void **state)
{
    static const char *const options[] = {
        "-DSP_GROUP=256 -DFROM=double -DFROM_WIDTH=2 -DTO=float -DTO_WIDTH=1 -DTO_SINGLE",
        "-DSP_GROUP=256 -DFROM=float -DFROM_WIDTH=1 -DTO=double -DTO_WIDTH=2"};
    for (int k = 0; k < 2; k++)
        compile(*state, "another type", device_text("retype"), options[k]);
}

static void test_convert(void **state)
{
    for (int type = 0; type < 4; type++) {
        if (!support_turn(type, 0))
            continue;
        char options[64];
        snprintf(options, sizeof options, "-DSP_TYPE=%d -DSP_GROUP=256 -DSLICE=32", type);
        compile(*state, "convert", device_text("convert"), options);
    }
}

/* Texts whose names have blanks between them, as device_matrix_build() takes them. */
static void compile_texts(spry_context *ctx, const char *names, const char *options)
{
    base_text all = {.ctx = ctx};
    char name[64], *text = NULL;
    int length = 0;
    for (const char *at = names; sscanf(at, "%63s%n", name, &length) == 1; at += length) {
        assert_non_null(device_text(name));
        base_text_put(&all, "%s\n", device_text(name));
    }
    assert_ok(ctx, base_text_take(&all, &text));
    compile(ctx, names, text, options);
    spry_free(ctx, text);
}

/* Programs that first solves are said to need, in double precision. */
static void test_first(void **state)
{
    static const char word[] = "-DSP_TYPE=T";
    char names[64], options[160];
    int count = 0;
    for (const char *line = device_text("first"); *line; line += strcspn(line, "\n") + 1) {
        if (sscanf(line, "%*[a-z]: %63[^:\n]: %159[^\n]", names, options) != 2)
            continue;
        char *type = strstr(options, word);
        if (type)
            type[sizeof word - 2] = '1';
        compile_texts(*state, names, options);
        count++;
    }
    assert_true(count > 20);
}

/* Teams of a row: some of a warp, a warp, a group. */
static void test_algebra(void **state)
{
    static const struct {
        int team, group, bits;
    } teams[] = {{4, 128, 5}, {32, 128, 8}, {256, 256, 11}};
    char options[96];
    compile_texts(*state, "sums", "-DSP_GROUP=256");
    compile_texts(*state, "order", "-DSP_TYPE=0 -DSP_GROUP=256 -DLANES=8");
    compile_texts(*state, "make_csr", "-DSP_GROUP=256 -DROWS=128");
    compile_texts(*state, "classes", "-DSP_GROUP=256 -DSMALLEST=16 -DSTEP=1");
    compile_texts(*state, "marks product_rows",
                  "-DSP_TYPE=0 -DSP_GROUP=256 -DLANES=8 -DPIECE=8192");
    for (int i = 0; i < 3; i++) {
        snprintf(options, sizeof options, "-DSP_GROUP=%d -DTEAM=%d -DSLOT_BITS=%d", teams[i].group,
                 teams[i].team, teams[i].bits);
        compile_texts(*state, "teams table product_count", options);
    }
    for (int type = 0; type < 4; type++) {
        if (!support_turn(type, 0))
            continue;
        snprintf(options, sizeof options, "-DSP_TYPE=%d -DSP_GROUP=256 -DLANES=8 -DPIECE=8192",
                 type);
        compile_texts(*state, "marks product_rows", options);
        compile_texts(*state, "marks product_long", options);
        compile_texts(*state, "sort_long", options);
        compile_texts(*state, "transpose", options);
        compile_texts(*state, "permute", options);
        compile_texts(*state, "lengths entries", options);
        compile_texts(*state, "lengths aggregate", options);
        compile_texts(*state, "lengths points", options);
        snprintf(options, sizeof options,
                 "-DSP_TYPE=%d -DSP_GROUP=256 -DBLOCK=3 -DVECTORS=6 -DNEGLIGIBLE=1e-6", type);
        compile_texts(*state, "lengths prolong", options);
        for (int i = 0; i < 3; i++) {
            if (!is_taken(type, i))
                continue;
            snprintf(options, sizeof options, "-DSP_TYPE=%d -DSP_GROUP=%d -DTEAM=%d -DSLOT_BITS=%d",
                     type, teams[i].group, teams[i].team, teams[i].bits);
            compile_texts(*state, "teams table product_fill", options);
            snprintf(options, sizeof options, "-DSP_TYPE=%d -DSP_GROUP=%d -DTEAM=%d -DSLOT_BITS=%d",
                     type, teams[i].group, teams[i].team, teams[i].bits - 1);
            compile_texts(*state, "teams lengths interpolate", options);
            snprintf(options, sizeof options, "-DSP_TYPE=%d -DSP_GROUP=%d -DTEAM=%d -DSIZE=%d",
                     type, teams[i].group, teams[i].team, 4 * teams[i].team);
            compile_texts(*state, "teams sort", options);
        }
        snprintf(options, sizeof options, "-DSP_TYPE=%d -DSP_GROUP=128 -DTEAM=128 -DSLOT_BITS=0",
                 type);
        compile_texts(*state, "teams lengths interpolate", options); /* tables in global memory */
        snprintf(options, sizeof options, "-DSP_TYPE=%d -DSP_GROUP=256 -DPIECE=64", type);
        compile_texts(*state, "sai_sizes", options);
    }
}

/* Formats made there, with values of all sizes. */
static void test_making(void **state)
{
    static const struct {
        const char *names, *options;
    } texts[] = {{"make make_lengths", "-DBINS=2048"},
                 {"make make_sliced", "-DSLICE=32"},
                 {"make make_sliced", "-DSLICE=32 -DSORTED -DWINDOW=4096 -DPADDED=4096"},
                 {"make make_sell16", "-DSLICE=64"},
                 {"make make_csr16", "-DROWS=128"},
                 {"make make_merge", ""},
                 {"make make_carries", ""},
                 {"make make_strands", "-DHEIGHT=4 -DTH=4 -DTHW=32 -DCOMPACT=0 -DBARE=0"},
                 {"make make_strands", "-DHEIGHT=8 -DTH=1 -DTHW=8 -DCOMPACT=0 -DBARE=1"},
                 {"make make_strands", "-DHEIGHT=512 -DTH=1 -DTHW=32 -DCOMPACT=1 -DBARE=0"},
                 {"make make_columnwise", "-DUNIT=64"},
                 {"make make_jds", ""},
                 {"make make_teams", "-DCLASSES=20 -DSPLITS=10"},
                 {"make make_crf", "-DUNIT=1024 -DCHUNK=32 -DSAME=16"},
                 {"make make_scoo", "-DCHUNK=1024"},
                 {"make make_pb", "-DSORT=16384 -DPIECE=64"},
                 {"make make_dia", "-DBLOCK=128 -DSTRIP=16 -DSLOTS=64"},
                 {"make make_dia", "-DBLOCK=1024 -DSTRIP=16 -DSLOTS=2048"},
                 {"make make_bsr", "-DR=3 -DC=3"},
                 {"make make_bsr", "-DR=8 -DC=1"}};
    char options[160];
    for (int size = 2; size <= 16; size *= 2)
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
            static const int other[] = {2, 4, 16};
            if (!support_full() && size != 8 && size != other[k % 3])
                continue;
            snprintf(options, sizeof options, "-DSP_TYPE=0 -DSP_GROUP=256 -DELEMENT=%d %s", size,
                     texts[k].options);
            compile_texts(*state, texts[k].names, options);
        }
    for (int kind = 1; kind <= 3; kind++) {
        snprintf(options, sizeof options, "-DSP_TYPE=0 -DSP_GROUP=256 -DELEMENT=4 -DKIND=%d", kind);
        compile_texts(*state, "make make_shorter", options);
    }
}

/* Rows by one work-item and by several. */
static void test_triangles(void **state)
{
    for (int type = 0; type < 4; type++) {
        if (!support_turn(type, 0))
            continue;
        char type_alone[32];
        snprintf(type_alone, sizeof type_alone, "-DSP_TYPE=%d", type);
        compile(*state, "parilu", device_text("parilu"), type_alone);
        for (int lanes = 1; lanes <= 8; lanes *= 8) {
            for (int teams = 1; teams <= 4; teams *= 4) {
                char options[192];
                snprintf(options, sizeof options,
                         "-DSP_TYPE=%d -DSP_GROUP=%d -DTEAM=256 -DTEAMS=%d -DLANES=%d "
                         "-DRECENT=2048 -DCONJUGATE=1 -DSCALE=2 -DSCATTER=4 -DUPPER=8",
                         type, 256 * teams, teams, lanes);
                compile_texts(*state,
                              teams > 1 ? "triangle triangle_alone" : "triangle triangle_shared",
                              options);
            }
        }
    }
}

/* --- formats -------------------------------------------------------------------------------------
 */

typedef struct subject {
    spry_context *ctx;
    spry_device *d; /* facts alone */
    const spry_matrix *A;
    const int *columns; /* up to a 0 */
    int compiled;
} subject;

/* The whole text, but for the dialect, that multiplies layouts like L; *form says how L is used. */
static spry_status program_text(const spry_device *d, const layout *L, int columns, bool conjugate,
                                device_form *form, char **text)
{
    spry_context *ctx = L->ctx;
    device_arrays arrays = {.ctx = ctx};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, device_form_open(d, L, columns, true, form));
    SPRY_GO(ctx, device_arrays_open(L, &arrays));
    SPRY_GO(ctx,
            device_program_text(L, &arrays, form, columns, conjugate, L->carry_at != NULL, text));
done:
    device_arrays_close(&arrays);
    return status;
}

static void compile_spec(const char *spec, void *data)
{
    subject *s = data;
    layout *L = NULL;
    const spry_status status = layout_build(s->A, spec, &L);
    if (layouts_refused(s->ctx, s->A->a.type, spec, status))
        return;
    support_status(s->ctx, SPRY_STATUS_OK, status, spec, __FILE__, __LINE__);
    const int kinds = spry_type_is_complex(s->A->a.type) ? 2 : 1; /* A, and its conjugate */
    for (int i = 0; s->columns[i] > 0; i++)
        for (int conjugate = 0; conjugate < kinds; conjugate++) {
            device_form form = {0};
            char *text = NULL, options[DEVICE_OPTIONS_SIZE];
            const spry_status made =
                program_text(s->d, L, s->columns[i], conjugate != 0, &form, &text);
            if (made == SPRY_STATUS_UNSUPPORTED)
                continue;
            support_status(s->ctx, SPRY_STATUS_OK, made, spec, __FILE__, __LINE__);
            device_layout_options(L, &form, options);
            compile(s->ctx, spec, text, options);
            spry_free(s->ctx, text);
            s->compiled++;
        }
    layout_free(L);
}

/* A card with the sizes of an H200. */
static spry_device card(spry_context *ctx)
{
    spry_device d = {.ctx = ctx};
    d.engine = &engine_cuda;
    d.facts = (device_facts){.name = "cuda:0",
                             .description = "a card that is not there",
                             .target = "sm_90",
                             .memory_bytes = (int64_t)1 << 37,
                             .most_alloc = (int64_t)1 << 37,
                             .cache_bytes = 60 << 20,
                             .local_bytes = 48 << 10,
                             .most_local = 227 << 10,
                             .unit_local = 228 << 10,
                             .units = 132,
                             .most_group = 1024,
                             .lanes = 32,
                             .has_double = true,
                             .has_graphs = true,
                             .has_cooperation = true,
                             .has_tickets = true,
                             .has_pointers = true};
    return d;
}

/* Blocks of a stencil's kind: a matrix that every format can hold. */
static spry_matrix *sample(spry_context *ctx, spry_type type)
{
    return generated_as(ctx, type, "poisson2d", "size=6");
}

/* Sparse approximate inverses: rooms of teams in local memory and in global. */
static void test_inverses(void **state)
{
    static const struct {
        int team, group, room;
    } teams[] = {{4, 128, 1024}, {8, 64, 4096}, {32, 32, 32768}, {32, 32, 0}};
    char options[128];
    for (int type = 0; type < 4; type++) {
        if (!support_turn(type, 0))
            continue;
        snprintf(options, sizeof options, "-DSP_TYPE=%d -DSP_GROUP=256 -DPIECE=64", type);
        compile_texts(*state, "sai_sizes", options);
        for (int i = 0; i < 4; i++) {
            if (!is_taken(type, i))
                continue;
            snprintf(options, sizeof options,
                     "-DSP_TYPE=%d -DSP_GROUP=%d -DTEAM=%d -DROOM=%d -DSQUARE=%d -DFACTOR=%d", type,
                     teams[i].group, teams[i].team, teams[i].room, i % 2,
                     i / 2 == type % 2 && i % 2);
            compile_texts(*state, "teams sai", options);
        }
    }
}

/* Constant diagonals of a grid that is large enough to be part of the program. */
static void test_grids(void **state)
{
    spry_context *ctx = *state;
    static const int columns[] = {1, 8, 0};
    spry_device d = card(ctx);
    for (int t = 0; t < 4; t++) {
        if (!support_turn(t, 0))
            continue;
        spry_matrix *A = generated_as(ctx, support_types[t], "poisson3d", "nx=64 ny=26 nz=21");
        subject s = {ctx, &d, A, columns, 0};
        compile_spec("crf", &s);
        assert_true(s.compiled > 0);
        spry_matrix_free(A);
    }
}

/* Stencils that march and that do not: products, multigrid, multigrid with bounds. */
static void test_stencils(void **state)
{
    static const struct {
        const char *grid, *text;
        bool bounded;
    } list[] = {{"130x70x40", "-laplace", true},
                {"40x40x40 x=periodic", "-laplace - dx/3", false},
                {"90x50", "-laplace", false}};
    spry_context *ctx = *state;
    spry_device d = card(ctx);
    for (int t = 0; t < 4; t++)
        for (int k = 0; k < 3; k++) {
            static stencil_put *const puts[] = {stencil_put_plain, stencil_put_some, gmg_device_put,
                                                bounded_device_put};
            spry_grid *grid = NULL;
            spry_operator *A = NULL;
            stencil_copy copy;
            char options[STENCIL_OPTIONS];
            if (!is_taken(t, k))
                continue;
            snprintf(options, sizeof options, "type=%s", spry_type_name(support_types[t]));
            assert_ok(ctx, spry_grid_new(ctx, list[k].grid, &grid));
            assert_ok(ctx, spry_operator_stencil(grid, list[k].text, options, 0, NULL, NULL, &A));
            assert_ok(ctx, stencil_copy_make(&d, A, &stencil_of(A)->plain, NULL, &copy));
            assert_true(copy.regular && (copy.lines > 0) == (k < 2));
            for (int p = 0; p < (list[k].bounded && !spry_type_is_complex(A->type) ? 4 : 3); p++) {
                base_text text = {.ctx = ctx};
                char *whole = NULL;
                puts[p](&text, &copy);
                assert_ok(ctx, base_text_take(&text, &whole));
                stencil_compile_options(&copy, p > 1, options);
                compile(ctx, list[k].text, whole, options);
                spry_free(ctx, whole);
            }
            stencil_copy_clear(&copy);
            spry_operator_free(A);
            spry_grid_free(grid);
        }
}

static void test_formats(void **state)
{
    spry_context *ctx = *state;
    static const char *const kinds[] = {"f32", "f16", "bf16"};
    static const int one[] = {1, 0}, some[] = {1, 2, 4, 8, 0}, few[] = {1, 4, 0};
    const char *only = getenv("SPRY_TEST_FORMAT");
    spry_device d = card(ctx);
    for (int t = 0; t < 4; t++) {
        if (!support_turn(t, 0))
            continue;
        const spry_type type = support_types[t];
        spry_matrix *A = sample(ctx, type);
        for (int i = 0; layout_class_at(i); i++) {
            const layout_class *class = layout_class_at(i);
            const device_format *format = device_format_for(class);
            if (!format || (only ? strcmp(only, class->name) != 0 : !is_taken(t, i)))
                continue;
            subject s = {ctx, &d, A, support_full() ? some : type == SPRY_TYPE_D ? few : one, 0};
            compile_spec(class->name, &s);
            if (s.compiled == 0)
                fail_msg("%s: no text in type %s", class->name, spry_type_name(type));
            const char *grid = format->grid ? format->grid : class->grid;
            s.columns = one;
            if (support_full() && grid)
                layouts_each_choice(class->name, grid, compile_spec, &s);
            for (int k = 0; k < 3 && spry_options_find(class->options, "values"); k++) {
                char spec[64];
                snprintf(spec, sizeof spec, "%s:values=%s", class->name, kinds[k]);
                if ((support_full() || (type == SPRY_TYPE_D && k == 1)) &&
                    !layouts_too_short(type, spec))
                    compile_spec(spec, &s);
            }
        }
        spry_matrix_free(A);
    }
}

/* Whether this library knows the word. */
static bool has_quickly(void)
{
    spry_context *ctx = NULL;
    char complaint[256] = "";
    void *binary = NULL;
    size_t size = 0;
    assert_int_equal(spry_context_new(NULL, &ctx), SPRY_STATUS_OK);
    const spry_status status = nvrtc_compile(ctx, &nvrtc, ARCH, "int f() { return 1; }", quickly,
                                             &binary, &size, complaint, sizeof complaint);
    spry_free(ctx, binary);
    spry_context_free(ctx);
    return status == SPRY_STATUS_OK;
}

int main(void)
{
    char why[512];
    if (!nvrtc_load(&nvrtc, 0, why, sizeof why)) {
        print_message("SKIP: %s\n", why);
        return SKIPPED;
    }
    if (support_full() || !has_quickly())
        quickly = "";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_complaint, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_ranges, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_dialect, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_bandwidth, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_vectors, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_convert, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_fourier, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_medium, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_retype, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_making, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_first, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_algebra, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_triangles, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_inverses, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_formats, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_grids, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_stencils, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
