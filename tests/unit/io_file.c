/* Files: what can and cannot be opened, gzip that is sound or not, writing aside, choosing a
 * format. */
#include "support/files.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { NOBODY = 65534 };

static const char eye[] = "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n";

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

/* Packs size bytes; the caller frees. */
static char *packed(const void *data, size_t size, size_t *packed_size)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    const size_t room = deflateBound(&z, size) + 64;
    char *out = malloc(room);
    assert_non_null(out);
    z.next_in = (z_const Bytef *)data;
    z.avail_in = (uInt)size;
    z.next_out = (Bytef *)out;
    z.avail_out = (uInt)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    *packed_size = room - z.avail_out;
    deflateEnd(&z);
    return out;
}

static void what_cannot_be_opened(void **state)
{
    spry_context *ctx = *state;
    io_bytes bytes;
    const char *path = files_path("none.mtx");
    assert_status(ctx, SPRY_STATUS_IO, io_open(ctx, path, &bytes));
    support_message_has(ctx, "none.mtx: No such file or directory");
    assert_status(ctx, SPRY_STATUS_IO, io_open(ctx, "/", &bytes));
    support_message_has(ctx, "/: Is a directory");
    assert_status(ctx, SPRY_STATUS_IO, io_open(ctx, "/dev/zero", &bytes));
    support_message_has(ctx, "/dev/zero: is a device, not a file");
    path = files_path("empty.mtx");
    store(path, "", 0);
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, io_open(ctx, path, &bytes));
    support_message_has(ctx, "empty.mtx:1: the file is empty");
    assert_null(bytes.data);
}

static void permissions_are_respected(void **state)
{
    spry_context *ctx = *state;
    io_bytes bytes;
    io_writer *writer = NULL;
    const char *path = files_path("secret.mtx");
    store(path, eye, sizeof eye - 1);
    assert_int_equal(chmod(path, 0), 0);
    /* The superuser may do everything, so it steps back for a moment. */
    const bool root = geteuid() == 0;
    if (root && seteuid(NOBODY) != 0) {
        print_message("no other user to be: permissions are not looked at\n");
        skip();
    }
    const spry_status opened = io_open(ctx, path, &bytes);
    const bool why_not = strstr(spry_message(ctx), "secret.mtx: Permission denied") != NULL;
    const spry_status created = io_create(ctx, path, &writer);
    const bool why_not_created = strstr(spry_message(ctx), "secret.mtx: Permission denied") != NULL;
    assert_int_equal(root ? seteuid(0) : 0, 0);
    assert_status(ctx, SPRY_STATUS_IO, opened);
    assert_true(why_not);
    assert_status(ctx, SPRY_STATUS_IO, created);
    assert_true(why_not_created);
}

/* A file that may be written in a folder that may not: it cannot be replaced, which is known before
 * the work. */
static void shut_folders_are_known_before(void **state)
{
    spry_context *ctx = *state;
    char folder[512], file[600], above[512];
    snprintf(folder, sizeof folder, "%s", files_path("shut"));
    snprintf(file, sizeof file, "%s/x.mtx", folder);
    snprintf(above, sizeof above, "%.*s", (int)(strrchr(folder, '/') - folder), folder);
    assert_int_equal(mkdir(folder, 0755), 0);
    store(file, eye, sizeof eye - 1);
    assert_int_equal(chmod(file, 0666), 0);
    assert_ok(ctx, spry_file_check_place(ctx, file));
    assert_int_equal(chmod(folder, 0555), 0);
    assert_int_equal(chmod(above, 0711), 0);
    const bool root = geteuid() == 0;
    if (root && seteuid(NOBODY) != 0) {
        print_message("no other user to be: permissions are not looked at\n");
        skip();
    }
    const int fd = open(file, O_WRONLY);
    const spry_status status = spry_file_check_place(ctx, file);
    assert_int_equal(root ? seteuid(0) : 0, 0);
    assert_true(fd >= 0);
    close(fd);
    assert_status(ctx, SPRY_STATUS_IO, status);
    support_message_has(ctx, "x.mtx: Permission denied");
    assert_int_equal(chmod(folder, 0755), 0);
    unlink(file);
    rmdir(folder);
}

