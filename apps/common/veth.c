#include "apps/common/veth.h"

#include "apps/common/command.h"
#include "apps/common/netif.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SERVER_IP4 "10.78.0.1/24"
#define CLIENT_IP4 "10.78.0.2/24"
#define SERVER_IP6 "fd78::1/64"
#define CLIENT_IP6 "fd78::2/64"

/* How long an interface may take to be up once it was told to. */
enum { UP_TIMEOUT_MS = 2000 };

const char veth_interface[] = "weir0";

static const char folder[] = CLAIM_FOLDER;
static const char claim_prefix[] = "veth-";
static const char namespaces[] = "/run/netns"; /* where iproute2 keeps their names */

/* The names that an ID stands for. */
struct names {
	char claim[CLAIM_NAME_BYTES];
	char server[VETH_NAMESPACE_BYTES];
	char client[VETH_NAMESPACE_BYTES];
};

bool veth_is_device(const char *device)
{
	return strcmp(device, "veth") == 0 || strncmp(device, "veth:", 5) == 0;
}

int veth_read_id(const char *device, char id_out[VETH_ID_BYTES], struct tp_error *error)
{
	const char *id = device[4] == ':' ? device + 5 : "0";
	size_t bytes = strlen(id);

	for (size_t i = 0; i < bytes; i++)
		if (!isalnum((unsigned char)id[i]) && id[i] != '-')
			bytes = 0;
	if (bytes == 0 || bytes >= VETH_ID_BYTES)
		return tp_fail(error, -EINVAL,
			       "the ID of a veth pair is 1 to %d letters, digits and '-', as in "
			       "veth:7; '%.60s' is not",
			       VETH_ID_BYTES - 1, id);
	memcpy(id_out, id, bytes + 1);
	return 0;
}

const char *veth_server_namespace(const char *id, char name[VETH_NAMESPACE_BYTES])
{
	snprintf(name, VETH_NAMESPACE_BYTES, "weir-%s-server", id);
	return name;
}

static struct names names_of(const char *id)
{
	struct names names;

	snprintf(names.claim, sizeof(names.claim), "%s%s", claim_prefix, id);
	veth_server_namespace(id, names.server);
	snprintf(names.client, sizeof(names.client), "weir-%s-client", id);
	return names;
}

/* --- entering ------------------------------------------------------------------------------- */

static int open_home(struct tp_error *error)
{
	int fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);

	return fd < 0 ? tp_fail(error, -errno, "cannot open this process's network namespace: %s",
				strerror(errno))
		      : fd;
}

static int enter(int fd, const char *name, struct tp_error *error)
{
	return setns(fd, CLONE_NEWNET) < 0
		       ? tp_fail(error, -errno, "cannot enter the network namespace %s: %s", name,
				 strerror(errno))
		       : 0;
}

/* Opens a namespace by name; the descriptor, or a negative errno with `error` filled. */
static int open_namespace(const char *name, struct tp_error *error)
{
	char path[sizeof(namespaces) + VETH_NAMESPACE_BYTES];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", namespaces, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? tp_fail(error, -errno, "cannot open the network namespace %s: %s", path,
				strerror(errno))
		      : fd;
}

/* --- ip --------------------------------------------------------------------------------------- */

/* Runs `ip` with lines of commands in this thread's namespace. */
static int run_ip(const char *lines, const char *doing, struct tp_error *error)
{
	static const char *const argv[] = {"ip", "-batch", "-", NULL};
	char said[COMMAND_SAID_BYTES];
	int code = command_run(argv, lines, said);

	if (code == -ENOENT)
		return tp_fail(error, code,
			       "cannot %s: there is no `ip` in PATH: apt-get install iproute2",
			       doing);
	return code < 0 ? tp_fail(error, code, "cannot %s: ip: %s", doing, said) : 0;
}

/*
 * The same in a namespace by name. This thread goes there and comes back: `ip -n` would take a
 * mount namespace, too, and change how / is mounted, which fails where / is no mount, as in a
 * chroot.
 */
static int run_ip_in(const char *namespace, const char *lines, const char *doing,
		     struct tp_error *error)
{
	struct tp_error ignored;
	int home = open_home(error);
	int there = home < 0 ? home : open_namespace(namespace, error);
	int code = there < 0 ? there : enter(there, namespace, error);

	if (code == 0) {
		code = run_ip(lines, doing, error);
		if (enter(home, "it came from", code < 0 ? &ignored : error) < 0 && code == 0)
			code = -EIO;
	}
	if (there >= 0)
		close(there);
	if (home >= 0)
		close(home);
	return code;
}

static int make_namespaces(const struct names *names, struct tp_error *error)
{
	char lines[COMMAND_INPUT_BYTES];

	snprintf(lines, sizeof(lines), "netns add %s\nnetns add %s\n", names->server,
		 names->client);
	return run_ip(lines, "make network namespaces", error);
}

