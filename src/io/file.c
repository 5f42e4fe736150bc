/* Opening files: mapped, read from a pipe, or unpacked from gzip. */
#include "io/io.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <private/marks.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIPE_START = 1 << 16 };

/* Until there is something to be read; a signal may come to another thread. */
static spry_status wait_for(spry_context *ctx, int fd, const char *path)
{
    enum { MILLISECONDS = 100 };
    struct pollfd one = {.fd = fd, .events = POLLIN};
    spry_status status = io_go_on(ctx, path);
    while (status == SPRY_STATUS_OK && poll(&one, 1, MILLISECONDS) <= 0)
        status = io_go_on(ctx, path);
    return status;
}

/* More than the machine's memory is never read from a pipe, which has no size of its own. */
static int64_t pipe_limit(void)
{
    const int64_t memory = base_machine_memory();
    return memory > 0 ? memory : INT64_MAX / 4;
}

static spry_status read_pipe(spry_context *ctx, int fd, io_bytes *bytes)
{
    spry_status status = SPRY_STATUS_OK;
    char *memory = NULL;
    int64_t room = 0, size = 0;
    for (;;) {
        if (size == room) {
            if (room >= pipe_limit())
                SPRY_GO(ctx, SPRY_FAIL(ctx, SPRY_STATUS_IO,
                                       "%s: gives more bytes than there is memory", bytes->path));
            room = room == 0 ? PIPE_START : 2 * room;
            SPRY_GO(ctx, base_grow(ctx, size, room, 1, &memory));
        }
        SPRY_GO(ctx, wait_for(ctx, fd, bytes->path));
        const ssize_t got = read(fd, memory + size, (size_t)(room - size));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            SPRY_GO(ctx, io_system_fault(ctx, bytes->path, errno));
        if (got == 0)
            break;
        size += got;
    }
    bytes->data = bytes->memory = memory;
    bytes->size = (size_t)size;
done:
    if (status != SPRY_STATUS_OK)
        base_free(ctx, memory);
    return status;
}

static spry_status map_file(spry_context *ctx, int fd, size_t size, io_bytes *bytes)
{
    /* Private and writable: a matrix that keeps the pages may be changed without changing the file.
     */
    void *mapping = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd, 0);
    if (mapping == MAP_FAILED)
        return io_system_fault(ctx, bytes->path, errno);
    bytes->data = bytes->mapping = mapping;
    bytes->size = bytes->mapping_bytes = size;
    return SPRY_STATUS_OK;
}

static spry_status load(spry_context *ctx, int fd, io_bytes *bytes)
{
    struct stat about;
    if (fstat(fd, &about) != 0)
        return io_system_fault(ctx, bytes->path, errno);
    if (S_ISDIR(about.st_mode))
        return io_system_fault(ctx, bytes->path, EISDIR);
    if (S_ISBLK(about.st_mode) || (S_ISCHR(about.st_mode) && !isatty(fd)))
        return SPRY_FAIL(ctx, SPRY_STATUS_IO, "%s: is a device, not a file", bytes->path);
    if (S_ISREG(about.st_mode) && about.st_size > 0)
        return map_file(ctx, fd, (size_t)about.st_size, bytes);
    return read_pipe(ctx, fd, bytes);
}

spry_status io_open(spry_context *ctx, const char *path, io_bytes *bytes)
{
    spry_status status = SPRY_STATUS_OK;
    *bytes = (io_bytes){.path = path};
    const bool standard_input = strcmp(path, "-") == 0;
    const int fd = standard_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return io_system_fault(ctx, path, errno);
    SPRY_GO(ctx, load(ctx, fd, bytes));
    if (bytes->size == 0)
        SPRY_GO(ctx, SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT, "%s:1: the file is empty", path));
    SPRY_GO(ctx, io_unpack(ctx, bytes));
    const size_t mark = text_mark(bytes->data, bytes->size);
    bytes->data += mark;
    bytes->size -= mark;
done:
    if (!standard_input)
        close(fd);
    if (status != SPRY_STATUS_OK)
        io_close(ctx, bytes);
    return status;
}