static void plain_files_are_mapped(void **state)
{
    spry_context *ctx = *state;
    io_bytes bytes;
    const char *path = files_path("eye.mtx");
    store(path, eye, sizeof eye - 1);
    assert_ok(ctx, io_open(ctx, path, &bytes));
    assert_non_null(bytes.mapping);
    assert_int_equal(bytes.size, sizeof eye - 1);
    assert_memory_equal(bytes.data, eye, bytes.size);
    assert_int_equal(io_line(&bytes, 0), 1);
    assert_int_equal(io_line(&bytes, strlen("%%MatrixMarket matrix coordinate real general\n")), 2);
    assert_int_equal(io_line(&bytes, 1000), 4);
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, io_fault(ctx, &bytes, bytes.size - 1, "found %d", 7));
    support_message_has(ctx, "eye.mtx:3: found 7");
    io_close(ctx, &bytes);
    assert_null(bytes.data);
}

typedef struct pipe_text {
    int fd;
    size_t lines;
} pipe_text;

static void *fill_pipe(void *data)
{
    const pipe_text *text = data;
    for (size_t i = 0; i < text->lines; i++)
        assert_int_equal(write(text->fd, "% a comment line\n", 17), 17);
    close(text->fd);
    return NULL;
}

static spry_status open_pipe(spry_context *ctx, void *data)
{
    const size_t *lines = data;
    int ends[2];
    char path[32];
    pthread_t writer;
    io_bytes bytes;
    assert_int_equal(pipe(ends), 0);
    pipe_text text = {ends[1], *lines};
    assert_int_equal(pthread_create(&writer, NULL, fill_pipe, &text), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    const spry_status status = io_open(ctx, path, &bytes);
    if (status == SPRY_STATUS_OK)
        assert_int_equal(bytes.size, 17 * *lines);
    io_close(ctx, &bytes);
    /* What was not read is taken, or the writer would be cut off. */
    char rest[4096];
    while (read(ends[0], rest, sizeof rest) > 0)
        continue;
    pthread_join(writer, NULL);
    close(ends[0]);
    return status;
}

static void pipes_are_read_to_their_end(void **state)
{
    spry_context *ctx = *state;
    size_t lines = 20000; /* several times what the first block holds */
    assert_ok(ctx, open_pipe(ctx, &lines));
    support_torture(ctx, open_pipe, &lines);
    lines = 0;
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, open_pipe(ctx, &lines));
}

static void standard_input_and_output(void **state)
{
    spry_context *ctx = *state;
    const char *path = files_path("standard");
    const int input = dup(STDIN_FILENO), output = dup(STDOUT_FILENO);
    io_writer *writer = NULL;
    io_bytes bytes;
    fflush(stdout);
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    assert_true(fd >= 0 && dup2(fd, STDOUT_FILENO) >= 0);
    close(fd);
    spry_status status = io_create(ctx, "-", &writer);
    io_printf(writer, "%d %s\n", 12, "lines");
    const spry_status committed = io_commit(ctx, writer);
    assert_true(dup2(output, STDOUT_FILENO) >= 0);
    close(output);
    assert_ok(ctx, status);
    assert_ok(ctx, committed);
    holds(path, "12 lines\n");
    fd = open(path, O_RDONLY);
    assert_true(fd >= 0 && dup2(fd, STDIN_FILENO) >= 0);
    close(fd);
    status = io_open(ctx, "-", &bytes);
    assert_true(dup2(input, STDIN_FILENO) >= 0);
    close(input);
    assert_ok(ctx, status);
    assert_memory_equal(bytes.data, "12 lines\n", 9);
    io_close(ctx, &bytes);
}

