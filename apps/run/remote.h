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
#include "apps/run/program.h"
#include "apps/run/ssh.h"

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
	struct cpus cpus;  /* it may use there */
	struct cpus cores; /* the first of each core among them */
	json_t *facts;	   /* host.json's of there; NULL before it was open */
	json_t *clock;
	bool was_there; /* the program: nothing was copied */
	unsigned lost;	/* times in a row */
};

/* Whether it is another host at all. */
bool remote_is_far(const struct remote *remote);

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

/* Whether something could listen on IP:PORT there. 0, or negative errno with `error` filled. */
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
