/*
 * signals: which signals ask a program to end in good order.
 *
 * Plane: setup, main thread, before any other thread is made.
 */
#ifndef WEIR_APPS_SIGNALS_H
#define WEIR_APPS_SIGNALS_H

#include <signal.h>

/*
 * SIGINT, SIGTERM and SIGHUP, which a terminal sends that goes away; not SIGHUP where it is ignored
 * (nohup), for a blocked signal is delivered all the same.
 */
static inline void signals_of_ending(sigset_t *signals_out)
{
	struct sigaction hangup;

	sigemptyset(signals_out);
	sigaddset(signals_out, SIGINT);
	sigaddset(signals_out, SIGTERM);
	if (sigaction(SIGHUP, NULL, &hangup) < 0 || hangup.sa_handler != SIG_IGN)
		sigaddset(signals_out, SIGHUP);
}

#endif
