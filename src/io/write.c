/*
 * Writing a file so that its name never refers to half of it: the bytes go to a temporary file next
 * to it that takes the name on success. Where the file system can, the temporary file has no name
 * until then, so that a process that is killed leaves nothing. What is not a regular file (a pipe,
 * a terminal,
 * "-" for standard output) is written in place. The first error is kept until the end. The bytes
 * are on the disk before the name is theirs, so that a power cut leaves the old file or the new
 * one.
 */
#define _GNU_SOURCE /* O_TMPFILE */
#include "io/gzip.h"
#include "io/io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    BUFFER_SIZE = 1 << 18,
    PIECE = 1 << 24, /* bytes between two looks at whether to stop */
    LEVEL = 4,
    TRIES = 10000,
    LINKS = 40, /* as the system follows at most */
    NAME_SIZE = 48
};

/* Where a file goes. */
typedef struct place {
    char target[PATH_MAX]; /* what it becomes; "": written in place */
    bool exists;
    mode_t mode; /* of the existing one */
} place;

struct io_writer {
    spry_context *ctx;
    char *path; /* as the caller named it, for messages */
    place to;
    char temporary[PATH_MAX + NAME_SIZE]; /* what the file is called until then; "": nothing */
    bool nameless;                        /* it will get that name before it is renamed */
    bool named;                           /* it is to have one at once */
    int fd;
    int error; /* errno of the first failure; ECANCELED: the caller asked to stop */
    bool packed;
    z_stream stream;
    size_t used;
    char buffer[BUFFER_SIZE];
};

