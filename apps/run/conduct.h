/*
 * conduct: an experiment carried out from beginning to end, as a verb does it.
 *
 * Takes the lock, the signals and the ground, plans on this host, runs the campaign into a result
 * directory, has the analysis make its report, and gives everything back. Says what it does on
 * stdout and what went wrong on stderr, in the name of the verb.
 *
 * Plane: setup and report.
 */
#ifndef WEIR_RUN_CONDUCT_H
#define WEIR_RUN_CONDUCT_H

#include "apps/run/campaign.h"

struct conduct {
	const char *program; /* "weir run", for messages */
	const char *output;  /* parent of the result directory; NULL: the default */
	const char *lock;    /* the file that keeps two runs apart */
	bool dry_run;	     /* print the plan, run nothing */
	bool no_report;
	/*
	 * What a verb that judges makes of a campaign that is whole: it may print, and returns an
	 * exit status. NULL: all is well if all samples are valid.
	 */
	int (*judge)(const struct campaign *campaign, void *user);
	void (*add_files)(struct campaign *campaign, void *user); /* as a campaign's */
	void *user;						  /* of both */
};

/*
 * The exit status: EXIT_INVALID if a sample is invalid, else what `judge` said; EXIT_USAGE if
 * nothing or not all could be run; 128 + N when interrupted by signal N.
 */
int conduct(const struct conduct *conduct, const struct experiment *experiment);

/* Says on stderr that nothing was run and why, each problem on a line; EXIT_USAGE. */
int conduct_refuse(const char *program, const struct problems *problems);

#endif
