/* Context, memory, options, sums and shares. */
#include "base/base.h"
#include "base/bytes.h"

#include <locale.h>
#include <math.h>
#include <omp.h>
#include <private/programs.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <cmocka.h>

static spry_context *new_context(const char *options)
{
    spry_context *ctx = NULL;
    assert_int_equal(spry_context_new(options, &ctx), SPRY_STATUS_OK);
    return ctx;
}

static void names_and_version(void **state)
{
    (void)state;
    assert_string_equal(spry_version(), "0.3.0");
    assert_string_equal(spry_type_name(SPRY_TYPE_Z), "z");
    assert_int_equal(spry_type_size(SPRY_TYPE_S), 4);
    assert_int_equal(spry_type_size(SPRY_TYPE_Z), 16);
    assert_true(spry_type_is_complex(SPRY_TYPE_C));
    assert_false(spry_type_is_complex(SPRY_TYPE_D));
    assert_string_equal(spry_status_text(SPRY_STATUS_OK), "success");
    assert_string_equal(spry_status_text((spry_status)99), "unknown status");
    assert_string_equal(spry_message(NULL), spry_status_text(SPRY_STATUS_NO_MEMORY));
}

static void context_options_are_checked(void **state)
{
    (void)state;
    char options[64];
    snprintf(options, sizeof options, "threads=3 isa=%s", isa_name(0));
    spry_context *ctx = new_context(options);
    assert_int_equal(spry_context_threads(ctx), 3);
    assert_string_equal(spry_context_isa(ctx), isa_name(0));
    assert_string_equal(spry_message(ctx), "");
    spry_context_free(ctx);

    static const char *const bad[][2] = {
        {"thread=3", "option thread is unknown; did you mean threads? There are: threads isa "
                     "memory-limit repeat delays partition log"},
        {"threads=-1", "threads=-1 is outside 0..1e+09"},
        {"threads=two", "threads=two is not a whole number"},
        {"threads", "\"threads\" is not name=value"},
        {"isa=sse9", NULL},
        {"log=loud", "log loud is unknown; there are: quiet warning info debug"},
        {"log=debag", "log debag is unknown; did you mean debug? There are: quiet warning info "
                      "debug"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(spry_context_new(bad[i][0], &ctx), SPRY_STATUS_BAD_USAGE);
        assert_non_null(ctx);
        if (bad[i][1])
            assert_string_equal(spry_message(ctx), bad[i][1]);
        spry_context_free(ctx);
    }
    spry_context_free(NULL);
}

/* No thread is made here, so that the most may be asked for. */
static void threads_are_bounded_by_the_machine(void **state)
{
    (void)state;
    const int most = base_most_threads();
    assert_true(most >= 64);
    char options[32], expected[64];
    snprintf(options, sizeof options, "threads=%d", most);
    spry_context *ctx = new_context(options);
    assert_int_equal(spry_context_threads(ctx), most);
    spry_context_free(ctx);
    snprintf(options, sizeof options, "threads=%d", most + 1);
    snprintf(expected, sizeof expected, "%s is outside 0..%d, the most for", options, most);
    assert_int_equal(spry_context_new(options, &ctx), SPRY_STATUS_BAD_USAGE);
    assert_non_null(strstr(spry_message(ctx), expected));
    spry_context_free(ctx);
    omp_set_num_threads(most + 5); /* as OMP_NUM_THREADS does */
    ctx = new_context(NULL);
    assert_int_equal(spry_context_threads(ctx), most);
    spry_context_free(ctx);
    omp_set_num_threads(omp_get_num_procs());
}

/* Runs a shell command there. */
static void in_folder(const char *command, const char *folder)
{
    char text[512];
    snprintf(text, sizeof text, "cd %s && %s", folder, command);
    assert_int_equal(system(text), 0);
}

static void memory_of_control_groups(void **state)
{
    (void)state;
    char folder[] = "/tmp/spry-groups-XXXXXX", list[64];
    assert_non_null(mkdtemp(folder));
    snprintf(list, sizeof list, "%s/list", folder);
    assert_true(base_group_memory(list, folder) == INT64_MAX);
    in_folder("mkdir -p a/b memory/x && echo max >a/b/memory.max && echo 3000 >a/memory.max && "
              "echo 9223372036854771712 >memory/memory.limit_in_bytes && echo 0::/a/b >list",
              folder);
    assert_int_equal(base_group_memory(list, folder), 3000); /* the folder above limits it */
    in_folder("echo 2000 >a/b/memory.max", folder);
    assert_int_equal(base_group_memory(list, folder), 2000);
    in_folder("echo 1000 >memory.max && echo 0::/not/here >list", folder);
    assert_int_equal(base_group_memory(list, folder), 1000);
    in_folder("rm memory.max && printf '4:cpu:/a\n3:hugetlb,memory:/x\n0::/\nodd\n' >list", folder);
    assert_true(base_group_memory(list, folder) > INT64_MAX / 2);
    in_folder("echo 500 >memory/x/memory.limit_in_bytes", folder);
    assert_int_equal(base_group_memory(list, folder), 500);
    in_folder("rm -r a memory list && rmdir $PWD", folder);
    assert_true(base_machine_memory() > 0);
}

static void bytes_have_units(void **state)
{
    (void)state;
    static const struct {
        double bytes;
        const char *text;
    } cases[] = {{0, "0 bytes"},     {999, "999 bytes"},  {1000, "1.0 kB"}, {123456, "123 kB"},
                 {999960, "1.0 MB"}, {4240000, "4.2 MB"}, {2e10, "20.0 GB"}};
    char text[BASE_BYTES];
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        assert_string_equal(base_bytes(cases[k].bytes, text), cases[k].text);
}

/* What ulimit leaves is the memory there is, and advice names it. */
static void memory_of_process_limits(void **state)
{
    (void)state;
    static const struct {
        int which;
        const char *name;
    } limits[] = {{RLIMIT_AS, "ulimit -v"}, {RLIMIT_DATA, "ulimit -d"}};
    const int64_t far = (int64_t)1 << 46, near = (int64_t)1 << 30;
    for (size_t k = 0; k < 2; k++) {
        struct rlimit before, now;
        const char *name;
        char text[BASE_ADVICE];
        getrlimit(limits[k].which, &before);
        if (before.rlim_cur != RLIM_INFINITY)
            continue;
        now = before;
        now.rlim_cur = (rlim_t)far;
        assert_int_equal(setrlimit(limits[k].which, &now), 0);
        const int64_t used = far - base_limited_memory(&name);
        assert_true(used > 0 && used < far);
        now.rlim_cur = (rlim_t)(used + near);
        assert_int_equal(setrlimit(limits[k].which, &now), 0);
        const int64_t left = base_limited_memory(&name);
        assert_string_equal(name, limits[k].name);
        assert_true(left <= near && left > near / 2);
        spry_context *ctx = NULL;
        assert_int_equal(spry_context_new(NULL, &ctx), SPRY_STATUS_OK);
        assert_true(ctx->options.memory_limit > 0 && ctx->options.memory_limit <= near);
        assert_non_null(strstr(base_allow(ctx, 4 * near, text), limits[k].name));
        spry_context_free(ctx);
        assert_int_equal(setrlimit(limits[k].which, &before), 0);
    }
}

#define THING_OPTIONS(item)                                  \
    item(INT, whole_number, "7", -10, 1e12, NULL, "a count") \
    item(REAL, real, "0.5", 0, 0, NULL, "a number")          \
    item(BOOL, flag, "no", 0, 0, NULL, "a switch")           \
    item(WORD, colour, "red", 0, 0, "red green blue", "one") \
    item(TEXT, text, "hello", 0, 0, NULL, "some words")      \
    item(PATH, path, NULL, 0, 0, NULL, "a file")

typedef struct thing {
    THING_OPTIONS(SPRY_OPTION_FIELD)
    spry_given given;
} thing;
SPRY_OPTION_TABLE(thing_rows, thing, THING_OPTIONS(SPRY_OPTION_ROW))
static const spry_option_list things = SPRY_OPTION_LIST(thing_rows);
static const spry_option_list noted = SPRY_OPTION_LIST_GIVEN(thing_rows, thing);

static void options_of_every_kind(void **state)
{
    (void)state;
    spry_context *ctx = new_context(NULL);
    thing t = {0};
    assert_int_equal(spry_options_default(ctx, things, &t), SPRY_STATUS_OK);
    assert_int_equal(t.whole_number, 7);
    assert_true(t.real == 0.5);
    assert_false(t.flag);
    assert_int_equal(t.colour, 0);
    assert_string_equal(t.text, "hello");
    assert_null(t.path);

    assert_int_equal(
        spry_options_parse(ctx, things, &t,
                           "whole-number=2M, real=1e-3\tflag=on colour=blue text=a:b=c"),
        SPRY_STATUS_OK);
    assert_int_equal(t.whole_number, 2000000);
    assert_true(t.real == 1e-3);
    assert_true(t.flag);
    assert_int_equal(t.colour, 2);
    assert_string_equal(t.text, "a:b=c");
    assert_int_equal(spry_options_set(ctx, things, &t, "WHOLE_NUMBER", "1e6"), SPRY_STATUS_OK);
    assert_int_equal(t.whole_number, 1000000);
    assert_int_equal(spry_options_set(ctx, things, &t, "path", "/x y"), SPRY_STATUS_OK);
    assert_string_equal(t.path, "/x y");
    assert_int_equal(spry_options_parse(ctx, things, &t, NULL), SPRY_STATUS_OK);
    /* commas after a colon belong to the value, those before it do not */
    assert_int_equal(
        spry_options_parse(ctx, things, &t, "real=2,text=a:b=1.5,c=d colour=green,flag=no"),
        SPRY_STATUS_OK);
    assert_true(t.real == 2 && !t.flag);
    assert_string_equal(t.text, "a:b=1.5,c=d");
    assert_int_equal(t.colour, 1);
    /* all that stands in quotes does; one that is not closed is refused with its place */
    assert_int_equal(spry_options_parse(ctx, things, &t, "text=\"a b, c:d\",real=3"),
                     SPRY_STATUS_OK);
    assert_string_equal(t.text, "a b, c:d");
    assert_true(t.real == 3);
    assert_int_equal(spry_options_parse(ctx, things, &t, "real=3 text=\"a real=4"),
                     SPRY_STATUS_BAD_USAGE);
    assert_non_null(strstr(spry_message(ctx), "character 13 of \"real=3 text=\"a real=4\": "
                                              "the \" is not closed"));
    assert_string_equal(t.text, "a b, c:d");
    assert_int_equal(spry_options_parse(ctx, things, &t, "text=\"a \"\"b\"\", [c\",real=5"),
                     SPRY_STATUS_OK);
    assert_string_equal(t.text, "a \"b\", [c");
    assert_true(t.real == 5);
    assert_int_equal(spry_options_parse(ctx, things, &t, "text=\"\""), SPRY_STATUS_OK);
    assert_string_equal(t.text, "");
    /* and in brackets, which may hold others */
    assert_int_equal(spry_options_parse(ctx, things, &t, "text=a:b=[c:d=1,e=(f:g=2 h)],i=3 real=5"),
                     SPRY_STATUS_OK);
    assert_string_equal(t.text, "a:b=[c:d=1,e=(f:g=2 h)],i=3");
    assert_true(t.real == 5);
    assert_int_equal(spry_options_parse(ctx, things, &t, "text=[a:b=1,c=2],real=6"),
                     SPRY_STATUS_OK);
    assert_string_equal(t.text, "a:b=1,c=2");
    assert_true(t.real == 6);
    static const struct {
        const char *text, *message;
    } unclosed[] = {
        {"text=a:b=[c real=7", "character 10 of \"text=a:b=[c real=7\": the [ is not closed"},
        {"text=\"", "character 6 of \"text=\"\": the \" is not closed"},
        {"text=\"a\"\"", "character 6"},
        {"text=\"a\"b", "the \" is followed by more than a blank or comma"},
        {"text=\"a\"real=3", "character 8"},
        {"text=[a", "character 6"},
        {"text=[a)", "the [ is closed by one of another kind"},
        {"text=a]", "character 7 of \"text=a]\": the ] is not opened"},
        {"text=a:b=[c],d=(e", "character 16"},
        {"text=[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]", "the [ is within too many others"}};
    for (size_t i = 0; i < sizeof unclosed / sizeof *unclosed; i++) {
        assert_int_equal(spry_options_parse(ctx, things, &t, unclosed[i].text),
                         SPRY_STATUS_BAD_USAGE);
        if (!strstr(spry_message(ctx), unclosed[i].message))
            fail_msg("%s: %s", unclosed[i].text, spry_message(ctx));
        assert_string_equal(t.text, "a:b=1,c=2"); /* nothing was taken */
    }

    char long_text[400];
    memset(long_text, 'a', sizeof long_text);
    memcpy(long_text, "text=", 5);
    long_text[399] = '\0';
    const char *const bad[] = {"whole-number=1.5",
                               "whole-number=99999999999999999999",
                               "whole-number=-11",
                               "whole-number=9999999999G",
                               "whole-number=1.5k",
                               "whole-number=k",
                               "whole-number=",
                               "real=nan",
                               "real=",
                               "real=1x",
                               "flag=maybe",
                               "colour=yellowish",
                               "path=/x",
                               "=3",
                               long_text};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(spry_options_parse(ctx, things, &t, bad[i]), SPRY_STATUS_BAD_USAGE);
    assert_int_equal(spry_options_set(ctx, things, &t, "text", long_text), SPRY_STATUS_BAD_USAGE);
    assert_int_equal(t.whole_number, 1000000);
    spry_context_free(ctx);
}

/* Also where an option is given the value that it has; defaults are not given. */
static void options_that_were_given(void **state)
{
    (void)state;
    spry_context *ctx = new_context(NULL);
    thing t = {0};
    assert_int_equal(spry_options_size(noted), sizeof t);
    assert_int_equal(spry_options_default(ctx, noted, &t), SPRY_STATUS_OK);
    assert_false(options_given(noted, &t, "flag") || options_given(noted, &t, "real"));
    assert_int_equal(spry_options_parse(ctx, noted, &t, "flag=no"), SPRY_STATUS_OK);
    assert_int_equal(spry_options_set(ctx, noted, &t, "colour", "grey"), SPRY_STATUS_BAD_USAGE);
    assert_int_equal(options_set_real(ctx, noted, &t, "whole-number", 8), SPRY_STATUS_OK);
    assert_true(options_given(noted, &t, "flag") && options_given(noted, &t, "whole_number"));
    assert_false(options_given(noted, &t, "real") || options_given(noted, &t, "colour"));
    assert_false(options_given(things, &t, "flag")); /* a list that keeps nothing of it */
    assert_int_equal(spry_options_default(ctx, noted, &t), SPRY_STATUS_OK);
    assert_false(options_given(noted, &t, "flag"));
    spry_context_free(ctx);
}

static void options_by_type(void **state)
{
    (void)state;
    spry_context *ctx = new_context(NULL);
    thing t = {0};
    char text[64];
    double real;
    assert_int_equal(spry_options_default(ctx, things, &t), SPRY_STATUS_OK);
    assert_int_equal(options_set_real(ctx, things, &t, "real", 0.1), SPRY_STATUS_OK);
    assert_int_equal(options_set_real(ctx, things, &t, "whole-number", 8), SPRY_STATUS_OK);
    assert_int_equal(spry_options_set(ctx, things, &t, "flag", "true"), SPRY_STATUS_OK);
    assert_int_equal(spry_options_set(ctx, things, &t, "colour", "green"), SPRY_STATUS_OK);
    assert_true(t.real == 0.1 && t.whole_number == 8 && t.flag && t.colour == 1);
    assert_int_equal(options_get_real(ctx, things, &t, "whole-number", &real), SPRY_STATUS_OK);
    assert_true(real == 8);
    static const char *const texts[][2] = {{"real", "0.1"},   {"whole-number", "8"},
                                           {"flag", "yes"},   {"colour", "green"},
                                           {"text", "hello"}, {"path", ""}};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        assert_int_equal(options_get_text(ctx, things, &t, texts[k][0], text, sizeof text),
                         SPRY_STATUS_OK);
        assert_string_equal(text, texts[k][1]);
    }
    assert_int_equal(options_set_real(ctx, things, &t, "colour", 1), SPRY_STATUS_BAD_USAGE);
    assert_non_null(strstr(spry_message(ctx), "colour takes a word of: red green blue; not 1"));
    assert_int_equal(options_get_real(ctx, things, &t, "colour", &real), SPRY_STATUS_BAD_USAGE);
    assert_int_equal(options_set_real(ctx, things, &t, "path", 1), SPRY_STATUS_BAD_USAGE);
    /* numbers as text come back as they were */
    for (int k = 0; k < 2000; k++) {
        const double value = ldexp(base_uniform(1, (uint64_t)k) - 0.5, k % 200 - 100);
        char shown[32];
        spry_number_print(value, shown);
        assert_true(base_parse_double(shown, shown + strlen(shown), &real) ==
                        shown + strlen(shown) &&
                    real == value);
    }
    spry_context_free(ctx);
}

