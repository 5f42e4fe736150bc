/*
 * Ranks of MPI: libspry_mpi is loaded when the program was started by mpirun, or when that is asked
 * for; without it nothing here needs MPI.
 */
#include "cli.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool silent;

bool ranks_silent(void)
{
    return silent;
}

/* The first of some variables that is there, as a number; -1: none is. */
static int number_in(const char *const *names)
{
    for (int k = 0; names[k]; k++) {
        const char *text = getenv(names[k]);
        if (text && *text)
            return atoi(text);
    }
    return -1;
}

/* How many processes mpirun, mpiexec or srun has started; -1: none of them did. */
static int started(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS",
                                        "PMIX_SIZE", NULL};
    return number_in(names);
}

static bool is_asked(const cli_arguments *arguments)
{
    for (int k = 0; k < arguments->given_count; k++)
        if (strcmp(arguments->given[k].option->name, "mpi") == 0)
            return true;
    return false;
}

/* The other processes are silent from the start: they would all say that MPI is not there. */
static void hush(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", NULL};
    silent = number_in(names) > 0;
}

/* The library: the one that is named, or where the system looks, or beside this program. */
static void *load(void)
{
    static const char *const places[] = {"", "/../lib"};
    const char *named = getenv("SPRY_MPI_LIBRARY");
    char folder[1024], path[1100];
    /* MPI's own parts are loaded by it, and look for its names. */
    const int how = RTLD_NOW | RTLD_GLOBAL;
    void *library = dlopen(named ? named : "libspry_mpi.so.1", how);
    const ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
    if (named || library || length < 1)
        return library;
    folder[length] = '\0';
    *strrchr(folder, '/') = '\0';
    for (size_t k = 0; k < sizeof places / sizeof *places && !library; k++) {
        snprintf(path, sizeof path, "%s%s/libspry_mpi.so.1", folder, places[k]);
        if (access(path, R_OK) == 0)
            library = dlopen(path, how);
    }
    return library;
}

int ranks_open(const cli_arguments *arguments, spry_team **team)
{
    spry_team *(*make)(const void *comm) = NULL;
    const int processes = started();
    *team = NULL;
    if (!arguments->command->ranks || (processes < 2 && !is_asked(arguments)))
        return EXIT_DONE;
    hush();
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

/* mpirun of another MPI starts processes that do not find each other. */
static bool is_alone(const spry_context *ctx)
{
    return started() > 1 && spry_context_ranks(ctx) == 1;
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
    if (is_alone(ctx))
        return cli_fail(EXIT_INPUT,
                        "%d processes were started, but each is alone: mpirun is of another MPI "
                        "than libspry_mpi was built with",
                        started());
    if (spry_context_ranks(ctx) == 1)
        return exit_status;
    silent = spry_context_rank(ctx) > 0;
    const spry_status all = spry_context_agree(ctx, mine);
    if (all != SPRY_STATUS_OK && exit_status == EXIT_DONE)
        cli_fail(EXIT_INPUT, "%s", spry_message(ctx)); /* who has failed is silent */
    return exit_of(all);
}
