/*
 * The folder for what is remembered between runs, and its files. No function of this file notes a
 * message: remembering may fail without harm, and the callers say what is lost. A file is written
 * under a name of its own and renamed, so that two processes at once leave a whole one.
 */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FOLDER_MODE = 0700 };

const char *base_error_text(int error, char *text, size_t size)
{
    if (strerror_r(error, text, size) != 0)
        snprintf(text, size, "system error %d", error);
    return text;
}

static bool is_folder(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

/* An empty SPRY_CACHE is a wish for none. A home that does not exist (HOME=/nonexistent, as
 * services have) is not made. */
bool base_cache_folder(char *path, size_t size)
{
    const char *own = getenv("SPRY_CACHE"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length = -1;
    if (own)
        length = snprintf(path, size, "%s", own);
    else if (xdg && xdg[0] == '/')
        length = snprintf(path, size, "%s/spry", xdg);
    else if (home && home[0] == '/' && is_folder(home))
        length = snprintf(path, size, "%s/.cache/spry", home);
    return length > 0 && (size_t)length < size;
}

int base_make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        const int made = mkdir(path, FOLDER_MODE);
        const int error = errno;
        *slash = '/';
        /* What exists already may lie in folders that cannot be written or looked at. */
        if (made != 0 && error != EEXIST && error != EACCES && error != EROFS && error != EPERM)
            return error;
    }
    struct stat about;
    if (mkdir(path, FOLDER_MODE) != 0 && errno != EEXIST)
        return errno;
    if (stat(path, &about) != 0)
        return errno;
    return S_ISDIR(about.st_mode) ? 0 : ENOTDIR;
}

int base_file_open(const char *path, int64_t most, int64_t *size)
{
    struct stat about;
    /* Neither a link elsewhere nor a pipe that never answers is ours. */
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0)
        return -1 - errno;
    int error = fstat(file, &about) != 0 ? errno : 0;
    if (error == 0 && !S_ISREG(about.st_mode))
        error = EINVAL;
    if (error == 0 && about.st_size > most)
        error = EFBIG;
    if (error == 0) {
        *size = about.st_size;
        return file;
    }
    close(file);
    return -1 - error;
}

int64_t base_file_fill(int file, void *data, int64_t size)
{
    int64_t have = 0;
    int error = 0;
    while (have < size) {
        const ssize_t got = read(file, (char *)data + have, (size_t)(size - have));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            error = errno;
        if (got <= 0)
            break;
        have += got;
    }
    close(file);
    return error == 0 ? have : -1 - error;
}

static int write_all(int file, const char *data, size_t size)
{
    while (size > 0) {
        const ssize_t put = write(file, data, size);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return errno;
        data += put;
        size -= (size_t)put;
    }
    return 0;
}

int base_file_replace(const char *path, const void *data, size_t size)
{
    char aside[4200];
    const int length = snprintf(aside, sizeof aside, "%s.XXXXXX", path);
    int error = length < 0 || (size_t)length >= sizeof aside ? ENAMETOOLONG : 0;
    const int file = error == 0 ? mkstemp(aside) : -1; /* with mode 0600 */
    if (file < 0)
        return error != 0 ? error : errno;
    error = write_all(file, data, size);
    if (close(file) != 0 && error == 0)
        error = errno;
    if (error == 0 && rename(aside, path) != 0)
        error = errno;
    if (error != 0)
        unlink(aside);
    return error;
}