/* Makes the process use a locale that writes 0.5 as 0,5; false where none can be had. */
static bool use_comma_locale(const char *folder)
{
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "pt_BR.UTF-8"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (setlocale(LC_ALL, names[i]))
            return true;
    char command[256];
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >%s/log 2>&1",
             folder, folder);
    return system(command) == 0 && setenv("LOCPATH", folder, 1) == 0 && setlocale(LC_ALL, names[0]);
}

static void options_do_not_heed_the_locale(void **state)
{
    (void)state;
    char folder[] = "/tmp/spry-locale-XXXXXX", command[64];
    assert_non_null(mkdtemp(folder));
    const bool comma = use_comma_locale(folder);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
    if (!comma) {
        print_message("no locale with decimal commas is here (package locales)\n");
        skip();
    }
    assert_string_equal(localeconv()->decimal_point, ",");
    spry_context *ctx = new_context(NULL);
    thing t = {0};
    assert_int_equal(spry_options_default(ctx, things, &t), SPRY_STATUS_OK);
    assert_true(t.real == 0.5);
    assert_int_equal(spry_options_parse(ctx, things, &t, "real=1.25e-1 WHOLE-NUMBER=1.5e3"),
                     SPRY_STATUS_OK);
    assert_true(t.real == 0.125);
    assert_int_equal(t.whole_number, 1500);
    char shown[32];
    assert_int_equal(options_get_text(ctx, things, &t, "real", shown, sizeof shown),
                     SPRY_STATUS_OK);
    assert_string_equal(shown, "0.125");
    assert_string_equal(spry_number_print(1e-3, shown), "0.001");
    assert_int_equal(spry_options_set(ctx, things, &t, "real", "0,5"), SPRY_STATUS_BAD_USAGE);
    assert_non_null(strstr(spry_message(ctx), "numbers have a point"));
    snprintf(command, sizeof command, "real=%g", 0.25);
    assert_int_equal(spry_options_parse(ctx, things, &t, command), SPRY_STATUS_BAD_USAGE);
    assert_non_null(
        strstr(spry_message(ctx), "\"25\" is not name=value; if it is the end of a number"));
    spry_context_free(ctx);
    setlocale(LC_ALL, "C");
}

