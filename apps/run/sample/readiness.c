#include "apps/run/sample/readiness.h"

#include "apps/serve/serve.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

void readiness_make_nonce(char nonce[READINESS_NONCE_BYTES])
{
	unsigned char bytes[(READINESS_NONCE_BYTES - 1) / 2];

	nonce[0] = '\0';
	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return;
	for (unsigned i = 0; i < sizeof(bytes); i++)
		snprintf(nonce + 2 * (size_t)i, 3, "%02x", bytes[i]);
}

json_t *readiness_env(const json_t *env, const char *nonce)
{
	json_t *with = json_copy((json_t *)env);

	json_object_set_new(with, SERVE_NONCE, json_string(nonce));
	return with;
}

bool readiness_accept(const char *json, const char *nonce, pid_t pid)
{
	json_t *ready = json_loads(json, 0, NULL);
	const json_t *said = json_object_get(ready, "nonce");
	bool own = json_is_object(ready);

	if (json_is_string(said))
		own = strcmp(json_string_value(said), nonce) == 0;
	else if (own && pid)
		own = json_integer_value(json_object_get(ready, "pid")) == (json_int_t)pid;
	json_decref(ready);
	return own;
}
