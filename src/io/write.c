/*
 * Writing a file so that its name never stands for half of it: the bytes go to a temporary file
 * beside it that takes the name when all is well. What is not a regular file (a pipe, a terminal,
 * "-" for standard output) is written in place. The first error is kept until the end.
 */
#include "io/gzip.h"
#include "io/io.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER_SIZE = 1 << 18, LEVEL = 4, TRIES = 100, SUFFIX_SIZE = 32 };

struct io_writer {
    spry_context *ctx;
    char *path;      /* as the caller named it, for messages */
    char *target;    /* what the file becomes; NULL: written in place */
    char *temporary; /* what it is called until then */
    int fd;
    int error; /* errno of the first failure */
    bool packed;
    z_stream stream;
    size_t used;
    char buffer[BUFFER_SIZE];
};

static void put(io_writer *w, const char *data, size_t size)
{
    while (size > 0 && !w->error) {
        const ssize_t wrote = write(w->fd, data, size);
        if (wrote < 0 && errno != EINTR)
            w->error = errno;
        if (wrote > 0) {
            data += wrote;
            size -= (size_t)wrote;
        }
    }
}

/* Runs the buffer through deflate; Z_FINISH ends the gzip stream. */
static void pack(io_writer *w, const char *data, size_t size, int flush)
{
    char out[1 << 14];
    do {
        const uInt now = size < INT_MAX ? (uInt)size : INT_MAX;
        w->stream.next_in = (z_const Bytef *)data;
        w->stream.avail_in = now;
        data += now;
        size -= now;
        do {
            w->stream.next_out = (Bytef *)out;
            w->stream.avail_out = sizeof out;
            deflate(&w->stream, size > 0 ? Z_NO_FLUSH : flush);
            put(w, out, sizeof out - w->stream.avail_out);
        } while (w->stream.avail_out == 0 && !w->error);
    } while (size > 0 && !w->error);
}

static void flush(io_writer *w)
{
    if (w->packed)
        pack(w, w->buffer, w->used, Z_NO_FLUSH);
    else
        put(w, w->buffer, w->used);
    w->used = 0;
}

void io_write(io_writer *w, const void *data, size_t size)
{
    if (size > BUFFER_SIZE - w->used)
        flush(w);
    if (size <= BUFFER_SIZE - w->used) {
        memcpy(w->buffer + w->used, data, size);
        w->used += size;
    } else if (w->packed) {
        pack(w, data, size, Z_NO_FLUSH);
    } else {
        put(w, data, size);
    }
}

void io_printf(io_writer *w, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length >= 0 && (size_t)length < sizeof text)
        io_write(w, text, (size_t)length);
    else
        w->error = EOVERFLOW;
}

/* A name beside the target that nobody has; open() applies the user's mask, as for any new file. */
static int create_beside(io_writer *w, size_t room, const struct stat *old)
{
    int fd = -1;
    for (int i = 0; i < TRIES && fd < 0; i++) {
        snprintf(w->temporary, room, "%s.part-%ld-%d", w->target, (long)getpid(), i);
        fd = open(w->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    if (fd < 0)
        w->temporary[0] = '\0'; /* not ours to remove */
    else if (old)
        (void)!fchmod(fd, old->st_mode & 0777); /* as before where the system lets us */
    return fd;
}

/* Follows links, so that the file they lead to is replaced and not the link. */
static char *follow(spry_context *ctx, const char *path)
{
    char *real = realpath(path, NULL);
    char *copy = base_copy_text(ctx, real ? real : path);
    free(real);
    return copy;
}

static spry_status open_target(spry_context *ctx, io_writer *w)
{
    spry_status status = SPRY_OK;
    struct stat about;
    const bool there = stat(w->path, &about) == 0;
    if (strcmp(w->path, "-") == 0) {
        w->fd = dup(STDOUT_FILENO);
    } else if (there && S_ISDIR(about.st_mode)) {
        errno = EISDIR;
    } else if (there && !S_ISREG(about.st_mode)) {
        w->fd = open(w->path, O_WRONLY | O_CLOEXEC);
    } else if (there && access(w->path, W_OK) != 0) {
        w->fd = -1; /* renaming would get round a read-only file: respect it */
    } else {
        w->target = follow(ctx, w->path);
        if (!w->target)
            return SPRY_NO_MEMORY;
        const size_t room = strlen(w->target) + SUFFIX_SIZE;
        SPRY_GO(ctx, base_alloc(ctx, (int64_t)room, 1, &w->temporary));
        w->temporary[0] = '\0';
        w->fd = create_beside(w, room, there ? &about : NULL);
    }
    if (w->fd < 0)
        return io_system_fault(ctx, w->path, errno);
done:
    return status;
}

static bool ends_in_gz(const char *path)
{
    const size_t length = strlen(path);
    return length > 3 && strcmp(path + length - 3, ".gz") == 0;
}

static void free_writer(spry_context *ctx, io_writer *w)
{
    if (w->packed)
        deflateEnd(&w->stream);
    if (w->fd >= 0)
        close(w->fd);
    base_free(ctx, w->path);
    base_free(ctx, w->target);
    base_free(ctx, w->temporary);
    base_free(ctx, w);
}

spry_status io_create(spry_context *ctx, const char *path, io_writer **writer)
{
    spry_status status = SPRY_OK;
    io_writer *w = NULL;
    *writer = NULL;
    SPRY_GO(ctx, base_alloc(ctx, 1, sizeof *w, &w));
    /* Not the buffer: it is large and needs no zeros. */
    memset(w, 0, offsetof(io_writer, buffer));
    w->ctx = ctx;
    w->fd = -1;
    w->path = base_copy_text(ctx, path);
    if (!w->path)
        SPRY_GO(ctx, SPRY_NO_MEMORY);
    SPRY_GO(ctx, open_target(ctx, w));
    if (ends_in_gz(path)) {
        w->stream = io_zlib_stream(ctx);
        if (deflateInit2(&w->stream, LEVEL, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) != Z_OK)
            SPRY_GO(ctx, SPRY_NO_MEMORY);
        w->packed = true;
    }
    *writer = w;
done:
    if (status != SPRY_OK)
        io_abort(ctx, w);
    return status;
}

spry_status io_commit(spry_context *ctx, io_writer *w)
{
    spry_status status = SPRY_OK;
    flush(w);
    if (w->packed)
        pack(w, NULL, 0, Z_FINISH);
    /* Some file systems tell of a full disk only now. */
    if (close(w->fd) != 0 && !w->error)
        w->error = errno;
    w->fd = -1;
    if (!w->error && w->target && rename(w->temporary, w->target) != 0)
        w->error = errno;
    if (w->error)
        SPRY_GO(ctx, io_system_fault(ctx, w->path, w->error));
    if (w->temporary)
        w->temporary[0] = '\0';
done:
    io_abort(ctx, w);
    return status;
}

void io_abort(spry_context *ctx, io_writer *w)
{
    if (!w)
        return;
    if (w->temporary && w->temporary[0])
        unlink(w->temporary);
    free_writer(ctx, w);
}
