/*
 * Every storage format that devices have, with every type and matrices of odd shapes, against sums
 * on the host. Each number of columns, type, kind of values and option that a text is specialised
 * by is a program to compile, so matrices are many and combinations few: SPRY_TEST_FULL=1 takes
 * all, SPRY_TEST_FORMAT=NAME one format alone.
 */
#include "support/devices.h"
#include "support/generated.h"
#include "support/layouts.h"

#include "device/linalg/operator.h"

#include <spry/generate.h>

#include <stdlib.h>

/* One format with one matrix. */
typedef struct check {
    spry_device *d;
    const spry_matrix *A;
    int columns[3]; /* 0: none */
    bool transposed;
    int held;
} check;

static void check_spec(const char *spec, void *data)
{
    check *c = data;
    spry_context *ctx = c->d->ctx;
    spry_operator *op = NULL;
    spry_matrix *exact = NULL;
    const double terms = layouts_most_terms(ctx, c->A);
    const spry_status status = device_operator(c->d, c->A, spec, &op);
    if (layouts_refused(ctx, c->A->a.type, spec, status)) {
        assert_null(op);
        return;
    }
    support_status(ctx, SPRY_STATUS_OK, status, spec, __FILE__, __LINE__);
    assert_ptr_equal(device_of(op), c->d);
    c->held++;
    assert_ok(ctx, spry_operator_to_matrix(op, &exact));
    assert_int_equal(exact->a.nnz, c->A->a.nnz);
    for (int t = SPRY_TRANSPOSE_NO;
         t <= (c->transposed ? SPRY_TRANSPOSE_CONJUGATE : SPRY_TRANSPOSE_NO); t++)
        for (int which = 0; which < 3; which++) {
            const spry_transpose transpose = (spry_transpose)t;
            layouts_check_product(ctx, exact, op, spec, transpose, which, terms);
            if (c->columns[which] > 0 && (t == SPRY_TRANSPOSE_NO || support_full()))
                layouts_check_columns(ctx, exact, op, spec, transpose, which, c->columns[which],
                                      which != 1, terms);
        }
    spry_matrix_free(exact);
    spry_operator_free(op);
}

/* Calls check_spec for every format of devices; `kinds`: with shorter values, `grids`: with what
 * the tuner would try. */
static void check_formats(check *c, bool plain, bool kinds, bool grids)
{
    static const char *const names[] = {"f32", "f16", "bf16"};
    const char *only = getenv("SPRY_TEST_FORMAT");
    for (int i = 0; layout_class_at(i); i++) {
        const layout_class *class = layout_class_at(i);
        const device_format *format = device_format_for(class);
        if (!format || (only && strcmp(only, class->name) != 0))
            continue;
        if (plain)
            check_spec(class->name, c);
        const char *grid = format->grid ? format->grid : class->grid;
        if (grids && grid)
            layouts_each_choice(class->name, grid, check_spec, c);
        for (int k = 0; k < 3 && kinds && spry_options_find(class->options, "values"); k++) {
            char spec[64];
            snprintf(spec, sizeof spec, "%s:values=%s", class->name, names[k]);
            if (!layouts_too_short(c->A->a.type, spec))
                check_spec(spec, c);
        }
    }
}

/* All types, transposes and factors; several columns. */
static void types(spry_context *ctx, spry_device *d)
{
    DEVICES_EACH_TYPE (d, t) {
        const spry_type type = support_types[t];
        spry_matrix *A = support_sorted(ctx, type, SUPPORT_UNIFORM, 301, 301, 2500, 11);
        check c = {.d = d, .A = A, .transposed = true, .columns = {8, 3, 0}};
        if (type == SPRY_TYPE_S && !support_full())
            c.columns[1] = 0;
        if (type == SPRY_TYPE_C && !support_full())
            c.columns[0] = 0;
        check_formats(&c, true, false, false);
        assert_true(c.held > 0 || getenv("SPRY_TEST_FORMAT"));
        spry_matrix_free(A);
    }
}