/* Both ends are made where they belong, so that the names need not be free anywhere else. */
static int make_pair(const struct names *names, struct tp_error *error)
{
	char lines[COMMAND_INPUT_BYTES];

	snprintf(lines, sizeof(lines), "link add %s netns %s type veth peer name %s netns %s\n",
		 veth_interface, names->server, veth_interface, names->client);
	return run_ip(lines, "make a veth pair (`weir doctor` says whether this kernel has them)",
		      error);
}

/* Gives an end its addresses. Nobody else can have the IPv6 one: no detection of duplicates. */
static int set_up(const char *namespace, const char *ip4, const char *ip6, struct tp_error *error)
{
	bool has_ip6 = access("/proc/net/if_inet6", F_OK) == 0;
	char lines[COMMAND_INPUT_BYTES], line6[128] = "";

	if (has_ip6)
		snprintf(line6, sizeof(line6), "address add %s dev %s nodad\n", ip6,
			 veth_interface);
	snprintf(lines, sizeof(lines), "link set lo up\naddress add %s dev %s\n%slink set %s up\n",
		 ip4, veth_interface, line6, veth_interface);
	return run_ip_in(namespace, lines, "set up the ends of a veth pair", error);
}

static bool namespace_exists(const char *name)
{
	char path[sizeof(namespaces) + VETH_NAMESPACE_BYTES];

	snprintf(path, sizeof(path), "%s/%s", namespaces, name);
	return access(path, F_OK) == 0;
}

/*
 * Removes what there is of a pair, half of one too. The interfaces go first and by name: they would
 * go with their namespaces, but only when the last process in there has ended.
 */
static int unmake(const struct names *names, struct tp_error *error)
{
	const char *const sides[] = {names->server, names->client};
	struct tp_error ignored; /* that there is no such interface */
	char lines[COMMAND_INPUT_BYTES];
	int code = 0;

	for (unsigned i = 0; i < 2; i++) {
		if (!namespace_exists(sides[i]))
			continue;
		snprintf(lines, sizeof(lines), "link delete %s\n", veth_interface);
		run_ip_in(sides[i], lines, "remove a veth pair", &ignored);
		snprintf(lines, sizeof(lines), "netns delete %s\n", sides[i]);
		if (run_ip(lines, "remove a network namespace", error) < 0)
			code = -EIO;
	}
	return code;
}

/* Makes all of it or nothing. */
static int make(const struct names *names, struct tp_error *error)
{
	struct tp_error ignored; /* the first error is the one that counts */
	int code = make_namespaces(names, error);

	if (code == 0)
		code = make_pair(names, error);
	if (code == 0)
		code = set_up(names->server, SERVER_IP4, SERVER_IP6, error);
	if (code == 0)
		code = set_up(names->client, CLIENT_IP4, CLIENT_IP6, error);
	if (code < 0)
		unmake(names, &ignored);
	return code;
}

/* --- namespaces ------------------------------------------------------------------------------- */

/* Enters a namespace by name and waits until its end of the pair carries packets. */
static int enter_side(const char *name, struct tp_error *error)
{
	int fd = open_namespace(name, error);
	int code = fd < 0 ? fd : enter(fd, name, error);

	if (fd < 0)
		return code;
	close(fd);
	return code < 0 ? code : netif_await_link(veth_interface, UP_TIMEOUT_MS, error);
}

static int need_root(struct tp_error *error)
{
	return geteuid() == 0 ? 0
			      : tp_fail(error, -EPERM,
					"a veth pair and its network namespaces take root: start "
					"as root, or use @loopback");
}

/* --- pairs ------------------------------------------------------------------------------------ */

const char *veth_claim_id(const struct claim *claim)
{
	return claim->name + strlen(claim_prefix);
}

unsigned veth_list_stale(struct claim list_out[VETH_LIST_MAX])
{
	unsigned all = claim_list(folder, claim_prefix, list_out, VETH_LIST_MAX), stale = 0;

	for (unsigned i = 0; i < all; i++)
		if (list_out[i].state == CLAIM_STALE)
			list_out[stale++] = list_out[i];
	return stale;
}

/* With the folder locked. */
static unsigned sweep_locked(void)
{
	struct claim list[VETH_LIST_MAX];
	unsigned count = veth_list_stale(list), removed = 0;
	struct tp_error ignored;

	for (unsigned i = 0; i < count; i++) {
		struct names names = names_of(veth_claim_id(&list[i]));

		if (unmake(&names, &ignored) < 0)
			continue;
		claim_remove(folder, list[i].name);
		removed++;
	}
	return removed;
}

