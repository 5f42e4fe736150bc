/* Layouts that are made in a device's memory are, array by array and bit by bit, what the host
 * builds. */
#include "support/devices.h"
#include "support/generated.h"

#include "device/engine/engine.h"
#include "device/engine/staging.h"
#include "formats/shared/device_convert.h"
#include "formats/shared/device_layout_text.h"
#include "formats/shared/device_make.h"
#include "formats/shared/layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- comparing -----------------------------------------------------------------------------------
 */

static void check_array(spry_device *d, const char *spec, const layout_array *want,
                        const device_memory *found)
{
    const int64_t bytes = want->count * (int64_t)want->size;
    void *copy = NULL;
    if (!found || found->bytes < bytes)
        fail_msg("%s: array %s is missing or too short", spec, want->name);
    if (bytes == 0)
        return;
    assert_ok(d->ctx, base_alloc(d->ctx, bytes, 1, &copy));
    assert_ok(d->ctx, device_get(found, 0, copy, bytes));
    if (!want->data || memcmp(copy, want->data, (size_t)bytes) != 0)
        fail_msg("%s: array %s is not the host's", spec, want->name);
    base_free(d->ctx, copy);
}

/* What products and descriptions are made from. */
static void check_sizes(const char *spec, const layout *want, const layout *found)
{
    assert_string_equal(found->params, want->params);
    assert_int_equal(found->kind, want->kind);
    assert_int_equal(found->exact, want->exact);
    assert_int_equal(found->stored, want->stored);
    assert_int_equal(found->units, want->units);
    assert_int_equal(found->unit_rows, want->unit_rows);
    for (int i = 0; i < LAYOUT_MOST_NUMBERS; i++)
        if (found->number[i] != want->number[i])
            fail_msg("%s: number %d is not the host's", spec, i);
}

/* y of a product with numbers that distinguish entries; bitwise the same from the same arrays. */
static void multiply(spry_device *d, const spry_matrix *A, device_layout *D, void *y)
{
    const int64_t size = (int64_t)spry_type_size(A->a.type);
    device_memory *to_x = NULL, *to_y = NULL;
    spry_vector *x = NULL;
    assert_ok(d->ctx, spry_vector_new(d->ctx, A->a.type, A->a.cols, NULL, SPRY_OWN_COPY, &x));
    for (int64_t i = 0; i < A->a.cols; i++)
        value_set(A->a.type, x->data, i, (spry_scalar){0.5 + base_uniform(3, (uint64_t)i), 0});
    assert_ok(d->ctx, device_alloc(d, A->a.cols * size, &to_x));
    assert_ok(d->ctx, device_alloc(d, A->a.rows * size, &to_y));
    if (A->a.cols > 0)
        assert_ok(d->ctx, device_put(to_x, 0, x->data, A->a.cols * size));
    const device_product p = {
        .columns = 1, .alpha = {1, 0}, .x = to_x, .x_stride = 1, .y = to_y, .y_stride = 1};
    assert_ok(d->ctx, device_layout_multiply(D, &p));
    if (A->a.rows > 0)
        assert_ok(d->ctx, device_get(to_y, 0, y, A->a.rows * size));
    device_free(to_x);
    device_free(to_y);
    spry_vector_free(x);
}

static void check_products(spry_device *d, const spry_matrix *A, const char *spec,
                           device_layout *host, device_layout *made)
{
    const int64_t size = (int64_t)spry_type_size(A->a.type);
    void *want = NULL, *found = NULL;
    assert_ok(d->ctx, base_alloc(d->ctx, A->a.rows, (size_t)size, &want));
    assert_ok(d->ctx, base_alloc(d->ctx, A->a.rows, (size_t)size, &found));
    multiply(d, A, host, want);
    multiply(d, A, made, found);
    if (memcmp(want, found, (size_t)(A->a.rows * size)) != 0)
        fail_msg("%s: products differ", spec);
    base_free(d->ctx, want);
    base_free(d->ctx, found);
}