/* Shorter values, and the options a tuner tries. */
static void options(spry_context *ctx, spry_device *d)
{
    for (int t = 0; t < 4; t++) {
        const spry_type type = support_types[t];
        if (!support_full() && type != SPRY_TYPE_D)
            continue;
        spry_matrix *A = support_sorted(ctx, type, SUPPORT_UNIFORM, 301, 301, 2500, 11);
        check c = {.d = d, .A = A, .columns = {support_full() ? 8 : 0, 0, 0}};
        check_formats(&c, false, true, true);
        spry_matrix_free(A);
    }
}

/* One kind of shorter values in complex numbers, several columns. */
static void complex_options(spry_context *ctx, spry_device *d)
{
    const char *only = getenv("SPRY_TEST_FORMAT");
    spry_matrix *A = support_sorted(ctx, SPRY_TYPE_Z, SUPPORT_UNIFORM, 301, 301, 2500, 11);
    check c = {.d = d, .A = A, .columns = {4, 0, 0}};
    for (int i = 0; layout_class_at(i); i++) {
        const layout_class *class = layout_class_at(i);
        char spec[64];
        snprintf(spec, sizeof spec, "%s:values=bf16", class->name);
        if (device_format_for(class) && spry_options_find(class->options, "values") &&
            (!only || strcmp(only, class->name) == 0))
            check_spec(spec, &c);
    }
    spry_matrix_free(A);
}

static const struct {
    support_shape shape;
    int64_t rows, cols, nnz;
} shapes[] = {{SUPPORT_UNIFORM, 0, 0, 0},        {SUPPORT_UNIFORM, 0, 5, 0},
              {SUPPORT_UNIFORM, 5, 0, 0},        {SUPPORT_UNIFORM, 1, 1, 1},
              {SUPPORT_UNIFORM, 7, 9, 0},        {SUPPORT_UNIFORM, 300, 1, 150},
              {SUPPORT_UNIFORM, 1, 300, 150},    {SUPPORT_ONE_ROW, 301, 301, 2500},
              {SUPPORT_ONE_COL, 301, 301, 2500}, {SUPPORT_BANDED, 1023, 1023, 5000},
              {SUPPORT_UNIFORM, 517, 45, 2000},  {SUPPORT_UNIFORM, 45, 1031, 2000},
              {SUPPORT_UNIFORM, 1500, 1500, 200}};

/* Odd shapes; in type d, since types differ in arithmetic alone. */
static void odd_shapes(spry_context *ctx, spry_device *d)
{
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        spry_matrix *A = support_sorted(ctx, SPRY_TYPE_D, shapes[i].shape, shapes[i].rows,
                                        shapes[i].cols, shapes[i].nnz, 11);
        check c = {.d = d, .A = A, .transposed = true};
        c.columns[0] = support_full() || shapes[i].nnz == 5000 ? 8 : 0;
        check_formats(&c, true, false, false);
        spry_matrix_free(A);
    }
}

/* What formats for half of a matrix and for diagonals hold. */
static void symmetric(spry_context *ctx, spry_device *d)
{
    for (int symmetry = SPRY_SYMMETRY_SYMMETRIC; symmetry <= SPRY_SYMMETRY_HERMITIAN; symmetry++) {
        spry_matrix *half =
            support_matrix(ctx, &(support_recipe){.type = SPRY_TYPE_Z,
                                                  .format = SPRY_FORMAT_CSR,
                                                  .symmetry = (spry_symmetry)symmetry,
                                                  .rows = 303,
                                                  .cols = 303,
                                                  .nnz = 1200,
                                                  .shape = SUPPORT_BANDED,
                                                  .seed = 7,
                                                  .sorted = true});
        spry_matrix *A = NULL;
        assert_ok(ctx, spry_matrix_expand(half, &A));
        check c = {.d = d, .A = A, .transposed = true};
        check_formats(&c, true, false, false);
        spry_matrix_free(A);
        spry_matrix_free(half);
    }
}