unsigned veth_sweep(void)
{
	struct claim list[VETH_LIST_MAX];
	struct tp_error ignored;
	unsigned removed;
	int lock;

	if (geteuid() != 0 || veth_list_stale(list) == 0)
		return 0;
	lock = claim_lock(folder, &ignored);
	if (lock < 0)
		return 0;
	removed = sweep_locked();
	close(lock);
	return removed;
}

/* Claims the ID; a name that stands in the way without a claim is somebody else's. */
static int claim_id(const struct names *names, struct tp_error *error)
{
	int fd = claim_take(folder, names->claim, error);
	struct tp_error why;

	if (fd == -EBUSY) {
		why = *error;
		return tp_fail(error, fd, "%.300s: end that, or take another ID, as in @veth:7",
			       why.text);
	}
	if (fd < 0 || (!namespace_exists(names->server) && !namespace_exists(names->client)))
		return fd;
	claim_drop(folder, names->claim, fd);
	return tp_fail(error, -EEXIST,
		       "a network namespace %s or %s is there that weir does not know of: take "
		       "another ID, or `ip netns delete` it if it is yours",
		       names->server, names->client);
}

/* With the folder locked. */
static int make_locked(struct veth *veth, struct tp_error *error)
{
	struct names names = names_of(veth->id);
	struct tp_error ignored;
	int code;

	sweep_locked();
	veth->claim = claim_id(&names, error);
	if (veth->claim < 0)
		return veth->claim;
	code = make(&names, error);
	if (code == 0) {
		code = enter_side(names.server, error);
		if (code == 0)
			return 0;
		enter(veth->home, "it came from", &ignored);
		unmake(&names, &ignored);
	}
	claim_drop(folder, names.claim, veth->claim);
	return code;
}

int veth_make(struct veth *veth, const char *id, struct tp_error *error)
{
	int lock, code = need_root(error);

	if (code < 0)
		return code;
	snprintf(veth->id, sizeof(veth->id), "%s", id);
	veth->home = open_home(error);
	if (veth->home < 0)
		return veth->home;
	lock = claim_lock(folder, error);
	code = lock < 0 ? lock : make_locked(veth, error);
	if (lock >= 0)
		close(lock);
	if (code < 0)
		close(veth->home);
	return code;
}

int veth_remove(struct veth *veth, struct tp_error *error)
{
	struct names names = names_of(veth->id);
	int lock, code = enter(veth->home, "it came from", error);

	close(veth->home);
	lock = code < 0 ? code : claim_lock(folder, error);
	code = lock < 0 ? lock : unmake(&names, error);
	if (code == 0)
		claim_drop(folder, names.claim, veth->claim);
	else
		close(veth->claim);
	if (lock >= 0)
		close(lock);
	return code;
}

static int refuse_without_server(const char *id, const struct claim *claim, struct tp_error *error)
{
	if (claim->state == CLAIM_STALE)
		return tp_fail(error, -ENOENT,
			       "the veth pair '%s' is stale, its server (pid %d) is dead: start "
			       "one anew with `weir serve --stack STACK@veth:%s`",
			       id, (int)claim->pid, id);
	return tp_fail(error, -ENOENT,
		       "there is no veth pair '%s': its server makes it and comes first, `weir "
		       "serve --stack STACK@veth:%s`",
		       id, id);
}

int veth_enter_client(const char *id, struct tp_error *error)
{
	struct names names = names_of(id);
	int lock, code = need_root(error);
	struct claim claim;

	if (code < 0)
		return code;
	lock = claim_lock(folder, error); /* a server that is about to make it is waited for */
	if (lock < 0)
		return lock;
	claim = claim_look(folder, names.claim);
	code = claim.state == CLAIM_HELD ? enter_side(names.client, error)
					 : refuse_without_server(id, &claim, error);
	close(lock);
	return code;
}

/* In the namespace that was just made. */
static int try_pair(struct tp_error *error)
{
	char said[COMMAND_SAID_BYTES];
	const char *argv[] = {"ip",   "link", "add",   "name", veth_interface, "type", "veth",
			      "peer", "name", "weir1", NULL};
	int code = command_run(argv, "", said);

	if (code == -ENOENT)
		return tp_fail(error, code, "there is no `ip` in PATH: apt-get install iproute2");
	return code < 0 ? tp_fail(error, code,
				  "the kernel makes no veth pair (ip: %.200s): modprobe veth, or a "
				  "kernel with CONFIG_VETH",
				  said)
			: 0;
}

int veth_probe(struct tp_error *error)
{
	int home, code = need_root(error);

	if (code < 0)
		return code;
	home = open_home(error);
	if (home < 0)
		return home;
	if (unshare(CLONE_NEWNET) < 0)
		code = tp_fail(error, -errno,
			       "cannot make a network namespace: %s; it takes CAP_SYS_ADMIN",
			       strerror(errno));
	else
		code = try_pair(error);
	if (enter(home, "it came from", error) < 0)
		code = -EIO;
	close(home);
	return code;
}