/* Whether the device made it. */
static bool check_spec(spry_device *d, const spry_matrix *A, const char *spec, bool products)
{
    layout *L = NULL;
    device_arrays arrays;
    device_layout *host = NULL, *D = NULL;
    device_matrix csr;
    bool made = false;
    assert_ok(d->ctx, device_matrix_put(d, A, &csr));
    const spry_status want = layout_build(A, spec, &L);
    const spry_status found = device_layout_make(&csr, true, spec, &made, &D);
    device_matrix_free(&csr);
    if (want != SPRY_STATUS_OK) { /* neither, and for the same reason */
        assert_int_equal(made, false);
        assert_true(found == want || found == SPRY_STATUS_OK);
        return false;
    }
    assert_ok(d->ctx, found);
    if (made) {
        check_sizes(spec, L, device_layout_host(D));
        assert_ok(d->ctx, device_arrays_open(L, &arrays));
        for (int i = 0; i < arrays.count; i++)
            check_array(d, spec, &arrays.array[i], device_layout_array(D, arrays.array[i].name));
        device_arrays_close(&arrays);
    }
    if (made && products) {
        assert_ok(d->ctx, device_layout_new(d, L, &host));
        L = NULL;
        check_products(d, A, spec, host, D);
    }
    device_layout_free(host);
    device_layout_free(D);
    layout_free(L);
    return made;
}

/* --- patterns ------------------------------------------------------------------------------------
 */

/* Lengths of rows come from a rule, columns near the diagonal or all over. */
typedef struct pattern {
    const char *name;
    int64_t rows, cols;
    int64_t (*length)(int64_t row);
    int64_t reach; /* 0: all over */
    spry_type type;
    bool products; /* also multiplied with, which takes a compilation */
} pattern;

static int64_t none(int64_t row)
{
    (void)row;
    return 0;
}
static int64_t three(int64_t row)
{
    (void)row;
    return 3;
}
static int64_t mixed(int64_t row)
{
    return (int64_t)(base_random(2, (uint64_t)row) % 12);
}
static int64_t sparse(int64_t row)
{
    return row % 7 == 3 ? 5 : 0;
}
static int64_t tail(int64_t row)
{
    return row % 211 == 100 ? 1500 : 2 + row % 3;
}
static int64_t one_long(int64_t row)
{
    return row == 17 ? 900 : 0;
}

static spry_matrix *make_pattern(spry_context *ctx, const pattern *p)
{
    const int64_t most = 2000;
    spry_matrix *A = NULL;
    matrix_arrays a = {
        .type = p->type, .format = SPRY_FORMAT_CSR, .rows = p->rows, .cols = p->cols};
    char *taken = calloc((size_t)p->cols + 1, 1);
    int64_t *offsets = calloc((size_t)p->rows + 1, sizeof *offsets);
    assert_non_null(taken);
    assert_non_null(offsets);
    a.nnz = p->rows * most < 400000 ? p->rows * most : 400000;
    assert_ok(ctx, matrix_allocate(ctx, &a));
    int64_t at = 0;
    for (int64_t row = 0; row < p->rows; row++) {
        memset(taken, 0, (size_t)p->cols);
        for (int64_t k = 0; k < p->length(row) && p->cols > 0; k++) {
            const uint64_t number = base_random(9, (uint64_t)(row * most + k));
            const int64_t reach = p->reach > 0 ? p->reach : p->cols;
            const int64_t column = p->reach > 0
                                       ? row + (int64_t)(number % (uint64_t)reach) - reach / 2
                                       : (int64_t)(number % (uint64_t)reach);
            taken[column < 0 ? 0 : column >= p->cols ? p->cols - 1 : column] = 1;
        }
        for (int64_t j = 0; j < p->cols; j++)
            if (taken[j])
                a.col_index[at++] = (int32_t)j;
        offsets[row + 1] = at;
    }
    memcpy(a.offsets, offsets, ((size_t)p->rows + 1) * sizeof *offsets);
    a.nnz = at;
    for (int64_t k = 0; k < at; k++) /* held by bf16 exactly */
        value_set(
            p->type, a.values, k,
            (spry_scalar){0.25 * (double)(1 + k % 97), spry_type_is_complex(p->type) ? -1 : 0});
    free(taken);
    free(offsets);
    assert_ok(ctx, matrix_wrap(ctx, &a, &A));
    return A;
}

