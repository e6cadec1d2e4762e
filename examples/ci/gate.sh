#!/bin/sh
# A performance gate for a repository of HIP kernels, in plain shell for any CI:
#
#   gate.sh record FOLDER           run the benchmark several times under rocprofv3 (needs a GPU)
#   gate.sh check [BASELINE NEW]    budgets of the kernels; with two recordings, the times too
#
# Run it at the root of the repository. Budgets stand in perf/budget.txt, one kernel file per line;
# settings in the environment or in perf/gate.conf (README.md beside this file). `check` prints a
# summary in Markdown. Exit code 0: nothing failed; 1: a budget or a time failed; else that of
# rocm-perf, which could not tell.
# shellcheck disable=SC2016  # backquotes are Markdown's
set -u

# A name without a slash would be looked for on the PATH.
: "${PERF_FOLDER:=./perf}"
conf=$PERF_FOLDER/gate.conf
# shellcheck disable=SC1090  # the repository's own settings
if [ -f "$conf" ]; then . "$conf"; fi
: "${ROCM_PERF:=rocm-perf}" "${RUNS:=7}" "${THRESHOLD:=3%}" "${BENCHMARK:=}" "${BASE:=}"

usage() {
  echo "usage: gate.sh record FOLDER | gate.sh check [BASELINE NEW]" >&2
  exit 2
}

# The exit code of the whole: a call that could not tell weighs more than one that said no.
result=0
worse() {
  if [ "$1" -gt "$result" ]; then result=$1; fi
}

# word CODE GOOD: what an exit code means; an undecided comparison is no pass, so GOOD says it.
word() {
  case $1 in
    0) echo "$2" ;;
    1) echo "**FAILED**" ;;
    *) echo "**no answer** (exit code $1)" ;;
  esac
}

record() {
  if [ -z "$BENCHMARK" ]; then
    echo "gate.sh: BENCHMARK is not set: the command to record, in $conf" >&2
    exit 2
  fi
  if [ -e "$1" ]; then
    echo "gate.sh: $1 is there already" >&2
    exit 2
  fi
  # Quoted as one word: rocm-perf splits it as a shell would. stdout is tables.
  "$ROCM_PERF" profile --runs "$RUNS" --quiet --out "$work" "$BENCHMARK" >&2 || exit $?
  # The databases of all runs are what `compare` needs, and they stay where the command ran. In a
  # folder of their own they can go to another machine or into a cache.
  runs=$(grep -o '"/[^"]*/run_1/' "$work/profile.json" | head -n 1)
  runs=${runs#?}
  runs=${runs%/run_1/}
  if [ -z "$runs" ]; then
    echo "gate.sh: profile.json names no database" >&2
    exit 3
  fi
  mkdir -p "$1" && mv "$runs"/run_* "$1"/ && echo "$1"
}

# The files of another commit, in a folder, to compare with.
files_of() {
  mkdir -p "$2" && git archive --format=tar --output="$2.tar" "$1" && tar -xf "$2.tar" -C "$2"
}

# check_budget FILE OPTIONS...: a row of the table; what failed goes to $work/failed.
check_budget() {
  file=$1
  shift
  said="$*"
  if [ -n "$BASE" ] && [ -e "$work/base/$file" ]; then
    set -- --against "$work/base/$file" "$@"
  fi
  "$ROCM_PERF" inspect "$file" "$@" >"$work/out" 2>"$work/err"
  code=$?
  worse "$code"
  printf '| `%s` | `%s` | %s |\n' "$file" "$said" "$(word "$code" "within budget")" >>"$work/table"
  if [ "$code" -ne 0 ]; then
    {
      printf '\n`%s`\n\n```text\n' "$file"
      if [ "$code" -eq 1 ]; then sed -n '/^Gates/,/^$/p' "$work/out"; else cat "$work/err"; fi
      printf '```\n'
    } >>"$work/failed"
  fi
}

check_budgets() {
  if [ ! -f "$PERF_FOLDER/budget.txt" ]; then
    echo "gate.sh: $PERF_FOLDER/budget.txt is missing: a kernel file and its limits per line" >&2
    exit 2
  fi
  if [ -n "$BASE" ]; then files_of "$BASE" "$work/base" || exit 2; fi
  while read -r file options; do
    case $file in '' | '#'*) continue ;; esac
    # shellcheck disable=SC2086  # options are words
    check_budget "$file" $options </dev/null
  done <"$PERF_FOLDER/budget.txt"
  if [ ! -f "$work/table" ]; then
    echo "gate.sh: $PERF_FOLDER/budget.txt names no kernel file" >&2
    exit 2
  fi
}

check_times() {
  "$ROCM_PERF" compare "$1" "$2" --threshold "$THRESHOLD" --junit "$work/times.xml" \
    --markdown "$work/times.md" >"$work/out" 2>"$work/err"
  times=$?
  worse "$times"
  if [ "$times" -gt 1 ]; then
    printf '```text\n%s\n```\n' "$(cat "$work/err")" >"$work/times.md"
  elif [ -n "${JUNIT:-}" ]; then
    cp "$work/times.xml" "$JUNIT"
  fi
}

summary() {
  printf '## Performance: %s\n\n' "$(word "$result" "nothing failed")"
  printf '| kernels | budget | result |\n|---|---|---|\n'
  cat "$work/table"
  if [ -f "$work/failed" ]; then cat "$work/failed"; fi
  if [ -n "$times" ]; then
    printf '\nTimes, this change (B) against the baseline (A): %s\n\n' \
      "$(word "$times" "no regression shown")"
    cat "$work/times.md"
  fi
}

check() {
  times=
  check_budgets
  if [ $# -eq 2 ]; then check_times "$1" "$2"; fi
  summary >"$work/summary.md"
  cat "$work/summary.md"
  if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then cat "$work/summary.md" >>"$GITHUB_STEP_SUMMARY"; fi
  exit "$result"
}

work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
case ${1:-}:$# in
  record:2) record "$2" ;;
  check:1) check ;;
  check:3) check "$2" "$3" ;;
  *) usage ;;
esac
