/* What every program of spry's does: opens a context and ranks, parses, runs, and checks that all
 * output got out. */
#include "cli.h"
#include "output.h"

#include <private/hooks.h>
#include <stdlib.h>
#include <string.h>

const char *const cli_exit_texts[EXIT_COUNT] = {
    "success; a solve converged", "a solve did not converge, the best x is still written",
    "bad usage or input", "out of memory or disk space"};

static const cli_command *const *commands;

void cli_use_commands(const cli_command *const *all)
{
    commands = all;
}

const cli_command *cli_command_at(int index)
{
    return commands[index];
}

const cli_command *cli_command_find(const char *name)
{
    for (int i = 0; commands[i]; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

/* Runs a command with a context of the options given; SPRY_FAIL_ALLOC=n lets tests see the nth
 * allocation fail, SPRY_CHECK_MEMORY=1 that all memory was freed. */
static int run(const cli_arguments *arguments)
{
    spry_context *ctx = NULL;
    spry_team *team = NULL;
    int exit_status = ranks_open(arguments, &team);
    if (exit_status != EXIT_DONE)
        return exit_status;
    spry_status status =
        team ? spry_context_new_ranked(team, NULL, &ctx) : spry_context_new(NULL, &ctx);
    const bool made = status == SPRY_STATUS_OK; /* or on no rank */
    if (made)
        status = cli_set_options(arguments, ctx);
    exit_status = status == SPRY_STATUS_OK ? EXIT_DONE : cli_failed(ctx, status);
    if (team && made)
        exit_status = ranks_begin(ctx, arguments, exit_status);
    if (exit_status == EXIT_DONE) {
        const char *fail = getenv("SPRY_FAIL_ALLOC");
        spry_context_set_log(ctx, cli_log, NULL);
        if (fail)
            base_fail_allocation(ctx, strtoll(fail, NULL, 10), false);
        exit_status = arguments->command->run(ctx, arguments);
        int64_t left;
        spry_device_close_all(ctx);
        spry_context_memory(ctx, &left, NULL);
        if (left != 0 && getenv("SPRY_CHECK_MEMORY"))
            exit_status = cli_fail(EXIT_LEAK, "%lld bytes were not freed", (long long)left);
    }
    spry_context_free(ctx);
    return exit_status;
}

/* Options are checked with a context of their own, since those of the command's context are among
 * them. */
int cli_run(const cli_command *command, int argc, char **argv)
{
    spry_context *ctx = NULL;
    cli_arguments arguments = {0};
    int exit_status = EXIT_RESOURCES;
    spry_status status = spry_context_new(NULL, &ctx);
    cli_spell_for(command);
    ranks_hush(command);
    if (status != SPRY_STATUS_OK)
        cli_failed(ctx, status);
    else
        exit_status = cli_parse(ctx, command, argc, argv, &arguments);
    if (exit_status == EXIT_DONE && arguments.help)
        cli_help(stdout, command);
    else if (exit_status == EXIT_DONE)
        exit_status = run(&arguments);
    cli_arguments_free(&arguments);
    spry_context_free(ctx);
    return file_finish_stdout(exit_status);
}

spry_status cli_open_device(spry_context *ctx, const char *name, spry_device **device)
{
    *device = NULL;
    if (strcmp(name, "auto") == 0 || strcmp(name, "cpu") == 0)
        return SPRY_STATUS_OK;
    return spry_device_open(ctx, name, device);
}

int cli_start(int (*body)(int argc, char **argv), int argc, char **argv)
{
    file_prepare();
    signals_prepare();
    cli_watch_exit();
    const int exit_status = stack_run(body, argc, argv);
    cli_leave();
    return exit_status;
}