static const pattern patterns[] = {
    {"nothing", 0, 3, none, 0, SPRY_TYPE_D, false},
    {"no entries", 70, 70, none, 0, SPRY_TYPE_D, true},
    {"one row", 1, 500, tail, 0, SPRY_TYPE_D, false},
    {"few near", 300, 300, three, 8, SPRY_TYPE_D, true},
    {"mixed near", 5003, 5003, mixed, 30, SPRY_TYPE_D, true},
    {"mixed far", 1500, 90000, mixed, 0, SPRY_TYPE_D, true},
    {"many empty", 1001, 1001, sparse, 40, SPRY_TYPE_D, true},
    {"long rows", 1100, 4000, tail, 0, SPRY_TYPE_D, true},
    {"one long row", 300, 1000, one_long, 0, SPRY_TYPE_D, false},
    {"tall", 3000, 40, mixed, 0, SPRY_TYPE_D, false},
    {"single", 700, 700, mixed, 60, SPRY_TYPE_S, false},
    {"complex", 700, 700, mixed, 60, SPRY_TYPE_Z, true},
    {"single complex", 333, 333, mixed, 60, SPRY_TYPE_C, false},
};

/* --- formats -------------------------------------------------------------------------------------
 */

/* Runs `check` over all places of a grid, "C=32 sigma=1|256". */
static int run_grid(spry_device *d, const spry_matrix *A, const char *name, const char *grid,
                    const char *kind, const pattern *p)
{
    int at[8] = {0}, made = 0;
    bool first = true;
    for (;;) {
        char spec[128];
        int used = snprintf(spec, sizeof spec, "%s", name), axis = 0;
        bool more = false;
        char separator = ':';
        for (const char *word = grid; word && *word; axis++, separator = ',') {
            const size_t key = strcspn(word, "="), whole = strcspn(word, " ");
            const char *choice = word + key + 1;
            for (int k = 0; k < at[axis]; k++)
                choice += strcspn(choice, "|") + 1;
            used += snprintf(spec + used, sizeof spec - (size_t)used, "%c%.*s=%.*s", separator,
                             (int)key, word, (int)strcspn(choice, "| "), choice);
            word += whole + strspn(word + whole, " ");
        }
        if (*kind)
            snprintf(spec + used, sizeof spec - (size_t)used, "%cvalues=%s", separator, kind);
        made += check_spec(d, A, spec, p->products && (first || !devices_few(d)));
        first = false;
        axis = 0;
        for (const char *word = grid; word && *word && !more; axis++) {
            int choices = 1;
            const size_t whole = strcspn(word, " ");
            for (size_t i = 0; i < whole; i++)
                choices += word[i] == '|';
            more = ++at[axis] < choices;
            if (!more)
                at[axis] = 0;
            word += whole + strspn(word + whole, " ");
        }
        if (!more)
            return made;
    }
}

/* Every format that the device makes, with all options that the tuner tries. */
static void formats(spry_context *ctx, spry_device *d)
{
    for (size_t k = 0; k < sizeof patterns / sizeof *patterns; k++) {
        const pattern *p = &patterns[k];
        if (!devices_tries(d, p->type))
            continue;
        spry_matrix *A = make_pattern(ctx, p);
        for (int i = 0; layout_class_at(i); i++) {
            const layout_class *class = layout_class_at(i);
            const device_format *f = device_format_for(class);
            if (!f || !f->make)
                continue;
            const int made = run_grid(d, A, class->name, f->grid ? f->grid : class->grid, "", p);
            /* Fill may be refused where rows are long; what is near the diagonal is made by all but
             * crf, which needs numbers that repeat: see grids(). */
            if (strcmp(p->name, "few near") == 0 && strcmp(class->name, "crf") != 0)
                assert_true(made > 0);
        }
        spry_matrix_free(A);
    }
}

/* What the tuner does not try: slices in the order of rows, groups of few columns, heights that are
 * no powers of two, and those that only the host makes. */
static void slices(spry_context *ctx, spry_device *d)
{
    static const char *const specs[] = {"scoo:h=7",
                                        "scoo:h=3001,columns=32",
                                        "scoo:h=100,order=row",
                                        "scoo:h=512,columns=16,order=row,bits=4",
                                        "scoo:h=1000,columns=16,order=row,bits=11",
                                        "scoo:h=65536,columns=32,order=row",
                                        "scoo:h=600,columns=16,bits=3",
                                        "pb:room=1"};
    for (size_t k = 0; k < sizeof patterns / sizeof *patterns; k++) {
        const pattern *p = &patterns[k];
        if (!devices_tries(d, p->type))
            continue;
        spry_matrix *A = make_pattern(ctx, p);
        int made = 0;
        for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
            made += check_spec(d, A, specs[i], strcmp(p->name, "mixed near") == 0 && i < 4);
        if (strcmp(p->name, "few near") == 0)
            assert_int_equal(made, sizeof specs / sizeof *specs);
        assert_false(check_spec(d, A, "scoo", false));
        spry_matrix_free(A);
    }
}