static void put(io_writer *w, const char *data, size_t size)
{
    while (size > 0 && !w->error) {
        if (spry_context_interrupted(w->ctx, false)) {
            w->error = ECANCELED;
            return;
        }
        const ssize_t wrote = write(w->fd, data, size < PIECE ? size : PIECE);
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

bool io_write_failed(const io_writer *w)
{
    return w->error != 0;
}

/* The length of the folder in front of a path's last name, with its slash. */
static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* A file without a name in the target's folder, where the system has such and can name them later.
 */
static int create_nameless(const io_writer *w)
{
    int fd = -1;
#ifdef O_TMPFILE
    char folder[PATH_MAX + 1], self[NAME_SIZE];
    const size_t length = folder_length(w->to.target);
    snprintf(folder, sizeof folder, "%.*s.", (int)length, w->to.target);
    fd = open(folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    if (fd >= 0 && access(self, F_OK) != 0) {
        close(fd);
        fd = -1;
    }
#else
    (void)w;
#endif
    return fd;
}

/* Takes an unused name next to the target, short so that it fits wherever the target does:
 * for the nameless file, or for a new one, to which open() applies the user's mask. What take()
 * gives, or -1. */
static int take_name(io_writer *w, int (*take)(const io_writer *w))
{
    const int folder = (int)folder_length(w->to.target);
    int taken = -1;
    for (int i = 0; i < TRIES && taken < 0; i++) {
        snprintf(w->temporary, sizeof w->temporary, "%.*sspry-part-%ld-%d", folder, w->to.target,
                 (long)getpid(), i);
        taken = take(w);
        if (taken < 0 && errno != EEXIST)
            break;
    }
    if (taken < 0)
        w->temporary[0] = '\0'; /* not ours to remove */
    return taken;
}

/* Whether a name is that of a temporary file whose process is gone. */
static bool is_orphan(const char *name)
{
    long process;
    int number, end = 0;
    if (sscanf(name, "spry-part-%ld-%d%n", &process, &number, &end) != 2 || name[end] ||
        process < 1)
        return false;
    return kill((pid_t)process, 0) != 0 && errno == ESRCH;
}

/* Another machine's process is not seen here, but the lock that it has on its file is. */
static void remove_orphan(int folder, const char *name)
{
    struct stat about;
    const int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return;
    if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && flock(fd, LOCK_EX | LOCK_NB) == 0)
        (void)unlinkat(folder, name, 0);
    close(fd);
}

/* What processes that were killed have left next to the target. */
static void remove_orphans(const io_writer *w)
{
    char path[PATH_MAX + 1];
    snprintf(path, sizeof path, "%.*s.", (int)folder_length(w->to.target), w->to.target);
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (is_orphan(entry->d_name))
            remove_orphan(dirfd(folder), entry->d_name);
    if (folder)
        closedir(folder);
}

static int create_named(const io_writer *w)
{
    return open(w->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

static int name_it(const io_writer *w)
{
    char self[NAME_SIZE];
    snprintf(self, sizeof self, "/proc/self/fd/%d", w->fd);
    return linkat(AT_FDCWD, self, AT_FDCWD, w->temporary, AT_SYMLINK_FOLLOW);
}

static int create_temporary(io_writer *w)
{
    remove_orphans(w);
    int fd = w->named ? -1 : create_nameless(w);
    w->nameless = fd >= 0;
    if (fd < 0)
        fd = take_name(w, create_named);
    if (fd >= 0)
        (void)flock(fd, LOCK_EX | LOCK_NB); /* as long as this process lives */
    if (fd >= 0 && w->to.exists)
        (void)!fchmod(fd, w->to.mode & 0777); /* as before where the system lets us */
    return fd;
}

/* Follows links, so that the file they lead to is replaced or made and not the link; 0 or errno. */
static int follow(const char *path, char target[PATH_MAX])
{
    char link[PATH_MAX];
    if (realpath(path, target))
        return 0;
    const size_t size = strlen(path) + 1;
    if (size > PATH_MAX)
        return ENAMETOOLONG;
    memcpy(target, path, size);
    for (int i = 0; i < LINKS; i++) {
        const ssize_t length = readlink(target, link, sizeof link - 1);
        if (length < 0)
            return 0; /* a new name, or an error that opening it reports */
        link[length] = '\0';
        const size_t folder = link[0] == '/' ? 0 : folder_length(target);
        if (folder + (size_t)length >= PATH_MAX)
            return ENAMETOOLONG;
        memcpy(target + folder, link, (size_t)length + 1);
    }
    return ELOOP;
}

/* Asks as open() would, for the effective user; 0 or errno. */
static int check_access(const char *path, int mode)
{
    return faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0 ? 0 : errno;
}

/* Whether files can be made in the folder of a path; 0 or errno. */
static int check_folder(const char *path)
{
    char folder[PATH_MAX] = ".";
    const size_t length = folder_length(path);
    if (length > 0)
        snprintf(folder, sizeof folder, "%.*s", (int)length, path);
    return check_access(folder, W_OK | X_OK);
}

/* Looks where a file would go and whether it may; 0 or errno. */
static int find_place(const char *path, place *to)
{
    struct stat about;
    to->target[0] = '\0';
    to->exists = false;
    if (strcmp(path, "-") == 0)
        return 0;
    if (stat(path, &about) == 0) {
        to->exists = true;
        to->mode = about.st_mode;
        if (S_ISDIR(about.st_mode))
            return EISDIR;
        /* Renaming would get round a read-only file: respect it. */
        const int error = check_access(path, W_OK);
        if (error || !S_ISREG(about.st_mode))
            return error;
    }
    const int error = follow(path, to->target);
    return error ? error : check_folder(to->target);
}

spry_status io_check_place(spry_context *ctx, const char *path)
{
    place to;
    const int error = find_place(path, &to);
    return error ? io_system_fault(ctx, path, error) : SPRY_STATUS_OK;
}

static spry_status open_target(spry_context *ctx, io_writer *w)
{
    const int error = find_place(w->path, &w->to);
    if (error)
        return io_system_fault(ctx, w->path, error);
    if (w->to.target[0])
        w->fd = create_temporary(w);
    else if (w->to.exists)
        w->fd = open(w->path, O_WRONLY | O_CLOEXEC);
    else
        w->fd = dup(STDOUT_FILENO);
    return w->fd < 0 ? io_system_fault(ctx, w->path, errno) : SPRY_STATUS_OK;
}

bool io_ends_with(const char *path, size_t length, const char *ending)
{
    const size_t n = strlen(ending);
    return length > n && base_starts_with(path + length - n, path + length, ending);
}

static void free_writer(spry_context *ctx, io_writer *w)
{
    if (w->packed)
        deflateEnd(&w->stream);
    if (w->fd >= 0)
        close(w->fd);
    base_free(ctx, w->path);
    base_free(ctx, w);
}

static spry_status create(spry_context *ctx, const char *path, bool named, io_writer **writer)
{
    spry_status status = SPRY_STATUS_OK;
    io_writer *w = NULL;
    *writer = NULL;
    SPRY_GO(ctx, base_alloc(ctx, 1, sizeof *w, &w));
    /* Not the buffer: it is large and needs no zeros. */
    memset(w, 0, offsetof(io_writer, buffer));
    w->ctx = ctx;
    w->fd = -1;
    w->named = named;
    w->path = base_copy_text(ctx, path);
    if (!w->path)
        SPRY_GO(ctx, SPRY_STATUS_NO_MEMORY);
    SPRY_GO(ctx, open_target(ctx, w));
    if (!named && io_ends_with(path, strlen(path), ".gz")) {
        w->stream = io_zlib_stream(ctx);
        if (deflateInit2(&w->stream, LEVEL, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) != Z_OK)
            SPRY_GO(ctx, SPRY_STATUS_NO_MEMORY);
        w->packed = true;
    }
    *writer = w;
done:
    if (status != SPRY_STATUS_OK)
        io_abort(ctx, w);
    return status;
}

spry_status io_create(spry_context *ctx, const char *path, io_writer **writer)
{
    return create(ctx, path, false, writer);
}

spry_status io_create_named(spry_context *ctx, const char *path, io_writer **writer)
{
    return create(ctx, path, true, writer);
}

const char *io_temporary_name(const io_writer *w)
{
    return w->temporary;
}

spry_status io_commit(spry_context *ctx, io_writer *w)
{
    spry_status status = SPRY_STATUS_OK;
    flush(w);
    if (w->packed)
        pack(w, "", 0, Z_FINISH);
    const bool renames = w->to.target[0] != '\0';
    if (!w->error && renames && fsync(w->fd) != 0 && errno != EINVAL)
        w->error = errno;
    if (!w->error && w->nameless && take_name(w, name_it) < 0)
        w->error = errno;
    /* Some file systems report a full disk only now. */
    if (close(w->fd) != 0 && !w->error)
        w->error = errno;
    w->fd = -1;
    if (!w->error && renames && rename(w->temporary, w->to.target) != 0)
        w->error = errno;
    if (w->error == ECANCELED) {
        base_stopped(ctx);
        SPRY_GO(ctx, SPRY_FAIL(ctx, SPRY_STATUS_INTERRUPTED,
                               "%s: not written, a stop was asked for", w->path));
    }
    if (w->error)
        SPRY_GO(ctx, io_system_fault(ctx, w->path, w->error));
    w->temporary[0] = '\0';
done:
    io_abort(ctx, w);
    return status;
}

void io_abort(spry_context *ctx, io_writer *w)
{
    if (!w)
        return;
    if (w->temporary[0])
        unlink(w->temporary);
    free_writer(ctx, w);
}
