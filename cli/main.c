/* Where the program begins: finds the command, or the application of that name. */
#include "cli.h"

#include <string.h>

static const cli_command *const commands[] = {&command_solve,
                                              &command_plan,
                                              &command_info,
                                              &command_doctor,
                                              &command_gen,
                                              &command_convert,
                                              &command_bench,
                                              &command_devices,
                                              &command_tune,
                                              &command_explain,
                                              &command_plot,
                                              &command_report,
                                              &command_help,
                                              &command_version,
                                              &command_completion,
                                              &command_manual,
                                              NULL};

static int find_and_run(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "help";
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
        name = "version";
    const cli_command *command = cli_command_find(name);
    if (!command)
        return apps_unknown(name);
    int used = argc > 1 ? 2 : argc;
    return cli_run(command, argc - used, argv + used);
}

int main(int argc, char **argv)
{
    const bool asks = argc > 2 && strcmp(argv[1], "help") == 0;
    const char *name = argc > 1 ? argv[1 + asks] : "";
    cli_use_commands(commands);
    if (!cli_command_find(name))
        apps_start(name, asks, argv); /* comes back where there is no such application */
    return cli_start(find_and_run, argc, argv);
}