/* Constant diagonals, with terms that are part of the program and without: grids, and bands whose
 * main diagonal is missing in places, one number, or one per row. */
static void grids(spry_context *ctx, spry_device *d)
{
    static const struct {
        const char *kind, *options;
    } kinds[] = {{"tridiagonal", "size=1"},
                 {"tridiagonal", "size=3000"},
                 {"poisson3d", "nx=64 ny=26 nz=21"},
                 {"poisson3d", "nx=40 ny=3 nz=3 points=27"},
                 {"helmholtz", "nx=32 ny=32 nz=33"}};
    DEVICES_EACH_TYPE (d, t) {
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            spry_matrix *A =
                generated_as(ctx, support_types[t], kinds[k].kind, "%s", kinds[k].options);
            assert_true(check_spec(d, A, "crf", k == 2));
            spry_matrix_free(A);
        }
        for (int64_t turn = 8; turn < 400; turn *= 6)
            for (int bare = 0; bare < 2; bare++) {
                const int64_t cols = turn == 48 ? 33011 : 33001;
                spry_matrix *A =
                    generated_band(ctx, support_types[t], 33001, cols, turn, bare != 0);
                assert_true(check_spec(d, A, "crf", t == 3 && turn == 48));
                spry_matrix_free(A);
            }
    }
}

/* Values stored shorter are the host's; those that would be rounded are left to it. */
static void kinds(spry_context *ctx, spry_device *d)
{
    static const char *const names[] = {"f32", "f16", "bf16"};
    if (!d->facts.has_double)
        return;
    for (int complex = 0; complex < 2; complex++) {
        pattern p = {"", 400, 400, mixed, 30, complex ? SPRY_TYPE_Z : SPRY_TYPE_D, !complex};
        spry_matrix *A = make_pattern(ctx, &p);
        for (int k = 0; k < 3; k++) {
            assert_int_equal(run_grid(d, A, "csr", NULL, names[k], &p), 1);
            assert_int_equal(run_grid(d, A, "sell", "C=32 sigma=1|256", names[k], &p), 2);
        }
        value_set(p.type, A->a.values, 11,
                  (spry_scalar){0x1p-20, 0}); /* below f16's least normal */
        value_set(p.type, A->a.values, 12, (spry_scalar){-0.0, 0});
        assert_int_equal(run_grid(d, A, "sell", "C=32", "f16", &p), 1);
        value_set(p.type, A->a.values, 5, (spry_scalar){1.0 / 3, 0});
        for (int k = 0; k < 3; k++)
            assert_int_equal(run_grid(d, A, "sell", "C=32", names[k], &p), 0);
        spry_matrix_free(A);
    }
}

/* To the device and back; formats that do not determine A are refused for matrices that only the
 * device has. */
static void back(spry_context *ctx, spry_device *d)
{
    static const char *const specs[] = {"csr", "sell:C=32", "sell:C=16", NULL};
    const spry_type type = d->facts.has_double ? SPRY_TYPE_D : SPRY_TYPE_S;
    const pattern p = {"", 1001, 900, sparse, 40, type, false};
    spry_matrix *A = make_pattern(ctx, &p);
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++) {
        device_matrix csr, again;
        device_layout *D = NULL;
        spry_matrix *B = NULL;
        assert_ok(ctx, device_matrix_put(d, A, &csr));
        assert_ok(ctx, device_layout_from_matrix(&csr, false, specs[k], &D));
        assert_ok(ctx, device_layout_to_matrix(D, &again));
        assert_ok(ctx, device_matrix_get(&again, &B));
        assert_int_equal(B->a.nnz, A->a.nnz);
        assert_memory_equal(B->a.offsets, A->a.offsets, (size_t)(A->a.rows + 1) * 8);
        assert_memory_equal(B->a.col_index, A->a.col_index, (size_t)A->a.nnz * 4);
        assert_memory_equal(B->a.values, A->a.values, (size_t)A->a.nnz * spry_type_size(type));
        spry_matrix_free(B);
        device_matrix_free(&again);
        device_layout_free(D);
    }
    device_matrix csr;
    device_layout *D = NULL;
    assert_ok(ctx, device_matrix_put(d, A, &csr));
    assert_int_equal(device_layout_from_matrix(&csr, false, "merge", &D), SPRY_STATUS_UNSUPPORTED);
    assert_null(D);
    assert_null(csr.d);
    spry_matrix_free(A);
}

