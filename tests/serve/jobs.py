"""Jobs of `spry serve`: jobs.py SPRY [JOBS]

JOBS jobs one after the other (20 unless said) must not leave anything in the server; 200 are run by hand.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

from client import POISSON, Server, environment, place, run, write_poisson

SPRY = sys.argv[1]
MANY = int(sys.argv[2]) if len(sys.argv) > 2 else 20
SLOW = "slow.mtx"


def with_slow(folder):
    """Jacobi's method takes some 10^5 iterations for ten digits of this, minutes with sanitizers."""
    write_poisson(os.path.join(folder, "here", SLOW), 150)


def slow_job(server, **more):
    return server.job(file=SLOW, method="jacobi", precon="jacobi", tol=1e-14, max_iter=10**9, **more)


def solves(server):
    job = server.job(rhs="b.mtx", method="cg", precon="jacobi", tol=1e-10, max_iter=500, device="cpu")
    record = server.wait_job(job)
    assert record["state"] == "done" and record["summary"]["converged"] is True, record
    assert record["command"] == ("spry solve poisson.mtx b.mtx --method=cg --precon=jacobi --tol=1e-10 --max-iter=500 "
                                 "--device=cpu -o x.mtx"), record["command"]
    assert record["result"]["method"] == "cg" and len(record["result"]["history"]) > 2
    assert record["has"] == {"x": True, "report": False, "result": True}
    status, heads, x = server.ask("GET", f"/api/jobs/{job}/x")
    assert status == 200 and "attachment" in heads["Content-Disposition"] and len(x.split()) >= 144
    assert server.ask("GET", f"/api/jobs/{job}/log")[0] == 200
    assert server.ask("GET", f"/api/jobs/{job}/report")[0] == 404
    # not converged is an answer, too
    record = server.wait_job(server.job(method="cg", precon="none", max_iter=2))
    assert record["state"] == "done" and record["summary"]["converged"] is False, record
    # what cannot be done says why
    record = server.wait_job(server.job(method="nosuch"))
    assert record["state"] == "failed" and "nosuch" in record["message"], record
    assert server.ask("DELETE", f"/api/jobs/{job}")[0] == 409
    return job


def commands_are_seen(server):
    """A name that turns what follows around: the command shows that, and a shell takes it all the same."""
    name = "a\u202egpj.mtx"
    write_poisson(os.path.join(server.folder, name), 3)
    record = server.wait_job(server.job(file=name, method="cg"))
    assert record["state"] == "done" and record["file"] == name, record
    assert record["command"] == "spry solve 'a'$'\\342\\200\\256''gpj.mtx' --method=cg -o x.mtx", record["command"]
    assert "\u202e" not in server.ask("GET", f"/api/jobs/{record['id']}")[2].decode()
    assert "\u202e" not in server.ask("GET", f"/api/jobs/{record['id']}/log")[2].decode()
    if shutil.which("bash"):
        words = ["bash", "-c", f"spry() {{ printf '%s\\n' \"$@\"; }}; {record['command']}"]
        done = subprocess.run(words, capture_output=True, check=True)
        assert done.stdout.decode().splitlines() == ["solve", name, "--method=cg", "-o", "x.mtx"], done.stdout
    os.remove(os.path.join(server.folder, name))


def memory_is_the_servers():
    """What a job lacks is named as the option of who runs the server; a command of a person's own keeps its own."""
    with place() as folder, Server(SPRY, folder, "--memory", "8000000") as server:
        write_poisson(os.path.join(server.folder, "large.mtx"), 150)
        for asked in ({"kind": "solve", "precon": "direct"}, {"kind": "plan", "precon": "direct"}):
            record = server.wait_job(server.job(file="large.mtx", **asked))
            log = server.ask("GET", f"/api/jobs/{record['id']}/log")[2].decode()
            for said in (record["message"], log):
                assert re.search(r"spry serve --memory [0-9]+", said) and "memory-limit" not in said and "ulimit" not in said, said
        # as much as it names is enough
        needed = re.search(r"spry serve --memory ([0-9]+)", record["message"])[1]
        server.stop()
        with Server(SPRY, folder, "--memory", needed) as more:
            assert more.wait_job(more.job(file="large.mtx", precon="direct"))["state"] == "done"
        own = subprocess.run([SPRY, "plan", os.path.join(server.folder, "large.mtx"), "--precon", "direct", "--memory-limit", "8000000"],
                             capture_output=True, env=environment(folder), check=False).stderr
        assert b"allow more, --memory-limit" in own, own


