#include "apps/provenance/ethtool.h"

#include "apps/common/json.h"
#include "apps/provenance/fact.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FEATURES_MAX = 1024 };

struct asked {
	int fd;
	const char *interface;
	json_t *facts;
};

/* Asks the driver; `question` begins with its command and takes the answer. 0 or negative errno. */
static int ask(const struct asked *asked, void *question)
{
	struct ifreq request = {.ifr_data = question};

	strncpy(request.ifr_name, asked->interface, sizeof(request.ifr_name) - 1);
	return ioctl(asked->fd, SIOCETHTOOL, &request) < 0 ? -errno : 0;
}

static void unknown(const struct asked *asked, const char *name, int code)
{
	fact_unknown(asked->facts, name, "the driver does not say: %s", strerror(-code));
}

/* A text that the driver may leave empty. */
static void set_text(json_t *facts, const char *name, const char *text)
{
	if (text[0])
		fact_set(facts, name, json_text(text));
	else
		fact_unknown(facts, name, "the driver leaves it empty");
}

static void add_driver(const struct asked *asked)
{
	static const char *const names[] = {"driver", "driver_version", "firmware", "bus"};
	struct ethtool_drvinfo info = {.cmd = ETHTOOL_GDRVINFO};
	int code = ask(asked, &info);

	for (unsigned i = 0; code < 0 && i < sizeof(names) / sizeof(names[0]); i++)
		unknown(asked, names[i], code);
	if (code < 0)
		return;
	set_text(asked->facts, "driver", info.driver);
	set_text(asked->facts, "driver_version", info.version);
	set_text(asked->facts, "firmware", info.fw_version);
	set_text(asked->facts, "bus", info.bus_info);
}

static void add_rings(const struct asked *asked)
{
	struct ethtool_ringparam rings = {.cmd = ETHTOOL_GRINGPARAM};
	int code = ask(asked, &rings);

	if (code < 0)
		unknown(asked, "rings", code);
	else
		fact_set(asked->facts, "rings",
			 json_pack("{si si si si}", "rx", (int)rings.rx_pending, "tx",
				   (int)rings.tx_pending, "rx_max", (int)rings.rx_max_pending,
				   "tx_max", (int)rings.tx_max_pending));
}

static void add_queues(const struct asked *asked)
{
	struct ethtool_channels channels = {.cmd = ETHTOOL_GCHANNELS};
	int code = ask(asked, &channels);

	if (code < 0)
		unknown(asked, "queues", code);
	else
		fact_set(asked->facts, "queues",
			 json_pack("{si si si si}", "combined", (int)channels.combined_count, "rx",
				   (int)channels.rx_count, "tx", (int)channels.tx_count,
				   "combined_max", (int)channels.max_combined));
}

static void add_coalescing(const struct asked *asked)
{
	struct ethtool_coalesce coalesce = {.cmd = ETHTOOL_GCOALESCE};
	int code = ask(asked, &coalesce);

	if (code < 0)
		unknown(asked, "coalescing", code);
	else
		fact_set(asked->facts, "coalescing",
			 json_pack("{si si si si sb sb}", "rx_us", (int)coalesce.rx_coalesce_usecs,
				   "rx_frames", (int)coalesce.rx_max_coalesced_frames, "tx_us",
				   (int)coalesce.tx_coalesce_usecs, "tx_frames",
				   (int)coalesce.tx_max_coalesced_frames, "adaptive_rx",
				   (int)coalesce.use_adaptive_rx_coalesce, "adaptive_tx",
				   (int)coalesce.use_adaptive_tx_coalesce));
}

/* How many features the kernel knows; or negative errno. */
static int count_features(const struct asked *asked)
{
	struct {
		struct ethtool_sset_info info;
		uint32_t count;
	} question = {.info = {.cmd = ETHTOOL_GSSET_INFO, .sset_mask = 1ULL << ETH_SS_FEATURES}};
	int code = ask(asked, &question);

	if (code < 0)
		return code;
	if (question.info.sset_mask == 0 || question.count > FEATURES_MAX)
		return -EOPNOTSUPP;
	return (int)question.count;
}

/* The names of the features that are on; NULL with `code_out` if they cannot be had. */
static json_t *features_on(const struct asked *asked, unsigned count, int *code_out)
{
	size_t blocks = (count + 31) / 32;
	struct ethtool_gstrings *names =
		calloc(1, sizeof(*names) + (size_t)count * ETH_GSTRING_LEN);
	struct ethtool_gfeatures *features =
		calloc(1, sizeof(*features) + blocks * sizeof(features->features[0]));
	json_t *list = NULL;

	*code_out = names && features ? 0 : -ENOMEM;
	if (*code_out == 0) {
		*names = (struct ethtool_gstrings){
			.cmd = ETHTOOL_GSTRINGS, .string_set = ETH_SS_FEATURES, .len = count};
		*features = (struct ethtool_gfeatures){.cmd = ETHTOOL_GFEATURES,
						       .size = (uint32_t)blocks};
		*code_out = ask(asked, names);
	}
	if (*code_out == 0)
		*code_out = ask(asked, features);
	if (*code_out == 0)
		list = json_array();
	for (unsigned i = 0; list && i < count; i++) {
		const char *name = (const char *)names->data + (size_t)i * ETH_GSTRING_LEN;

		if (features->features[i / 32].active >> i % 32 & 1)
			json_array_append_new(list,
					      json_stringn(name, strnlen(name, ETH_GSTRING_LEN)));
	}
	free(names);
	free(features);
	return list;
}

static void add_features(const struct asked *asked)
{
	int count = count_features(asked), code = count;
	json_t *list = count < 0 ? NULL : features_on(asked, (unsigned)count, &code);

	if (list)
		fact_set(asked->facts, "features", list);
	else
		unknown(asked, "features", code);
}

void ethtool_add_facts(json_t *facts, const char *interface)
{
	struct asked asked = {socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), interface, facts};

	add_driver(&asked);
	add_rings(&asked);
	add_queues(&asked);
	add_coalescing(&asked);
	add_features(&asked);
	if (asked.fd >= 0)
		close(asked.fd);
}
