/*
 * remote: one host of an experiment, behind ssh: prepared, asked, and cleared.
 *
 * Opening it compares the machine, makes a folder there for this run alone, copies the programs
 * that the run checked into it, and starts the keeper (apps/agent): the process there that holds
 * the folder, answers, and removes the folder when the connection ends, however that comes about.
 *
 * A host that is lost can be opened again. Owned by the caller from init to close. Plane: setup.
 */
#ifndef WEIR_RUN_REMOTE_H
#define WEIR_RUN_REMOTE_H

#include "apps/common/cpus.h"
#include "apps/provenance/topology.h"
#include "apps/run/builds/program.h"
#include "apps/run/hosts/ssh.h"

#include <stdbool.h>

enum {
	REMOTE_NAME_BYTES = 128,
	REMOTE_FOLDER_BYTES = 192,
	REMOTE_PATH_BYTES = 256,
	REMOTE_CLOCK_ROUNDS = 16,
};

/* As the experiment describes it. All lent. */
struct remote_wish {
	struct ssh_target ssh;	 /* destination NULL: this host */
	const char *address;	 /* of the server: where it listens; else NULL */
	const char *weir;	 /* a weir that is there already; or NULL */
	const char *parent;	 /* where the run's folder is made */
	const char *cpus;	 /* as written; or NULL */
	struct cpus cpus_wanted; /* none: the run chooses */
	unsigned workers;	 /* of a client; 0: as many as the cell says */
};

struct remote {
	const struct remote_wish *wish;
	char name[REMOTE_NAME_BYTES];	  /* "client 2 (root@10.0.0.2)" */
	char folder[REMOTE_FOLDER_BYTES]; /* there; "" if there is none */
	char kernel[REMOTE_NAME_BYTES];
	struct ssh keeper;
	struct topology *topology; /* that we may use there; NULL before it was open */
	json_t *facts;		   /* host.json's of there; NULL before it was open */
	json_t *clock;
	json_t *busy;	   /* others' work there as the run began; NULL: not looked for */
	bool was_there;	   /* the program: nothing was copied */
	bool holds_lock;   /* the run's lock of that machine is taken through this host */
	unsigned lost;	   /* in so many samples in a row */
	bool lost_already; /* in the sample that is being carried out */
	/* Called between steps that may take long; NULL: nothing is. */
	void (*on_step)(void *user);
	void *user;
};

/* Whether it is another host at all. */
bool remote_is_far(const struct remote *remote);

/*
 * Whether two are one machine: both this host, or hosts that were asked and have one boot id, or
 * that are reached by the same words.
 */
bool remote_is_same_machine(const struct remote *a, const struct remote *b);

/*
 * Connects and prepares; `programs` are what may be started there, the first also as the keeper. 0;
 * or negative errno with `error` filled, what it names, and nothing left there as far as it can be
 * reached.
 */
int remote_open(struct remote *remote, const char *run_id, const struct program *programs,
		unsigned program_count, struct interrupt *interrupt, struct tp_error *error);

/* Whether the keeper answers. */
bool remote_lives(struct remote *remote, struct interrupt *interrupt);

/* A sign of life to the keeper; costs a write. */
void remote_beat(struct remote *remote);

/*
 * Takes the lock of runs there, as a runner there would, until the keeper ends. 0; -EBUSY with the
 * holder named in `error`, or another negative errno.
 */
int remote_lock(struct remote *remote, const char *run_id, struct interrupt *interrupt,
		struct tp_error *error);

/* Looks who else works there, and notes it in `busy`. 0, or negative errno with `error` filled. */
int remote_look(struct remote *remote, struct interrupt *interrupt, struct tp_error *error);

/*
 * Whether something could listen on IP:PORT there. 0, or negative errno with `error` naming who has
 * it, as far as that can be seen there.
 */
int remote_check_listen(struct remote *remote, const char *endpoint, struct interrupt *interrupt,
			struct tp_error *error);

/* Copies a file of the folder to `path` here. 0, or negative errno with `error` filled. */
int remote_fetch(struct remote *remote, const char *name, const char *path,
		 struct interrupt *interrupt, struct tp_error *error);

/* Where a program was copied to; returns `path`. */
const char *remote_program(const struct remote *remote, const struct program *program,
			   char path[REMOTE_PATH_BYTES]);

/*
 * The argument list of the ssh that carries out one process there through an agent, which is
 * `keeper`'s program; a new reference.
 */
json_t *remote_argv(const struct remote *remote, const struct program *keeper);

/*
 * What that agent is told first, a line: run `program` with `argv` and `env` in the folder, in
 * which `make` is made before. Owned by the caller (free); NULL for want of memory.
 */
char *remote_request(const struct remote *remote, const struct program *program, const json_t *argv,
		     const json_t *env, const char *make);

/* Ends the keeper, which removes the folder. Harmless if it was never open. */
void remote_close(struct remote *remote);

/* Frees what it knew, too. */
void remote_fini(struct remote *remote);

#endif
