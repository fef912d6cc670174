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

#include "apps/common/flags.h"
#include "apps/run/campaign.h"

/* What becomes of a run that finds others at work on the host. */
enum conduct_when_busy {
	CONDUCT_STAMP, /* it is carried out, and says so */
	CONDUCT_REFUSE,
};

/* Their names, ended by NULL. */
extern const char *const conduct_when_busy_names[];

struct conduct {
	const char *program; /* "weir run", for messages */
	const char *output;  /* parent of the result directory; NULL: the default */
	const char *builds;  /* where variants' programs are kept; NULL: the default */
	const char *lock;    /* the file that keeps two runs apart */
	uint32_t port;	     /* of samples on the loopback; 0: one that is free */
	unsigned when_busy;  /* enum conduct_when_busy */
	bool dry_run;	     /* print the plan, run nothing */
	bool no_report;
	/* What is gone on with or repeated, and then compared with today; NULL: neither. */
	struct origin *origin;
	/*
	 * What a verb that judges makes of a campaign that is whole, before the report is made: it
	 * may print, and returns an exit status; or -1 if it came to no verdict, and then has said
	 * why. NULL: the report judges.
	 */
	int (*judge)(const struct campaign *campaign, void *user);
	void (*add_files)(struct campaign *campaign, void *user); /* as a campaign's */
	void *user;						  /* of both */
};

/* The rows of every verb that conducts; `conduct` is a struct conduct *. */
#define CONDUCT_FLAGS(conduct)                                                                 \
	{.name = "output",                                                                     \
	 .kind = &flag_text,                                                                   \
	 .value = &(conduct)->output,                                                          \
	 .about = "where the result directory is made (default: results/ in the repository)"}, \
		{.name = "builds",                                                             \
		 .kind = &flag_text,                                                           \
		 .value = &(conduct)->builds,                                                  \
		 .about = "where the programs of variants are kept (default: results/.builds " \
			  "in the repository)"},                                               \
		{.name = "dry-run",                                                            \
		 .kind = &flag_switch,                                                         \
		 .value = &(conduct)->dry_run,                                                 \
		 .about = "print the plan, run nothing"},                                      \
		{.name = "no-report",                                                          \
		 .kind = &flag_switch,                                                         \
		 .value = &(conduct)->no_report,                                               \
		 .about = "do not have the analysis make a report"},                           \
		{.name = "port",                                                               \
		 .kind = &flag_count,                                                          \
		 .value = &(conduct)->port,                                                    \
		 .initial = "0",                                                               \
		 .max = UINT16_MAX,                                                            \
		 .about = "TCP port of samples on the loopback; 0: one that nobody has"},      \
		{.name = "when-busy",                                                          \
		 .kind = &flag_choice,                                                         \
		 .value = &(conduct)->when_busy,                                               \
		 .initial = "stamp",                                                           \
		 .choices = conduct_when_busy_names,                                           \
		 .about = "if others work on this host as the run begins: say so, or refuse"}, \
	{                                                                                      \
		.name = "lock", .kind = &flag_text, .value = &(conduct)->lock,                 \
		.about = "the file that keeps two runs apart"                                  \
	}

/* Completes CONDUCT_FLAGS by the lock's default, which is known at run time only. */
void conduct_default_lock(const struct flags *flags);

/*
 * The exit status: EXIT_INVALID if a sample is invalid, else what `judge` said, or without one the
 * report; EXIT_USAGE if nothing or not all could be run, or no report could be made; 128 + N when
 * interrupted by signal N.
 */
int conduct(const struct conduct *conduct, const struct experiment *experiment);

/* Where results go if no flag says otherwise. Returns `path`. */
const char *conduct_default_output(char path[PATH_MAX + 16]);

/* Says on stderr that nothing was run and why, each problem on a line; EXIT_USAGE. */
int conduct_refuse(const char *program, const struct problems *problems);

#endif
