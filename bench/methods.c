/*
 * Every method on real matrices, b = 1, x = 0: iterations or why it ended, and the true residual.
 *   bench_methods [--folder DIR] [--tsv FILE] [--tol T] [--max-iter N] [--seconds S]
 *                 [--methods a,b,...]
 * DIR is $SPRY_MATRICES unless given. Prints a Markdown table a kind of matrix; FILE gets a line a
 * solve. A method that has a preconditioner of its own keeps it; the others get Jacobi where the
 * diagonal allows it: for hermitian matrices, a positive one. A solve is interrupted after S
 * seconds. Rectangular matrices have b = 1, 2, 3, 1, ...: the least squares ones here solve A x = 1
 * exactly. Matrices that are not there are left out.
 */
#include "peers/peer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct kind {
    const char *name, *matrices;
    bool hermitian;
} kind;

/* From easy to hard within a kind. */
static const kind kinds[] = {
    {"symmetric positive definite", "crystm01 Trefethen_2000 nos6 1138_bus bcsstk14", true},
    {"symmetric indefinite", "Si2 jagmesh7 tuma2 hangGlider_2", true},
    {"nonsymmetric", "sherman4 fs_760_1 add20 orsirr_1 sherman5 utm300 plskz362 west0479", false},
    {"complex hermitian", "mhd1280b", true},
    {"complex symmetric", "young4c qc324 concrete_K dwg961b", false},
    {"complex", "conf6_0-4x4-30 young1c helmholtz_2D", false},
    {"rectangular", "ash219 well1850 illc1850 lp_e226", false},
};
enum { KINDS = sizeof kinds / sizeof *kinds, MOST_MATRICES = 8, MOST_METHODS = 128 };

typedef struct options {
    const char *folder, *methods;
    double tol, seconds;
    int max_iter;
    FILE *tsv;
} options;

typedef struct problem {
    char name[64];
    spry_matrix *A;
    spry_vector *b, *x;
    const char *precon; /* for methods that have none of their own */
} problem;

typedef struct method {
    const char *name;
    bool own_precon;
} method;

/* --- matrices ------------------------------------------------------------------------------ */

/* Whether Jacobi's preconditioner can be made, and is positive where it must be. */
static bool takes_jacobi(const spry_matrix *A, bool hermitian)
{
    spry_operator *M = NULL;
    if (spry_matrix_rows(A) != spry_matrix_cols(A) ||
        spry_precon_new(A, NULL, "jacobi", &M) != SPRY_STATUS_OK)
        return false;
    spry_operator_free(M);
    spry_vector *d = NULL;
    bool positive = spry_matrix_diagonal(A, &d) == SPRY_STATUS_OK;
    const bool pairs = spry_type_is_complex(spry_matrix_type(A)); /* read as doubles below */
    const double *numbers = positive ? spry_vector_data_const(d) : NULL;
    for (int64_t i = 0; positive && i < spry_vector_size(d); i++)
        positive = numbers[pairs ? 2 * i : i] > 0;
    spry_vector_free(d);
    return positive || !hermitian;
}

static void fill_unevenly(spry_vector *b)
{
    double *numbers = spry_vector_data(b);
    const int64_t step = spry_type_is_complex(spry_vector_type(b)) ? 2 : 1;
    for (int64_t i = 0; i < spry_vector_size(b); i++)
        numbers[i * step] = (double)(1 + i % 3);
}

static bool open_problem(spry_context *ctx, const options *o, const kind *k, problem *p)
{
    static const char *const endings[] = {".mtx.gz", ".mtx"};
    char path[1024];
    spry_status status = SPRY_STATUS_IO;
    for (int e = 0; e < 2 && status != SPRY_STATUS_OK; e++) {
        snprintf(path, sizeof path, "%s/%s%s", o->folder, p->name, endings[e]);
        status = spry_matrix_read(ctx, path, NULL, &p->A);
    }
    if (status != SPRY_STATUS_OK) {
        fprintf(stderr, "bench_methods: %s\n", spry_message(ctx));
        return false;
    }
    peer_check(ctx, spry_vector_ones(ctx, p->A, &p->b));
    peer_check(ctx, spry_vector_zeros(ctx, p->A, &p->x));
    if (spry_matrix_rows(p->A) != spry_matrix_cols(p->A))
        fill_unevenly(p->b);
    p->precon = takes_jacobi(p->A, k->hermitian) ? "jacobi" : "none";
    return true;
}

