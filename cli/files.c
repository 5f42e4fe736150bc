/* Files by name: "-" for the standard streams, text files written aside, the last check of stdout.
 */
#include "output.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *file_input(const char *path)
{
    return strcmp(path, "-") == 0 ? "/dev/stdin" : path;
}

bool file_is_stdout(const char *path)
{
    return !path || strcmp(path, "-") == 0;
}

/* Whether a file can be made in the folder that its path names. */
static int folder_error(const char *path)
{
    char *folder = cli_alloc(strlen(path) + 2);
    const char *slash = strrchr(path, '/');
    memcpy(folder, slash ? path : ".", slash ? (size_t)(slash - path) + 1 : 1);
    int error = access(folder, W_OK | X_OK) == 0 ? 0 : errno;
    free(folder);
    return error;
}

int file_check_output(spry_context *ctx, const char *path, bool vector)
{
    if (file_is_stdout(path))
        return EXIT_DONE;
    spry_status status = spry_file_check_name(ctx, path, vector);
    if (status != SPRY_OK)
        return cli_failed(ctx, status);
    int error = access(path, W_OK) == 0 ? 0 : errno;
    if (error == ENOENT)
        error = folder_error(path);
    return error ? cli_fail(EXIT_INPUT, "%s: %s", path, strerror(error)) : EXIT_DONE;
}

spry_status file_write_matrix(const spry_matrix *A, const char *path)
{
    fflush(stdout);
    return spry_matrix_write(A, path ? path : "-");
}

spry_status file_write_vector(const spry_vector *v, const char *path)
{
    fflush(stdout);
    return spry_vector_write(v, path ? path : "-");
}

/* A full disk is a matter of resources; the rest is the caller's. */
static int write_error(const char *path, int error)
{
    bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
    return cli_fail(full ? EXIT_RESOURCES : EXIT_INPUT, "%s: %s", path, strerror(error));
}

/* A reader that had enough (`| head`) is no error. */
int file_finish_stdout(int exit_status)
{
    errno = 0;
    bool bad = fflush(stdout) != 0 || ferror(stdout);
    int error = errno ? errno : EIO;
    struct pollfd reader = {STDOUT_FILENO, POLLOUT, 0};
    bool gone = error == EPIPE || (poll(&reader, 1, 0) == 1 && reader.revents & POLLERR);
    return bad && !gone ? write_error("standard output", error) : exit_status;
}

/* Where a text is written first: beside a regular file, in place where it is a pipe or a device. */
static char *aside_of(const char *path)
{
    struct stat about;
    size_t size = strlen(path) + 32;
    char *aside = cli_alloc(size);
    if (stat(path, &about) == 0 && !S_ISREG(about.st_mode))
        snprintf(aside, size, "%s", path);
    else
        snprintf(aside, size, "%s.part-%ld", path, (long)getpid());
    return aside;
}

int file_write_text(const char *path, void (*write)(FILE *out, const void *data), const void *data)
{
    if (file_is_stdout(path)) {
        write(stdout, data);
        return EXIT_DONE;
    }
    int error = 0;
    char *aside = aside_of(path);
    bool renames = strcmp(aside, path) != 0;
    FILE *out = fopen(aside, renames ? "wx" : "w");
    if (out) {
        write(out, data);
        errno = 0;
        bool bad = ferror(out) != 0;
        bad = fclose(out) != 0 || bad;
        if (bad || (renames && rename(aside, path) != 0))
            error = errno ? errno : EIO;
        if (error && renames)
            remove(aside);
    } else {
        error = errno;
    }
    free(aside);
    return error ? write_error(path, error) : EXIT_DONE;
}
