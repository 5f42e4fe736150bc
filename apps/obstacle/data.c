/* Data of the caller's own: expressions of x, y and z, or files with a number for each unknown. */
#include "obstacle/obstacle.h"

#include "common/expression.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

static const char *const names[OBSTACLE_FIELDS] = {"force", "lower", "upper", "start", "faces"};

static int variable(void *data, const char *name)
{
    (void)data;
    const char *at = strlen(name) == 1 ? strchr("xyz", *name) : NULL;
    return at ? (int)(at - "xyz") + 1 : 0;
}

static bool is_file(const char *text)
{
    struct stat about;
    return stat(text, &about) == 0 && S_ISREG(about.st_mode);
}

static double number_at(const spry_vector *v, int64_t i)
{
    const void *data = spry_vector_data_const(v);
    switch (spry_vector_type(v)) {
    case SPRY_TYPE_S:
        return ((const float *)data)[i];
    case SPRY_TYPE_D:
        return ((const double *)data)[i];
    default:
        return NAN;
    }
}

/*
 * An array of NumPy as -o u.npy writes it, by z, y and x: true where the file is one, of real
 * numbers in C order with little-endian bytes, and has so many. Others are a vector's readers'.
 */
static bool read_array(const char *path, int64_t n, double *values)
{
    enum { FIXED = 10, MOST = 512 };
    unsigned char head[FIXED + MOST] = "";
    char shape[96];
    FILE *file = fopen(path, "rb");
    const size_t got = file ? fread(head, 1, FIXED, file) : 0;
    const size_t size = head[8] + 256U * head[9];
    bool good = got == FIXED && memcmp(head, "\x93NUMPY\x01", 7) == 0 && size < MOST &&
                fread(head + FIXED, 1, size, file) == size;
    const char *text = (const char *)head + FIXED;
    const bool wide = good && strstr(text, "'<f8'");
    snprintf(shape, sizeof shape, "(%" PRId64 ", %" PRId64 ", %" PRId64 ")", n, n, n);
    good = good && (wide || strstr(text, "'<f4'")) && strstr(text, "False") && strstr(text, shape);
    for (int64_t i = 0; good && i < n * n * n; i++) {
        float narrow = 0;
        good = wide ? fread(&values[i], sizeof values[i], 1, file) == 1
                    : fread(&narrow, sizeof narrow, 1, file) == 1;
        values[i] = wide ? values[i] : (double)narrow;
    }
    good = good && fgetc(file) == EOF;
    if (file)
        fclose(file);
    return good;
}

/* All unknowns, x fastest. */
static int read_file(const obstacle_run *r, int which, const char *path, double *values)
{
    const int64_t count = r->n * r->n * r->n;
    spry_vector *v = NULL;
    int exit_status = EXIT_DONE;
    if (read_array(path, r->n, values))
        return EXIT_DONE;
    const spry_status status = spry_vector_read(r->ctx, path, NULL, &v);
    if (status != SPRY_STATUS_OK)
        return cli_failed(r->ctx, status);
    if (spry_type_is_complex(spry_vector_type(v)))
        exit_status =
            cli_fail(EXIT_INPUT, "--%s %s: its numbers are complex", names[which], text_name(path));
    else if (spry_vector_size(v) != count)
        exit_status = cli_fail(
            EXIT_INPUT, "--%s %s has %s numbers, the grid %s unknowns, %" PRId64 " along each axis",
            names[which], text_name(path), text_count(spry_vector_size(v)), text_count(count),
            r->n);
    for (int64_t i = 0; exit_status == EXIT_DONE && i < count; i++)
        values[i] = number_at(v, i);
    spry_vector_free(v);
    return exit_status;
}

static void place_of(const obstacle_run *r, int64_t i, double place[3])
{
    place[0] = (double)(i % r->n + 1) * r->h;
    place[1] = (double)(i / r->n % r->n + 1) * r->h;
    place[2] = (double)(i / r->n / r->n + 1) * r->h;
}

static double evaluate(const expression *e, const double place[3])
{
    const double x[] = {0, place[0], place[1], place[2]};
    return expression_value(e, x, 0, NULL);
}

/* What is no number, or a right-hand side or a beginning without end, is named by its place. */
static int check(const obstacle_run *r, int which, const double *values)
{
    for (int64_t i = 0; i < r->n * r->n * r->n; i++) {
        double place[3];
        const double none = which == OBSTACLE_LOWER   ? -INFINITY
                            : which == OBSTACLE_UPPER ? INFINITY
                                                      : 0;
        if (isfinite(values[i]) || (none != 0 && values[i] == none))
            continue;
        place_of(r, i, place);
        return cli_fail(EXIT_INPUT, "--%s is %s at x = %g, y = %g, z = %g", names[which],
                        isnan(values[i]) ? "not a number" : "infinite", place[0], place[1],
                        place[2]);
    }
    return EXIT_DONE;
}

