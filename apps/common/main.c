/* Where an application begins: its one command, with --manual for the build and --options for `spry
 * sweep`. */
#include "common/app.h"

#include <string.h>

/* KIND TAB NAME TAB HELP, a line for each. */
static void print_options(FILE *out)
{
    static const char *const kinds[] = {
        [SPRY_OPTION_INT] = "int",   [SPRY_OPTION_REAL] = "real", [SPRY_OPTION_BOOL] = "bool",
        [SPRY_OPTION_WORD] = "word", [SPRY_OPTION_TEXT] = "text", [SPRY_OPTION_PATH] = "path"};
    char name[CLI_NAME];
    for (const cli_group *group = app_command.groups; group->title; group++) {
        const spry_option_list list = group->list();
        for (int i = 0; i < list.count; i++) {
            const spry_option *option = spry_options_at(list, i);
            if (cli_option_shown(group, option))
                fprintf(out, "%s\t%s\t%s\n", kinds[option->kind], cli_option_name(option, name),
                        option->help);
        }
    }
}

static int body(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--manual") == 0) {
        cli_manual(stdout, &app_command);
        return file_finish_stdout(EXIT_DONE);
    }
    if (argc > 1 && strcmp(argv[1], "--options") == 0) {
        print_options(stdout);
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
