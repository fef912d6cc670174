#include "apps/run/store/leftover.h"

#include "apps/common/claim.h"
#include "apps/common/device.h"
#include "apps/common/tree.h"
#include "apps/common/veth.h"
#include "apps/run/autogroup.h"

#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ID_DIGITS = RUN_ID_BYTES - 1 };

static const char parent[] = "/tmp";
static const char prefix[] = "weir-run-";

const char leftover_claim[] = "run";

const char *leftover_folder(const char *run_id, char *path, size_t path_bytes)
{
	snprintf(path, path_bytes, "%s/%s%s", parent, prefix, run_id);
	return path;
}

/* Whether `text` begins with a run id. */
static bool begins_with_id(const char *text)
{
	for (unsigned i = 0; i < ID_DIGITS; i++)
		if (!isdigit((unsigned char)text[i]) && !(text[i] >= 'a' && text[i] <= 'f'))
			return false;
	return true;
}

/*
 * Whether it is a folder of ours. Anyone may make a name in /tmp: a link would lead to somebody's
 * own files, and is left alone.
 */
static bool is_ours(const char *path)
{
	struct stat about;

	return lstat(path, &about) == 0 && S_ISDIR(about.st_mode) && about.st_uid == geteuid();
}

/*
 * Lists the folders whose runners are no more. One without a claim is being made at this moment or
 * was when its runner was killed; then it is empty, and rmdir spares it if it is not.
 */
static unsigned list_folders(struct leftover *list, unsigned room)
{
	DIR *folder = opendir(parent);
	struct dirent *entry;
	unsigned count = 0;

	while (folder && count < room && (entry = readdir(folder))) {
		const char *id = entry->d_name + strlen(prefix);
		struct leftover *one = &list[count];

		if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0 || !begins_with_id(id) ||
		    id[ID_DIGITS] != '\0')
			continue;
		memcpy(one->run_id, id, RUN_ID_BYTES);
		leftover_folder(one->run_id, one->what, sizeof(one->what));
		count += is_ours(one->what) &&
			 claim_look(one->what, leftover_claim).state != CLAIM_HELD;
	}
	if (folder)
		closedir(folder);
	return count;
}

static unsigned list_veths(struct leftover *list, unsigned room)
{
	struct claim stale[VETH_LIST_MAX];
	unsigned count = veth_list_stale(stale);

	count = count < room ? count : room;
	for (unsigned i = 0; i < count; i++) {
		const char *id = veth_claim_id(&stale[i]);
		bool of_run = begins_with_id(id) && id[ID_DIGITS] == '-';

		snprintf(list[i].run_id, RUN_ID_BYTES, "%.*s", of_run ? ID_DIGITS : 0, id);
		snprintf(list[i].what, sizeof(list[i].what), "veth pair %s", id);
	}
	return count;
}

static unsigned list_devices(struct leftover *list, unsigned room)
{
	struct claim stale[DEVICE_LIST_MAX];
	unsigned count = device_list_stale(stale);

	count = count < room ? count : room;
	for (unsigned i = 0; i < count; i++) {
		list[i].run_id[0] = '\0';
		snprintf(list[i].what, sizeof(list[i].what), "claim %s/%.63s", CLAIM_FOLDER,
			 stale[i].name);
	}
	return count;
}

unsigned leftover_list(struct leftover list_out[LEFTOVER_MAX])
{
	unsigned count = list_folders(list_out, LEFTOVER_MAX);

	count += list_veths(list_out + count, LEFTOVER_MAX - count);
	return count + list_devices(list_out + count, LEFTOVER_MAX - count);
}

/*
 * Takes the dead runner's claim first: two that clean up at once, or one that takes the id anew
 * meanwhile, do not meet.
 */
static void remove_folder_of_dead(const char *path)
{
	struct tp_error ignored;
	int claim;

	if (rmdir(path) == 0)
		return;
	claim = claim_take(path, leftover_claim, &ignored);
	if (claim < 0)
		return;
	autogroup_settle(path);
	tree_remove(path);
	close(claim);
}

static bool is_in(const struct leftover *one, const struct leftover *list, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (strcmp(one->what, list[i].what) == 0)
			return true;
	return false;
}

unsigned leftover_remove(struct leftover list_out[LEFTOVER_MAX])
{
	struct leftover left[LEFTOVER_MAX];
	unsigned count = leftover_list(list_out), left_count, removed = 0;

	if (count == 0)
		return 0;
	for (unsigned i = 0; i < count; i++)
		if (list_out[i].what[0] == '/')
			remove_folder_of_dead(list_out[i].what);
	veth_sweep();
	device_sweep();
	left_count = leftover_list(left);
	for (unsigned i = 0; i < count; i++)
		if (!is_in(&list_out[i], left, left_count))
			list_out[removed++] = list_out[i];
	return removed;
}