static int open_problems(spry_context *ctx, const options *o, const kind *k, problem *problems)
{
    int count = 0;
    for (const char *word = k->matrices; *word && count < MOST_MATRICES;) {
        const size_t length = strcspn(word, " ");
        problem *p = &problems[count];
        *p = (problem){.precon = "none"};
        snprintf(p->name, sizeof p->name, "%.*s", (int)length, word);
        count += open_problem(ctx, o, k, p);
        word += length + (word[length] == ' ');
    }
    return count;
}

static void close_problem(problem *p)
{
    spry_vector_free(p->b);
    spry_vector_free(p->x);
    spry_matrix_free(p->A);
}

/* --- solves -------------------------------------------------------------------------------- */

/* The preconditioner that auto means for a method and the matrix d 1; 1 d. "" when it fails. */
static void auto_precon(spry_context *ctx, const char *name, double d, char precon[32])
{
    const int64_t offsets[] = {0, 2, 4};
    const int32_t columns[] = {0, 1, 0, 1};
    const double values[] = {d, 1, 1, d};
    spry_matrix *A = NULL;
    spry_vector *b = NULL, *x = NULL;
    spry_result result = {0};
    char text[128];
    snprintf(text, sizeof text, "method=%s precon=auto max-iter=0", name);
    peer_check(ctx, spry_matrix_from_csr(ctx, SPRY_TYPE_D, 2, 2, offsets, columns, values,
                                         SPRY_OWN_COPY, &A));
    peer_check(ctx, spry_vector_ones(ctx, A, &b));
    peer_check(ctx, spry_vector_zeros(ctx, A, &x));
    const spry_status status = spry_quick_solve(ctx, A, b, x, text, &result);
    snprintf(precon, 32, "%s", status == SPRY_STATUS_OK ? result.precon : "");
    spry_result_clear(ctx, &result);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_matrix_free(A);
}

/* Auto is Jacobi where the diagonal is positive and else nothing, unless a method says otherwise.
 */
static bool has_own_precon(spry_context *ctx, const char *name)
{
    char with[32], without[32];
    auto_precon(ctx, name, 2, with);
    auto_precon(ctx, name, 0, without);
    return strcmp(with, "jacobi") != 0 || strcmp(without, "none") != 0;
}

/* Whether a name is among those between commas; all are when there is no list. */
static bool is_wanted(const char *list, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    }
    return !list;
}

static int find_methods(spry_context *ctx, const options *o, method *methods)
{
    spry_entry entry = SPRY_ENTRY_INIT;
    int count = 0;
    for (int m = 0; count < MOST_METHODS && spry_list_at(SPRY_LIST_METHODS, m, &entry); m++) {
        if (is_wanted(o->methods, entry.name))
            methods[count++] = (method){entry.name, has_own_precon(ctx, entry.name)};
    }
    return count;
}

/* The monitor: data is when to stop. */
static bool is_in_time(void *data, int64_t iteration, double residual, const spry_vector *x)
{
    (void)iteration, (void)residual, (void)x;
    return peer_seconds() < *(const double *)data;
}

static spry_status solve_in_time(spry_context *ctx, const problem *p, const char *text,
                                 double seconds, spry_result *result)
{
    spry_solver *solver = NULL;
    double end = peer_seconds() + seconds;
    peer_check(ctx, spry_vector_fill(p->x, (spry_scalar){0, 0}));
    peer_check(ctx, spry_solver_new(ctx, &solver));
    spry_solver_set_monitor(solver, is_in_time, &end);
    spry_status status = spry_solver_set(solver, text);
    if (status == SPRY_STATUS_OK)
        status = spry_solver_set_matrix(solver, p->A);
    if (status == SPRY_STATUS_OK)
        status = spry_solve(solver, p->b, p->x, result);
    spry_solver_free(solver);
    return status;
}

/* A solve as a cell of the table; false when the method does not take the matrix. */
static bool solve(spry_context *ctx, const options *o, const kind *k, const method *m,
                  const problem *p, char cell[64])
{
    spry_result r = {0};
    char text[256];
    snprintf(text, sizeof text, "method=%s precon=%s tol=%g max-iter=%d", m->name,
             m->own_precon ? "auto" : p->precon, o->tol, o->max_iter);
    const double begin = peer_seconds();
    const bool taken = solve_in_time(ctx, p, text, o->seconds, &r) == SPRY_STATUS_OK;
    const double seconds = peer_seconds() - begin;
    if (r.converged)
        snprintf(cell, 64, "%" PRId64 " (%.1e)", r.iterations, r.true_residual);
    else
        snprintf(cell, 64, "%s (%.1e)", spry_reason_name(r.reason), r.true_residual);
    if (o->tsv)
        fprintf(o->tsv,
                "%s\t%s\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%s\t%s\t%s\t%" PRId64
                "\t%.3e\t%.3e\t%.4f\t%s\n",
                p->name, k->name, spry_matrix_rows(p->A), spry_matrix_cols(p->A),
                spry_matrix_nnz(p->A), m->name, taken ? r.precon : "", spry_reason_name(r.reason),
                r.iterations, r.residual, r.true_residual, seconds,
                taken ? r.detail : spry_message(ctx));
    spry_result_clear(ctx, &r);
    return taken;
}