/* A row and a column of 100,000 entries, and a diagonal. */
static void long_row(spry_context *ctx, spry_device *d)
{
    spry_matrix *A = support_long_row(ctx, SPRY_TYPE_D, 100001);
    check c = {.d = d, .A = A, .transposed = true};
    check_formats(&c, true, false, false);
    spry_matrix_free(A);
}

/* Options that no tuner tries, where units, tiles and groups end in odd places: rows that are cut
 * into many chunks, several columns that do not fit into local memory at once. */
static void odd_options(spry_context *ctx, spry_device *d)
{
    static const struct {
        const char *spec;
        int columns;
    } specs[] = {{"pcsr:block=8,pad=1", 8},
                 {"pcsr:block=1024,pad=16", 0},
                 {"axt:THW=12,TH=5,MODE=com", 8},
                 {"axt:THW=32,TH=64,MODE=com", 0},
                 {"axt:THW=12,TH=7,refresh=array", 0},
                 {"axt:THW=12,TH=1,MODE=com,refresh=array", 0},
                 {"axc:HBRS=12,refresh=array", 0},
                 {"scoo:h=3001", 8},
                 {"scoo:h=3001,order=row", 8},
                 {"scoo:h=1024,columns=16,order=row", 0},
                 {"scoo:h=512,columns=16,order=row,bits=10", 0},
                 {"scoo:h=1024,columns=16,order=row,bits=11", 3},
                 {"pb:room=2", 3},
                 {"hyb:K=1", 3},
                 {"bsr:r=8,c=5", 3},
                 {"ellr-t:T=32,BS=64", 0},
                 {"jds:pad=1024", 0},
                 {"teams:each=1", 3},
                 {"teams:each=3", 8}};
    const char *only = getenv("SPRY_TEST_FORMAT");
    spry_matrix *long_one =
        support_sorted(ctx, SPRY_TYPE_D, SUPPORT_ONE_ROW, 3001, 6007, 40000, 11);
    spry_matrix *even = support_sorted(ctx, SPRY_TYPE_D, SUPPORT_UNIFORM, 3001, 6007, 40000, 11);
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        const size_t name = strcspn(specs[i].spec, ":");
        const bool fills =
            strncmp(specs[i].spec, "ellr-t", name) == 0 || strncmp(specs[i].spec, "jds", name) == 0;
        check c = {.d = d, .A = fills ? even : long_one, .columns = {specs[i].columns, 0, 0}};
        if (only && (strlen(only) != name || strncmp(only, specs[i].spec, name) != 0))
            continue;
        check_spec(specs[i].spec, &c);
        assert_int_equal(c.held, 1);
    }
    spry_matrix_free(long_one);
    spry_matrix_free(even);
}

/* Grids of which constant diagonals make a program of their own: with bricks that fit and that do
 * not, in two dimensions, and without any; and in strips, as if the cache had no room for more. */
static void grids(spry_context *ctx, spry_device *d)
{
    static const char *const kinds[][2] = {{"poisson3d", "nx=64 ny=26 nz=21"},
                                           {"poisson2d", "nx=208 ny=161"},
                                           {"poisson2d", "nx=199 ny=167 points=9"},
                                           {"helmholtz", "nx=32 ny=32 nz=33"},
                                           {"poisson3d", "nx=32 ny=96 nz=13"}};
    enum { KINDS = sizeof kinds / sizeof *kinds, LAST = KINDS - 1 };
    const char *only = getenv("SPRY_TEST_FORMAT");
    for (int i = 0; i < KINDS && (!only || strcmp(only, "crf") == 0); i++) {
        const int64_t cache = d->facts.cache_bytes;
        spry_matrix *A = NULL;
        assert_ok(ctx, spry_generate(ctx, kinds[i][0], kinds[i][1], &A));
        check c = {.d = d, .A = A, .transposed = true, .columns = {i == 0 ? 8 : 0, 0, 0}};
        d->facts.cache_bytes = i == LAST ? 0 : cache;
        check_spec("crf", &c);
        d->facts.cache_bytes = cache;
        assert_int_equal(c.held, 1);
        spry_matrix_free(A);
    }
}

