/* The program that a sweep runs: where it is, and which options it has. */
#include "sweep/sweep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* KIND TAB NAME TAB HELP, as main.c of all applications prints for --options. The help of a file
 * that is read begins with that word. */
static bool take_option(sweep_application *a, char *line)
{
    char *name = strchr(line, '\t'), *help = name ? strchr(name + 1, '\t') : NULL;
    if (!help || !*line || strlen(line) >= SWEEP_WORDS - 1)
        return false;
    *name++ = *help++ = '\0';
    sweep_option *more = realloc(a->options, (size_t)(a->count + 1) * sizeof *more);
    if (!more || strlen(name) >= CLI_NAME)
        return false;
    a->options = more;
    sweep_option *one = &a->options[a->count++];
    *one = (sweep_option){.kind = *line, .reads = strncmp(help, "read ", 5) == 0};
    snprintf(one->name, sizeof one->name, "%s", name);
    return true;
}

/* What it prints for --options, without a shell between. */
static bool ask_options(sweep_application *a)
{
    int ends[2], status = -1;
    char line[SWEEP_WORDS];
    bool good = true;
    if (pipe(ends) != 0)
        return false;
    const pid_t pid = fork();
    if (pid == 0) {
        (void)dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        char *words[] = {a->path, "--options", NULL};
        execv(a->path, words);
        _exit(EXIT_RESOURCES);
    }
    close(ends[1]);
    FILE *in = pid > 0 ? fdopen(ends[0], "r") : NULL;
    while (in && fgets(line, sizeof line, in))
        good = good && take_option(a, line);
    if (in)
        fclose(in);
    else
        close(ends[0]);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return good && status == 0 && a->count > 0;
}

int application_find(const char *name, sweep_application *a)
{
    char names[CLI_WORDS] = "", nearest[CLI_NAME];
    snprintf(a->name, sizeof a->name, "%s", name);
    apps_names(names);
    if (strcmp(name, "sweep") == 0 || !apps_find(name, a->path, sizeof a->path)) {
        if (spry_nearest(name, names, nearest, sizeof nearest) && strcmp(nearest, "sweep") != 0)
            return cli_fail(EXIT_INPUT, "no application %s; did you mean %s?", text_name(name),
                            nearest);
        return cli_fail(EXIT_INPUT, "no application %s; there are: %s", text_name(name), names);
    }
    if (!ask_options(a))
        return cli_fail(EXIT_INPUT, "%s does not say which options it has (--options)",
                        text_name(a->path));
    return EXIT_DONE;
}

const sweep_option *application_option(const sweep_application *a, const char *name)
{
    for (int i = 0; i < a->count; i++)
        if (strcmp(a->options[i].name, name) == 0)
            return &a->options[i];
    return NULL;
}
