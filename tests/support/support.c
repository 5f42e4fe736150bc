/* Contexts, statuses and the torture loop of the tests. */
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const int support_threads[4] = {1, 2, 3, 5};

spry_context *support_context(const char *options)
{
    spry_context *ctx = NULL;
    assert_ok(ctx, spry_context_new(options, &ctx));
    return ctx;
}

void support_context_free(spry_context *ctx)
{
    int64_t now, most;
    spry_context_memory(ctx, &now, &most);
    spry_context_free(ctx);
    assert_int_equal(now, 0);
}

int support_setup(void **state)
{
    *state = support_context(NULL);
    return 0;
}

int support_teardown(void **state)
{
    int64_t now, most;
    spry_context_memory(*state, &now, &most);
    spry_context_free(*state);
    if (now != 0)
        print_error("%lld bytes are still in use after the test\n", (long long)now);
    return now == 0 ? 0 : -1;
}

void support_status(const spry_context *ctx, spry_status expected, spry_status found,
                    const char *call, const char *file, int line)
{
    if (found == expected)
        return;
    print_error("%s: %s: %s\n", call, spry_status_text(found), ctx ? spry_message(ctx) : "");
    _assert_int_equal((LargestIntegralType)found, (LargestIntegralType)expected, file, line);
}

void support_message_has(const spry_context *ctx, const char *text)
{
    if (strstr(spry_message(ctx), text))
        return;
    print_error("message: %s\nexpected in it: %s\n", spry_message(ctx), text);
    fail();
}

static void *allocate(void *data, size_t bytes, size_t alignment)
{
    support_counts *counts = data;
    counts->blocks++;
    counts->asked++;
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void release(void *data, void *memory, size_t bytes)
{
    support_counts *counts = data;
    (void)bytes;
    counts->blocks--;
    free(memory);
}

spry_allocator support_counted(support_counts *counts)
{
    return (spry_allocator){
        .size = sizeof(spry_allocator), .allocate = allocate, .release = release, .data = counts};
}

void support_torture(spry_context *ctx, support_call call, void *data)
{
    for (int all = 0; all < 2; all++) {
        for (int64_t nth = 1;; nth++) {
            int64_t before, after, most;
            spry_context_memory(ctx, &before, &most);
            base_fail_allocation(ctx, nth, all == 1);
            const spry_status status = call(ctx, data);
            base_fail_allocation(ctx, 0, false);
            spry_context_memory(ctx, &after, &most);
            assert_int_equal(after, before);
            if (status == SPRY_STATUS_OK)
                break;
            assert_status(ctx, SPRY_STATUS_NO_MEMORY, status);
            assert_true(spry_message(ctx)[0] != '\0');
        }
    }
}

bool support_full(void)
{
    const char *full = getenv("SPRY_TEST_FULL");
    return full && full[0] == '1';
}

bool support_turn(int type, int64_t turn)
{
    return support_full() || (type == 1 || type == 2) == (turn % 2 == 0);
}
