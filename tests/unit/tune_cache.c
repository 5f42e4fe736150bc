/* What the tuner remembers: texts of files, and folders in all weathers. */
#include "choose/tune.h"
#include "support/support.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const char base[] = "/tmp";

/* A folder of the test's own, which SPRY_CACHE names. */
typedef struct place {
    spry_context *ctx;
    char folder[128];
    int warnings, infos;
} place;

static void count_logs(void *data, spry_log_level level, const char *text)
{
    place *p = data;
    (void)text;
    p->warnings += level == SPRY_LOG_WARNING;
    p->infos += level == SPRY_LOG_INFO;
}

static void place_open(place *p)
{
    *p = (place){.ctx = support_context("log=info threads=2")};
    snprintf(p->folder, sizeof p->folder, "%s/spry-tune-XXXXXX", base);
    assert_non_null(mkdtemp(p->folder));
    assert_int_equal(setenv("SPRY_CACHE", p->folder, 1), 0);
    spry_context_set_log(p->ctx, count_logs, p);
}

static void place_close(place *p)
{
    char command[160];
    snprintf(command, sizeof command, "rm -rf '%s'", p->folder);
    assert_int_equal(system(command), 0);
    support_context_free(p->ctx);
}

static spry_matrix *some_matrix(spry_context *ctx, const char *options)
{
    spry_matrix *A = NULL;
    assert_ok(ctx, spry_generate(ctx, "poisson2d", options, &A));
    return A;
}

static const char quick[] = "always=yes budget=8";

/* The file of the choice for A, "" when there is none. */
static void tune(place *p, const spry_matrix *A, const char *options, bool remembered, char *file)
{
    spry_tune_report report = SPRY_TUNE_REPORT_INIT;
    assert_ok(p->ctx, spry_tune(A, NULL, options, &report));
    assert_int_equal(report.remembered, remembered);
    assert_true(report.count > 1 && report.format[0]);
    assert_string_equal(report.rows[0].format, "csr");
    assert_true(report.rows[0].seconds > 0 && report.rows[0].bytes > 0);
    snprintf(file, 256, "%s", report.place);
    spry_tune_report_clear(p->ctx, &report);
}

/* --- texts ----------------------------------------------------------------------------------- */

static tune_entry sample_entry(void)
{
    tune_entry e = {.matrix = 0x123456789abcdef0u,
                    .machine = 7,
                    .class = 3,
                    .winner = "sell:C=8,sigma=256",
                    .seconds = 0.25,
                    .count = 2};
    e.rows[0] = (spry_tune_row){.format = "csr", .bytes = 1000, .seconds = 1e-3};
    e.rows[1] = (spry_tune_row){.format = "sell:C=8,sigma=256",
                                .bytes = 800,
                                .model_seconds = 9e-4,
                                .seconds = 8e-4,
                                .conversion_seconds = 0.1};
    return e;
}

static tune_solved sample_solved(void)
{
    tune_solved s = {.matrix = 5, .machine = 6, .iterations = 321, .seconds = 0.75, .count = 2};
    snprintf(s.precon, sizeof s.precon, "prepare:order=rcm,sub=[ilu:level=1]");
    snprintf(s.method, sizeof s.method, "cocg");
    snprintf(s.failed[0], TUNE_SPEC, "direct:most=0.2");
    snprintf(s.failed[1], TUNE_SPEC, "jacobi");
    return s;
}

