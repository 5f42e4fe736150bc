/* Temporary files whose writers were killed. */
#include "support/files.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void store(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void holds(const char *path, const char *text)
{
    size_t size;
    char *data = files_load(path, &size);
    assert_int_equal(size, strlen(text));
    assert_memory_equal(data, text, size);
    free(data);
}

/* A temporary file of a process, in a folder, locked as its writer would have it; its descriptor.
 */
static int left_by(const char *folder, long process, bool locked, char path[700])
{
    snprintf(path, 700, "%s/spry-part-%ld-0", folder, process);
    store(path, "half", 4);
    const int fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    if (locked)
        assert_int_equal(flock(fd, LOCK_EX), 0);
    return fd;
}

/* A number that no process has, as its own has ended. */
static long ended_process(void)
{
    const pid_t child = fork();
    if (child == 0)
        _exit(0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    return child;
}

static void what_killed_writers_have_left_goes(void **state)
{
    spry_context *ctx = *state;
    char folder[512], path[700], gone[700], held[700], alive[700], own[700];
    io_writer *writer = NULL;
    snprintf(folder, sizeof folder, "%s", files_path("orphans"));
    assert_int_equal(mkdir(folder, 0700), 0);
    snprintf(path, sizeof path, "%s/new.txt", folder);
    close(left_by(folder, ended_process(), false, gone));
    const int lock = left_by(folder, ended_process(), true, held); /* by another machine's */
    close(left_by(folder, (long)getppid(), false, alive));
    snprintf(own, sizeof own, "%s/spry-part-of-mine", folder);
    store(own, "mine", 4);
    assert_ok(ctx, io_create(ctx, path, &writer));
    io_write(writer, "new", 3);
    assert_ok(ctx, io_commit(ctx, writer));
    holds(path, "new");
    assert_int_not_equal(access(gone, F_OK), 0);
    assert_int_equal(access(held, F_OK), 0);
    assert_int_equal(access(alive, F_OK), 0);
    holds(own, "mine");
    close(lock);
    assert_ok(ctx, io_create_named(ctx, path, &writer));
    assert_int_not_equal(access(held, F_OK), 0); /* now that nobody has it */
    /* One that is being written is its writer's, whoever asks. */
    const int other = open(io_temporary_name(writer), O_RDONLY);
    assert_true(other >= 0 && flock(other, LOCK_EX | LOCK_NB) != 0);
    close(other);
    io_abort(ctx, writer);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, support_setup, support_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_killed_writers_have_left_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
