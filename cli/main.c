/* Where the program begins: finds the command, or the application that a name stands for. */
#include "cli.h"

#include <string.h>

static const cli_command *const commands[] = {
    &command_solve, &command_plan,    &command_info,       &command_doctor,
    &command_gen,   &command_convert, &command_bench,      &command_devices,
    &command_tune,  &command_explain, &command_plot,       &command_report,
    &command_help,  &command_version, &command_completion, &command_manual};
enum { COMMANDS = sizeof commands / sizeof *commands };

const cli_command *cli_command_at(int index)
{
    return index < COMMANDS ? commands[index] : NULL;
}

const cli_command *cli_command_find(const char *name)
{
    char names[CLI_WORDS] = "", nearest[CLI_NAME];
    for (int i = 0; i < COMMANDS; i++) {
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
        if (!commands[i]->hidden)
            cli_add_word(names, commands[i]->name);
    }
    apps_names(names);
    if (strcmp(name, "serve") == 0)
        cli_fail(EXIT_INPUT, "spry-serve is not installed; it is built where libmicrohttpd-dev is");
    else if (spry_nearest(name, names, nearest, sizeof nearest))
        cli_fail(EXIT_INPUT, "unknown command %s; did you mean %s?", name, nearest);
    else
        cli_fail(EXIT_INPUT, "unknown command %s; there are: %s", name, names);
    return NULL;
}

static int find_and_run(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "help";
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
        name = "version";
    const cli_command *command = cli_command_find(name);
    if (!command)
        return EXIT_INPUT;
    int used = argc > 1 ? 2 : argc;
    return cli_run(command, argc - used, argv + used);
}

static bool is_command(const char *name)
{
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return true;
    return false;
}

int main(int argc, char **argv)
{
    const bool asks = argc > 2 && strcmp(argv[1], "help") == 0;
    const char *name = argc > 1 ? argv[1 + asks] : "";
    if (!is_command(name))
        apps_start(name, asks, argv); /* comes back where there is no such application */
    return cli_start(find_and_run, argc, argv);
}