static void gzip_is_recognised_by_content(void **state)
{
    spry_context *ctx = *state;
    enum { SIZE = 200000 };
    char *text = malloc(SIZE);
    io_bytes bytes;
    size_t size;
    assert_non_null(text);
    for (int i = 0; i < SIZE; i++)
        text[i] = (char)('a' + base_random(1, (uint64_t)i) % 20);
    char *gz = packed(text, SIZE, &size);
    char *two = malloc(2 * size);
    assert_non_null(two);
    memcpy(two, gz, size);
    memcpy(two + size, gz, size);
    const char *path = files_path("packed.txt"); /* the name does not say so */
    for (int members = 1; members <= 2; members++) {
        store(path, two, (size_t)members * size);
        assert_ok(ctx, io_open(ctx, path, &bytes));
        assert_int_equal(bytes.size, (size_t)members * SIZE);
        for (int m = 0; m < members; m++)
            assert_memory_equal(bytes.data + m * SIZE, text, SIZE);
        io_close(ctx, &bytes);
    }
    static const struct {
        size_t cut; /* bytes kept, counted from the end when 0 */
        size_t spoil;
        const char *message;
    } faults[] = {{0, 0, "packed.txt: gzip data are damaged: the file ends too early"},
                  {0, 3, "packed.txt: gzip data are damaged: the file ends too early"},
                  {1, 2, "packed.txt: gzip data are damaged: unknown compression method"},
                  {1, SIZE, "packed.txt: gzip data are damaged: "}};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        size_t kept = size;
        memcpy(two, gz, size);
        if (faults[i].cut == 0)
            kept = faults[i].spoil == 0 ? size / 2 : size - faults[i].spoil;
        else
            two[faults[i].spoil < size ? faults[i].spoil : size / 2] ^= 0x55;
        store(path, two, kept);
        assert_status(ctx, SPRY_STATUS_BAD_INPUT, io_open(ctx, path, &bytes));
        support_message_has(ctx, faults[i].message);
        assert_null(bytes.data);
    }
    free(two);
    free(gz);
    free(text);
}

/* As bgzip packs: members of at most `each` bytes that state their length, the last one empty. */
static char *packed_in_blocks(const char *text, size_t size, size_t each, size_t *packed_size)
{
    enum { HEADER = 18, TRAILER = 8, ROOM = 1 << 16 };
    static const unsigned char header[HEADER] = {31, 139, 8, 4, 0,  0,  0, 0,
                                                 0,  255, 6, 0, 66, 67, 2, 0};
    const size_t blocks = (size + each - 1) / each + 1;
    unsigned char *out = malloc(blocks * ROOM);
    size_t used = 0;
    assert_non_null(out);
    for (size_t k = 0; k < blocks; k++) {
        const size_t begin = k * each < size ? k * each : size;
        const size_t n = size - begin < each ? size - begin : each;
        unsigned char *to = out + used;
        z_stream z = {.next_in = (z_const Bytef *)(text + begin),
                      .avail_in = (uInt)n,
                      .next_out = to + HEADER,
                      .avail_out = ROOM - HEADER - TRAILER};
        assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
        assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
        const size_t whole = HEADER + (size_t)z.total_out + TRAILER;
        deflateEnd(&z);
        const unsigned long sum = crc32(0, (z_const Bytef *)(text + begin), (uInt)n);
        memcpy(to, header, HEADER);
        for (int i = 0; i < 2; i++)
            to[16 + i] = (unsigned char)((whole - 1) >> 8 * i);
        for (int i = 0; i < 4; i++) {
            to[whole - 8 + (size_t)i] = (unsigned char)(sum >> 8 * i);
            to[whole - 4 + (size_t)i] = (unsigned char)(n >> 8 * i);
        }
        used += whole;
    }
    *packed_size = used;
    return (char *)out;
}

static spry_status open_and_close(spry_context *ctx, void *path)
{
    io_bytes bytes;
    const spry_status status = io_open(ctx, path, &bytes);
    if (status == SPRY_STATUS_OK)
        io_close(ctx, &bytes);
    return status;
}

