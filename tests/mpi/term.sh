# shellcheck shell=sh
# To be read by shell scripts: term_after FILE JOB sends SIGTERM to the process whose number is in the file pid once FILE has something in it
# (thirty seconds at most), and waits for JOB, which is to end with status 1.
term_after() {
    tries=0
    while [ ! -s "$1" ] && [ $tries -lt 300 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
    kill -TERM "$(cat pid)"
    status=0
    wait "$2" || status=$?
    [ $status = 1 ]
}
