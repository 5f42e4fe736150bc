/* The folder: its files, what is sent to it, and what the server keeps in it. */
#define _GNU_SOURCE /* renameat2() */
#include "serve/serve.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES_MOST = 10000 };
static const char upload_prefix[] = "upload-";

/* --- what the server keeps ---------------------------------------------------------------------*/

/* A folder of ours alone; links are not followed, whoever made them. */
static int own_folder(int at, const char *name)
{
    if (mkdirat(at, name, 0700) != 0 && errno != EEXIST)
        return -1;
    return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Files that were being sent when a server ended. */
static void remove_uploads(const server *s)
{
    const int fd = openat(s->state, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listing = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;
    while (listing && (entry = readdir(listing)))
        if (strncmp(entry->d_name, upload_prefix, sizeof upload_prefix - 1) == 0)
            (void)unlinkat(s->state, entry->d_name, 0);
    if (listing)
        closedir(listing);
    else if (fd >= 0)
        close(fd);
}

int folder_open(server *s, const char *path)
{
    s->folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    /* Records are written by their names within it. */
    if (s->folder < 0 || fchdir(s->folder) != 0)
        return cli_fail(EXIT_INPUT, "%s: %s", path, strerror(errno));
    s->state = own_folder(s->folder, STATE_FOLDER);
    const int jobs = s->state >= 0 ? own_folder(s->state, "jobs") : -1;
    if (jobs < 0)
        return cli_fail(EXIT_INPUT, "%s/%s: %s; jobs are remembered there", path, STATE_FOLDER,
                        strerror(errno));
    close(jobs);
    s->held = openat(s->state, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (s->held < 0 || flock(s->held, LOCK_EX | LOCK_NB) != 0)
        return cli_fail(EXIT_INPUT, "%s: another spry serve has this folder", path);
    remove_uploads(s);
    return EXIT_DONE;
}

void folder_close(server *s)
{
    const int all[] = {s->folder, s->state, s->held};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (all[k] >= 0)
            close(all[k]);
}

/* --- files -------------------------------------------------------------------------------------*/

int folder_file(const server *s, const char *name)
{
    struct stat about;
    /* O_NONBLOCK: a pipe of that name must not keep us waiting */
    const int fd = name_is_good(name)
                       ? openat(s->folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
                       : -1;
    if (fd >= 0 && (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode))) {
        close(fd);
        return -1;
    }
    return fd;
}

static bool ends_with(const char *name, const char *ending)
{
    const size_t length = strlen(name), tail = strlen(ending);
    return length > tail && strcasecmp(name + length - tail, ending) == 0;
}

/* Whether a file's ending is one that is read: of the library's list, packed or not. */
static bool is_read(const char *name)
{
    spry_entry entry = SPRY_ENTRY_INIT;
    char ending[CLI_NAME], packed[CLI_NAME + 4];
    for (int i = 0; spry_list_at(SPRY_LIST_FILES, i, &entry); i++)
        for (const char *p = entry.text; p && *p; p += strspn(p, " ")) {
            snprintf(ending, sizeof ending, "%.*s", (int)strcspn(p, " "), p);
            snprintf(packed, sizeof packed, "%s.gz", ending);
            if (ends_with(name, ending) || ends_with(name, packed))
                return true;
            p += strcspn(p, " ");
        }
    return false;
}

/* By its ending, and by the first line of Matrix Market: dense arrays are right-hand sides. */
static const char *kind_of(const server *s, const char *name)
{
    char head[64] = "";
    if (!is_read(name))
        return "other";
    if (ends_with(name, ".npy"))
        return "vector";
    const int fd = ends_with(name, ".mtx") ? folder_file(s, name) : -1;
    const ssize_t got = fd >= 0 ? read(fd, head, sizeof head - 1) : 0;
    if (fd >= 0)
        close(fd);
    head[got > 0 ? got : 0] = '\0';
    head[strcspn(head, "\r\n")] = '\0';
    return strcasestr(head, " array") ? "vector" : "matrix";
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The good names of a folder, by name; others cannot be listed or must not be. */
static int gather_names(const server *s, char **names)
{
    const int fd = openat(s->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listing = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;
    int count = 0;
    while (listing && count < FILES_MOST && (entry = readdir(listing)))
        if (name_is_good(entry->d_name) && (names[count] = strdup(entry->d_name)))
            count++;
    if (listing)
        closedir(listing);
    else if (fd >= 0)
        close(fd);
    qsort(names, (size_t)count, sizeof *names, by_name);
    return count;
}

void folder_list(const server *s, json *j)
{
    char **names = calloc(FILES_MOST, sizeof *names);
    const int count = names ? gather_names(s, names) : 0;
    json_open(j, NULL, '{');
    json_text(j, "folder", s->name);
    json_open(j, "files", '[');
    for (int i = 0; i < count; i++) {
        struct stat about;
        if (fstatat(s->folder, names[i], &about, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(about.st_mode)) {
            json_open(j, NULL, '{');
            json_text(j, "name", names[i]);
            json_int(j, "bytes", about.st_size);
            json_real(j, "modified", (double)about.st_mtim.tv_sec);
            json_text(j, "kind", kind_of(s, names[i]));
            json_close(j, '}');
        }
        free(names[i]);
    }
    json_close(j, ']');
    json_close(j, '}');
    free(names);
}

/* --- what is sent ------------------------------------------------------------------------------*/

static void note_fault(upload *u)
{
    if (u->fault == 0)
        u->fault = errno == ENOSPC || errno == EDQUOT || errno == EFBIG
                       ? MHD_HTTP_INSUFFICIENT_STORAGE
                       : MHD_HTTP_INTERNAL_SERVER_ERROR;
}

void upload_begin(server *s, upload *u)
{
    static int64_t number; /* of the one thread that speaks HTTP */
    snprintf(u->place, sizeof u->place, "%s%lld", upload_prefix, (long long)++number);
    u->fd = openat(s->state, u->place, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (u->fd < 0)
        note_fault(u);
}

void upload_take(const server *s, upload *u, const char *bytes, size_t size)
{
    if (u->fault == 0 && (int64_t)size > s->o->upload_bytes - u->bytes)
        u->fault = MHD_HTTP_CONTENT_TOO_LARGE;
    u->bytes += (int64_t)size;
    while (u->fault == 0 && size > 0) {
        const ssize_t wrote = write(u->fd, bytes, size);
        if (wrote > 0) {
            bytes += wrote;
            size -= (size_t)wrote;
        } else if (wrote == 0 || errno != EINTR) {
            note_fault(u);
        }
    }
}

static bool put_in_place(const server *s, const upload *u)
{
    if (renameat2(s->state, u->place, s->folder, u->name, u->replace ? 0 : RENAME_NOREPLACE) == 0)
        return true;
    if (errno != EINVAL || u->replace)
        return false;
    /* a file system that knows no such rename: whoever comes between is replaced */
    if (faccessat(s->folder, u->name, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
        errno = EEXIST;
        return false;
    }
    return renameat(s->state, u->place, s->folder, u->name) == 0;
}

void upload_end(const server *s, upload *u)
{
    if (u->fault == 0 && fsync(u->fd) != 0)
        note_fault(u);
    if (u->fault != 0)
        return;
    if (put_in_place(s, u))
        u->place[0] = '\0';
    else if (errno == EEXIST || errno == EISDIR)
        u->fault = MHD_HTTP_CONFLICT;
    else
        note_fault(u);
}

void upload_drop(upload *u)
{
    if (u->fd >= 0)
        close(u->fd);
    if (u->fd >= 0 && u->place[0]) {
        char path[PATH_MOST + sizeof STATE_FOLDER + 1];
        snprintf(path, sizeof path, "%s/%s", STATE_FOLDER, u->place);
        (void)unlink(path);
    }
    u->fd = -1;
    u->place[0] = '\0';
}
