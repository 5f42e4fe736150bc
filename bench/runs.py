"""What bench programs that run `spry solve` share: runs that are stopped by the seconds of the processor, and the configurations that are
compared. Needs nothing but Python."""
import os, resource, subprocess, tempfile

HERMITIAN = ["cg none", "cg jacobi", "cg ic", "cg amg", "minres none", "minres jacobi", "minres ildl", "fgmres ildl:definite=no",
             "fgmres kkt"]
ANY = ["bicgstabl none", "bicgstabl jacobi", "bicgstabl ilu", "gmres:restart=50 ilu", "gmres:restart=50 ilut", "gmres:restart=50 ilutp",
       "idr ilu", "gmres:restart=50 prepare:sub=ilut", "gmres:restart=50 prepare:order=none,sub=ilu", "gmres:restart=50 mlilu"]
SHORT, FACTOR, SLACK = 0.2, 1.1, 0.01  # seconds; times the best, and seconds more


def run_limited(command, limit, cache=""):
    """Exit status, output, errors and seconds of the processor; the status is None where these are more than the limit. The clock of a
    busy machine says little: what a process has had of the processor is looked at while it runs."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen(command, stdout=out, stderr=err, env={**os.environ, "SPRY_CACHE": cache})
        ended = False
        while not ended:
            try:
                process.wait(timeout=min(max(0.02, limit / 20), 0.5))
                ended = True
            except subprocess.TimeoutExpired:
                if spent(process.pid) > limit:
                    process.kill()
                    process.wait()
                    return None, "", "", limit
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        out.seek(0)
        err.seek(0)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return process.returncode, out.read(), err.read(), seconds


def spent(pid):
    """Seconds of the processor that a process's threads have had."""
    seconds = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{task}/schedstat") as stat:
                seconds += int(stat.read().split()[0]) * 1e-9
        except (FileNotFoundError, ProcessLookupError):
            pass
    return seconds
