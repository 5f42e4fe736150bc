/* Where an application begins: its one command, with --manual for the build. */
#include "common/app.h"

#include <string.h>

const cli_command *cli_command_at(int index)
{
    return index == 0 ? &app_command : NULL;
}

const cli_command *cli_command_find(const char *name)
{
    if (strcmp(name, app_command.name) == 0)
        return &app_command;
    cli_fail(EXIT_INPUT, "unknown command %s", name);
    return NULL;
}

static int body(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--manual") == 0) {
        cli_manual(stdout, &app_command);
        return file_finish_stdout(EXIT_DONE);
    }
    return cli_run(&app_command, argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    return cli_start(body, argc, argv);
}
