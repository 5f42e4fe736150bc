/* Programs of likely solves: see spry_device_prepare(). */
#include "support/devices.h"
#include "support/opened.h"

#include <spry/generate.h>

typedef struct heard {
    spry_context *ctx;
    int done, all, stop_at;
} heard;

static void hear(void *data, int done, int all)
{
    heard *h = data;
    assert_true(done > h->done && done <= all);
    h->done = done;
    h->all = all;
    if (h->stop_at > 0 && done >= h->stop_at)
        spry_context_interrupt(h->ctx);
}

/* What is prepared is on disk; the second time nothing is left to do. */
static void test_prepare(spry_context *ctx, spry_device *d)
{
    cache_place place;
    int made = 0, again = -1;
    heard h = {.ctx = ctx};
    place_open(&place);
    assert_ok(ctx, spry_device_prepare(d, "s", "", hear, &h, &made));
    assert_true(made > 15);
    assert_int_equal(h.done, h.all);
    assert_true(place_count(&place) > 15 && place_count(&place) <= made);
    assert_ok(ctx, spry_device_prepare(d, "s", "", NULL, NULL, &again));
    assert_int_equal(again, 0);
    place_close(&place);
}

/* A request to stop ends it; what was compiled is kept. */
static void test_stopped(spry_context *ctx, spry_device *d)
{
    cache_place place;
    int made = 0, again = -1;
    heard h = {.ctx = ctx, .stop_at = 2};
    place_open(&place);
    assert_status(ctx, SPRY_STATUS_INTERRUPTED, spry_device_prepare(d, "s", "cg", hear, &h, &made));
    support_message_has(ctx, "were compiled and kept");
    assert_true(made >= 2 && h.done < h.all);
    h.done = 0;
    h.stop_at = 1;
    assert_status(ctx, SPRY_STATUS_INTERRUPTED,
                  spry_device_prepare(d, "s", "cg", hear, &h, &again));
    assert_int_equal(again, 0);
    place_close(&place);
}

/* --- the list of first programs ------------------------------------------------------------------
 */

/* Whether a line of the list has these names and, unless NULL, these options in that type. */
static bool is_listed(const char *names, const char *options, char type)
{
    char listed[64], with[160];
    for (const char *line = device_text("first"); *line; line += strcspn(line, "\n") + 1) {
        if (sscanf(line, "%*[a-z]: %63[^:\n]: %159[^\n]", listed, with) != 2 ||
            strcmp(listed, names) != 0)
            continue;
        char *wild = strstr(with, "=T");
        if (wild)
            wild[1] = type;
        if (!options || strcmp(with, options) == 0)
            return true;
    }
    return false;
}

/* The names that a file of programs has in its records, one per line; each is listed. */
static void check_records(const char *all, bool exact, char found[4096])
{
    const char *at = strchr(all, '\n') + 1;
    char kind[8], options[160], names[64];
    found[0] = '\0';
    for (int length; sscanf(at, "%7s %d %159[^\n]", kind, &length, options) == 3;) {
        const char *body = strchr(at, '\n') + 1;
        at = body + length + 1;
        if (strcmp(kind, "names") != 0)
            continue;
        snprintf(names, sizeof names, "%.*s", length, body);
        options[strlen(options) - strspn(options + strlen(options) - 1, " ")] = '\0';
        if (!is_listed(names, exact ? options : NULL, '1'))
            fail_msg("first.list has no %s: %s", names, options);
        snprintf(found + strlen(found), 4096 - strlen(found), "%s\n", names);
    }
}

/* What a first solve compiles is in the list of such programs, and the list has nothing for amg
 * that is no more. Options are compared where programs are prefetched: the list is for these. */
static void test_first(spry_context *ctx, spry_device *d)
{
    static char all[1 << 22];
    char path[256], names[64], options[96], found[4096];
    spry_context *own = NULL;
    spry_matrix *A = NULL;
    spry_vector *b = NULL, *x = NULL;
    cache_place place;
    place_open(&place);
    assert_ok(ctx, spry_context_new(NULL, &own));
    assert_ok(own, spry_generate(own, "poisson3d", "size=24", &A));
    assert_ok(own, spry_vector_ones(own, A, &b));
    assert_ok(own, spry_vector_zeros(own, A, &x));
    snprintf(options, sizeof options, "method=cg precon=amg device=%s", d->facts.name);
    assert_ok(own, spry_quick_solve(own, A, b, x, options, NULL));
    spry_vector_free(b);
    spry_vector_free(x);
    spry_matrix_free(A);
    spry_context_free(own);
    all[place_list(path, all, sizeof all - 1)] = '\0';
    check_records(all, d->facts.has_compilers, found);
    for (const char *line = device_text("first"); *line; line += strcspn(line, "\n") + 1)
        if (sscanf(line, "amg: %63[^:\n]:", names) == 1 && !strstr(found, names))
            fail_msg("first.list has %s, which amg does not take", names);
    place_close(&place);
}

int main(void)
{
    static const devices_test tests[] = {DEVICES_TEST(test_first), DEVICES_TEST(test_prepare),
                                         DEVICES_TEST(test_stopped)};
    return DEVICES_RUN(tests);
}
