/* spry plan: what solve would do, and what memory and time that takes. */
#include "solve.h"

SPRY_OPTION_TABLE(rows, solve_options, SOLVE_OPTIONS_OF(SPRY_OPTION_ROW, "print the plan"))

static spry_option_list own_options(void)
{
    return CLI_LIST(rows);
}

static int run(spry_context *ctx, const cli_arguments *arguments)
{
    return solve_run(ctx, arguments, true);
}

const cli_command command_plan = {
    .name = "plan",
    .summary = "show what solve would do, and what memory and time that takes",
    .synopsis = "A [B]",
    .description =
        "Reads the system and decides as `spry solve` with the same options does: device, order, "
        "storage format, method, preconditioner, and the fallbacks where these fail. Then it "
        "forecasts the memory by parts and the seconds of set-up and iterations, with a range: "
        "sparse factors from their analysis, which is made, iterations from a dozen products or "
        "from rules of thumb (docs/plan.md). What the solve would refuse is refused, with the same "
        "words, and what cannot fit, with what to do about it. On ranks it reports the bytes of "
        "the one that has most and of all.\n"
        "Exit status: 0 it fits, 2 bad usage or input, 3 nothing that would be tried is forecast "
        "to fit into the memory that is allowed.",
    .groups =
        (const cli_group[]){
            {"Options", own_options,
             "output resume checkpoint checkpoint_every report plan out_of_core split quiet"},
            {"Solver", cli_solver_options, "format memory report_start"},
            {"Reading", cli_read_options, "expand"},
            {"Machine", cli_context_options, NULL},
            {0}},
    .examples =
        (const cli_example[]){
            {"spry plan A.mtx", "What `spry solve A.mtx` would do, and what it takes."},
            {"spry plan A.mtx --precon direct --memory-limit 8G",
             "Whether factors fit into 8 GB: exit status 3 where they do not."},
            {"spry plan A.mtx b.mtx --json", "For a program."},
            {"mpirun -n 4 spry plan A.mtx", "Of a solve on four ranks."},
            {"spry solve A.mtx --plan", "The plan, and then the solve, which goes on from it."},
            {0}},
    .least = 1,
    .most = 2,
    .ranks = true,
    .run = run,
};
