/* Courses of runs. See the header. */
#include "support/courses.h"

#include "choose/precons.h"
#include "support/oracle.h"
#include "support/support.h"

#include <math.h>
#include <stdlib.h>

static void *must(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

static spry_scalar number(spry_type type, uint64_t seed, int64_t index)
{
    const spry_scalar a = {2 * base_uniform(seed, 2 * (uint64_t)index) - 1,
                           2 * base_uniform(seed, 2 * (uint64_t)index + 1) - 1};
    return spry_type_is_complex(type) ? a : (spry_scalar){a.re, 0};
}

/* Ones where row and column meet on the (stretched) diagonal, up to four small entries off it. */
static spry_matrix *matrix(spry_context *ctx, spry_type type, int64_t rows, int64_t cols,
                           uint64_t seed)
{
    enum { OFF_DIAGONAL = 4 };
    matrix_arrays a = {.type = type, .format = SPRY_FORMAT_CSR, .rows = rows, .cols = cols};
    a.offsets = must(spry_alloc(ctx, (size_t)(rows + 1) * sizeof *a.offsets));
    a.col_index =
        must(spry_alloc(ctx, (size_t)(rows + 1) * (OFF_DIAGONAL + 1) * sizeof *a.col_index));
    a.values =
        must(spry_alloc(ctx, (size_t)(rows + 1) * (OFF_DIAGONAL + 1) * spry_type_size(type)));
    a.offsets[0] = 0;
    for (int64_t i = 0; i < rows; i++) {
        const int64_t middle = rows == cols ? i : i * cols / rows;
        for (int64_t j = middle < 2 ? 0 : middle - 2; j <= middle + 2 && j < cols; j++) {
            const spry_scalar v = number(type, seed, 8 * i + j - middle + 2);
            if (j != middle && v.re > 0.5)
                continue;
            const double scale = 1.0 / (2 * OFF_DIAGONAL);
            value_set(type, a.values, a.nnz,
                      j == middle ? (spry_scalar){1, 0}
                                  : (spry_scalar){v.re * scale, v.im * scale});
            a.col_index[a.nnz++] = (int32_t)j;
        }
        a.offsets[i + 1] = a.nnz;
    }
    spry_matrix *A = NULL;
    assert_ok(ctx, support_new(ctx, &a, SPRY_OWN_TAKE, &A));
    return A;
}

static spry_status call_inner(void *data, spry_transpose transpose, const void *x, void *y)
{
    const spry_operator *op = data;
    return op->class->multiply(op, transpose, (spry_scalar){1, 0}, x, (spry_scalar){0, 0}, y);
}

static spry_operator *make(course_system *s, const spry_matrix *from, course_operator kind)
{
    spry_context *ctx = s->ctx;
    spry_operator *op = NULL;
    char name[32];
    if (kind == COURSE_ROWS)
        assert_ok(ctx, spry_operator_from_matrix(from, NULL, NULL, &op));
    else if (kind == COURSE_DIAGONAL)
        assert_ok(ctx, spry_precon_new(from, NULL, "jacobi", &op));
    else if (kind == COURSE_SWEEPS)
        assert_ok(ctx, precon_make_from_text(ctx, from, NULL, "ssor:omega=0.9", &op, name));
    else if (kind == COURSE_FUNCTION) {
        assert_null(s->inner);
        assert_ok(ctx, spry_operator_from_matrix(from, NULL, NULL, &s->inner));
        assert_ok(ctx, spry_operator_from_function(ctx, s->type, s->inner->rows, s->inner->cols,
                                                   true, call_inner, s->inner, &op));
    }
    return op;
}

void course_open(spry_context *ctx, spry_type type, int64_t rows, int64_t cols, course_operator A,
                 course_operator M, uint64_t seed, course_system *system)
{
    *system = (course_system){.ctx = ctx, .type = type, .rows = rows, .cols = cols};
    system->matrix = matrix(ctx, type, rows, cols, seed);
    system->square = matrix(ctx, type, cols, cols, seed + 1);
    system->A = make(system, system->matrix, A);
    system->M = make(system, system->square, M);
}

void course_close(course_system *system)
{
    spry_operator_free(system->A);
    spry_operator_free(system->M);
    spry_operator_free(system->inner);
    spry_matrix_free(system->matrix);
    spry_matrix_free(system->square);
}

/* A right-hand side of a run. */
typedef struct listener {
    course *c;
    const course_system *system;
    runner *r; /* NULL: x is always up to date */
    rhs *l;
    const void *x;
    int first; /* reports of the run before */
} listener;

/* FNV-1a over the elements. What is not finite is all the same: after an overflow it depends on the
 * kernel whether an infinite number or NaN comes out. */
static uint64_t hash_of(const course_system *s, const void *x)
{
    uint64_t hash = 14695981039346656037u;
    for (int64_t i = 0; i < s->cols; i++) {
        const spry_scalar v = value_get(s->type, x, i);
        const bool finite = value_finite(v);
        const double parts[2] = {finite ? v.re : NAN, finite ? v.im : NAN};
        uint64_t bits[2];
        memcpy(bits, parts, sizeof bits);
        for (int k = 0; k < 2; k++)
            hash =
                ((hash ^ (bits[k] & 0xffffffff)) * 1099511628211u ^ bits[k] >> 32) * 1099511628211u;
    }
    return hash;
}

/* Keeps x as number k of those seen. */
static void keep(const course *c, const course_system *s, int k, const void *x)
{
    for (int64_t i = 0; c->seen && i < s->cols; i++)
        c->seen[k * s->cols + i] = value_get(s->type, x, i);
}

static spry_status hear(void *data, report_kind kind, bool loop, double value, bool *go_on)
{
    listener *me = data;
    (void)loop;
    course *c = me->c;
    const int k = c->reports++;
    c->kind[k] = kind;
    c->value[k] = value;
    if (c->look >> k & 1) {
        const spry_status status = me->r ? runner_settle(me->r, me->l) : SPRY_STATUS_OK;
        if (status != SPRY_STATUS_OK)
            return status;
        c->x[k] = hash_of(me->system, me->x);
        keep(c, me->system, k, me->x);
    }
    *go_on = c->reports < c->end_at + me->first;
    return SPRY_STATUS_OK;
}

static void hear_breakdown(void *data, const char *text, bool finite)
{
    (void)finite;
    course *c = ((listener *)data)->c;
    c->breakdowns++;
    snprintf(c->text, sizeof c->text, "%s", text);
}

/* Random numbers, in memory as long as both spaces. */
static void *vector(const course_system *s, uint64_t seed)
{
    const int64_t longer = s->rows > s->cols ? s->rows : s->cols;
    char *v = must(calloc((size_t)longer + 1, spry_type_size(s->type)));
    for (int64_t i = 0; i < longer; i++)
        value_set(s->type, v, i, number(s->type, seed, i));
    return v;
}

void course_vectors(const course_system *system, uint64_t seed, spry_scalar *b, spry_scalar *x)
{
    const int64_t longer = system->rows > system->cols ? system->rows : system->cols;
    void *const made[2] = {vector(system, 2 * seed), vector(system, 2 * seed + 1)};
    for (int64_t i = 0; i < longer; i++) {
        b[i] = value_get(system->type, made[0], i);
        x[i] = value_get(system->type, made[1], i);
    }
    free(made[0]);
    free(made[1]);
}

static void forget(course *c)
{
    *c = (course){
        .end_at = c->end_at, .twice = c->twice, .look = c->look, .seed = c->seed, .seen = c->seen};
}

void course_of_text(const course_system *system, const char *text, course *c)
{
    rhs l = {.report = hear, .breakdown = hear_breakdown};
    listener me = {.c = c, .system = system};
    const oracle_input input = {system->A, system->M, &l};
    void *b = vector(system, 2 * c->seed), *x = vector(system, 2 * c->seed + 1);
    forget(c);
    l.b = b;
    l.x = x;
    l.data = &me;
    me.x = x;
    c->status = oracle_run(system->ctx, text, &input);
    me.first = c->reports;
    if (c->twice && c->status == SPRY_STATUS_OK)
        c->status = oracle_run(system->ctx, text, &input);
    c->last = hash_of(system, x);
    free(b);
    free(x);
}

/* Parses and plans; *p is NULL after a failure. */
static spry_status make_plan(const course_system *system, const char *text, bool fuse, plan **p)
{
    spry_context *ctx = system->ctx;
    program *g = NULL;
    plan_setup setup = {
        .fuse = fuse, .square = system->rows == system->cols, .ranked = system->ranked};
    spry_status status = SPRY_STATUS_OK;
    *p = NULL;
    SPRY_GO(ctx, program_parse(ctx, "plan", text, strlen(text), &g));
    SPRY_GO(ctx, runner_use(system->A, g->uses_transpose, &setup.use[OPERATOR_A]));
    SPRY_GO(ctx, runner_use(system->M, g->uses_transpose, &setup.use[OPERATOR_M]));
    program *handed = g;
    g = NULL;
    SPRY_GO(ctx, plan_make(handed, &setup, p));
    if (!setup.square && (*p)->square_only)
        status = SPRY_STATUS_UNSUPPORTED;
done:
    program_free(g);
    return status;
}

void course_of_plan(const course_system *system, const char *text, bool fuse, int count,
                    course *courses)
{
    spry_context *ctx = system->ctx;
    plan *p = NULL;
    runner *r = NULL;
    spry_status status = SPRY_STATUS_OK;
    listener me[8];
    void *b[8] = {NULL}, *x[8] = {NULL};
    const runner_operators operators = {.A = system->A, .M = system->M};
    for (int k = 0; k < count; k++)
        forget(&courses[k]);
    SPRY_GO(ctx, make_plan(system, text, fuse, &p));
    system->A->rows_part = (vector_part){system->ranked, 0, system->rows};
    system->A->cols_part = (vector_part){system->ranked, 0, system->cols};
    SPRY_GO(ctx, runner_new(p, &operators, count, &r));
    for (int k = 0; k < count; k++) {
        rhs *l = runner_rhs(r, k);
        me[k] = (listener){.c = &courses[k], .system = system, .r = r, .l = l};
        l->b = b[k] = vector(system, 2 * courses[k].seed);
        l->x = x[k] = vector(system, 2 * courses[k].seed + 1);
        me[k].x = l->x;
        l->data = &me[k];
        l->report = hear;
        l->breakdown = hear_breakdown;
    }
    SPRY_GO(ctx, runner_run(r));
    for (int k = 0; k < count; k++) {
        me[k].l->done = !courses[k].twice;
        me[k].first = courses[k].reports;
    }
    if (courses[0].twice)
        SPRY_GO(ctx, runner_run(r));
done:
    for (int k = 0; k < count; k++) {
        courses[k].status = status;
        if (x[k]) {
            courses[k].last = hash_of(system, x[k]);
            keep(&courses[k], system, courses[k].reports, x[k]);
        }
        free(b[k]);
        free(x[k]);
    }
    runner_free(r);
    plan_free(p);
}

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (!isfinite(a) && !isfinite(b));
}

bool course_same(const course *a, const course *b, char what[160])
{
    const int both = a->reports < b->reports ? a->reports : b->reports;
    for (int k = 0; k < both; k++) {
        if (a->kind[k] != b->kind[k] || !same_bits(a->value[k], b->value[k])) {
            snprintf(what, 160, "report %d is %.17g, not %.17g", k, b->value[k], a->value[k]);
            return false;
        }
        if ((a->look & b->look) >> k & 1 && a->x[k] != b->x[k]) {
            snprintf(what, 160, "x differs at report %d", k);
            return false;
        }
    }
    if (a->status != b->status || a->reports != b->reports || a->breakdowns != b->breakdowns) {
        snprintf(what, 160, "status %d, %d reports, %d breakdowns, not %d, %d, %d", b->status,
                 b->reports, b->breakdowns, a->status, a->reports, a->breakdowns);
        return false;
    }
    if (a->last != b->last && a->status == SPRY_STATUS_OK) {
        snprintf(what, 160, "x differs at the end, after %d reports and %d breakdowns", b->reports,
                 b->breakdowns);
        return false;
    }
    return true;
}