/* Constant diagonals as parts of the program where no row has all terms, as a diagonal has several
 * numbers; in all types, with rows that have no main entry and without, and more rows than columns
 * or fewer. */
static void bands(spry_context *ctx, spry_device *d)
{
    static const struct {
        int64_t rows, cols, turn;
        bool bare;
    } kinds[] = {
        {33001, 33001, 23, false}, {33001, 33001, 300, true}, {33001, 32990, 90, false},
        {32768, 40000, 7, false},  {1100, 1100, 8, false},
    };
    const char *only = getenv("SPRY_TEST_FORMAT");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && (!only || strcmp(only, "crf") == 0); i++)
        DEVICES_EACH_TYPE (d, t) {
            spry_matrix *A = generated_band(ctx, support_types[t], kinds[i].rows, kinds[i].cols,
                                            kinds[i].turn, kinds[i].bare);
            check c = {.d = d, .A = A, .transposed = i == 0, .columns = {i == 0 && t == 1 ? 4 : 0}};
            check_spec("crf", &c);
            assert_int_equal(c.held, 1);
            spry_matrix_free(A);
        }
}

/* The same rows within sweeps, A^H among them: a residual by recurrence is the true one, which
 * whole products show, where both multiply by the same matrix. */
static void sweeps(spry_context *ctx, spry_device *d)
{
    static const char *const methods[] = {"method=bicg", "method=cocg", "method=cg"};
    const char *only = getenv("SPRY_TEST_FORMAT");
    if (only && strcmp(only, "crf") != 0)
        return;
    DEVICES_EACH_TYPE (d, t) {
        spry_matrix *A = generated_as(ctx, support_types[t], "poisson3d", "nx=64 ny=26 nz=21");
        const bool single = t % 2 == 0;
        for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
            spry_operator *op = NULL;
            spry_solver *solver = NULL;
            spry_vector *b = NULL, *x = NULL;
            spry_result result = SPRY_RESULT_INIT;
            assert_ok(ctx, device_operator(d, A, "crf", &op));
            assert_ok(ctx, spry_vector_on(d, A->a.type, A->a.rows, NULL, &b));
            assert_ok(ctx, spry_vector_fill(b, (spry_scalar){1, 0}));
            assert_ok(ctx, spry_vector_like(b, A->a.rows, &x));
            assert_ok(ctx, spry_solver_new(ctx, &solver));
            assert_ok(ctx, spry_solver_set(solver, methods[m]));
            assert_ok(ctx, spry_solver_set(solver, single ? "tol=1e-4" : "tol=1e-10"));
            assert_ok(ctx, spry_solver_set_operator(solver, op));
            assert_ok(ctx, spry_solve(solver, b, x, &result));
            assert_true(result.converged);
            assert_true(result.true_residual <= (single ? 1e-4 : 1e-10));
            assert_int_equal(result.reason, SPRY_REASON_CONVERGED);
            spry_result_clear(ctx, &result);
            spry_solver_free(solver);
            spry_vector_free(b);
            spry_vector_free(x);
            spry_operator_free(op);
        }
        spry_matrix_free(A);
    }
}

/* The same product twice has the same bits. */
static void repeat_spec(const char *spec, void *data)
{
    const check *c = data;
    spry_context *ctx = c->d->ctx;
    const size_t bytes = (size_t)c->A->a.rows * sizeof(double);
    spry_operator *op = NULL;
    if (device_operator(c->d, c->A, spec, &op) != SPRY_STATUS_OK)
        return;
    void *x = numeric_array(SPRY_TYPE_D, c->A->a.cols, 0, 5), *y[2];
    spry_vector *vx = numeric_vector(ctx, SPRY_TYPE_D, c->A->a.cols, x);
    for (int i = 0; i < 2; i++) {
        y[i] = numeric_array(SPRY_TYPE_D, c->A->a.rows, 0, 6 + (uint64_t)i);
        spry_vector *vy = numeric_vector(ctx, SPRY_TYPE_D, c->A->a.rows, y[i]);
        assert_ok(ctx, spry_operator_apply(op, vx, vy));
        spry_vector_free(vy);
    }
    if (memcmp(y[0], y[1], bytes) != 0)
        fail_msg("%s: other bits the second time", spec);
    numeric_free(SPRY_TYPE_D, y[0], 0);
    numeric_free(SPRY_TYPE_D, y[1], 0);
    spry_vector_free(vx);
    numeric_free(SPRY_TYPE_D, x, 0);
    spry_operator_free(op);
}

