/*
 * What methods become on CUDA devices must be CUDA C: the program of every plan, and that of its
 * loop as one kernel, are compiled by the true NVRTC for a device that is a fake and runs none of
 * them. NVRTC takes a second or two for each, so these are few methods of different kinds, each
 * with the type of its turn; SPRY_TEST_FULL=1 takes all, SPRY_TEST_METHOD=NAME one with all types.
 */
#include "support/generated.h"
#include "support/opened.h"

#include "device/engine/cuda.h"
#include "device/linalg/operator.h"
#include "krylov/krylov.h"
#include "program/resident.h"

#include <stdlib.h>
#include <string.h>

enum { SKIPPED = 77 };

static plan *plan_for(spry_context *ctx, const char *method, const spry_operator *A)
{
    program *g = NULL;
    plan *p = NULL;
    plan_setup setup = {.fuse = true, .square = true, .apart = true};
    assert_ok(ctx, krylov_parse(ctx, method, NULL, "", 0, &g));
    assert_ok(ctx, runner_use(A, g->uses_transpose, &setup.use[OPERATOR_A]));
    assert_ok(ctx, runner_use(NULL, g->uses_transpose, &setup.use[OPERATOR_M]));
    assert_ok(ctx, plan_make(g, &setup, &p));
    return p;
}

/* Opening a runner builds the program. */
static void compile_method(opened *s, const char *method, const spry_operator *A)
{
    const runner_operators operators = {.A = A, .M = NULL};
    const int64_t before = s->d->cache->compiled;
    runner *r = NULL;
    plan *p = plan_for(s->ctx, method, A);
    const int together = !p->program->block ? 1 : support_full() ? PROGRAM_COLUMNS : 5;
    const spry_status status = runner_new(p, &operators, together, &r);
    if (status != SPRY_STATUS_OK)
        fail_msg("%s, type %s: %s", method, spry_type_name(A->type), spry_message(s->ctx));
    assert_true(s->d->cache->compiled > before);
    assert_true((r->resident != NULL) != p->program->by_host); /* whose course is the host's */
    if (r->resident)
        r->resident->course.turns_alike = true; /* the text is there for every plan */
    if (r->resident && resident_build_whole(r->resident, 0) != SPRY_STATUS_OK)
        fail_msg("%s, type %s, whole: %s", method, spry_type_name(A->type), spry_message(s->ctx));
    runner_free(r);
    plan_free(p);
}

/* Whether a method is to be compiled now. */
static bool wanted(const char *method)
{
    const char *only = getenv("SPRY_TEST_METHOD");
    if (only)
        return strcmp(only, method) == 0;
    return support_full() || base_find_word("cg bicgstab minres gmres lsqr block-cg", method) >= 0;
}

static void test_methods(void **state)
{
    const int types = getenv("SPRY_TEST_METHOD") ? 4 : 1;
    int compiled = 0;
    spry_matrix *matrices[4]; /* which A^T is made of */
    spry_operator *operators[4];
    device_program *p = NULL;
    opened s;
    (void)state;
    opened_open(&s, "cuda");
    assert_ok(s.ctx, device_build(s.d, "SP_KERNEL nothing(void) {}\n", "", &p));
    for (int t = 0; t < 4; t++) {
        matrices[t] = generated_as(s.ctx, support_types[t], "poisson2d", "size=9");
        assert_ok(s.ctx, device_operator(s.d, matrices[t], "csr", &operators[t]));
    }
    for (int m = 0; krylov_texts[m].name; m++)
        for (int t = 0; t < types; t++)
            if (wanted(krylov_texts[m].name)) {
                compile_method(&s, krylov_texts[m].name, operators[(m + t) % 4]);
                compiled++;
            }
    assert_true(compiled >= 4);
    for (int t = 0; t < 4; t++) {
        spry_operator_free(operators[t]);
        spry_matrix_free(matrices[t]);
    }
    opened_close(&s);
}

int main(void)
{
    char why[512];
    nvrtc_library nvrtc;
    if (!nvrtc_load(&nvrtc, 0, why, sizeof why)) {
        print_message("SKIP: %s\n", why);
        return SKIPPED;
    }
    set_variable("SPRY_CUDA_LIBRARY", FAKE_CUDA);
    set_variable("SPRY_CACHE", ""); /* everything is compiled */
    char version[32];
    snprintf(version, sizeof version, "version=%d", nvrtc.version);
    set_variable("FAKE_CUDA", version);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_methods)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