/* Bounds that cross leave no u. */
static int check_bounds(const obstacle_run *r)
{
    for (int64_t i = 0; r->field[OBSTACLE_UPPER] && i < r->n * r->n * r->n; i++) {
        const int64_t at[] = {i % r->n, i / r->n % r->n, i / r->n / r->n};
        const double low = obstacle_value(r, OBSTACLE_LOWER, at);
        double place[3];
        if (low <= r->field[OBSTACLE_UPPER][i])
            continue;
        place_of(r, i, place);
        return cli_fail(EXIT_INPUT,
                        "the lower bound %g is above the upper one %g at x = %g, y = %g, z = %g",
                        low, r->field[OBSTACLE_UPPER][i], place[0], place[1], place[2]);
    }
    return EXIT_DONE;
}

/* The same for the faces: each point of each of the six. */
static int check_faces(const obstacle_run *r)
{
    const int64_t side = r->n + 2;
    for (int64_t k = 0; k < 6 * side * side; k++) {
        const int a = (int)(k / (2 * side * side)), b = (a + 1) % 3, c = (a + 2) % 3;
        double place[3];
        place[a] = (double)(k / (side * side) % 2) * (double)(r->n + 1) * r->h;
        place[b] = (double)(k % side) * r->h;
        place[c] = (double)(k / side % side) * r->h;
        if (!isfinite(evaluate(r->faces, place)))
            return cli_fail(EXIT_INPUT, "--faces is not finite at x = %g, y = %g, z = %g", place[0],
                            place[1], place[2]);
    }
    return EXIT_DONE;
}

static int take(obstacle_run *r, int which, const char *text)
{
    const expression_names known = {.variable = variable};
    const int64_t count = r->n * r->n * r->n;
    const bool file = is_file(text);
    char message[256] = "";
    int exit_status = EXIT_DONE;
    expression *e = file ? NULL : expression_new(text, &known, message);
    if (!file && !e)
        return cli_fail(EXIT_INPUT, "--%s %s: there is no such file, and as an expression: %s",
                        names[which], text_name(text), message);
    if (which == OBSTACLE_FACES) {
        if (file)
            return cli_fail(EXIT_INPUT, "--faces %s: faces take an expression", text_name(text));
        r->faces = e;
        return check_faces(r);
    }
    double *values = spry_alloc(r->ctx, (size_t)count * sizeof *values);
    r->field[which] = values;
    if (!values)
        exit_status = cli_failed(r->ctx, SPRY_STATUS_NO_MEMORY);
    else if (file)
        exit_status = read_file(r, which, text, values);
    for (int64_t i = 0; e && exit_status == EXIT_DONE && i < count; i++) {
        double place[3];
        place_of(r, i, place);
        values[i] = evaluate(e, place);
    }
    expression_free(e);
    return exit_status == EXIT_DONE ? check(r, which, values) : exit_status;
}

static const char *text_of(const obstacle_options *o, int which)
{
    const char *const texts[] = {o->force, o->lower, o->upper, o->start, o->faces};
    return texts[which];
}

int obstacle_fields_given(const obstacle_options *o)
{
    int count = 0;
    for (int k = 0; k < OBSTACLE_FIELDS; k++)
        count += *text_of(o, k) != '\0';
    return count;
}

int obstacle_take_fields(obstacle_run *r)
{
    int exit_status = EXIT_DONE;
    for (int k = 0; k < OBSTACLE_FIELDS && exit_status == EXIT_DONE; k++)
        if (*text_of(r->o, k))
            exit_status = take(r, k, text_of(r->o, k));
    if (exit_status != EXIT_DONE)
        return exit_status;
    r->factors = spry_alloc(r->ctx, 3 * (size_t)r->n * sizeof *r->factors);
    for (int64_t k = 0; r->factors && k < 3 * r->n; k++)
        r->factors[k] = r->p->force((int)(k / r->n), (double)(k % r->n + 1) * r->h);
    return r->factors ? check_bounds(r) : cli_failed(r->ctx, SPRY_STATUS_NO_MEMORY);
}

void obstacle_free_fields(obstacle_run *r)
{
    for (int k = 0; k < OBSTACLE_FACES; k++)
        spry_free(r->ctx, r->field[k]);
    spry_free(r->ctx, r->factors);
    expression_free(r->faces);
}

double obstacle_value(const obstacle_run *r, int which, const int64_t at[3])
{
    if (r->field[which])
        return r->field[which][at[0] + r->n * (at[1] + r->n * at[2])];
    if (which == OBSTACLE_FORCE) /* the product of two is that of a line */
        return r->factors[r->n + at[1]] * r->factors[2 * r->n + at[2]] * r->factors[at[0]];
    return which == OBSTACLE_UPPER ? INFINITY : 0;
}

double obstacle_face(const obstacle_run *r, const double *place)
{
    return r->faces ? evaluate(r->faces, place) : r->p->known(place);
}