static void nearest_words(void **state)
{
    (void)state;
    char word[32];
    assert_true(spry_nearest("tolerence", "tol max-iter tolerance", word, sizeof word));
    assert_string_equal(word, "tolerance");
    assert_true(spry_nearest("max_itre", "tol max-iter", word, sizeof word));
    assert_string_equal(word, "max-iter");
    assert_true(spry_nearest("conv", "solve convert", word, sizeof word));
    assert_string_equal(word, "convert");
    assert_false(spry_nearest("xyzzy", "solve convert", word, sizeof word));
    assert_false(spry_nearest("x", "", word, sizeof word));
}

/* Small blocks and large ones come from different places. */
static void blocks_of_any_size_are_aligned_and_apart(void **state)
{
    (void)state;
    enum { COUNT = 60 };
    spry_context *ctx = new_context("");
    unsigned char *block[COUNT];
    int64_t now;
    for (int k = 0; k < COUNT; k++) {
        const int64_t bytes =
            k < 30 ? k * 7 + 1 : (1 << 14) - 200 + 9 * k; /* 16 KB is among them */
        assert_int_equal(base_alloc(ctx, bytes, 1, &block[k]), SPRY_STATUS_OK);
        assert_int_equal((uintptr_t)block[k] % ALIGNMENT, 0);
        memset(block[k], k + 1, (size_t)bytes);
    }
    for (int k = 0; k < COUNT; k++) {
        const int64_t bytes = k < 30 ? k * 7 + 1 : (1 << 14) - 200 + 9 * k;
        for (int64_t i = 0; i < bytes; i++)
            assert_int_equal(block[k][i], k + 1);
        base_free(ctx, block[k]);
    }
    spry_context_memory(ctx, &now, NULL);
    assert_int_equal(now, 0);
    spry_context_free(ctx);
}

