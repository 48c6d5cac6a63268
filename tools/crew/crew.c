// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The ranks of one row as the parent sees them.
 *
 * The parent sleeps in sigtimedwait(): a child that ends, a signal that tells
 * us to stop and the next look at the progress all wake it there, so there is
 * no handler and nothing to race with. A rank that dies leaves the others
 * waiting for it, as barriers go; hence the first that ends early, or nobody
 * getting on for options->timeout seconds, ends all. Should the parent be
 * killed, the kernel kills the ranks.
 *
 * With other hosts it sleeps at the bridge to them instead, and looks for signals
 * in between. Ranks there are known by what is told of them.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "crew.h"
#include "diagnose.h"
#include "place.h"
#include "progress.h"

#define LOOK_INTERVAL_MS	10
#define KILL_TIMEOUT_MS		10000
#define BLAME_TIMEOUT_MS	1000

static sigset_t watched, at_start;

void crew_block_signals(void)
{
	signal(SIGCHLD, SIG_DFL);	/* ignored, children could not be waited for */
	sigemptyset(&watched);
	sigaddset(&watched, SIGCHLD);
	sigaddset(&watched, SIGHUP);
	sigaddset(&watched, SIGINT);
	sigaddset(&watched, SIGTERM);
	sigprocmask(SIG_BLOCK, &watched, &at_start);
}

void crew_unblock_signals(void)
{
	sigprocmask(SIG_SETMASK, &at_start, NULL);
}

/* The signals that the parent takes its own way are the children's again. */
static _Noreturn void become_rank(const struct crew *crew, uint32_t algorithm, uint32_t rank,
				  pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigprocmask(SIG_SETMASK, &at_start, NULL);
	if (getppid() != parent)
		_exit(EXIT_RANK_FAILED);
	rank_main(crew->options, crew->shared, algorithm, rank);
}

int crew_start(struct crew *crew, const struct options *options, struct shared *shared,
	       uint32_t algorithm, uint32_t first, uint32_t nr)
{
	pid_t parent = getpid(), pid;
	uint32_t rank;
	int rc;

	crew->options = options;
	crew->shared = shared;
	crew->nr = shared->nr_ranks;
	crew->nr_steps = rank_steps(options);
	crew->first = first;
	crew->nr_local = nr;
	fflush(NULL);
	for (rank = first; rank < first + nr; rank++) {
		pid = fork();
		if (!pid)
			become_rank(crew, algorithm, rank, parent);
		if (pid < 0) {
			rc = -errno;
			crew_kill(crew);
			return rc;
		}
		crew->pids[rank] = pid;
		crew->nr_left++;
	}
	return 0;
}

bool crew_start_all(struct crew *crew, const struct options *options, struct shared *shared,
		    uint32_t algorithm)
{
	struct hosts *hosts = &crew->hosts;
	int rc;

	rc = hosts_prepare(hosts, options, shared);
	if (!rc)
		rc = crew_start(crew, options, shared, algorithm, hosts->first, hosts->nr_local);
	if (rc) {
		complain("can't start %" PRIu32 " processes: %s", shared->nr_ranks, strerror(-rc));
		return false;
	}
	if (hosts_start(hosts, algorithm))
		return false;
	crew->nr_left = crew->nr;
	return true;
}

/* "", or where the rank is */
static const char *of_host(const struct crew *crew, uint32_t rank)
{
	static char text[80];
	const char *name = place_name(crew->options, crew->nr, rank);

	snprintf(text, sizeof(text), name ? " on %s" : "", name);
	return text;
}

static bool is_child(const struct crew *crew, uint32_t rank)
{
	return rank - crew->first < crew->nr_local;
}

static void say_failed(const struct crew *crew, uint32_t rank)
{
	const struct rank_state *state = &crew->shared->rank[rank];

	complain("rank %" PRIu32 "%s: %s: %s", rank, of_host(crew, rank), state->message,
		 strerror(-state->error));
	if (state->open_failed && is_child(crew, rank))
		diagnose_open(crew->options->device, state->error);
}

