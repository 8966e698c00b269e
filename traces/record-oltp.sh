#!/usr/bin/env bash
# Record the block-level I/O of MariaDB's InnoDB engine under sysbench OLTP.
#
#   record-oltp.sh OUTDIR
#
# Writes, into OUTDIR:
#   oltp.strace.zst   the pread64/pwrite64 calls on InnoDB's files, as strace
#                     prints them, file names relative to the data directory
#   oltp.README.txt   program versions, parameters and final file sizes
#
# Run as root on Debian, with: mariadb-server sysbench strace zstd.
# OUTDIR has to be on a file system that supports O_DIRECT (not tmpfs) and
# needs about 1 GiB free while the script runs. The server uses a private data
# directory and socket, opens no network port, and is stopped and deleted at
# the end; an installed MariaDB server is not touched.
#
# What the trace is, and is not:
# - Requests are what InnoDB asks of its files, not what a disk sees below the
#   file system; with O_DIRECT the page cache does not absorb or reorder them.
# - strace stops a thread at the entry and the exit of every traced call, which
#   slows the server considerably. The time stamps are those of a traced
#   server: their order and their burstiness are real, their rate is too low
#   for the machine, and they must not be read as a measure of its speed.
# - Flushes (fsync, fdatasync) and file extension (fallocate) are not recorded.
# - Threads race, so two runs never give the same trace.
set -euo pipefail
# One locale, so that number formats and sort order do not depend on the user's.
export LC_ALL=C

