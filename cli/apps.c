/*
 * Applications: programs of their own that `spry NAME` becomes, as git does. They are looked for
 * next to this program (a build's folder), where they are installed, and in PATH.
 */
#include "cli.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };
static const char prefix[] = "spry-";
enum { PREFIX = sizeof prefix - 1 };

/* Returns true to look no further. */
typedef bool (*folder_visitor)(const char *folder, void *data);

static bool visit_path(folder_visitor visit, void *data)
{
    char folder[PATH_SIZE];
    const char *p = getenv("PATH");
    while (p && *p) {
        const size_t length = strcspn(p, ":");
        snprintf(folder, sizeof folder, "%.*s", (int)length, length ? p : ".");
        if (length > 0 && length < sizeof folder && visit(folder, data))
            return true;
        p += length + (p[length] == ':');
    }
    return false;
}

static void visit_folders(folder_visitor visit, void *data)
{
    char own[PATH_SIZE], installed[PATH_SIZE + sizeof CLI_LIBEXEC + 1];
    const ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    if (length > 0) {
        own[length] = '\0';
        *strrchr(own, '/') = '\0';
        snprintf(installed, sizeof installed, "%s%s%s", CLI_LIBEXEC[0] == '/' ? "" : own,
                 CLI_LIBEXEC[0] == '/' ? "" : "/", CLI_LIBEXEC);
        if (visit(own, data) || visit(installed, data))
            return;
    }
    visit_path(visit, data);
}

static bool is_program(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode) && access(path, X_OK) == 0;
}

typedef struct search {
    const char *name;
    char path[PATH_SIZE + CLI_NAME];
} search;

static bool find(const char *folder, void *data)
{
    search *s = data;
    snprintf(s->path, sizeof s->path, "%s/%s%s", folder, prefix, s->name);
    return is_program(s->path);
}

bool apps_find(const char *name, char *path, size_t size)
{
    search s = {.name = name};
    if (!*name || name[0] == '-' || strchr(name, '/') || strlen(name) > CLI_NAME / 2)
        return false;
    visit_folders(find, &s);
    return is_program(s.path) && snprintf(path, size, "%s", s.path) < (int)size;
}

void apps_start(const char *name, bool asks, char **argv)
{
    char path[PATH_SIZE + CLI_NAME];
    if (!apps_find(name, path, sizeof path))
        return;
    char *help[] = {path, "--help", NULL};
    if (!asks)
        argv[1] = path; /* its own name comes first */
    execv(path, asks ? help : argv + 1);
    cli_fail(EXIT_INPUT, "%s: %s", path, strerror(errno));
    argv[1] = (char *)name;
}

static bool add_names(const char *folder, void *data)
{
    char path[2 * PATH_SIZE];
    DIR *listing = opendir(folder);
    const struct dirent *entry;
    while (listing && (entry = readdir(listing))) {
        const char *name = entry->d_name + PREFIX;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (strncmp(entry->d_name, prefix, PREFIX) == 0 && !strchr(name, '.') &&
            !cli_has_word(data, name) && is_program(path))
            cli_add_word(data, name);
    }
    if (listing)
        closedir(listing);
    return false;
}

void apps_names(char words[CLI_WORDS])
{
    visit_folders(add_names, words);
}

int apps_unknown(const char *name)
{
    char names[CLI_WORDS] = "", nearest[CLI_NAME];
    const cli_command *command;
    for (int i = 0; (command = cli_command_at(i)); i++)
        if (!command->hidden)
            cli_add_word(names, command->name);
    apps_names(names);
    if (strcmp(name, "serve") == 0)
        return cli_fail(EXIT_INPUT,
                        "spry-serve is not installed; it is built where libmicrohttpd-dev is");
    if (spry_nearest(name, names, nearest, sizeof nearest))
        return cli_fail(EXIT_INPUT, "unknown command %s; did you mean %s?", name, nearest);
    return cli_fail(EXIT_INPUT, "unknown command %s; there are: %s", name, names);
}
