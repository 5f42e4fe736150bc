/*
 * Ranks that are threads of the test: each has a context of its own with a team whose messages are
 * copies. What is tested runs in all of them at once, under the sanitizers too, and needs no MPI.
 * cmocka's assertions jump, which threads other than the test's must not: work returns what went
 * wrong instead, and ranked_run() asserts that nothing did.
 */
#ifndef SPRY_TESTS_RANKED_H
#define SPRY_TESTS_RANKED_H

#include "support/support.h"

#include "base/base.h"
#include "base/team.h"

/* What a rank does; NULL, or what went wrong, by CHECK. */
typedef const char *ranked_work(spry_context *ctx, void *data);
/* Runs it on `ranks` ranks, with one thread each; nothing may be left allocated. */
void ranked_run(int ranks, ranked_work *work, void *data);
/* The same with options of the context. */
void ranked_run_with(const char *options, int ranks, ranked_work *work, void *data);

#define RANKED_TEXT(line) #line
#define RANKED_LINE(line) RANKED_TEXT(line)
#define CHECK(condition)                                               \
    do {                                                               \
        if (!(condition))                                              \
            return __FILE__ ":" RANKED_LINE(__LINE__) ": " #condition; \
    } while (0)
/* A call that must give this status; a message that was not expected is shown. */
#define CHECK_STATUS(ctx, expected, call)                                              \
    do {                                                                               \
        if (ranked_unlike(ctx, expected, call))                                        \
            return __FILE__ ":" RANKED_LINE(__LINE__) ": " #call " is not " #expected; \
    } while (0)
#define CHECK_OK(ctx, call) CHECK_STATUS(ctx, SPRY_STATUS_OK, call)
bool ranked_unlike(spry_context *ctx, spry_status expected, spry_status found);

/* Makes each rank's allocations fail in turn, on one rank after the other: all ranks must return
 * the same failure, SPRY_STATUS_NO_MEMORY, and leave nothing behind. The call frees what it makes.
 */
void ranked_torture(int ranks, support_call call, void *data);

#endif
