/*
 * Threads that the system refuses: the number is lowered, with a warning, before OpenMP asks for
 * them and would end the process. What is found out is kept for the process, so each case has a
 * child of its own. pthread_create is this file's, for OpenMP's run-time, too.
 */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "base/base.h"

#include <spry/vector.h>

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static int allowed = 1 << 20; /* threads that can still be made */
static int warnings;

typedef int create_function(pthread_t *thread, const pthread_attr_t *attributes,
                            void *(*start)(void *), void *data);

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                   void *data)
{
    create_function *real;
    *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    if (allowed <= 0)
        return EAGAIN;
    allowed--;
    return real(thread, attributes, start, data);
}

static void count_warnings(void *data, spry_log_level level, const char *text)
{
    (void)data;
    if (level == SPRY_LOG_WARNING && strstr(text, "the system refused to make"))
        warnings++;
}

/* The sums of 1, 2, 3, ...: in a parallel region, since there are enough. */
static bool sums_are_right(spry_context *ctx)
{
    enum { N = 1 << 16 };
    int64_t *array = calloc(N + 1, sizeof *array);
    bool fine = array != NULL;
    for (int64_t i = 0; fine && i < N; i++)
        array[i + 1] = i + 1;
    fine = fine && base_prefix_sum(ctx, array, N) == SPRY_STATUS_OK;
    for (int64_t i = 0; fine && i <= N; i++)
        fine = array[i] == i * (i + 1) / 2;
    free(array);
    return fine;
}

/* A sum by the thread pool, which has threads of its own. */
static bool thread_pool_works(spry_context *ctx)
{
    enum { N = 1 << 18 };
    spry_vector *x = NULL;
    double norm = 0;
    const bool fine =
        spry_vector_new(ctx, SPRY_TYPE_D, N, NULL, SPRY_OWN_COPY, &x) == SPRY_STATUS_OK &&
        spry_vector_fill(x, (spry_scalar){1, 0}) == SPRY_STATUS_OK &&
        spry_vector_norm(x, &norm) == SPRY_STATUS_OK;
    spry_vector_free(x);
    return fine && norm == 512; /* the root of N */
}

/* In a child: a context that wants 8 threads where `more` in addition to the first can be made. 0:
 * it has `expected`, and says so once. */
static int with_threads(int more, int expected)
{
    spry_context *ctx = NULL;
    int found = 0;
    allowed = more;
    if (spry_context_new("threads=8", &ctx) != SPRY_STATUS_OK)
        return 1;
    spry_context_set_log(ctx, count_warnings, NULL);
    if (spry_context_threads(ctx) != expected)
        found = 2;
    allowed = 2 * (expected - 1); /* OpenMP and the thread pool get no more than that */
    base_use_all_threads(true);
    if (found == 0 && (!thread_pool_works(ctx) || !sums_are_right(ctx) || !thread_pool_works(ctx) ||
                       spry_context_threads(ctx) != expected))
        found = 3;
    if (found == 0 && warnings != (expected < 8))
        found = 4;
    spry_context_free(ctx);
    return found;
}

static void check_case(int more, int expected)
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        alarm(100);
        _exit(with_threads(more, expected));
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    assert_int_equal(status, 0);
}

static void refused_threads_are_not_used(void **state)
{
    (void)state;
    check_case(0, 1);
    check_case(1, 1);
    check_case(4, 2); /* half of those to be had, for OpenMP and for the thread pool */
    check_case(8, 3);
    check_case(13, 4);
    check_case(14, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(refused_threads_are_not_used)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