/* A rank has ended early. If it wasn't killed, the first to complain knows why. */
static void say_ended(const struct crew *crew, uint32_t rank, int status)
{
	uint32_t first = crew->shared->first_failed;

	if (WIFSIGNALED(status))
		complain("rank %" PRIu32 "%s was killed: %s", rank, of_host(crew, rank),
			 strsignal(WTERMSIG(status)));
	else if (first != NO_RANK)
		say_failed(crew, first);
	else
		complain("rank %" PRIu32 "%s ended early, with status %d", rank,
			 of_host(crew, rank), WEXITSTATUS(status));
	hosts_say_silent(&crew->hosts);
}

struct early_end {
	uint32_t rank;		/* NO_RANK: there is none */
	int status;
};

/* If one was killed, that is the reason why others have ended, too. */
static void take_leave_of(struct crew *crew, uint32_t rank, int status, bool may_end,
			  struct early_end *early)
{
	crew->nr_left--;
	if (may_end && !status)
		return;
	if (early->rank == NO_RANK || WIFSIGNALED(status))
		*early = (struct early_end) { .rank = rank, .status = status };
}

/* Takes leave of those that have ended, and notes one that should not have. */
static void take_leave(struct crew *crew, bool may_end, struct early_end *early)
{
	uint32_t rank;
	int status;

	for (rank = crew->first; rank < crew->first + crew->nr_local; rank++) {
		if (!crew->pids[rank] || waitpid(crew->pids[rank], &status, WNOHANG) <= 0)
			continue;
		crew->pids[rank] = 0;
		take_leave_of(crew, rank, status, may_end, early);
	}
	while (hosts_next_end(&crew->hosts, &rank, &status))
		take_leave_of(crew, rank, status, may_end, early);
}

/* A moment; false if a host was lost in it. */
static bool rest(struct crew *crew)
{
	const struct timespec pause = { .tv_nsec = LOOK_INTERVAL_MS * 1000000 };

	if (crew->hosts.nr)
		return hosts_serve(&crew->hosts, LOOK_INTERVAL_MS);
	nanosleep(&pause, NULL);
	return true;
}

/*
 * False if a rank has ended that should not have. Its peers hear of it when its
 * files are closed, and may have ended in turn before it is gone altogether:
 * look if there is one of that kind before blaming the messenger.
 */
static bool reap(struct crew *crew, bool may_end)
{
	struct early_end early = { .rank = NO_RANK };
	uint64_t deadline;

	take_leave(crew, may_end, &early);
	if (early.rank == NO_RANK)
		return true;
	deadline = now_ms() + BLAME_TIMEOUT_MS;
	while (crew->nr_left && !WIFSIGNALED(early.status) && now_ms() < deadline) {
		if (!rest(crew))
			return false;
		take_leave(crew, may_end, &early);
	}
	say_ended(crew, early.rank, early.status);
	return false;
}

static uint64_t steps_of(const struct crew *crew, uint32_t rank)
{
	return atomic_load_explicit(&crew->shared->rank[rank].steps, memory_order_relaxed);
}

static enum phase phase_of(const struct crew *crew, uint32_t rank)
{
	return atomic_load_explicit(&crew->shared->rank[rank].phase, memory_order_acquire);
}

/* Grows whenever any rank gets on. */
static uint64_t sum_of_work(const struct crew *crew)
{
	uint64_t sum = crew->nr - crew->nr_left;
	uint32_t rank;

	for (rank = 0; rank < crew->nr; rank++)
		sum += steps_of(crew, rank) + phase_of(crew, rank);
	return sum;
}

static uint32_t hindmost(const struct crew *crew)
{
	uint32_t rank, last = 0;

	for (rank = 1; rank < crew->nr; rank++) {
		if (steps_of(crew, rank) < steps_of(crew, last))
			last = rank;
	}
	return last;
}

static void say_stuck(const struct crew *crew, const char *what)
{
	uint32_t last = hindmost(crew), rank, nr = 0;

	for (rank = 0; rank < crew->nr; rank++)
		nr += steps_of(crew, rank) == steps_of(crew, last);
	complain("stuck while %s: nothing has moved for %" PRIu32 " s", what,
		 crew->options->timeout);
	complain("%" PRIu32 " ranks, such as %" PRIu32 ", have %" PRIu64 "/%" PRIu64 " %s",
		 nr, last, steps_of(crew, last), crew->nr_steps, tool_unit);
}