static void fail_each(spry_device *d, const spry_matrix *A, const char *spec)
{
    for (int64_t n = 1; n < 40; n++) {
        device_matrix csr;
        device_layout *D = NULL;
        bool made = false;
        assert_ok(d->ctx, device_matrix_put(d, A, &csr));
        device_fail_next(d, WORK_ALLOC, n);
        const spry_status status = device_layout_make(&csr, n % 2 == 0, spec, &made, &D);
        device_fail_next(d, WORK_ALLOC, 0);
        assert_int_equal(status == SPRY_STATUS_OK, made);
        assert_int_equal(made, D != NULL);
        device_layout_free(D);
        device_matrix_free(&csr);
        if (made)
            break;
        assert_true(n < 39);
    }
}

/* Every allocation on the device that fails is reported, and nothing is lost. */
static void memory(spry_context *ctx, spry_device *d)
{
    static const char *const specs[] = {"csr",
                                        "sell:C=32,sigma=256",
                                        "sell16:C=32",
                                        "csr16",
                                        "merge",
                                        "sell:C=32,values=f32",
                                        "axt:THW=32,TH=4",
                                        "axc",
                                        "jds:pad=32",
                                        "teams",
                                        "scoo:h=512",
                                        "scoo:h=512,columns=16,order=row"};
    const spry_type type = d->facts.has_double ? SPRY_TYPE_D : SPRY_TYPE_S;
    const pattern p = {"", 1001, 900, sparse, 40, type, false};
    spry_matrix *A = make_pattern(ctx, &p);
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++)
        fail_each(d, A, specs[k]);
    spry_matrix_free(A);
    A = generated_as(ctx, type, "poisson2d", "size=40");
    fail_each(d, A, "crf");
    spry_matrix_free(A);
}

/* Large arrays go through pinned memory in pieces, and without where there is none. */
static void bringing(spry_context *ctx, spry_device *d)
{
    const int64_t bytes = (33 << 20) + 4099;
    uint8_t *want = NULL, *found = NULL;
    device_memory *on_device = NULL;
    int failed = 0;
    assert_ok(ctx, base_alloc(ctx, bytes, 1, &want));
    assert_ok(ctx, base_alloc(ctx, bytes, 1, &found));
    assert_ok(ctx, device_alloc(d, bytes, &on_device));
    for (int64_t k = 0; k < bytes; k++)
        want[k] = (uint8_t)((uint64_t)k * 0x9e3779b97f4a7c15u >> 56);
    for (int n = 0; n < 16; n++) { /* there, then back */
        const int nth = n % 8;
        memset(found, 0, (size_t)bytes);
        device_fail_next(d, nth < 4 ? WORK_ALLOC : WORK_COPY, nth < 4 ? nth : nth - 3);
        const spry_status status = n < 8 ? device_put_large(on_device, want, bytes)
                                         : device_get_large(on_device, found, bytes);
        device_fail_next(d, WORK_ALLOC, 0);
        device_fail_next(d, WORK_COPY, 0);
        failed += status != SPRY_STATUS_OK;
        if (n < 8)
            assert_ok(ctx, device_get(on_device, 0, found, bytes));
        if (status == SPRY_STATUS_OK)
            assert_memory_equal(found, want, (size_t)bytes);
        if (n == 7) /* the last one to fail may have left something out */
            assert_ok(ctx, device_put(on_device, 0, want, bytes));
    }
    assert_int_equal(failed, 8); /* those of copies */
    device_free(on_device);
    base_free(ctx, want);
    base_free(ctx, found);
}

int main(void)
{
    static const devices_test tests[] = {
        DEVICES_TEST(formats), DEVICES_TEST(slices), DEVICES_TEST(grids),   DEVICES_TEST(kinds),
        DEVICES_TEST(back),    DEVICES_TEST(memory), DEVICES_TEST(bringing)};
    return DEVICES_RUN(tests);
}
