/*
 * Ranks of MPI: libspry_mpi is loaded when the program was started by mpirun, or when that is asked
 * for; without it nothing here needs MPI.
 */
#include "cli.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The first of some variables that is set, as a number; -1: none is. */
static int number_in(const char *const *names)
{
    for (int k = 0; names[k]; k++) {
        const char *text = getenv(names[k]);
        if (text && *text)
            return atoi(text);
    }
    return -1;
}

/* PMIx, by which srun starts Open MPI's, gives a process its rank; of how many, the step of Slurm
 * does. */
int ranks_started(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS",
                                        NULL};
    static const char *const steps[] = {"SLURM_STEP_NUM_TASKS", NULL};
    const int count = number_in(names);
    return count < 0 && getenv("PMIX_RANK") ? number_in(steps) : count;
}

/* What --mpi or --no-mpi selects; `otherwise` where neither is given. */
static bool is_asked(const cli_arguments *arguments, bool otherwise)
{
    for (int k = arguments->given_count - 1; k >= 0; k--) {
        const cli_given *g = &arguments->given[k];
        if (strcmp(g->option->name, "mpi") == 0)
            return *(const bool *)((const char *)arguments->fields[g->group] + g->option->offset);
    }
    return otherwise;
}

/* Where several programs were started, each may have a complaint of its own. */
void ranks_hush(const cli_command *command)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", NULL};
    static const char *const programs[] = {"OMPI_NUM_APP_CTX", NULL};
    ranks_silence(command->ranks && ranks_started() > 1 && number_in(programs) < 2 &&
                  number_in(names) > 0);
}

/* The library: the one that is named, or where the system looks, or next to this program. */
static void *load(void)
{
    static const char *const places[] = {"", "/../lib"};
    const char *named = getenv("SPRY_MPI_LIBRARY");
    char folder[1024], path[1100];
    /* MPI's own parts are loaded by it, and look for its names. */
    const int how = RTLD_NOW | RTLD_GLOBAL;
    void *library = dlopen(named ? named : "libspry_mpi.so.2", how);
    const ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
    if (named || library || length < 1)
        return library;
    folder[length] = '\0';
    *strrchr(folder, '/') = '\0';
    for (size_t k = 0; k < sizeof places / sizeof *places && !library; k++) {
        snprintf(path, sizeof path, "%s%s/libspry_mpi.so.2", folder, places[k]);
        if (access(path, R_OK) == 0)
            library = dlopen(path, how);
    }
    return library;
}

int ranks_open(const cli_arguments *arguments, spry_team **team)
{
    spry_team *(*make)(const void *comm) = NULL;
    *team = NULL;
    if (!arguments->command->ranks || !is_asked(arguments, ranks_started() > 1)) {
        ranks_silence(false); /* each for itself */
        return EXIT_DONE;
    }
    void *library = load();
    if (!library)
        return cli_fail(EXIT_INPUT,
                        "ranks need libspry_mpi, which cannot be loaded (SPRY_MPI_LIBRARY names it "
                        "where it is elsewhere); it is built where MPI is installed, see "
                        "docs/clusters.md");
    void *found = dlsym(library, "spry_mpi_team_new");
    memcpy(&make, &found, sizeof make); /* an object's pointer is none to a function in C */
    *team = make ? make(NULL) : NULL;
    if (!*team)
        return cli_fail(EXIT_INPUT, "MPI could not be started");
    return EXIT_DONE;
}

static int exit_of(spry_status status)
{
    return status == SPRY_STATUS_OK            ? EXIT_DONE
           : status == SPRY_STATUS_NO_MEMORY   ? EXIT_RESOURCES
           : status == SPRY_STATUS_INTERRUPTED ? EXIT_STOPPED
                                               : EXIT_INPUT;
}

int ranks_agree(spry_context *ctx, int exit_status)
{
    const spry_status mine = exit_status == EXIT_DONE        ? SPRY_STATUS_OK
                             : exit_status == EXIT_RESOURCES ? SPRY_STATUS_NO_MEMORY
                             : exit_status == EXIT_STOPPED   ? SPRY_STATUS_INTERRUPTED
                                                             : SPRY_STATUS_BAD_INPUT;
    if (spry_context_ranks(ctx) == 1)
        return exit_status;
    ranks_silence(spry_context_rank(ctx) > 0);
    const spry_status all = spry_context_agree(ctx, mine);
    if (all != SPRY_STATUS_OK && exit_status == EXIT_DONE)
        cli_fail(EXIT_INPUT, "%s", spry_message(ctx)); /* who has failed is silent */
    return exit_of(all);
}

/* The command lines of ranks, but for what may be each rank's own. */
static double mark_words(const cli_arguments *arguments)
{
    static const char own[] = "threads isa memory-limit delays log device json quiet mpi";
    uint64_t mark = UINT64_C(0xcbf29ce484222325); /* FNV-1a (Fowler, Noll and Vo) */
    for (int k = 0; k < arguments->count + 2 * arguments->given_count; k++) {
        const int at = k - arguments->count;
        const cli_given *g = at < 0 ? NULL : &arguments->given[at / 2];
        const char *word = !g ? arguments->operands[k] : at % 2 == 0 ? g->option->name : g->value;
        if (g && cli_has_word(own, g->option->name))
            continue;
        for (const char *c = word ? word : ""; c; c = *c ? c + 1 : NULL) /* its end, too */
            mark = (mark ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    }
    return (double)(mark >> 12);
}

/* The first rank whose command line differs from the first one's; 0: none. */
static spry_status find_other(spry_context *ctx, const cli_arguments *arguments, int *other)
{
    double mark = mark_words(arguments);
    spry_vector *mine = NULL, *all = NULL;
    spry_status status =
        spry_context_agree(ctx, spry_vector_new(ctx, SPRY_TYPE_D, 1, &mark, SPRY_OWN_COPY, &mine));
    if (status == SPRY_STATUS_OK)
        status = spry_vector_collect(mine, &all);
    const double *marks = status == SPRY_STATUS_OK ? spry_vector_data(all) : &mark;
    *other = 0;
    for (int r = spry_context_ranks(ctx) - 1; status == SPRY_STATUS_OK && r > 0; r--)
        if (marks[r] != marks[0])
            *other = r;
    spry_vector_free(mine);
    spry_vector_free(all);
    return status;
}

int ranks_begin(spry_context *ctx, const cli_arguments *arguments, int exit_status)
{
    int other = 0;
    if (ranks_started() > 1 && spry_context_ranks(ctx) == 1)
        return cli_fail(EXIT_INPUT,
                        "%d processes were started, but each is alone: mpirun is of another MPI "
                        "than libspry_mpi was built with",
                        ranks_started());
    exit_status = ranks_agree(ctx, exit_status);
    if (exit_status != EXIT_DONE)
        return exit_status;
    const spry_status status = find_other(ctx, arguments, &other);
    if (status != SPRY_STATUS_OK)
        return cli_failed(ctx, status);
    if (other > 0)
        return cli_fail(EXIT_INPUT,
                        "rank %d was started with other words than rank 0: all ranks solve one "
                        "system in one way",
                        other);
    return EXIT_DONE;
}