static void memory_is_counted_limited_and_fails_on_demand(void **state)
{
    (void)state;
    spry_context *ctx = new_context("memory-limit=1M");
    int64_t now, most;
    double *a = NULL;
    assert_int_equal(base_alloc(ctx, 1000, sizeof *a, &a), SPRY_STATUS_OK);
    assert_int_equal((uintptr_t)a % ALIGNMENT, 0);
    spry_context_memory(ctx, &now, &most);
    assert_in_range(now, 8000, 8200);
    assert_int_equal(spry_context_memory_limit(ctx), 1000000);
    a[999] = 3;
    assert_int_equal(base_grow(ctx, 1000, 2000, sizeof *a, &a), SPRY_STATUS_OK);
    assert_true(a[999] == 3);
    base_free(ctx, a);
    spry_context_memory(ctx, &now, &most);
    assert_int_equal(now, 0);
    assert_in_range(most, 24000, 24400);

    void *p = &p;
    assert_int_equal(base_alloc(ctx, 2000000, 1, &p), SPRY_STATUS_NO_MEMORY);
    assert_null(p);
    assert_non_null(strstr(spry_message(ctx), "memory limit of 1.0 MB"));
    assert_int_equal(base_alloc(ctx, INT64_MAX / 4, 16, &p), SPRY_STATUS_NO_MEMORY);
    assert_int_equal(base_alloc(ctx, -1, 16, &p), SPRY_STATUS_NO_MEMORY);
    assert_null(spry_alloc(ctx, SIZE_MAX - 5));
    assert_int_equal(base_alloc(ctx, 0, 16, &p), SPRY_STATUS_OK);
    assert_non_null(p);
    base_free(ctx, p);

    base_fail_allocation(ctx, 2, false);
    for (int i = 1; i <= 3; i++) {
        assert_int_equal(base_calloc(ctx, 4, 4, &p),
                         i == 2 ? SPRY_STATUS_NO_MEMORY : SPRY_STATUS_OK);
        base_free(ctx, p);
    }
    base_fail_allocation(ctx, 1, true);
    assert_null(base_copy_text(ctx, "abc"));
    assert_null(base_copy_text(ctx, "abc"));
    base_fail_allocation(ctx, 0, false);
    char *text = base_copy_text(ctx, "abc");
    assert_string_equal(text, "abc");
    base_free(ctx, text);
    spry_context_free(ctx);
}