static void test_texts(void **state)
{
    (void)state;
    char text[TUNE_FILE_SIZE], again[TUNE_FILE_SIZE];
    tune_entry e = sample_entry(), f;
    const size_t size = tune_entry_write(&e, text);
    assert_true(tune_entry_read(text, size, &f));
    assert_string_equal(f.winner, e.winner);
    assert_int_equal(f.matrix, e.matrix);
    assert_int_equal(f.count, 2);
    assert_string_equal(f.rows[1].format, e.rows[1].format);
    assert_int_equal(tune_entry_write(&f, again), size);
    assert_memory_equal(text, again, size);
    tune_machine m = {.machine = 9, .count = 1}, n;
    m.factors[0] = (tune_factor){"sell/f32", 1.25, 12, 3};
    const size_t length = tune_machine_write(&m, text);
    assert_true(tune_machine_read(text, length, &n));
    assert_int_equal(n.count, 1);
    assert_true(n.factors[0].factor == 1.25 && n.factors[0].conversion == 12);
    assert_false(tune_entry_read(text, length, &f)); /* of another kind */
    tune_solved s = sample_solved(), t;
    const size_t written = tune_solved_write(&s, text);
    assert_true(tune_solved_read(text, written, &t));
    assert_int_equal(tune_solved_write(&t, again), written);
    assert_memory_equal(text, again, written);
    assert_false(tune_entry_read(text, written, &f));
    assert_false(tune_solved_read(text, tune_entry_write(&e, text), &t));
    for (int k = 0; k < 2; k++) { /* no machine is like that */
        m.factors[0].factor = k == 0 ? 0.299 : 5.001;
        assert_false(tune_machine_read(text, tune_machine_write(&m, text), &n));
    }
}

/* Every cut, and every byte changed, is noticed. */
static void test_damage(void **state)
{
    (void)state;
    char text[TUNE_FILE_SIZE], changed[TUNE_FILE_SIZE];
    tune_entry e = sample_entry(), f;
    const size_t size = tune_entry_write(&e, text);
    for (size_t k = 0; k < size; k++) {
        assert_false(tune_entry_read(text, k, &f));
        memcpy(changed, text, size);
        changed[k] = (char)(changed[k] ^ 4);
        assert_false(tune_entry_read(changed, size, &f));
    }
    memcpy(changed, text, size);
    changed[size] = '\n';
    assert_false(tune_entry_read(changed, size + 1, &f));
    assert_false(tune_entry_read(NULL, 0, &f));
    tune_solved s = sample_solved(), t;
    const size_t written = tune_solved_write(&s, text);
    for (size_t k = 0; k < written; k++) {
        assert_false(tune_solved_read(text, k, &t));
        memcpy(changed, text, written);
        changed[k] = (char)(changed[k] ^ 4);
        assert_false(tune_solved_read(changed, written, &t));
    }
}

/* The most rows and the longest names fit a file. */
static void test_largest(void **state)
{
    (void)state;
    char text[TUNE_FILE_SIZE];
    tune_entry *e = calloc(2, sizeof *e);
    assert_non_null(e);
    *e = sample_entry();
    e->count = TUNE_ROWS;
    for (int i = 0; i < TUNE_ROWS; i++) {
        e->rows[i] = e->rows[0];
        e->rows[i].bytes = INT64_MAX;
        e->rows[i].seconds = e->rows[i].model_seconds = e->rows[i].conversion_seconds = 9e8;
        memset(e->rows[i].format, 'x', TUNE_SPEC - 1);
        e->rows[i].format[TUNE_SPEC - 1] = '\0';
    }
    assert_true(tune_entry_read(text, tune_entry_write(e, text), e + 1));
    assert_int_equal(e[1].count, TUNE_ROWS);
    free(e);
    tune_machine *m = calloc(2, sizeof *m);
    assert_non_null(m);
    m->count = TUNE_FACTORS;
    for (int i = 0; i < TUNE_FACTORS; i++) {
        m->factors[i] = (tune_factor){.factor = 5, .conversion = 9e5, .count = INT64_MAX};
        memset(m->factors[i].format, 'x', TUNE_NAME - 1);
    }
    assert_true(tune_machine_read(text, tune_machine_write(m, text), m + 1));
    assert_int_equal(m[1].count, TUNE_FACTORS);
    free(m);
    tune_solved s = sample_solved(), t;
    s.count = TUNE_FAILED;
    s.iterations = INT64_MAX;
    for (int i = 0; i < TUNE_FAILED; i++)
        memset(s.failed[i], 'x', TUNE_SPEC - 1);
    assert_true(tune_solved_read(text, tune_solved_write(&s, text), &t));
    assert_int_equal(t.count, TUNE_FAILED);
}

/* --- remembering ----------------------------------------------------------------------------- */

