/* Files by name: "-" for the standard output, what is checked before the work, the last check of
 * stdout. */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void file_prepare(void)
{
    /* Lowest first, so that open() gives the one that is missing. */
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) < 0)
            return;
}

bool file_is_stdout(const char *path)
{
    return !path || strcmp(path, "-") == 0;
}

bool file_is_same(const char *a, const char *b)
{
    struct stat one, other;
    if (file_is_stdout(a) || file_is_stdout(b))
        return false;
    if (stat(a, &one) != 0 || stat(b, &other) != 0)
        return strcmp(a, b) == 0;
    return S_ISREG(one.st_mode) && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

int file_check_text(spry_context *ctx, const char *path)
{
    if (file_is_stdout(path))
        return EXIT_DONE;
    spry_status status = spry_file_check_place(ctx, path);
    return status == SPRY_STATUS_OK ? EXIT_DONE : cli_failed(ctx, status);
}

int file_check_output(spry_context *ctx, const char *path, bool vector)
{
    if (file_is_stdout(path))
        return EXIT_DONE;
    spry_status status = spry_file_check_name(ctx, path, vector);
    return status == SPRY_STATUS_OK ? file_check_text(ctx, path) : cli_failed(ctx, status);
}

spry_status file_write_matrix(const spry_matrix *A, const char *path)
{
    fflush(stdout);
    return spry_matrix_write(A, path ? path : "-");
}

spry_status file_write_vector(const spry_vector *v, int64_t cols, const char *path)
{
    fflush(stdout);
    return spry_columns_write(v, cols, path ? path : "-");
}

/* A reader that had enough (`| head`) is no error. */
int file_finish_stdout(int exit_status)
{
    errno = 0;
    bool bad = fflush(stdout) != 0 || ferror(stdout);
    /* What failed earlier has left no reason: one more byte of what is spoilt anyway finds it out.
     */
    if (bad && errno == 0 && putchar('\n') != EOF)
        fflush(stdout);
    int error = errno ? errno : EIO;
    struct pollfd reader = {STDOUT_FILENO, POLLOUT, 0};
    bool gone = error == EPIPE || (poll(&reader, 1, 0) == 1 && reader.revents & POLLERR);
    if (!bad || gone)
        return exit_status;
    /* A full disk is a matter of resources; the rest is the caller's. */
    bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
    return cli_fail(full ? EXIT_RESOURCES : EXIT_INPUT, "standard output: %s", strerror(error));
}

int file_write_text(spry_context *ctx, const char *path, void (*write)(FILE *out, const void *data),
                    const void *data)
{
    if (file_is_stdout(path)) {
        write(stdout, data);
        return EXIT_DONE;
    }
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return cli_fail(EXIT_RESOURCES, "%s: no memory for the text", path);
    write(out, data);
    bool bad = ferror(out) != 0;
    bad = fclose(out) != 0 || bad;
    int exit_status = EXIT_DONE;
    spry_status status = bad ? SPRY_STATUS_OK : spry_text_write(ctx, text, size, path);
    if (bad)
        exit_status = cli_fail(EXIT_RESOURCES, "%s: no memory for the text", path);
    else if (status != SPRY_STATUS_OK)
        exit_status = cli_failed(ctx, status);
    free(text);
    return exit_status;
}