static void *count_allocate(void *data, size_t bytes, size_t alignment)
{
    int *calls = data;
    if (++*calls > 2)
        return NULL;
    void *memory = NULL;
    return posix_memalign(&memory, alignment, bytes) == 0 ? memory : NULL;
}

static void count_release(void *data, void *memory, size_t bytes)
{
    (void)bytes;
    --*(int *)data;
    free(memory);
}

static void allocator_of_the_caller(void **state)
{
    (void)state;
    int calls = 0;
    const spry_allocator allocator = {0, count_allocate, count_release, &calls};
    spry_context *ctx = NULL;
    assert_int_equal(spry_context_new_with(&allocator, NULL, &ctx), SPRY_STATUS_OK);
    void *p = spry_alloc(ctx, 10);
    assert_non_null(p);
    assert_int_equal(calls, 2);
    spry_context *second = NULL;
    assert_int_equal(spry_context_new_with(&allocator, NULL, &second), SPRY_STATUS_NO_MEMORY);
    assert_null(second);
    calls = 2;
    spry_free(ctx, p);
    spry_context_free(ctx);
    assert_int_equal(calls, 0);
    const spry_allocator none = {0};
    assert_int_equal(spry_context_new_with(&none, NULL, &ctx), SPRY_STATUS_OK);
    spry_context_free(ctx);
}