static void test_remember(void **state)
{
    (void)state;
    place p;
    char file[256], other[256];
    struct stat about;
    place_open(&p);
    spry_matrix *A = some_matrix(p.ctx, "size=60"), *B = some_matrix(p.ctx, "size=61");
    tune(&p, A, quick, false, file);
    assert_true(stat(file, &about) == 0 && (about.st_mode & 0777) == 0600);
    tune(&p, A, quick, true, other);
    assert_string_equal(file, other);
    tune(&p, A, "always=yes budget=8 again=yes", false, other);
    tune(&p, A, "always=yes budget=8 products=5000", true, other); /* of the same class */
    tune(&p, A, "always=yes budget=8 products=20000", false, other);
    assert_string_not_equal(file, other);
    tune(&p, A, "always=yes budget=8 remember=no", false, other);
    assert_string_equal(other, "");
    tune(&p, B, quick, false, other); /* another matrix */
    assert_int_equal(p.warnings, 0);
    int64_t count = 0;
    assert_ok(p.ctx, spry_tune_forget(p.ctx, A, &count));
    assert_int_equal(count, 2);
    tune(&p, B, quick, true, other);
    tune(&p, A, quick, false, other);
    assert_ok(p.ctx, spry_tune_forget(p.ctx, NULL, &count));
    assert_int_equal(count, 3); /* with what was learned of the machine */
    spry_matrix_free(A);
    spry_matrix_free(B);
    place_close(&p);
}

/* Values and structure both count, in every format. */
static void test_fingerprint(void **state)
{
    spry_context *ctx = *state;
    for (int format = SPRY_FORMAT_COO; format <= SPRY_FORMAT_CSC; format++) {
        support_recipe recipe = {.type = SPRY_TYPE_D,
                                 .format = (spry_format)format,
                                 .rows = 50,
                                 .cols = 50,
                                 .nnz = 300,
                                 .seed = 1};
        spry_matrix *A = support_matrix(ctx, &recipe), *same = support_matrix(ctx, &recipe);
        const uint64_t print = tune_fingerprint(A);
        assert_true(print == tune_fingerprint(same));
        const matrix_arrays a = same->a;
        ((double *)a.values)[299] += 1;
        assert_true(print != tune_fingerprint(same));
        ((double *)a.values)[299] -= 1;
        assert_true(print == tune_fingerprint(same));
        int32_t *index = a.col_index ? a.col_index : a.row_index;
        index[150] = index[150] == 0;
        assert_true(print != tune_fingerprint(same));
        spry_matrix_free(A);
        spry_matrix_free(same);
    }
    assert_int_equal(tune_products_class(0), 0);
    assert_int_equal(tune_products_class(9), 0);
    assert_int_equal(tune_products_class(1000), 3);
}

/* --- bad weather ----------------------------------------------------------------------------- */

static void write_file(const char *path, const char *text, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* A file that is not what it should be is ignored with a warning, and replaced. */
static void spoil(place *p, const spry_matrix *A, void (*change)(const char *path))
{
    char file[256];
    tune(p, A, quick, true, file);
    change(file);
    p->warnings = 0;
    tune(p, A, quick, false, file);
    assert_int_equal(p->warnings, 1);
    tune(p, A, quick, true, file);
    assert_int_equal(p->warnings, 1);
}

static void empty_it(const char *path)
{
    write_file(path, "", 0);
}

static void cut_it(const char *path)
{
    assert_int_equal(truncate(path, 40), 0);
}

static void fill_it(const char *path)
{
    char junk[TUNE_FILE_SIZE + 10];
    memset(junk, 'x', sizeof junk);
    write_file(path, junk, sizeof junk);
}

/* Sound, but of another matrix: someone moved it. */
static void swap_it(const char *path)
{
    char text[TUNE_FILE_SIZE];
    tune_entry e = sample_entry();
    write_file(path, text, tune_entry_write(&e, text));
}

static void link_it(const char *path)
{
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("/etc/passwd", path), 0);
}

static void pipe_it(const char *path)
{
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
}

static void test_spoilt(void **state)
{
    (void)state;
    void (*const changes[])(const char *) = {empty_it, cut_it, fill_it, swap_it, link_it, pipe_it};
    place p;
    char file[256];
    place_open(&p);
    spry_matrix *A = some_matrix(p.ctx, "size=60");
    tune(&p, A, quick, false, file);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        spoil(&p, A, changes[i]);
    spry_matrix_free(A);
    place_close(&p);
}

