/* Compiled programs on disk in all weathers, with a fake device (tests/fakes/cuda.c). */
#include "support/opened.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char text[] = FAKE_TEXT;

static fake_engine fake = FAKE_CUDA_ENGINE;

/* Builds the program on a device that knows nothing; it must be compiled or taken from disk. */
static void build(opened *s, const char *options, bool from_disk)
{
    device_program *p = NULL;
    opened_open(s, "cuda");
    assert_ok(s->ctx, device_build(s->d, text, options, &p));
    assert_ok(s->ctx, device_launch(p, "triple", NULL, 1, 64, NULL, 0));
    assert_int_equal(s->d->cache->compiled, !from_disk);
    assert_int_equal(s->d->cache->loaded, from_disk);
}

static void build_quietly(const char *options, bool from_disk)
{
    opened s;
    build(&s, options, from_disk);
    assert_int_equal(s.warnings + s.infos, 0);
    opened_close(&s);
}

/* --- the hash ------------------------------------------------------------------------------------
 */

/* The first of the authors' own values, for the bytes 0, 1, 2 ... and a secret of the same. */
static void test_hash(void **state)
{
    (void)state;
    static const struct {
        size_t size;
        uint64_t low, high;
    } known[] = {{0, 0xe6a825ba047f81a3u, 0x930255c71472f66du},
                 {1, 0x44af996bd8c187dau, 0x45fc229b11597634u}};
    uint8_t bytes[64];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)i;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        const cache_key key = cache_hash(bytes, known[k].size, bytes);
        assert_int_equal(key.part[0], known[k].low);
        assert_int_equal(key.part[1], known[k].high);
    }
    for (size_t i = 0; i < sizeof bytes; i++) /* every length, every bit counts */
        for (int bit = 0; bit < 8; bit++) {
            const cache_key before = cache_hash_of(bytes, sizeof bytes);
            bytes[i] ^= (uint8_t)(1 << bit);
            const cache_key after = cache_hash_of(bytes, sizeof bytes);
            bytes[i] ^= (uint8_t)(1 << bit);
            assert_true(before.part[0] != after.part[0] && before.part[1] != after.part[1]);
            assert_true(cache_hash_of(bytes, i).part[0] != cache_hash_of(bytes, i + 1).part[0]);
        }
}

/* --- what a program is known by ------------------------------------------------------------------
 */

static void test_keys(void **state)
{
    (void)state;
    build_quietly("", false);
    build_quietly("", true);
    build_quietly("-DA=1", false);
    assert_int_equal(place_count(&fake.place), 2);
    static const char *const others[] = {"arch=86", "version=13010"}; /* target, driver */
    for (int k = 0; k < 2; k++) {
        set_variable("FAKE_CUDA", others[k]);
        build_quietly("", false);
        build_quietly("", true);
    }
    set_variable("FAKE_CUDA", NULL);
    set_variable("SPRY_DEVICE_DEBUG", "1");
    build_quietly("", false);
    set_variable("SPRY_DEVICE_DEBUG", NULL);
    build_quietly("", true);
    assert_int_equal(place_count(&fake.place), 5);
}

/* --- damage --------------------------------------------------------------------------------------
 */