typedef struct heard {
    int count;
    char last[MESSAGE_SIZE];
} heard;

static void listen(void *data, spry_log_level level, const char *text)
{
    (void)level;
    heard *h = data;
    h->count++;
    snprintf(h->last, sizeof h->last, "%s", text);
}

static spry_status fails(spry_context *ctx)
{
    return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT, "column %d is outside 0..%d", 9, 4);
}

static spry_status passes_on(spry_context *ctx)
{
    spry_status status;
    SPRY_GO(ctx, fails(ctx));
done:
    return SPRY_CAUSE(ctx, status, "A.mtx");
}

static void messages_with_causes_and_the_log(void **state)
{
    (void)state;
    heard h = {0};
    spry_context *ctx = new_context("log=debug");
    spry_context_set_log(ctx, listen, &h);
    assert_int_equal(passes_on(ctx), SPRY_STATUS_BAD_INPUT);
    assert_string_equal(spry_message(ctx), "A.mtx: column 9 is outside 0..4");
    assert_int_equal(h.count, 2); /* where it failed, where it was passed on */
    assert_int_equal(SPRY_CAUSE(ctx, SPRY_STATUS_OK, "nothing"), SPRY_STATUS_OK);
    base_log(ctx, SPRY_LOG_INFO, "n = %d", 5);
    assert_string_equal(h.last, "n = 5");
    spry_context_free(ctx);

    ctx = new_context("log=warning");
    h.count = 0;
    spry_context_set_log(ctx, listen, &h);
    base_log(ctx, SPRY_LOG_INFO, "not heard");
    base_log(ctx, SPRY_LOG_WARNING, "heard");
    assert_int_equal(h.count, 1);
    spry_context_free(ctx);
}