/* What is remembered is a format that no longer suits: it is not used. */
static void test_lossy(void **state)
{
    (void)state;
    place p;
    char file[256], text[TUNE_FILE_SIZE];
    const char *const specs[] = {"sell:values=f16", "nonsense", "auto", "sell:C=-1"};
    place_open(&p);
    spry_matrix *A = some_matrix(p.ctx, "size=400"); /* beyond the second cache */
    double *values = A->a.values;
    values[0] = 1.0 / 3;
    tune(&p, A, quick, false, file);
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        tune_entry e;
        const int64_t size = tune_file_read(p.ctx, file, text);
        assert_true(size > 0 && tune_entry_read(text, (size_t)size, &e));
        snprintf(e.winner, sizeof e.winner, "%s", specs[i]);
        write_file(file, text, tune_entry_write(&e, text));
        spry_operator *op = NULL;
        spry_storage storage = SPRY_STORAGE_INIT;
        assert_ok(p.ctx, spry_operator_from_matrix(A, NULL, "auto:budget=8,always=yes", &op));
        assert_ok(p.ctx, spry_operator_storage(op, &storage));
        assert_true(storage.exact);
        spry_operator_free(op);
    }
    spry_matrix_free(A);
    place_close(&p);
}

/* Also where the format is only reported: what does not hold A is not. */
static void test_reports(void **state)
{
    (void)state;
    place p;
    char file[256], text[TUNE_FILE_SIZE];
    const char *const specs[] = {"sell:values=f16", "sell:C=8,sigma=1,values=f32", "sym",
                                 "nonsense", "sell:C=-1"};
    place_open(&p);
    spry_matrix *A = some_matrix(p.ctx, "size=60");
    double *values = A->a.values;
    values[1] = 1.0 / 3; /* the one across is not */
    tune(&p, A, quick, false, file);
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        tune_entry e;
        const int64_t size = tune_file_read(p.ctx, file, text);
        assert_true(size > 0 && tune_entry_read(text, (size_t)size, &e));
        snprintf(e.winner, sizeof e.winner, "%s", specs[i]);
        write_file(file, text, tune_entry_write(&e, text));
        tune(&p, A, quick, false, file);
        tune(&p, A, quick, true, file); /* which has replaced it */
    }
    assert_int_equal(p.warnings, 0);
    spry_matrix_free(A);
    place_close(&p);
}

static void tune_for(place *p, const spry_matrix *A, int64_t products, const char *format)
{
    char options[64];
    spry_tune_report report = SPRY_TUNE_REPORT_INIT;
    snprintf(options, sizeof options, "always=yes products=%" PRId64, products);
    assert_ok(p->ctx, spry_tune(A, NULL, options, &report));
    assert_true(report.remembered);
    assert_string_equal(report.format, format);
    spry_tune_report_clear(p->ctx, &report);
}

/* What was timed once serves for other numbers of products: the winner is found for each. */
static void test_products(void **state)
{
    (void)state;
    place p;
    char file[256], text[TUNE_FILE_SIZE];
    tune_entry e;
    place_open(&p);
    spry_matrix *A = some_matrix(p.ctx, "size=60");
    tune(&p, A, quick, false, file);
    const int64_t size = tune_file_read(p.ctx, file, text);
    assert_true(size > 0 && tune_entry_read(text, (size_t)size, &e));
    e.count = 4;
    e.rows[0].seconds = 1e-3;
    e.rows[1] = (spry_tune_row){"sell", 1, 1, 0.9e-3, 0.2, 0, ""};
    e.rows[2] = (spry_tune_row){"ell", 1, 1, 0.8e-3, 0.5, 0, ""};
    e.rows[3] = (spry_tune_row){"hyb", 1, 1, 0.98e-3, 0, 0, ""}; /* too little faster */
    snprintf(e.winner, sizeof e.winner, "sell");
    write_file(file, text, tune_entry_write(&e, text));
    tune_for(&p, A, 1000, "csr");
    tune_for(&p, A, 2500, "sell");
    tune_for(&p, A, 9000, "ell");
    spry_matrix_free(A);
    place_close(&p);
}

