#include "apps/provenance/host.h"
#include "apps/provenance/host_parts.h"

#include "apps/common/json.h"
#include "apps/provenance/fact.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* The inode of the first namespace of processes, which is fixed in the kernel. */
static const ino_t first_pid_namespace = 0xEFFFFFFC;

bool host_is_virtual(void)
{
	char flags[4096];

	return fact_read_text("/proc/cpuinfo", "flags", ':', flags, sizeof(flags)) == 0 &&
	       strstr(flags, " hypervisor");
}

/* What the hypervisor calls itself: "KVMKVMKVM", "Microsoft Hv". */
static void add_signature(json_t *facts)
{
#if defined(__x86_64__)
	char text[13] = "";
	unsigned eax, ebx, ecx, edx;

	if (host_is_virtual()) {
		__cpuid(0x40000000, eax, ebx, ecx, edx);
		memcpy(text, &ebx, 4);
		memcpy(text + 4, &ecx, 4);
		memcpy(text + 8, &edx, 4);
		fact_set(facts, "signature", json_text(text));
		return;
	}
#endif
	fact_unknown(facts, "signature", "the processor names no hypervisor");
}

/* Whether this process sees all processes, and no container has left its mark. */
static void add_container(json_t *facts)
{
	struct stat namespace;

	if (stat("/proc/self/ns/pid", &namespace) < 0)
		fact_unknown(facts, "container", "/proc/self/ns/pid cannot be read");
	else
		fact_set(facts, "container",
			 json_boolean(namespace.st_ino != first_pid_namespace ||
				      access("/.dockerenv", F_OK) == 0 ||
				      access("/run/.containerenv", F_OK) == 0));
}

void host_add_virtualization(json_t *facts)
{
	json_t *virtualization = json_object();

	fact_set(virtualization, "hypervisor", json_boolean(host_is_virtual()));
	add_signature(virtualization);
	fact_from_file(virtualization, "vendor", "/sys/class/dmi/id/sys_vendor");
	fact_from_file(virtualization, "product", "/sys/class/dmi/id/product_name");
	add_container(virtualization);
	fact_set(facts, "virtualization", virtualization);
}