static void interruption(void **state)
{
    (void)state;
    spry_context *ctx = new_context(NULL);
    assert_false(spry_context_interrupted(ctx, false));
    spry_context_interrupt(ctx);
    assert_true(spry_context_interrupted(ctx, false));
    assert_true(spry_context_interrupted(ctx, true));
    assert_false(spry_context_interrupted(ctx, false));
    spry_context_free(ctx);
}

static void shares_cover_everything_once(void **state)
{
    (void)state;
    for (int64_t n = 0; n < 70; n++)
        for (int parts = 1; parts < 9; parts++)
            for (int64_t grain = 1; grain < 20; grain += 6) {
                int64_t next = 0;
                for (int i = 0; i < parts; i++) {
                    range r = base_share(n, parts, i, grain);
                    assert_int_equal(r.begin, next);
                    assert_true(r.begin % grain == 0 || r.begin == n);
                    assert_true(r.end >= r.begin);
                    next = r.end;
                }
                assert_int_equal(next, n);
            }
}

static void prefix_sums(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 5; threads += 2) {
        char options[32];
        snprintf(options, sizeof options, "threads=%d", threads);
        spry_context *ctx = new_context(options);
        enum { LONG = 100003 };
        int64_t *array = NULL;
        assert_int_equal(base_alloc(ctx, LONG + 1, sizeof *array, &array), SPRY_STATUS_OK);
        for (int64_t n = 0; n <= LONG; n = n * 7 + 1) {
            array[0] = 0;
            for (int64_t i = 1; i <= n; i++)
                array[i] = i % 5;
            assert_int_equal(base_prefix_sum(ctx, array, n), SPRY_STATUS_OK);
            for (int64_t i = 1; i <= n; i++)
                assert_int_equal(array[i] - array[i - 1], i % 5);
        }
        base_fail_allocation(ctx, 1, false);
        assert_int_equal(base_prefix_sum(ctx, array, 10), SPRY_STATUS_NO_MEMORY);
        base_free(ctx, array);
        spry_context_free(ctx);
    }
}

static void random_numbers_look_uniform(void **state)
{
    (void)state;
    enum { N = 10000 };
    double sum = 0;
    for (int i = 0; i < N; i++) {
        double u = base_uniform(42, (uint64_t)i);
        assert_true(u >= 0 && u < 1);
        sum += u;
    }
    /* five standard deviations, sqrt(N / 12) each */
    assert_true(sum > N / 2.0 - 5 * 29 && sum < N / 2.0 + 5 * 29);
    assert_true(base_random(1, 0) != base_random(2, 0));
    double begin = base_seconds();
    assert_true(base_seconds() >= begin);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_version),
        cmocka_unit_test(context_options_are_checked),
        cmocka_unit_test(threads_are_bounded_by_the_machine),
        cmocka_unit_test(memory_of_control_groups),
        cmocka_unit_test(bytes_have_units),
        cmocka_unit_test(memory_of_process_limits),
        cmocka_unit_test(options_of_every_kind),
        cmocka_unit_test(options_that_were_given),
        cmocka_unit_test(options_by_type),
        cmocka_unit_test(options_do_not_heed_the_locale),
        cmocka_unit_test(nearest_words),
        cmocka_unit_test(blocks_of_any_size_are_aligned_and_apart),
        cmocka_unit_test(memory_is_counted_limited_and_fails_on_demand),
        cmocka_unit_test(allocator_of_the_caller),
        cmocka_unit_test(messages_with_causes_and_the_log),
        cmocka_unit_test(interruption),
        cmocka_unit_test(shares_cover_everything_once),
        cmocka_unit_test(prefix_sums),
        cmocka_unit_test(random_numbers_look_uniform),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