/* Until something happens, though not for long; false if that ends the row. */
static bool look_out(struct crew *crew, bool may_end)
{
	const struct timespec now = {}, soon = { .tv_nsec = LOOK_INTERVAL_MS * 1000000 };
	bool others = crew->hosts.nr;
	int signal;

	if (others && !hosts_serve(&crew->hosts, LOOK_INTERVAL_MS))
		return false;
	signal = sigtimedwait(&watched, NULL, others ? &now : &soon);
	if (signal == SIGCHLD || (signal <= 0 && others))
		return reap(crew, may_end);
	if (signal <= 0)
		return true;
	crew->signal = signal;
	complain("stopped: %s", strsignal(signal));
	return false;
}

static bool all_have_reached(const struct crew *crew, enum phase phase)
{
	uint32_t rank;

	for (rank = 0; rank < crew->nr; rank++) {
		if (phase_of(crew, rank) < phase)
			return false;
	}
	return true;
}

/* One look at the ranks; *last and *since are the watchdog's memory. */
static bool all_well(struct crew *crew, bool may_end, const char *what, uint64_t *last,
		     uint64_t *since)
{
	uint64_t work;

	if (!look_out(crew, may_end))
		return false;
	work = sum_of_work(crew);
	if (work != *last) {
		*last = work;
		*since = now_ms();
	}
	if (now_ms() - *since > crew->options->timeout * UINT64_C(1000)) {
		say_stuck(crew, what);
		return false;
	}
	return true;
}

bool crew_await(struct crew *crew, enum phase phase, const char *what)
{
	uint64_t last = UINT64_MAX, since = now_ms();

	while (!all_have_reached(crew, phase)) {
		if (!all_well(crew, false, what, &last, &since))
			return false;
		progress_show(what, steps_of(crew, hindmost(crew)),
			      phase > PHASE_CONNECTED ? crew->nr_steps : 0);
	}
	return true;
}

bool crew_await_exit(struct crew *crew, const char *what)
{
	uint64_t last = UINT64_MAX, since = now_ms();

	while (crew->nr_left) {
		if (!all_well(crew, true, what, &last, &since))
			return false;
		progress_show(what, steps_of(crew, hindmost(crew)), crew->nr_steps);
	}
	return true;
}

/* How many children are left. */
static uint32_t collect(struct crew *crew)
{
	uint32_t rank, nr = 0;

	for (rank = 0; rank < crew->nr; rank++) {
		if (crew->pids[rank] && waitpid(crew->pids[rank], NULL, WNOHANG))
			crew->pids[rank] = 0;
		nr += crew->pids[rank] != 0;
	}
	return nr;
}

/* They may have a last system call to return from, but should not be long. */
void crew_kill(struct crew *crew)
{
	const struct timespec pause = { .tv_nsec = LOOK_INTERVAL_MS * 1000000 };
	uint64_t deadline = now_ms() + KILL_TIMEOUT_MS;
	uint32_t rank;

	hosts_stop(&crew->hosts);
	for (rank = 0; rank < crew->nr; rank++) {
		if (crew->pids[rank])
			kill(crew->pids[rank], SIGKILL);
	}
	while (collect(crew)) {
		if (now_ms() > deadline) {
			complain("%" PRIu32 " ranks can't be killed: they hang in the kernel",
				 collect(crew));
			return;
		}
		nanosleep(&pause, NULL);
	}
}

void crew_open_gate(struct crew *crew, enum phase phase)
{
	hosts_put(&crew->hosts, RECORD_GATE, phase);
	gate_open(crew->shared, phase);
}

void crew_raise_go(struct crew *crew)
{
	hosts_put(&crew->hosts, RECORD_GO, 0);
	flag_raise(&crew->shared->go);
}

void crew_raise_stop(struct crew *crew)
{
	hosts_put(&crew->hosts, RECORD_STOP, 0);
	flag_raise(&crew->shared->stop);
}

void crew_pass_on_signal(const struct crew *crew)
{
	if (!crew->signal)
		return;
	signal(crew->signal, SIG_DFL);
	sigprocmask(SIG_SETMASK, &at_start, NULL);
	raise(crew->signal);
}