static void repeats(spry_context *ctx, spry_device *d)
{
    const char *only = getenv("SPRY_TEST_FORMAT");
    spry_matrix *A = support_sorted(ctx, SPRY_TYPE_D, SUPPORT_ONE_ROW, 3001, 3001, 60000, 11);
    check c = {.d = d, .A = A};
    for (int i = 0; layout_class_at(i); i++)
        if (device_format_for(layout_class_at(i)) &&
            (!only || strcmp(only, layout_class_at(i)->name) == 0))
            repeat_spec(layout_class_at(i)->name, &c);
    spry_matrix_free(A);
}

/* A failure of the device leaves the operator and the device as they were. */
static void failures(spry_context *ctx, spry_device *d)
{
    spry_matrix *A = support_sorted(ctx, SPRY_TYPE_D, SUPPORT_UNIFORM, 301, 301, 2500, 11);
    static const device_work works[] = {WORK_ALLOC, WORK_COPY, WORK_LAUNCH};
    for (size_t w = 0; w < sizeof works / sizeof *works; w++) {
        int failed = 0;
        for (int64_t nth = 1; nth < 30; nth++) { /* without memory for CSR the host makes it */
            spry_operator *op = NULL;
            void *x = numeric_array(SPRY_TYPE_D, 301, 0, 5),
                 *y = numeric_array(SPRY_TYPE_D, 301, 0, 6);
            spry_vector *vx = numeric_vector(ctx, SPRY_TYPE_D, 301, x);
            spry_vector *vy = numeric_vector(ctx, SPRY_TYPE_D, 301, y);
            device_fail_next(d, works[w], nth);
            spry_status status = device_operator(d, A, "csr", &op);
            if (status == SPRY_STATUS_OK)
                status = spry_operator_apply(op, vx, vy);
            device_fail_next(d, works[w], 0);
            if (op) {
                assert_ok(ctx, spry_operator_apply(op, vx, vy));
                spry_operator_free(op);
            }
            spry_vector_free(vx);
            spry_vector_free(vy);
            numeric_free(SPRY_TYPE_D, x, 0);
            numeric_free(SPRY_TYPE_D, y, 0);
            failed += status != SPRY_STATUS_OK;
            assert_true(status == SPRY_STATUS_OK || strlen(spry_message(ctx)) > 10);
        }
        assert_true(failed > 0);
    }
    spry_matrix_free(A);
}

/* The format that SPRY_TEST_FORMAT names must be one of devices': else nothing would be tested. */
static void named(spry_context *ctx, spry_device *d)
{
    const char *only = getenv("SPRY_TEST_FORMAT");
    bool found = !only;
    (void)ctx;
    (void)d;
    for (int i = 0; layout_class_at(i) && !found; i++)
        found =
            strcmp(layout_class_at(i)->name, only) == 0 && device_format_for(layout_class_at(i));
    if (!found)
        fail_msg("devices have no format %s", only);
}

int main(void)
{
    static const devices_test tests[] = {
        DEVICES_TEST(named),           DEVICES_TEST(types),       DEVICES_TEST(options),
        DEVICES_TEST(complex_options), DEVICES_TEST(odd_shapes),  DEVICES_TEST(symmetric),
        DEVICES_TEST(long_row),        DEVICES_TEST(odd_options), DEVICES_TEST(grids),
        DEVICES_TEST(bands),           DEVICES_TEST(sweeps),      DEVICES_TEST(repeats),
        DEVICES_TEST(failures),
    };
    return DEVICES_RUN(tests);
}
