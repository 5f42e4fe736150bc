/* Blocks that the system has no room for are refused before they are touched. */
#include "support/support.h"

#include "base/base.h"

#include <spry/spry.h>

#include <stdlib.h>
#include <unistd.h>

/* A file with a text; the name is made of `path`, whose XXXXXX it replaces. */
static void write_file(char *path, const char *text)
{
    const int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), (ssize_t)strlen(text));
    close(file);
}

static int64_t parsed(const char *text)
{
    char path[] = "/tmp/spry-meminfo-XXXXXX";
    write_file(path, text);
    const int64_t bytes = base_free_memory(path);
    unlink(path);
    return bytes;
}

static void what_the_system_reports(void **state)
{
    (void)state;
    assert_int_equal(parsed("MemTotal:  9 kB\nMemFree: 5 kB\nMemAvailable:    7 kB\nX: 1\n"), 7168);
    assert_int_equal(parsed("MemAvailable:\n"), 0);
    assert_int_equal(parsed("MemAvailable: -3 kB\n"), 0);
    assert_int_equal(parsed("MemAvailable: 9223372036854775807 kB\n"), 0);
    assert_int_equal(parsed("MemTotal: 3 kB\n"), 0);
    assert_int_equal(parsed(""), 0);
    assert_int_equal(base_free_memory("/not/here"), 0);
}

/* 69 bytes that promise 2^31 - 1 rows, whose offsets take 8 bytes each; and what is asked for. */
static void rows_without_entries(void **state)
{
    spry_context *ctx = *state;
    char info[] = "/tmp/spry-meminfo-XXXXXX", path[] = "/tmp/spry-rows-XXXXXX";
    int64_t before, most;
    spry_matrix *A = NULL;
    spry_vector *v = NULL;
    write_file(info, "MemAvailable: 2000000 kB\n");
    write_file(path, "%%MatrixMarket matrix coordinate real general\n2147483647 1 1\n1 1 1.0\n");
    spry_context_free(ctx);
    assert_int_equal(spry_context_new(NULL, &ctx), SPRY_STATUS_OK);
    *state = ctx;
    ctx->meminfo = info;
    ctx->options.memory_limit = INT64_MAX;
    spry_context_memory(ctx, &before, NULL);
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_matrix_read(ctx, path, NULL, &A));
    assert_null(A);
    support_message_has(ctx, path);
    support_message_has(ctx, "almost all of it is empty");
    assert_status(ctx, SPRY_STATUS_NO_MEMORY,
                  spry_vector_new(ctx, SPRY_TYPE_D, 1000000000, NULL, SPRY_OWN_COPY, &v));
    assert_null(v);
    support_message_has(ctx, "bytes are more than the 2048000000 that are free");
    spry_context_memory(ctx, NULL, &most);
    assert_true(most - before < 1 << 20);
    unlink(info);
    unlink(path);
}

/* A limit that the caller has set is the only one. */
static void explicit_limits(void **state)
{
    spry_context *ctx = NULL;
    (void)state;
    assert_int_equal(spry_context_new("memory-limit=1G", &ctx), SPRY_STATUS_OK);
    assert_null(ctx->meminfo);
    spry_context_free(ctx);
    assert_int_equal(spry_context_new(NULL, &ctx), SPRY_STATUS_OK);
    assert_string_equal(ctx->meminfo, "/proc/meminfo");
    spry_context_free(ctx);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, support_setup, support_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {CASE(what_the_system_reports), CASE(rows_without_entries),
                                       CASE(explicit_limits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