/* --- tables -------------------------------------------------------------------------------- */

static void print_head(const kind *k, const problem *problems, int count)
{
    printf("\n### %s\n\n| method |", k->name);
    for (int p = 0; p < count; p++)
        printf(" %s |", problems[p].name);
    printf("\n|---|");
    for (int p = 0; p < count; p++)
        printf("---|");
    printf("\n| rows, columns, stored entries |");
    for (int p = 0; p < count; p++)
        printf(" %" PRId64 ", %" PRId64 ", %" PRId64 " |", spry_matrix_rows(problems[p].A),
               spry_matrix_cols(problems[p].A), spry_matrix_nnz(problems[p].A));
    printf("\n| preconditioner |");
    for (int p = 0; p < count; p++)
        printf(" %s |", problems[p].precon);
    printf("\n");
}

/* A method that takes none of the matrices has no row; its name goes to refused. */
static void print_row(spry_context *ctx, const options *o, const kind *k, const method *m,
                      const problem *problems, int count, char *refused, size_t size)
{
    char cells[MOST_MATRICES][64];
    bool any = false;
    for (int p = 0; p < count; p++) {
        const bool taken = solve(ctx, o, k, m, &problems[p], cells[p]);
        any = any || taken;
        if (!taken)
            snprintf(cells[p], sizeof cells[p], "-");
    }
    if (!any) {
        const size_t used = strlen(refused);
        snprintf(refused + used, size - used, "%s%s", used ? ", " : "", m->name);
        return;
    }
    printf("| %s%s |", m->name, m->own_precon ? " *" : "");
    for (int p = 0; p < count; p++)
        printf(" %s |", cells[p]);
    printf("\n");
    fflush(stdout);
}

static void print_table(spry_context *ctx, const options *o, const kind *k, const method *methods,
                        int method_count)
{
    problem problems[MOST_MATRICES];
    char refused[2048] = "";
    const int count = open_problems(ctx, o, k, problems);
    if (count > 0)
        print_head(k, problems, count);
    for (int m = 0; count > 0 && m < method_count; m++)
        print_row(ctx, o, k, &methods[m], problems, count, refused, sizeof refused);
    if (refused[0])
        printf("\nNot for these: %s.\n", refused);
    for (int p = 0; p < count; p++)
        close_problem(&problems[p]);
}

int main(int argc, char **argv)
{
    options o = {.folder = getenv("SPRY_MATRICES"), .tol = 1e-8, .max_iter = 2000, .seconds = 20};
    const char *tsv = NULL;
    const peer_option list[] = {
        {.name = "folder", .text = &o.folder},
        {.name = "tsv", .text = &tsv},
        {.name = "tol", .real = &o.tol},
        {.name = "seconds", .real = &o.seconds},
        {.name = "max-iter", .whole = &o.max_iter},
        {.name = "methods", .text = &o.methods},
        {.name = NULL},
    };
    peer_arguments(argc, argv, list, NULL, 0);
    if (!o.folder)
        peer_refuse("bench_methods: no folder of matrices: set SPRY_MATRICES or give --folder");
    spry_context *ctx = NULL;
    peer_check(ctx, spry_context_new(NULL, &ctx));
    o.tsv = tsv ? fopen(tsv, "w") : NULL;
    if (tsv && !o.tsv)
        peer_refuse("bench_methods: cannot write the TSV file");
    if (o.tsv)
        fprintf(o.tsv, "matrix\tkind\trows\tcols\tnnz\tmethod\tprecon\treason\titerations\t"
                       "residual\ttrue residual\tseconds\tdetail\n");
    method methods[MOST_METHODS];
    const int count = find_methods(ctx, &o, methods);
    printf("tol %g, at most %d iterations; iterations or why it ended (true residual); "
           "*: its own preconditioner, -: refused\n",
           o.tol, o.max_iter);
    for (int k = 0; k < KINDS; k++)
        print_table(ctx, &o, &kinds[k], methods, count);
    if (o.tsv)
        fclose(o.tsv);
    spry_context_free(ctx);
    return 0;
}
