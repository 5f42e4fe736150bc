/*
 * Processes: the program spry with the words of a command, without a shell between. They are of a
 * session of their own, so that neither the terminal's Ctrl-C nor the end of the server ends them.
 */
#define _GNU_SOURCE /* memfd_create() */
#include "serve/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TEXT_FD = 3, FIRST_CLOSED = 4, MOST_CLOSED = 1024, SECONDS_TO_END = 30 };

static bool is_program(const char *path)
{
    return access(path, X_OK) == 0;
}

/* Next to this program in a build's folder, where they are installed, or in PATH. */
bool child_find_program(server *s)
{
    char own[4096 - sizeof SERVE_PROGRAM - 1];
    const ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    if (length > 0) {
        own[length] = '\0';
        *strrchr(own, '/') = '\0';
        snprintf(s->program, sizeof s->program, "%s/spry", own);
        if (is_program(s->program))
            return true;
        snprintf(s->program, sizeof s->program, "%s/%s", SERVE_PROGRAM[0] == '/' ? "" : own,
                 SERVE_PROGRAM);
        if (is_program(s->program))
            return true;
    }
    for (const char *p = getenv("PATH"); p && *p;) {
        const size_t part = strcspn(p, ":");
        snprintf(s->program, sizeof s->program, "%.*s/spry", (int)part, p);
        if (part > 0 && is_program(s->program))
            return true;
        p += part + (p[part] == ':');
    }
    cli_fail(EXIT_INPUT, "the program spry was not found next to spry-serve, nor in PATH");
    return false;
}

int child_memory(const char *text, size_t size)
{
    const int fd = memfd_create("spry", MFD_CLOEXEC);
    for (size_t done = 0; fd >= 0 && done < size;) {
        const ssize_t wrote = write(fd, text + done, size - done);
        if (wrote <= 0) {
            close(fd);
            return -1;
        }
        done += (size_t)wrote;
    }
    return fd;
}

/* `more`: what it has to come to an end after the system has asked for that. */
static void limit(unsigned which, int64_t most, int64_t more)
{
    const struct rlimit both = {(rlim_t)most, (rlim_t)(most + more)};
    if (most > 0)
        (void)setrlimit(which, &both);
}

/* Address space is no measure: drivers of GPUs reserve more than any machine has. What can be
 * written is, but the sanitizers' shadow counts as that. */
static void limit_all(const child_limits *l)
{
    const struct rlimit none = {0, 0};
    (void)setrlimit(RLIMIT_CORE, &none);
    limit(RLIMIT_CPU, l->seconds, SECONDS_TO_END);
    limit(RLIMIT_FSIZE, l->file_bytes, 0);
#ifndef __SANITIZE_ADDRESS__
    limit(RLIMIT_DATA, l->memory, 0);
#endif
    (void)setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + l->nice);
}

static void write_number(int fd, pid_t pid)
{
    char digits[24], *p = digits + sizeof digits;
    for (long n = pid; n > 0; n /= 10)
        *--p = (char)('0' + n % 10);
    (void)!write(fd, p, (size_t)(digits + sizeof digits - p));
}

static void close_others(void)
{
#ifdef SYS_close_range
    if (syscall(SYS_close_range, FIRST_CLOSED, ~0U, 0) == 0)
        return;
#endif
    for (int fd = FIRST_CLOSED; fd < MOST_CLOSED; fd++)
        close(fd);
}

/* Between fork and exec: calls that are allowed after a fork of one of several threads, no others.
 */
static _Noreturn void become(const server *s, const command *c, const child_limits *limits,
                             const child_files *files)
{
    struct sigaction plain = {.sa_handler = SIG_DFL};
    sigset_t none;
    sigemptyset(&none);
    sigemptyset(&plain.sa_mask);
    for (int number = 1; number < 32; number++)
        (void)sigaction(number, &plain, NULL);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)setsid();
    if (files->mark >= 0)
        write_number(files->mark, getpid());
    const int nothing = open("/dev/null", O_RDWR);
    const bool good = nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0 &&
                      dup2(files->out >= 0 ? files->out : nothing, STDOUT_FILENO) >= 0 &&
                      dup2(files->err, STDERR_FILENO) >= 0 &&
                      dup2(files->text >= 0 ? files->text : nothing, TEXT_FD) >= 0 &&
                      fchdir(s->folder) == 0;
    if (good) {
        close_others();
        limit_all(limits);
        (void)execv(s->program, c->words);
    }
    static const char text[] = "spry: the program could not be started\n";
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    _exit(EXIT_RESOURCES);
}

bool child_start(const server *s, const command *c, const child_limits *limits,
                 const child_files *files, child *one)
{
    *one = (child){.door = -1, .most = (double)limits->seconds};
    if (c->bad)
        return false;
    const pid_t pid = fork();
    if (pid == 0)
        become(s, c, limits, files);
    if (pid < 0)
        return false;
    one->pid = pid;
#ifdef SYS_pidfd_open
    one->door = (int)syscall(SYS_pidfd_open, pid, 0); /* closed by exec */
#endif
    return true;
}

bool child_poll(child *one)
{
    if (one->ended || one->pid == 0)
        return true;
    struct rusage used;
    const pid_t found = wait4(one->pid, &one->status, WNOHANG, &used);
    if (found == 0 || (found < 0 && errno == EINTR))
        return false;
    if (found < 0)
        one->status = 0x7f00; /* not known */
    else
        one->used = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                    1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
    one->ended = true;
    if (one->door >= 0)
        close(one->door);
    one->door = -1;
    return true;
}