/* All threads unpack what bgzip has packed; damage is reported as of any other file. */
static void blocks_are_unpacked_by_all(void **state)
{
    enum { SIZE = 300001, EACH = 9999 };
    char *text = malloc(SIZE);
    size_t size;
    io_bytes bytes;
    assert_non_null(text);
    for (int i = 0; i < SIZE; i++)
        text[i] = (char)('a' + base_random(2, (uint64_t)i) % 20);
    char *gz = packed_in_blocks(text, SIZE, EACH, &size);
    const char *path = files_path("blocks.txt");
    store(path, gz, size);
    for (int t = 0; t < 4; t++) {
        char options[32];
        snprintf(options, sizeof options, "threads=%d", support_threads[t]);
        spry_context *ctx = support_context(options);
        assert_ok(ctx, io_open(ctx, path, &bytes));
        assert_int_equal(bytes.size, SIZE);
        assert_memory_equal(bytes.data, text, SIZE);
        io_close(ctx, &bytes);
        support_context_free(ctx);
    }
    support_torture(*state, open_and_close, (void *)(uintptr_t)path);
    /* Bytes from the end that are changed: the data of a block, and what it says to unpack to; but
     * how long it is only bgzip asks for. */
    const size_t spoilt[] = {2000, 28 + 3, 28 - 16};
    for (size_t k = 0; k < sizeof spoilt / sizeof *spoilt; k++) {
        gz[size - spoilt[k]] ^= 1;
        store(path, gz, size);
        if (k < 2) {
            assert_status(*state, SPRY_STATUS_BAD_INPUT, io_open(*state, path, &bytes));
            support_message_has(*state, "blocks.txt: gzip data are damaged: ");
        } else {
            assert_ok(*state, io_open(*state, path, &bytes));
            assert_int_equal(bytes.size, SIZE);
            io_close(*state, &bytes);
        }
        gz[size - spoilt[k]] ^= 1;
    }
    free(gz);
    free(text);
}

static void empty_gzip(void **state)
{
    spry_context *ctx = *state;
    io_bytes bytes;
    size_t size;
    char *gz = packed("", 0, &size);
    const char *path = files_path("nothing.mtx.gz");
    store(path, gz, size);
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, io_open(ctx, path, &bytes));
    support_message_has(ctx, "nothing.mtx.gz:1: the file is empty");
    free(gz);
}

/* 64 MiB of zeros in 64 KiB: over a small memory limit it is refused, whatever its trailer says. */
static void bombs_stay_within_the_limit(void **state)
{
    (void)state;
    enum { SIZE = 64 << 20 };
    char *zeros = calloc(1, SIZE);
    io_bytes bytes;
    int64_t now, most;
    size_t size;
    assert_non_null(zeros);
    char *gz = packed(zeros, SIZE, &size);
    free(zeros);
    const char *path = files_path("bomb.mtx.gz");
    store(path, gz, size);
    free(gz);
    spry_context *ctx = support_context("memory_limit=20M");
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, io_open(ctx, path, &bytes));
    support_message_has(ctx, "bomb.mtx.gz: unpacks to over ");
    spry_context_memory(ctx, &now, &most);
    assert_int_equal(now, 0);
    assert_true(most <= 20 << 20);
    support_context_free(ctx);
}

static void failed_writes_leave_the_old_file(void **state)
{
    spry_context *ctx = *state;
    char path[512];
    io_writer *writer = NULL;
    snprintf(path, sizeof path, "%s", files_path("kept.txt"));
    store(path, "old", 3);

    assert_ok(ctx, io_create(ctx, path, &writer));
    io_write(writer, "new", 3);
    holds(path, "old");
    io_abort(ctx, writer);
    holds(path, "old");

    /* A full disk, played by a limit on the size of files. */
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    const struct rlimit small = {1 << 12, before.rlim_max};
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    static char block[1 << 20];
    for (int i = 0; i < 2; i++) {
        assert_ok(ctx, io_create(ctx, path, &writer));
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        io_write(writer, block, i == 0 ? sizeof block : 10000);
        const spry_status status = io_commit(ctx, writer);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_status(ctx, SPRY_STATUS_NO_MEMORY, status);
        support_message_has(ctx, "kept.txt: File too large");
        holds(path, "old");
    }
    signal(SIGXFSZ, handler);

    assert_ok(ctx, io_create(ctx, path, &writer));
    io_write(writer, "new", 3);
    assert_ok(ctx, io_commit(ctx, writer));
    holds(path, "new");
}

static int files_in(const char *folder)
{
    char command[600];
    int count = -1;
    snprintf(command, sizeof command, "ls -A '%s' | wc -l", folder);
    FILE *list = popen(command, "r");
    assert_non_null(list);
    assert_int_equal(fscanf(list, "%d", &count), 1);
    pclose(list);
    return count;
}