if [[ $# -ne 1 ]]; then
    echo "usage: $0 OUTDIR" >&2
    exit 2
fi

# Parameters; each can be overridden from the environment.
TABLES=${TABLES:-4}
TABLE_SIZE=${TABLE_SIZE:-200000}   # rows in each table, about 0.25 KiB a row
THREADS=${THREADS:-8}
REQUESTS=${REQUESTS:-180000}       # stop once this many calls are recorded
MAX_SECONDS=${MAX_SECONDS:-900}    # ... and fail if they take longer than this
BUFFER_POOL=${BUFFER_POOL:-32M}    # far below the data size: reads reach files
LOG_SIZE=${LOG_SIZE:-32M}          # small: checkpoints keep page writes coming

# Statements of one transaction. Fewer selects and more updates than sysbench's
# default (10 point and 4 range selects, 1 + 1 updates), for a write-heavy mix
# that overwrites the data set several times within the recorded requests.
MIX=(
    --point-selects="${POINT_SELECTS:-4}"
    --simple-ranges=1 --sum-ranges=0 --order-ranges=0 --distinct-ranges=0
    --index-updates="${INDEX_UPDATES:-2}"
    --non-index-updates="${NON_INDEX_UPDATES:-4}"
    --delete-inserts=1
    # Skewed row choice, as in real use: some pages are hot, most are cold.
    --rand-type="${RAND_TYPE:-pareto}"
)

for tool in mariadb-install-db mariadbd mariadb mariadb-admin sysbench strace zstd; do
    command -v "$tool" >/dev/null || { echo "$0: $tool is not installed" >&2; exit 1; }
done

mkdir -p "$1"
outdir=$(cd "$1" && pwd -P)
# The data directory lies in OUTDIR, whose file system the user chose; the
# socket lies in a short path, as its length is limited to about 100 bytes.
work=$(mktemp -d "$outdir/work.XXXXXX")
sockdir=$(mktemp -d)
datadir=$work/data
socket=$sockdir/s
raw=$work/raw.strace

server_pid= sysbench_pid= strace_pid=

stop() { # stop PID: ask a child to end, and wait until it has
    [[ -n $1 ]] || return 0
    kill -TERM "$1" 2>/dev/null || true
    wait "$1" 2>/dev/null || true
}

cleanup() {
    local status=$?
    trap - EXIT
    # strace first: a server that is still traced takes long to shut down.
    stop "$strace_pid"
    stop "$sysbench_pid"
    stop "$server_pid"
    if [[ $status -ne 0 ]]; then
        echo "$0: failed; the last lines of the logs:" >&2
        tail -n 20 "$work"/*.log >&2 || true
    fi
    rm -rf "$work" "$sockdir"
    exit "$status"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

innodb=(
    # Native AIO would submit through io_submit or io_uring, where strace shows
    # no single requests; InnoDB's own threads use pread64 and pwrite64.
    --innodb-use-native-aio=0
    --innodb-flush-method=O_DIRECT
    --innodb-buffer-pool-size="$BUFFER_POOL"
    --innodb-log-file-size="$LOG_SIZE"
    # All tables in ibdata1: one file with tables, indexes, undo and the
    # doublewrite buffer, so that the files lay out on a device in one way only.
    --innodb-file-per-table=0
    --innodb-doublewrite=1
    --innodb-flush-log-at-trx-commit=1
    # The second start has to be cold, not preloaded from a list of pages.
    --innodb-buffer-pool-dump-at-shutdown=0
    --innodb-buffer-pool-load-at-startup=0
)

start_server() {
    # --no-defaults: the machine's configuration must not change the trace.
    mariadbd --no-defaults --user=root --datadir="$datadir" --socket="$socket" \
        --pid-file="$work/pid" --tmpdir="$sockdir" \
        --skip-networking --skip-log-bin "${innodb[@]}" >>"$work/server.log" 2>&1 &
    server_pid=$!
    for ((i = 0; i < 600; i++)); do
        if mariadb-admin --no-defaults --socket="$socket" --user=root ping \
            >/dev/null 2>&1; then
            return
        fi
        kill -0 "$server_pid" 2>/dev/null || break
        sleep 0.1
    done
    echo "$0: the server did not start" >&2
    exit 1
}

oltp() {
    exec sysbench oltp_read_write --db-driver=mysql --mysql-socket="$socket" \
        --mysql-user=root --mysql-db=sbtest --tables="$TABLES" \
        --table-size="$TABLE_SIZE" "${MIX[@]}" "$@"
}

echo "initialising the data directory" >&2
mariadb-install-db --no-defaults --user=root --datadir="$datadir" --skip-test-db \
    --auth-root-authentication-method=normal --innodb-file-per-table=0 \
    --innodb-log-file-size="$LOG_SIZE" >"$work/install.log" 2>&1

echo "loading $TABLES tables of $TABLE_SIZE rows" >&2
start_server
mariadb --no-defaults --socket="$socket" --user=root -e 'CREATE DATABASE sbtest'
(oltp prepare) >"$work/prepare.log" 2>&1
# The size of the data set: pages in use by rows and indexes.
data_bytes=$(mariadb --no-defaults --socket="$socket" --user=root -N -e "
    ANALYZE TABLE $(for ((t = 1; t <= TABLES; t++)); do printf 'sbtest.sbtest%d%s' "$t" \
        "$( ((t < TABLES)) && echo , || true)"; done);
    SELECT CAST(SUM(data_length + index_length) AS UNSIGNED)
    FROM information_schema.tables WHERE table_schema = 'sbtest'" | tail -n 1)

# A restart flushes what the load left dirty and empties the buffer pool, so
# that the trace holds the OLTP run and nothing of the load.
stop "$server_pid"
start_server

echo "recording $REQUESTS calls" >&2
# -s 0 prints no data. -y names the file behind each descriptor. -f with -p
# attaches to all threads the server has and will have.
strace -f -ttt -y -s 0 -e trace=pread64,pwrite64 -o "$raw" -p "$server_pid" \
    2>"$work/strace.log" &
strace_pid=$!
for ((i = 0; i < 100; i++)); do
    grep -q attached "$work/strace.log" && break
    sleep 0.1
done
grep -q attached "$work/strace.log" || { echo "$0: strace did not attach" >&2; exit 1; }

(oltp --threads="$THREADS" --time=$((MAX_SECONDS + 60)) run) >"$work/run.log" 2>&1 &
sysbench_pid=$!
started=$SECONDS
while :; do
    sleep 1
    # A call that strace splits in two lines counts once: its second line reads
    # "<... pread64 resumed>", with no parenthesis after the name.
    calls=$(grep -cE ' p(read|write)64\(' "$raw" || true)
    ((calls < REQUESTS)) || break
    kill -0 "$sysbench_pid" 2>/dev/null || { echo "$0: sysbench ended early" >&2; exit 1; }
    ((SECONDS - started < MAX_SECONDS)) || { echo "$0: only $calls calls" >&2; exit 1; }
done
# Detach before the load stops, so that the trace ends under load. TERM and not
# INT: bash starts background jobs with INT ignored.
stop "$strace_pid"; strace_pid=
stop "$sysbench_pid"; sysbench_pid=
# Listed while the server runs: it deletes its temporary table space on exit.
(cd "$datadir" && find . \( -name 'ibdata*' -o -name 'ib_logfile*' -o -name 'ibtmp*' \
    -o -name 'undo[0-9]*' -o -name '*.ibd' \) -printf '%P\t%s\n' | sort) >"$work/sizes"
stop "$server_pid"; server_pid=

# Keep InnoDB's files only (Aria's and others go), and name them relative to
# the data directory. A call during which another thread calls comes in two
# lines, of which the second names no file: it is kept if the first one was.
# A call still open when strace detached has no second line; readers drop it.
awk -v prefix="<$datadir/" '
    $3 == "<..." { if ($1 in open) print; delete open[$1]; next }
    $3 !~ /^p(read|write)64\(/ { next }
    /<detached \.\.\.>$/ { next }
    {
        # strace resolves "./ibdata1" to the absolute path, so the prefix fits.
        at = index($0, prefix)
        if (!at) next
        rest = substr($0, at + length(prefix))
        name = substr(rest, 1, index(rest, ">") - 1)
        if (name !~ /^(ibdata[0-9]+|ib_logfile[0-9]+|ibtmp[0-9]+|undo[0-9]+)$/ &&
            name !~ /\.ibd$/) next
        if (/<unfinished \.\.\.>$/) open[$1] = 1
        print substr($0, 1, at) rest
    }
' "$raw" >"$work/oltp.strace"

# No path of this machine may remain: nothing after "<" begins with a slash.
if grep -q '</' "$work/oltp.strace"; then
    echo "$0: an absolute path is left in the trace" >&2
    exit 1
fi
zstd -q -19 -f "$work/oltp.strace" -o "$outdir/oltp.strace.zst"

{
    echo "MariaDB InnoDB under sysbench oltp_read_write, recorded with strace"
    echo
    mariadbd --no-defaults --version | sed 's|^.*/||'
    sysbench --version
    strace --version | head -n 1
    echo
    echo "server:   ${innodb[*]} --skip-log-bin"
    echo "load:     --tables=$TABLES --table-size=$TABLE_SIZE"
    echo "run:      --threads=$THREADS ${MIX[*]}"
    echo "strace:   -f -ttt -y -s 0 -e trace=pread64,pwrite64"
    echo "stopped:  after $REQUESTS calls"
    echo "data set: $data_bytes bytes of rows and indexes after the load"
    echo
    echo "file sizes in bytes at the end:"
    cat "$work/sizes"
    echo
    echo "Time stamps are those of a server slowed by strace."
} >"$outdir/oltp.README.txt"
echo "wrote oltp.strace.zst and oltp.README.txt" >&2