def methods_of_ones_own(server):
    found = server.post("/api/explain", {"method": "cg", "precon": "jacobi"})
    assert "sweep" in found["sweeps"] and found["svg"].startswith("<svg") and "loop" in found["text"]
    own = server.post("/api/explain", {"text": found["text"]})
    assert own["svg"].startswith("<svg"), own
    wrong = server.post("/api/explain", {"text": found["text"].replace("alpha", "al$pha", 1)})
    line = found["text"][:found["text"].index("alpha")].count("\n") + 1
    assert wrong["line"] == line and wrong["column"] > 0 and "fd" not in wrong["error"], wrong
    record = server.wait_job(server.job(text=found["text"]))
    assert record["state"] == "done" and record["summary"]["converged"] is True and record["text"] == found["text"]


def events_and_comparison(server, job):
    events = server.events(job)
    assert [e[0] for e in events if e[0] != "progress"] == ["state", "end"], events
    assert events[-1][2]["state"] == "done" and events[-1][2]["id"] == job
    other = server.job(method="minres")
    assert server.events(other)[-1][2]["state"] == "done"  # waits for its end
    status, _, svg = server.ask("GET", f"/api/compare?ids={job},{other}")
    assert status == 200 and f"job-{job}".encode() in svg and f"job-{other}".encode() in svg
    for ids in ("", "x", f"{job},", "999", f"{job},../../x", f"{job} "):
        assert server.ask("GET", f"/api/compare?ids={ids.replace(' ', '%20')}")[0] == 400, ids


def cancel_and_queue(server):
    first = slow_job(server)
    second = server.job()
    server.wait_job(first, "running")
    while (server.get(f"/api/jobs/{first}")["progress"] or {}).get("phase") != "iterate":
        time.sleep(0.05)
    assert server.get(f"/api/jobs/{second}")["state"] == "queued"
    third = server.job()
    assert server.ask("POST", "/api/jobs", {"kind": "solve", "file": POISSON})[0] == 429  # --waiting 2
    assert server.ask("DELETE", f"/api/jobs/{third}")[0] == 200
    assert server.get(f"/api/jobs/{third}")["state"] == "cancelled"
    assert server.ask("DELETE", f"/api/jobs/{first}")[0] == 200
    assert server.wait_job(first)["state"] == "cancelled"
    reported = [e[2] for e in server.events(first) if e[0] == "progress"]
    assert any(line["phase"] == "iterate" and line["iteration"] > 0 for line in reported), reported
    assert server.wait_job(second)["state"] == "done"
    order = [job["id"] for job in server.get("/api/jobs")["jobs"]]
    assert order == sorted(order, key=int, reverse=True) and {first, second, third} < set(order)
    assert server.ask("DELETE", f"/api/jobs/{third}?forget=1")[0] == 200
    assert server.ask("GET", f"/api/jobs/{third}")[0] == 404
    server.wait_for(lambda: not os.path.exists(job_file(server, third)), "end of its folder")
    for path in ("999", "0", "x", "", "99999999999999999999", "1/nothing", "1/x/y", "-1"):
        assert server.ask("GET", f"/api/jobs/{path}")[0] == 404, path


def job_file(server, job, name=""):
    return os.path.join(server.folder, ".spry-serve", "jobs", str(job), name)