static void nothing_is_left_behind(void **state)
{
    spry_context *ctx = *state;
    char folder[512], path[600];
    io_writer *writer = NULL;
    snprintf(folder, sizeof folder, "%s", files_path("folder"));
    snprintf(path, sizeof path, "%s/new.mtx.gz", folder);
    assert_status(ctx, SPRY_STATUS_IO, io_create(ctx, path, &writer));
    support_message_has(ctx, "new.mtx.gz: No such file or directory");
    assert_null(writer);
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_status(ctx, SPRY_STATUS_IO, io_create(ctx, folder, &writer));
    support_message_has(ctx, "folder: Is a directory");
    assert_ok(ctx, io_create(ctx, path, &writer));
    assert_true(files_in(folder) <= 1); /* none where files can be without a name */
    io_abort(ctx, writer);
    assert_int_equal(files_in(folder), 0);
    for (int64_t n = 1;; n++) {
        base_fail_allocation(ctx, n, false);
        const spry_status status = io_create(ctx, path, &writer);
        base_fail_allocation(ctx, 0, false);
        if (status == SPRY_STATUS_OK)
            break;
        assert_status(ctx, SPRY_STATUS_NO_MEMORY, status);
        assert_int_equal(files_in(folder), 0);
    }
    assert_ok(ctx, io_commit(ctx, writer));
    assert_int_equal(files_in(folder), 1);
    unlink(path);
    rmdir(folder);
}

static void devices_are_written_in_place(void **state)
{
    spry_context *ctx = *state;
    static char block[1 << 20];
    for (int i = 0; i < 2; i++) {
        io_writer *writer = NULL;
        assert_ok(ctx, io_create(ctx, "/dev/full", &writer));
        io_write(writer, block, i == 0 ? sizeof block : 1);
        assert_status(ctx, SPRY_STATUS_NO_MEMORY, io_commit(ctx, writer));
        support_message_has(ctx, "/dev/full: No space left on device");
    }
}