/* A choice that nothing was timed for, or for which memory was short, is not kept. */
static void test_not_kept(void **state)
{
    (void)state;
    place p;
    char file[256];
    int64_t now = 0;
    place_open(&p);
    spry_matrix *A = some_matrix(p.ctx, "size=300");
    tune(&p, A, "always=yes budget=0", false, file);
    assert_string_equal(file, "");
    spry_context_memory(p.ctx, &now, NULL);
    p.ctx->options.memory_limit = now + (3 << 20);
    /* enough time to come to one that does not fit, also where other programs run, too */
    tune(&p, A, "always=yes budget=300", false, file);
    assert_string_equal(file, "");
    p.ctx->options.memory_limit = 0;
    tune(&p, A, quick, false, file);
    assert_string_not_equal(file, "");
    spry_matrix_free(A);
    place_close(&p);
}

/* Only what has a name of ours goes, and no folder is made for that. */
static void test_forget(void **state)
{
    (void)state;
    const char *const others[] = {"dead-beef.tune",
                                  "machine-12.tune",
                                  "0123456789abcdef-0123456789abcdef-.tune",
                                  "0123456789abcdef-0123456789abcdef-3.tune.bak",
                                  "0123456789abcdef-0123456789abcdeF-3.tune",
                                  "0123456789abcdef-0123456789abcdef-3-3.tune",
                                  "machine-0123456789abcdef-3.tune",
                                  ".tune"};
    const char *const ours[] = {"0123456789abcdef-0123456789abcdef-3.tune",
                                "0123456789abcdef-0123456789abcdef-12.tune",
                                "machine-0123456789abcdef.tune"};
    enum { OTHERS = sizeof others / sizeof *others, OURS = sizeof ours / sizeof *ours };
    place p;
    char path[256];
    int64_t count = 0;
    place_open(&p);
    for (size_t i = 0; i < OTHERS + OURS; i++) {
        snprintf(path, sizeof path, "%s/%s", p.folder, i < OTHERS ? others[i] : ours[i - OTHERS]);
        write_file(path, "x", 1);
    }
    assert_ok(p.ctx, spry_tune_forget(p.ctx, NULL, &count));
    assert_int_equal(count, OURS);
    for (size_t i = 0; i < OTHERS; i++) {
        snprintf(path, sizeof path, "%s/%s", p.folder, others[i]);
        assert_int_equal(access(path, F_OK), 0);
    }
    snprintf(path, sizeof path, "%s/new/cache", p.folder);
    assert_int_equal(setenv("SPRY_CACHE", path, 1), 0);
    assert_ok(p.ctx, spry_tune_forget(p.ctx, NULL, &count));
    assert_true(count == 0 && access(path, F_OK) != 0);
    place_close(&p);
}

/* The choice suits A and cannot hold A^T, which has a row of all entries: methods with both work.
 */
