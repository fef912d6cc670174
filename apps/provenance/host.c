#include "apps/provenance/host.h"

#include "apps/provenance/host_parts.h"

json_t *host_facts(void)
{
	json_t *facts = json_pack("{ss}", "schema", "weir.host/1");

	host_add_system(facts);
	host_add_virtualization(facts);
	host_add_cpus(facts);
	host_add_power(facts);
	host_add_memory(facts);
	host_add_interrupts(facts);
	host_add_network(facts);
	host_add_nics(facts);
	host_add_process(facts);
	host_add_activity(facts);
	return facts;
}
