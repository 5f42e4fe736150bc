/* Where an application begins: its one command, with --manual for the build. */
#include "common/app.h"

#include <string.h>

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
    static const cli_command *const commands[] = {&app_command, NULL};
    cli_use_commands(commands);
    return cli_start(body, argc, argv);
}