def lists_and_reports(server):
    lists = server.get("/api/lists")
    assert {"methods", "devices", "kinds", "upload_bytes", "version"} < set(lists) and "solve" in lists["kinds"]
    assert any(m["name"] == "cg" for m in lists["methods"])
    job = server.job(kind="doctor")
    record = server.wait_job(job)
    assert record["state"] == "done" and "findings" in record["result"], record


def lives(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as f:
            return f.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def pid_of(server, job):
    path = job_file(server, job, "pid")
    server.wait_for(lambda: os.path.exists(path) and os.path.getsize(path) > 0, "pid")
    with open(path, encoding="ascii") as f:
        return int(f.read())


def is_limited(server, pid):
    """What a job's process may, and that it has nothing of the server's."""
    with open(f"/proc/{pid}/limits", encoding="ascii") as f:
        limits = {line[:26].strip(): line[26:].split()[:2] for line in f}
    assert limits["Max core file size"] == ["0", "0"], limits
    assert limits["Max cpu time"] == ["1000", "1030"] and limits["Max file size"] == ["2000000", "2000000"], limits
    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
        assert int(f.read().rpartition(")")[2].split()[16]) == min(19, os.nice(0) + 7)
    held = [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")]
    assert not [name for name in held if "socket" in name or name.endswith(("/lock", "/here"))], held
    assert os.getsid(pid) == pid and os.readlink(f"/proc/{pid}/cwd") == os.path.realpath(server.folder)


def is_short_of_time():
    """A job that has taken its processor time stops, says so, and hands back its x."""
    with place() as folder:
        with_slow(folder)
        with Server(SPRY, folder, "--seconds", "1") as server:
            job = slow_job(server)
            record = server.wait_job(job)
            assert record["state"] == "done" and record["summary"]["reason"] == "interrupted", record
            assert "processor time" in record["message"] and "--seconds" in record["message"], record
            assert record["has"]["x"] and server.ask("GET", f"/api/jobs/{job}/x")[0] == 200, record


def with_one_server():
    with place() as folder:
        with_slow(folder)
        limits = ("--waiting", "2", "--seconds", "1000", "--file-bytes", "2000000", "--nice", "7")
        with Server(SPRY, folder, *limits) as server:
            job = solves(server)
            commands_are_seen(server)
            methods_of_ones_own(server)
            events_and_comparison(server, job)
            cancel_and_queue(server)
            lists_and_reports(server)
            before = server.get("/api/jobs")["jobs"]
            running = slow_job(server)
            server.wait_job(running, "running")
            pid = pid_of(server, running)
            server.wait_for(lambda: os.readlink(f"/proc/{pid}/exe").endswith("/spry"), "process")
            is_limited(server, pid)
            waiting = server.job()
            assert server.stop() == [], server.complaints
            assert not lives(pid)
        # the next one knows them, and goes on with what waited
        with Server(SPRY, folder) as server:
            assert [j for j in server.get("/api/jobs")["jobs"] if int(j["id"]) < int(running)] == before
            record = server.get(f"/api/jobs/{running}")
            assert record["state"] == "cancelled" and "stopped" in record["message"], record
            assert server.wait_job(waiting)["state"] == "done"
            assert server.events(job)[-1][0] == "end"


def progress(iteration):
    return json.dumps({"phase": "iterate", "iteration": iteration, "residual": 0.5**iteration}) + "\n"


def replays():
    """Lines of progress of a job of an earlier run; a record that is broken is passed over."""
    with place() as folder:
        jobs = os.path.join(folder, "here", ".spry-serve", "jobs")
        for job, record in ((7, {"id": "7", "state": "done", "kind": "solve", "file": POISSON, "created": 5}), (8, {}),
                            (9, {"id": "9", "state": "running", "kind": "solve", "file": POISSON})):
            os.makedirs(os.path.join(jobs, str(job)))
            with open(os.path.join(jobs, str(job), "job.json"), "w", encoding="ascii") as f:
                json.dump(record, f)
            with open(os.path.join(jobs, str(job), "log"), "w", encoding="ascii") as f:
                f.write("spry: a remark\n{no json\n" + "".join(progress(k) for k in range(1000)) + '{"other": 1}\nend')
        with Server(SPRY, folder) as server:
            server.wait_for(lambda: server.complaints, "complaint")
            assert len(server.complaints) == 1 and "jobs/8" in server.complaints[0], server.complaints
            record = server.get("/api/jobs/9")  # its process is gone, and there is no result
            assert record["state"] == "failed" and record["message"], record
            events = server.events(7)
            curve = [e for e in events if e[0] == "progress"]
            assert [e[2]["iteration"] for e in curve] == list(range(1000))
            assert [e[0] for e in events if e[0] != "progress"] == ["state", "end"]
            later = server.events(7, last=curve[500][1])
            assert [e[2]["iteration"] for e in later if e[0] == "progress"] == list(range(501, 1000))
            for last in ("x", "-5", "99999999999"):
                assert len(server.events(7, last=last)) == len(events), last
            # of a long log some, and the end of it
            with open(os.path.join(jobs, "7", "log"), "a", encoding="ascii") as f:
                f.write("\n" + "".join(progress(k) for k in range(1000, 100000)))
            shown = [e[2]["iteration"] for e in server.events(7) if e[0] == "progress"]
            assert shown == sorted(shown) and shown[-1] == 99999 and len(shown) < 100000
            assert server.job() == "10"
            server.stop()


def killed():
    """kill -9 of the server: its job goes on, and the next server finds it, running or ended."""
    with place() as folder:
        with_slow(folder)
        with Server(SPRY, folder) as server:
            job = slow_job(server)
            server.wait_job(job, "running")
            pid = pid_of(server, job)
            server.process.send_signal(signal.SIGKILL)
            server.process.wait()
        assert lives(pid)
        with Server(SPRY, folder) as server:
            assert server.get(f"/api/jobs/{job}")["state"] == "running"
            assert server.ask("DELETE", f"/api/jobs/{job}")[0] == 200
            assert server.wait_job(job)["state"] == "cancelled"
            assert not lives(pid)
            # one that ends while no page is open
            job = server.job(file=SLOW, method="jacobi", precon="jacobi", max_iter=300)
            server.wait_job(job, "running")
            pid = pid_of(server, job)
            server.process.send_signal(signal.SIGKILL)
            server.process.wait()
        while lives(pid):
            time.sleep(0.05)
        with Server(SPRY, folder) as server:
            record = server.get(f"/api/jobs/{job}")
            assert record["state"] == "done" and record["summary"]["iterations"] == 300 and record["has"]["x"], record


def state_of(server):
    """What the server holds: descriptors, threads, children, kilobytes."""
    pid = server.process.pid
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        status = dict(line.split(":", 1) for line in f)
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        children = len(f.read().split())
    return len(os.listdir(f"/proc/{pid}/fd")), int(status["Threads"]), children, int(status["VmRSS"].split()[0])


def many():
    with place() as folder, Server(SPRY, folder, "--jobs", "2") as server:
        server.wait_for(lambda: state_of(server)[2] == 0, "end of its first questions")
        held = [state_of(server)]

        def is_as_before():  # connections are closed by the other thread, in a while
            return all(now <= before for now, before in zip(state_of(server)[:3], held[0]))

        for k in range(MANY):
            job = server.job(method="cg", precon="jacobi")
            assert server.events(job)[-1][2]["state"] == "done"
            if k % max(1, MANY // 10) == 1:
                server.wait_for(is_as_before, "return to what it held before")
                held.append(state_of(server))
        print(f"{MANY} jobs: descriptors, threads, children, kB:", held)
        # 200 leave 1.2 MB, what is remembered of them; a sanitizer keeps more than a few jobs do
        assert MANY < 100 or held[-1][3] - held[1][3] <= 16 * MANY, "memory grows with jobs"
        assert len(server.get("/api/jobs")["jobs"]) == MANY


run([many] if len(sys.argv) > 2 else [with_one_server, is_short_of_time, memory_is_the_servers, replays, killed, many])