static void links_and_modes_are_kept(void **state)
{
    spry_context *ctx = *state;
    char file[512], link[512];
    struct stat about;
    io_writer *writer = NULL;
    snprintf(file, sizeof file, "%s", files_path("file"));
    snprintf(link, sizeof link, "%s", files_path("link"));
    store(file, "old", 3);
    assert_int_equal(chmod(file, 0640), 0);
    assert_int_equal(symlink(file, link), 0);
    assert_ok(ctx, io_create(ctx, link, &writer));
    io_write(writer, "new", 3);
    assert_ok(ctx, io_commit(ctx, writer));
    assert_int_equal(lstat(link, &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    assert_int_equal(stat(file, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0640);
    holds(file, "new");
    /* A new file's mode is what the user's mask leaves. */
    const mode_t mask = umask(027);
    const char *fresh = files_path("fresh");
    assert_ok(ctx, io_create(ctx, fresh, &writer));
    assert_ok(ctx, io_commit(ctx, writer));
    umask(mask);
    assert_int_equal(stat(fresh, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0640);
}

/* A link to nothing is a name for the file to be made, wherever the link lies. */
static void links_to_nothing_are_followed(void **state)
{
    spry_context *ctx = *state;
    char link[512], second[512];
    struct stat about;
    io_writer *writer = NULL;
    snprintf(link, sizeof link, "%s", files_path("dangling"));
    snprintf(second, sizeof second, "%s", files_path("dangling-2"));
    const char *file = files_path("made-by-link");
    assert_int_equal(symlink(strrchr(file, '/') + 1, second), 0);
    assert_int_equal(symlink(second, link), 0);
    assert_ok(ctx, spry_file_check_place(ctx, link));
    assert_ok(ctx, spry_text_write(ctx, "new", 3, link));
    assert_int_equal(lstat(link, &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    holds(files_path("made-by-link"), "new");
    /* In a circle there is no file. */
    assert_int_equal(unlink(files_path("made-by-link")), 0);
    assert_int_equal(unlink(second), 0);
    assert_int_equal(symlink(link, second), 0);
    assert_status(ctx, SPRY_STATUS_IO, spry_file_check_place(ctx, link));
    assert_status(ctx, SPRY_STATUS_IO, io_create(ctx, link, &writer));
    support_message_has(ctx, "dangling: Too many levels of symbolic links");
}

static void places_are_checked_before(void **state)
{
    spry_context *ctx = *state;
    char name[256];
    assert_ok(ctx, spry_file_check_place(ctx, "-"));
    assert_ok(ctx, spry_file_check_place(ctx, "/dev/null"));
    assert_ok(ctx, spry_file_check_place(ctx, files_path("new")));
    assert_status(ctx, SPRY_STATUS_IO, spry_file_check_place(ctx, "/"));
    assert_status(ctx, SPRY_STATUS_IO, spry_file_check_place(ctx, "/no such folder/new"));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_file_check_place(ctx, ""));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_text_write(ctx, "", 0, ""));
    assert_status(ctx, SPRY_STATUS_IO, spry_text_write(ctx, "", 0, "/no such folder/new"));
    /* Names as long as the system lets them be. */
    memset(name, 'n', 255);
    name[255] = '\0';
    const char *path = files_path(name);
    assert_ok(ctx, spry_text_write(ctx, "new", 3, path));
    holds(path, "new");
    unlink(path);
}

/* A stop that is asked for ends the reading of a file, packed or not, once. */
static void a_stop_ends_reading(void **state)
{
    static const char *const names[] = {"stop.mtx", "stop.mtx.gz", "stop.npz"};
    spry_context *ctx = *state;
    spry_matrix *A = NULL, *back = NULL;
    spry_vector *v = NULL;
    assert_ok(ctx, spry_generate(ctx, "poisson2d", "size=5", &A));
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        const char *path = files_path(names[k]);
        assert_ok(ctx, spry_matrix_write(A, path));
        spry_context_interrupt(ctx);
        assert_status(ctx, SPRY_STATUS_INTERRUPTED, spry_matrix_read(ctx, path, NULL, &back));
        support_message_has(ctx, "not read, a stop was asked for");
        assert_null(back);
        assert_false(spry_context_interrupted(ctx, false));
        assert_ok(ctx, spry_matrix_read(ctx, path, NULL, &back));
        spry_matrix_free(back);
        back = NULL;
        spry_context_interrupt(ctx);
        assert_status(ctx, SPRY_STATUS_INTERRUPTED, spry_vector_read(ctx, path, NULL, &v));
        assert_false(spry_context_interrupted(ctx, false));
        unlink(path);
    }
    spry_matrix_free(A);
}

static void a_stop_leaves_nothing(void **state)
{
    spry_context *ctx = *state;
    char folder[512], path[600];
    static char block[1 << 20];
    io_writer *writer = NULL;
    snprintf(folder, sizeof folder, "%s", files_path("stopped"));
    snprintf(path, sizeof path, "%s/new.txt.GZ", folder);
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_ok(ctx, io_create(ctx, path, &writer));
    io_write(writer, block, sizeof block);
    assert_false(io_write_failed(writer));
    spry_context_interrupt(ctx);
    for (int i = 0; i < 1000 && !io_write_failed(writer); i++)
        io_write(writer, block, sizeof block);
    assert_true(io_write_failed(writer));
    assert_status(ctx, SPRY_STATUS_INTERRUPTED, io_commit(ctx, writer));
    support_message_has(ctx, "new.txt.GZ: not written, a stop was asked for");
    assert_int_equal(files_in(folder), 0);
    assert_false(spry_context_interrupted(ctx, false)); /* that was its one call */
    spry_context_interrupt(ctx);
    assert_status(ctx, SPRY_STATUS_INTERRUPTED, spry_text_write(ctx, "new", 3, path));
    assert_int_equal(files_in(folder), 0);
    assert_ok(ctx, spry_text_write(ctx, "new", 3, path));
    assert_int_equal(files_in(folder), 1);
    /* The ending says gzip in capitals, too: the text comes back, so it was packed once. */
    io_bytes bytes;
    assert_ok(ctx, io_open(ctx, path, &bytes));
    assert_int_equal(bytes.size, 3);
    assert_null(bytes.mapping);
    io_close(ctx, &bytes);
    unlink(path);
    rmdir(folder);
}

static void large_packed_writes(void **state)
{
    spry_context *ctx = *state;
    enum { SIZE = 3 << 20 };
    char *text = malloc(SIZE);
    io_writer *writer = NULL;
    io_bytes bytes;
    assert_non_null(text);
    for (int i = 0; i < SIZE; i++)
        text[i] = (char)base_random(2, (uint64_t)i / 7);
    const char *path = files_path("large.gz");
    assert_ok(ctx, io_create(ctx, path, &writer));
    io_write(writer, text, 5);
    io_write(writer, text + 5, 2 << 20);
    for (int i = 5 + (2 << 20); i < SIZE; i += 4096)
        io_write(writer, text + i, SIZE - i < 4096 ? (size_t)(SIZE - i) : 4096);
    assert_ok(ctx, io_commit(ctx, writer));
    assert_ok(ctx, io_open(ctx, path, &bytes));
    assert_int_equal(bytes.size, SIZE);
    assert_memory_equal(bytes.data, text, SIZE);
    io_close(ctx, &bytes);
    free(text);
}

static void texts_too_long_to_print_are_an_error(void **state)
{
    spry_context *ctx = *state;
    io_writer *writer = NULL;
    assert_ok(ctx, io_create(ctx, files_path("long"), &writer));
    io_printf(writer, "%5000d", 1);
    assert_status(ctx, SPRY_STATUS_IO, io_commit(ctx, writer));
}

static void content_decides_then_the_name(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = NULL;
    const char *path = files_path("eye.npz"); /* the name is wrong, the content is not */
    store(path, eye, sizeof eye - 1);
    assert_ok(ctx, spry_matrix_read(ctx, path, NULL, &A));
    assert_int_equal(spry_matrix_nnz(A), 1);
    spry_matrix_free(A);
    path = files_path("bad.MTX.GZ");
    store(path, "hello\n", 6);
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_matrix_read(ctx, path, NULL, &A));
    support_message_has(ctx, "bad.MTX.GZ:1: a Matrix Market file begins with");
    path = files_path("hello.txt");
    store(path, "hello\n", 6);
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_matrix_read(ctx, path, NULL, &A));
    support_message_has(ctx, "hello.txt:1: this is no file format known here");
    assert_null(A);
    spry_vector *v = NULL;
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_vector_read(ctx, path, NULL, &v));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_matrix_read(ctx, "", NULL, &A));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_matrix_read(NULL, "a.mtx", NULL, &A));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_vector_read(ctx, NULL, NULL, &v));
}