static void test_transpose(void **state)
{
    enum { N = 3000 };
    (void)state;
    place p;
    char file[256], text[TUNE_FILE_SIZE];
    int64_t *offsets = malloc((N + 1) * sizeof *offsets);
    int32_t *columns = malloc(2 * N * sizeof *columns);
    double *values = malloc(2 * N * sizeof *values);
    spry_matrix *A = NULL;
    spry_vector *b = NULL, *x = NULL;
    spry_result result = SPRY_RESULT_INIT;
    assert_true(offsets && columns && values);
    offsets[0] = 0;
    for (int32_t i = 0, k = 0; i < N; i++) {
        columns[k] = 0;
        values[k++] = i == 0 ? 100 : 0.01;
        if (i > 0) {
            columns[k] = i;
            values[k++] = 1;
        }
        offsets[i + 1] = k;
    }
    place_open(&p);
    assert_ok(p.ctx, spry_matrix_from_csr(p.ctx, SPRY_TYPE_D, N, N, offsets, columns, values,
                                          SPRY_OWN_COPY, &A));
    tune(&p, A, quick, false, file);
    tune_entry e;
    const int64_t size = tune_file_read(p.ctx, file, text);
    assert_true(size > 0 && tune_entry_read(text, (size_t)size, &e));
    snprintf(e.winner, sizeof e.winner, "ell");
    for (int k = 0; k < e.count; k++) /* where it was timed, and lost, it would not be taken */
        if (strcmp(e.rows[k].format, "ell") == 0)
            e.rows[k].seconds = 0;
    write_file(file, text, tune_entry_write(&e, text));
    assert_ok(p.ctx, spry_vector_ones(p.ctx, A, &b));
    assert_ok(p.ctx, spry_vector_zeros(p.ctx, A, &x));
    assert_ok(p.ctx, spry_quick_solve(p.ctx, A, b, x,
                                      "method=cgs format=auto:always=yes,products=1000", &result));
    assert_string_equal(result.format, "ell");
    spry_result_clear(p.ctx, &result);
    assert_ok(p.ctx, spry_vector_fill(x, (spry_scalar){0, 0}));
    assert_ok(p.ctx, spry_quick_solve(p.ctx, A, b, x,
                                      "method=lsqr format=auto:always=yes,products=1000", &result));
    assert_string_equal(result.format, "ell");
    assert_true(result.converged);
    spry_result_clear(p.ctx, &result);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_matrix_free(A);
    free(offsets);
    free(columns);
    free(values);
    place_close(&p);
}

/* No folder to be had: a line in the log, and everything works. */
static void test_no_folder(void **state)
{
    (void)state;
    place p;
    char file[256], path[256];
    place_open(&p);
    spry_matrix *A = some_matrix(p.ctx, "size=60");
    snprintf(path, sizeof path, "%s/file", p.folder);
    write_file(path, "x", 1);
    const char *const folders[] = {path, "", "/proc/spry/cache", "/dev/null"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        assert_int_equal(setenv("SPRY_CACHE", folders[i], 1), 0);
        p.infos = 0;
        tune(&p, A, quick, false, file);
        assert_string_equal(file, "");
        assert_int_equal(p.infos, 2); /* the other names the format */
    }
    assert_int_equal(unsetenv("SPRY_CACHE"), 0);
    assert_int_equal(setenv("XDG_CACHE_HOME", "not/absolute", 1), 0);
    assert_int_equal(unsetenv("HOME"), 0);
    tune(&p, A, quick, false, file);
    assert_string_equal(file, "");
    assert_int_equal(setenv("HOME", p.folder, 1), 0);
    tune(&p, A, quick, false, file);
    snprintf(path, sizeof path, "%s/.cache/spry/", p.folder);
    assert_int_equal(strncmp(file, path, strlen(path)), 0);
    assert_int_equal(setenv("XDG_CACHE_HOME", p.folder, 1), 0);
    tune(&p, A, quick, false, file);
    snprintf(path, sizeof path, "%s/spry/", p.folder);
    assert_int_equal(strncmp(file, path, strlen(path)), 0);
    assert_int_equal(p.warnings, 0);
    spry_matrix_free(A);
    place_close(&p);
}

/* A disk that takes no more: nothing is left behind, and the choice is as good. */
static void test_full_disk(void **state)
{
    (void)state;
    place p;
    char file[256];
    struct rlimit limit, none;
    place_open(&p);
    spry_matrix *A = some_matrix(p.ctx, "size=60");
    assert_true(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    none = limit;
    none.rlim_cur = 10;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    tune(&p, A, quick, false, file);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_string_equal(file, "");
    assert_int_equal(rmdir(p.folder), 0); /* it is empty */
    assert_int_equal(p.infos, 3);
    spry_matrix_free(A);
    place_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_largest),
        cmocka_unit_test(test_remember),
        cmocka_unit_test_setup_teardown(test_fingerprint, support_setup, support_teardown),
        cmocka_unit_test(test_spoilt),
        cmocka_unit_test(test_lossy),
        cmocka_unit_test(test_reports),
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_not_kept),
        cmocka_unit_test(test_forget),
        cmocka_unit_test(test_transpose),
        cmocka_unit_test(test_no_folder),
        cmocka_unit_test(test_full_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
