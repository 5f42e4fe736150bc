#!/bin/sh
# Runs one file of command-line tests: run.sh SPRY FILE.test
#
#   # a comment          $ a command, run by sh in an empty folder that the file's commands share
#   + more of it         ? the exit status to expect (0 unless said; "0|3" allows either)
#   > a line of the standard output, >~ an expression that one of its lines has, >! one that none has
#   ! a line of the standard error, !~ and !! likewise
#   % TOOL               skips the next command where TOOL is not installed; % TOOL ARGUMENTS where it fails
#
# Lines with > or ! and a space are the whole of that stream. The standard error must be empty unless
# something is said about it, the standard output need not.
set -u
spry=$1
file=$2
work=$(mktemp -d "${TMPDIR:-/tmp}/spry-cli.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
mkdir "$work/bin" "$work/here" "$work/test"
SPRY_CACHE=$work/cache
SPRY_DOCS=$(cd "$(dirname "$file")/../../docs" && pwd) # whose samples are compared with what the program prints
export SPRY_CACHE SPRY_DOCS
ln -s "$spry" "$work/bin/spry"
PATH=$work/bin:$PATH
# A sanitizer's report must not pass for exit status 1. The search for leaks takes seconds a process on some
# machines: it is off unless the caller asks for it.
ASAN_OPTIONS=exitcode=99:use_sigaltstack=0:detect_leaks=0:${ASAN_OPTIONS:-}
UBSAN_OPTIONS=exitcode=99:${UBSAN_OPTIONS:-}
LSAN_OPTIONS=exitcode=99:${LSAN_OPTIONS:-}
TSAN_OPTIONS=exitcode=99:${TSAN_OPTIONS:-}
SPRY_CHECK_MEMORY=1 # memory of the library that is not freed is exit status 99, too
export SPRY_CHECK_MEMORY PATH ASAN_OPTIONS UBSAN_OPTIONS LSAN_OPTIONS TSAN_OPTIONS
t=$work/test
newline='
'
commands=0
failures=0

begin() {
    command=
    status=0
    line_of=0
    skip=
    rm -f "$t"/*
}

complain() {
    [ -e "$t/bad" ] || printf '%s:%s: %s\n' "$file" "$line_of" "$command"
    : >"$t/bad"
    printf '    %s\n' "$1"
}

# check_stream NAME: compares the stream with what was written about it.
check_stream() {
    if [ -e "$t/$1.is" ] && ! cmp -s "$t/$1.is" "$t/$1"; then
        complain "$1 is not as expected:"
        diff "$t/$1.is" "$t/$1"
    fi
    if [ -e "$t/$1.has" ]; then
        while IFS= read -r pattern; do
            grep -Eq -e "$pattern" "$t/$1" || complain "$1 has no line like: $pattern"
        done <"$t/$1.has"
    fi
    if [ -e "$t/$1.lacks" ]; then
        while IFS= read -r pattern; do
            grep -Eq -e "$pattern" "$t/$1" && complain "$1 has a line like: $pattern"
        done <"$t/$1.lacks"
    fi
}

finish() {
    [ -n "$command" ] && [ -z "$skip" ] || return 0
    commands=$((commands + 1))
    (cd "$work/here" && exec timeout 300 sh -c "$command") >"$t/stdout" 2>"$t/stderr" </dev/null
    got=$?
    case "|$status|" in
    *"|$got|"*) ;;
    *) complain "exit status $got instead of $status" ;;
    esac
    [ -e "$t/stderr.is" ] || [ -e "$t/stderr.has" ] || [ -e "$t/stderr.lacks" ] || : >"$t/stderr.is"
    check_stream stdout
    check_stream stderr
    if [ -e "$t/bad" ]; then
        failures=$((failures + 1))
        sed 's/^/    stdout: /' "$t/stdout" | head -n 20
        sed 's/^/    stderr: /' "$t/stderr" | head -n 20
    fi
}

number=0
begin
while IFS= read -r line || [ -n "$line" ]; do
    number=$((number + 1))
    rest=${line#* }
    case $line in
    '% '*)
        finish
        begin
        command -v "${rest%% *}" >/dev/null 2>&1 || skip=yes
        case $rest in
        *' '*) sh -c "$rest" >/dev/null 2>&1 </dev/null || skip=yes ;;
        esac
        ;;
    '$ '*)
        if [ -n "$command" ]; then
            finish
            begin
        fi
        command=$rest
        line_of=$number
        ;;
    '+ '*) command=$command$newline$rest ;;
    '? '*) status=$rest ;;
    '> '* | '>') printf '%s\n' "${rest#>}" >>"$t/stdout.is" ;;
    '>~ '*) printf '%s\n' "$rest" >>"$t/stdout.has" ;;
    '>! '*) printf '%s\n' "$rest" >>"$t/stdout.lacks" ;;
    '! '*) printf '%s\n' "$rest" >>"$t/stderr.is" ;;
    '!~ '*) printf '%s\n' "$rest" >>"$t/stderr.has" ;;
    '!! '*) printf '%s\n' "$rest" >>"$t/stderr.lacks" ;;
    '#'* | '') ;;
    *)
        echo "$file:$number: what is this line? $line"
        failures=$((failures + 1))
        ;;
    esac
done <"$file"
finish
echo "$file: $commands commands, $failures failed"
[ "$failures" -eq 0 ]
