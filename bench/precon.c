/*
 * Time to solution with spry's preconditioners: bench_precon MATRIX THREADS OPTIONS, a contender as
 * peers/system.h has it. OPTIONS are a solver's, "method=cg precon=ssor:omega=1.5"; "unavailable"
 * answers the name of a method or preconditioner that this build does not know. bench_precon MATRIX
 * THREADS kind prints what the matrix is instead: positive (hermitian with a positive diagonal),
 * symmetric or general, with "complex-" before it where it is, and its rows and entries. precon.sh
 * runs this and the programs of other libraries.
 */
#include "peers/system.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether the options name something that a list does not have; the name ends before options of
 * its own. */
static bool is_unknown(const char *options, const char *word, spry_list list)
{
    spry_entry entry = SPRY_ENTRY_INIT;
    char name[64];
    const char *given = strstr(options, word);
    if (!given)
        return false;
    given += strlen(word);
    const size_t length = strcspn(given, ": ");
    snprintf(name, sizeof name, "%.*s", (int)length, given);
    if (spry_list_find(list, name, &entry))
        return false;
    printf("unavailable: %s%.*s\n", word, (int)length, given);
    return true;
}

static void print_kind(const peer_system *s)
{
    bool positive;
    const bool symmetric = system_is_symmetric(s, &positive);
    printf("%s%s\t%" PRId64 "\t%" PRId64 "\n",
           spry_type_is_complex(s->arrays.type) ? "complex-" : "",
           positive    ? "positive"
           : symmetric ? "symmetric"
                       : "general",
           s->arrays.rows, s->arrays.nnz);
}

/* All that a solver does once counts as set-up. */
static void solve(const peer_system *s)
{
    spry_solver *solver = NULL;
    spry_vector *x = NULL;
    spry_result result = {0};
    char options[64];
    snprintf(options, sizeof options, "tol=%g max-iter=%d", SYSTEM_TOLERANCE, SYSTEM_ITERATIONS);
    peer_check(s->ctx, spry_vector_zeros(s->ctx, s->A, &x));
    const double begin = peer_seconds();
    peer_check(s->ctx, spry_solver_new(s->ctx, &solver));
    peer_check(s->ctx, spry_solver_set(solver, options));
    peer_check(s->ctx, spry_solver_set(solver, s->configuration));
    peer_check(s->ctx, spry_solver_set_matrix(solver, s->A));
    peer_check(s->ctx, spry_solve(solver, s->b, x, &result));
    const double seconds = peer_seconds() - begin;
    system_answer(result.setup_seconds, seconds - result.setup_seconds, result.iterations,
                  result.true_residual);
    spry_result_clear(s->ctx, &result);
    spry_solver_free(solver);
    spry_vector_free(x);
}

int main(int argc, char **argv)
{
    peer_system s;
    if (argc == 4 && (is_unknown(argv[3], "method=", SPRY_LIST_METHODS) ||
                      is_unknown(argv[3], "precon=", SPRY_LIST_PRECONS)))
        return 0;
    system_open(argc, argv, 0, &s);
    if (strcmp(s.configuration, "kind") == 0)
        print_kind(&s);
    else
        solve(&s);
    system_close(&s);
    return 0;
}
