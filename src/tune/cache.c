/*
 * The folder where choices are kept. Everything here may fail without harm: the tuner then works
 * without a memory. A file is written under a name of its own and renamed, so that two processes at
 * once leave a whole one, and is read only after its checksum was found right.
 */
#include "tune/tune.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FOLDER_MODE = 0700, FILE_MODE = 0600 };

static const char *why(int error, char *text, size_t size)
{
    if (strerror_r(error, text, size) != 0)
        snprintf(text, size, "system error %d", error);
    return text;
}

/* An empty SPRY_CACHE is a wish for none. */
bool tune_folder_name(char *path, size_t size)
{
    const char *own = getenv("SPRY_CACHE"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length = -1;
    if (own)
        length = snprintf(path, size, "%s", own);
    else if (xdg && xdg[0] == '/')
        length = snprintf(path, size, "%s/spry", xdg);
    else if (home && home[0] == '/')
        length = snprintf(path, size, "%s/.cache/spry", home);
    return length > 0 && (size_t)length < size;
}

/* Makes the folder and those above it. */
static int make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        const int made = mkdir(path, FOLDER_MODE);
        const int error = errno;
        *slash = '/';
        /* What is there already may lie in folders that cannot be written or looked at. */
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

bool tune_folder(spry_context *ctx, char *path, size_t size)
{
    char text[128];
    if (!tune_folder_name(path, size)) {
        base_log(ctx, SPRY_LOG_INFO,
                 "no folder to remember choices in: SPRY_CACHE, XDG_CACHE_HOME or HOME would "
                 "name one");
        return false;
    }
    const int error = make_folders(path);
    if (error != 0)
        base_log(ctx, SPRY_LOG_INFO, "%s: %s; choices are not remembered", path,
                 why(error, text, sizeof text));
    return error == 0;
}

/* All of a file that is not too large; the size, or -1 - errno. */
static int64_t read_all(int file, char *text)
{
    int64_t size = 0;
    struct stat about;
    if (fstat(file, &about) != 0)
        return -1 - errno;
    if (!S_ISREG(about.st_mode))
        return -1 - EINVAL;
    if (about.st_size > TUNE_FILE_SIZE)
        return -1 - EFBIG;
    while (size < TUNE_FILE_SIZE) {
        const ssize_t got = read(file, text + size, (size_t)(TUNE_FILE_SIZE - size));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1 - errno;
        if (got == 0)
            break;
        size += got;
    }
    return size;
}

int64_t tune_file_read(spry_context *ctx, const char *path, char text[TUNE_FILE_SIZE])
{
    char reason[128];
    /* Neither a link elsewhere nor a pipe that never answers is ours. */
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    int64_t size = file < 0 ? -1 - errno : read_all(file, text);
    if (file >= 0)
        close(file);
    if (size < 0 && size != -1 - ENOENT)
        base_log(ctx, SPRY_LOG_WARNING, "%s: %s; ignored", path,
                 why((int)(-1 - size), reason, sizeof reason));
    return size < 0 ? -1 : size;
}

static int write_all(int file, const char *text, size_t size)
{
    while (size > 0) {
        const ssize_t put = write(file, text, size);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return errno;
        text += put;
        size -= (size_t)put;
    }
    return 0;
}

bool tune_file_write(spry_context *ctx, const char *path, const char *text, size_t size)
{
    char aside[4200], reason[128];
    const int length = snprintf(aside, sizeof aside, "%s.XXXXXX", path);
    int error = length < 0 || (size_t)length >= sizeof aside ? ENAMETOOLONG : 0;
    const int file = error == 0 ? mkstemp(aside) : -1; /* with mode 0600 */
    if (file < 0) {
        error = error != 0 ? error : errno;
    } else {
        error = write_all(file, text, size);
        if (close(file) != 0 && error == 0)
            error = errno;
        if (error == 0 && rename(aside, path) != 0)
            error = errno;
        if (error != 0)
            unlink(aside);
    }
    if (error != 0)
        base_log(ctx, SPRY_LOG_INFO, "%s: %s; the choice is not remembered", path,
                 why(error, reason, sizeof reason));
    return error == 0;
}

/* Steps over so many hex digits; NULL when there are others. */
static const char *after_hash(const char *name)
{
    enum { DIGITS = 16 };
    return name && strspn(name, "0123456789abcdef") == DIGITS ? name + DIGITS : NULL;
}

/* The name of a choice or of what was learned of a machine, as tune.c writes them, and no other. */
static bool is_ours(const char *name, const char *prefix)
{
    const bool machine = strncmp(name, "machine-", 8) == 0;
    const char *p = after_hash(machine ? name + 8 : name);
    if (p && !machine) {
        p = *p == '-' ? after_hash(p + 1) : NULL;
        const size_t digits = p && *p == '-' ? strspn(p + 1, "0123456789") : 0;
        p = digits > 0 ? p + 1 + digits : NULL;
    }
    return p && strcmp(p, ".tune") == 0 && strncmp(name, prefix, strlen(prefix)) == 0;
}

int64_t tune_files_drop(const char *folder, const char *prefix)
{
    int64_t count = 0;
    DIR *all = opendir(folder);
    if (!all)
        return 0;
    for (const struct dirent *entry; (entry = readdir(all));)
        if (is_ours(entry->d_name, prefix))
            count += unlinkat(dirfd(all), entry->d_name, 0) == 0;
    closedir(all);
    return count;
}