static void store(const char *path, const char *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* What is at the path is reported, passed over and replaced. */
static void replaced(const char *path, const char *bytes, size_t size)
{
    opened s;
    store(path, bytes, size);
    build(&s, "", false);
    assert_int_equal(s.infos, 1);
    assert_non_null(strstr(s.last, "ignored"));
    opened_close(&s);
    build_quietly("", true);
}

static void test_damage(void **state)
{
    (void)state;
    enum { HEADER = 56 };
    char path[256], whole[65536], changed[65536];
    build_quietly("", false);
    place_program(&fake.place, path);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t size = fread(whole, 1, sizeof whole - 1, file);
    fclose(file);
    assert_true(size > HEADER && size < sizeof whole - 1);
    whole[size] = 'x';
    static const size_t cuts[] = {0, 1, 20, HEADER - 1, HEADER, HEADER + 9};
    for (size_t k = 0; k < sizeof cuts / sizeof *cuts; k++)
        replaced(path, whole, cuts[k]);
    replaced(path, whole, size - 1);
    replaced(path, whole, size + 1);
    for (size_t k = 0; k < size; k += k < HEADER ? 1 : size / 7) {
        memcpy(changed, whole, size);
        changed[k] = (char)(changed[k] ^ 1);
        replaced(path, changed, size);
    }
    replaced(path, "a file of somebody else's that is longer than the header is, but not ours", 70);
}

/* A program of another key under this one's name: whole, and yet the wrong one. */
static void test_swapped(void **state)
{
    (void)state;
    char first[256], other[256];
    opened s;
    build_quietly("", false);
    place_program(&fake.place, first);
    snprintf(other, sizeof other, "%.200s.kept", first);
    assert_int_equal(rename(first, other), 0);
    snprintf(other, sizeof other, "rm '%.200s.kept'", first);
    assert_int_equal(system(other), 0);
    build_quietly("-DA", false);
    place_program(&fake.place, other);
    assert_string_not_equal(first, other);
    assert_int_equal(rename(other, first), 0);
    build(&s, "", false);
    assert_int_equal(s.infos, 1);
    opened_close(&s);
}

/* The driver does not take what is on disk: it is compiled again, and replaced. */
static void test_refused(void **state)
{
    (void)state;
    build_quietly("", false);
    set_variable("FAKE_CUDA", "load=1 error=200");
    build_quietly("", false);
    set_variable("FAKE_CUDA", NULL);
    build_quietly("", true);
}

/* --- folders -------------------------------------------------------------------------------------
 */

/* Nothing can be kept: that is reported once, and does no harm. */
static void unkept(const char *cache, int infos, int warnings, const char *reason)
{
    opened s;
    device_program *p = NULL;
    set_variable("SPRY_CACHE", cache);
    build(&s, "", false);
    assert_ok(s.ctx, device_build(s.d, text, "-DA", &p));
    assert_int_equal(s.infos, infos);
    assert_int_equal(s.warnings, warnings);
    assert_non_null(strstr(s.last, reason));
    opened_close(&s);
    build(&s, "", false);
    opened_close(&s);
}

static void test_no_folder(void **state)
{
    (void)state;
    char path[512], longer[5000];
    unkept("/dev/null/below", 1, 0, "/dev/null/below/programs: ");
    unkept("", 1, 0, "SPRY_CACHE, XDG_CACHE_HOME or HOME");
    snprintf(path, sizeof path, "%s/file", fake.place.folder);
    store(path, "", 0);
    unkept(path, 1, 0, "Not a directory");
    memset(longer, 'a', sizeof longer - 1);
    longer[0] = '/';
    longer[sizeof longer - 1] = '\0';
    unkept(longer, 1, 0, "not kept");
    if (geteuid() != 0) { /* who may write anywhere */
        snprintf(path, sizeof path, "%s/locked", fake.place.folder);
        assert_int_equal(mkdir(path, 0500), 0);
        unkept(path, 1, 0, "Permission denied");
    }
}

static void test_full_disk(void **state)
{
    (void)state;
    struct rlimit before, none;
    opened s;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    none = before;
    none.rlim_cur = 100;
    assert_ptr_not_equal(signal(SIGXFSZ, SIG_IGN), SIG_ERR);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    build(&s, "", false);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(s.infos, 1);
    assert_non_null(strstr(s.last, "compiled programs are not kept"));
    assert_int_equal(place_count(&fake.place), 0); /* nothing half-written is left */
    opened_close(&s);
}

/* Code is loaded from there: what others could have written is not believed. */
static void test_strangers(void **state)
{
    (void)state;
    char folder[512], path[256], elsewhere[512];
    opened s;
    build_quietly("", false);
    place_program(&fake.place, path);
    snprintf(folder, sizeof folder, "%s/programs", fake.place.folder);
    struct stat about;
    assert_int_equal(stat(folder, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0700);
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    static const mode_t modes[] = {0722, 0702, 0720};
    for (int k = 0; k < 3; k++) {
        assert_int_equal(chmod(folder, modes[k]), 0);
        unkept(fake.place.folder, 0, 1, "code from there is not trusted");
    }
    assert_int_equal(chmod(folder, 0755), 0); /* others may look */
    build_quietly("", true);
    assert_int_equal(chmod(path, 0666), 0);
    build(&s, "", false);
    assert_non_null(strstr(s.last, "others may write to it; ignored"));
    opened_close(&s);
    build_quietly("", true);
    if (geteuid() == 0) { /* who may give files away */
        assert_int_equal(chown(path, 65534, 65534), 0);
        build(&s, "", false);
        opened_close(&s);
        assert_int_equal(chown(folder, 65534, 65534), 0);
        unkept(fake.place.folder, 0, 1, "code from there is not trusted");
        assert_int_equal(chown(folder, 0, 0), 0);
    }
    snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere", fake.place.folder);
    assert_int_equal(rename(folder, elsewhere), 0);
    assert_int_equal(symlink(elsewhere, folder), 0);
    unkept(fake.place.folder, 0, 1, "not a folder of this user's own");
}

/* --- size ----------------------------------------------------------------------------------------
 */

static void test_trim(void **state)
{
    (void)state;
    enum { FILES = 6, BYTES = 1000 };
    spry_context *ctx = support_context(NULL);
    char path[256], bytes[BYTES] = "";
    int64_t removed = -1;
    for (int i = 0; i < FILES; i++) { /* the last were used longest ago; one is half-written */
        snprintf(path, sizeof path, "%s/%032x.bin%s", fake.place.folder, i,
                 i == 4 ? ".Ab12Cd" : "");
        store(path, bytes, BYTES);
        const struct timespec times[2] = {{1000000 - i, 0}, {1000000 - i, 0}};
        assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    }
    snprintf(path, sizeof path, "%s/not ours.bin", fake.place.folder);
    store(path, bytes, BYTES);
    assert_ok(ctx, cache_trim(ctx, fake.place.folder, FILES * BYTES, &removed));
    assert_int_equal(removed, 0);
    assert_ok(ctx, cache_trim(ctx, fake.place.folder, 3 * BYTES + 1, &removed));
    assert_int_equal(removed, 3);
    assert_int_equal(access(path, F_OK), 0);
    for (int i = 0; i < FILES; i++) {
        snprintf(path, sizeof path, "%s/%032x.bin%s", fake.place.folder, i,
                 i == 4 ? ".Ab12Cd" : "");
        assert_int_equal(access(path, F_OK) == 0, i < 3);
    }
    assert_ok(ctx, cache_trim(ctx, "/nowhere", 0, &removed));
    assert_int_equal(removed, 0);
    support_context_free(ctx);
}

/* Reading a program makes it young. */
static void test_use_counts(void **state)
{
    (void)state;
    char path[256];
    struct stat about;
    const struct timespec times[2] = {{1000, 0}, {1000, 0}};
    build_quietly("", false);
    place_program(&fake.place, path);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    build_quietly("", true);
    assert_int_equal(stat(path, &about), 0);
    assert_true(about.st_mtim.tv_sec > 1000);
}

/* --- several at once -----------------------------------------------------------------------------
 */

enum { PROGRAMS = 8, ROUNDS = 6, PROCESSES = 4 };

/* Builds all programs again and again, throwing some away between; the exit status. */
static int work(unsigned seed)
{
    for (unsigned round = 0; round < ROUNDS; round++)
        for (unsigned i = 0; i < PROGRAMS; i++) {
            opened s;
            device_program *p = NULL;
            char options[32], path[256];
            int64_t removed;
            snprintf(options, sizeof options, "-DK=%u", (i + seed) % PROGRAMS);
            if (opened_try(&s, "cuda") != SPRY_STATUS_OK ||
                device_build(s.d, text, options, &p) != SPRY_STATUS_OK ||
                device_launch(p, "triple", NULL, 1, 64, NULL, 0) != SPRY_STATUS_OK)
                return 1;
            snprintf(path, sizeof path, "%s/programs", fake.place.folder);
            if (i == seed && cache_trim(s.ctx, path, 1, &removed) != SPRY_STATUS_OK)
                return 2;
            if (s.warnings > 0)
                return 3;
            opened_close(&s);
        }
    return 0;
}

static void test_processes(void **state)
{
    (void)state;
    pid_t children[PROCESSES];
    for (unsigned k = 0; k < PROCESSES; k++) {
        children[k] = fork();
        assert_true(children[k] >= 0);
        if (children[k] == 0)
            _exit(work(k));
    }
    for (int k = 0; k < PROCESSES; k++) {
        int ended = -1;
        assert_int_equal(waitpid(children[k], &ended, 0), children[k]);
        assert_true(WIFEXITED(ended));
        assert_int_equal(WEXITSTATUS(ended), 0);
    }
    for (int i = 0; i < PROGRAMS; i++) { /* what is there now is whole */
        opened s;
        device_program *p = NULL;
        char options[32];
        snprintf(options, sizeof options, "-DK=%d", i);
        opened_open(&s, "cuda");
        assert_ok(s.ctx, device_build(s.d, text, options, &p));
        assert_int_equal(s.infos + s.warnings, 0);
        opened_close(&s);
    }
    assert_int_equal(place_count(&fake.place), PROGRAMS);
}

/* --- memory --------------------------------------------------------------------------------------
 */

static spry_status build_again(spry_context *ctx, void *data)
{
    spry_device *d = NULL;
    device_program *p = NULL;
    const char *options = data;
    spry_status status = device_open(ctx, "cuda", &d);
    if (status == SPRY_STATUS_OK)
        status = device_build(d, text, options, &p);
    if (status == SPRY_STATUS_OK)
        status = device_launch(p, "triple", NULL, 1, 64, NULL, 0);
    device_close(d);
    return status;
}

static void test_torture(void **state)
{
    (void)state;
    spry_context *ctx = support_context(NULL);
    char compiled[] = "-DA", kept[] = "";
    build_quietly(kept, false);
    support_torture(ctx, build_again, kept);
    char command[256];
    snprintf(command, sizeof command, "rm -r '%s/programs'", fake.place.folder);
    assert_int_equal(system(command), 0);
    support_torture(ctx, build_again, compiled);
    support_context_free(ctx);
}

int main(void)
{
#define TEST(function) FAKE_TEST(function, &fake)
    const struct CMUnitTest tests[] = {
        TEST(test_hash),    TEST(test_keys),       TEST(test_damage),    TEST(test_swapped),
        TEST(test_refused), TEST(test_no_folder),  TEST(test_full_disk), TEST(test_strangers),
        TEST(test_trim),    TEST(test_use_counts), TEST(test_processes), TEST(test_torture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