static void unknown_endings_are_named(void **state)
{
    spry_context *ctx = *state;
    const double one = 1;
    spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, 1, 1, &one);
    spry_vector *v = NULL;
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, 1, NULL, SPRY_OWN_COPY, &v));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_matrix_write(A, "a.foo"));
    support_message_has(ctx, "a.foo: the name's ending names no format that a matrix can be "
                             "written in; those known are .mtx .mtx.gz");
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_vector_write(v, ".mtx"));
    support_message_has(ctx, "a vector can be written in; those known are .mtx .mtx.gz");
    assert_ok(ctx, spry_vector_write(v, "/dev/null"));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_file_check_name(ctx, "a.foo", true));
    assert_ok(ctx, spry_file_check_name(ctx, "a.mtx", false));
    spry_vector_free(v);
    spry_matrix_free(A);
    spry_entry format = SPRY_ENTRY_INIT;
    int count = 0;
    while (spry_list_at(SPRY_LIST_FILES, count, &format)) {
        assert_true(format.text[0] == '.' && format.summary[0] != '\0');
        count++;
    }
    assert_int_equal(count, 7);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, support_setup, support_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_cannot_be_opened),
        TEST(permissions_are_respected),
        TEST(shut_folders_are_known_before),
        TEST(plain_files_are_mapped),
        TEST(pipes_are_read_to_their_end),
        TEST(standard_input_and_output),
        TEST(gzip_is_recognised_by_content),
        TEST(empty_gzip),
        TEST(blocks_are_unpacked_by_all),
        cmocka_unit_test(bombs_stay_within_the_limit),
        TEST(failed_writes_leave_the_old_file),
        TEST(nothing_is_left_behind),
        TEST(devices_are_written_in_place),
        TEST(links_and_modes_are_kept),
        TEST(links_to_nothing_are_followed),
        TEST(places_are_checked_before),
        TEST(a_stop_ends_reading),
        TEST(a_stop_leaves_nothing),
        TEST(large_packed_writes),
        TEST(texts_too_long_to_print_are_an_error),
        TEST(content_decides_then_the_name),
        TEST(unknown_endings_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
