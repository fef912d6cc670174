#include "apps/common/file.h"
#include "apps/common/tree.h"
#include "apps/run/experiment/experiment.h"
#include "apps/run/experiment/served.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The folder of an experiment, and what is said of it. */
struct bench {
	char folder[64];
	struct problems problems;
	struct experiment *experiment;
};

static void open_bench(struct bench *bench)
{
	*bench = (struct bench){.folder = "/tmp/weir-served-XXXXXX"};
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(bench->folder));
}

static void close_bench(struct bench *bench)
{
	experiment_free(bench->experiment);
	tree_remove(bench->folder);
}

/* Writes a file below the folder, and the folders above it. */
static void put(const struct bench *bench, const char *name, const char *text)
{
	char path[256], above[256];
	struct tp_error error;

	snprintf(path, sizeof(path), "%s/%s", bench->folder, name);
	snprintf(above, sizeof(above), "%.*s", (int)(strrchr(path, '/') - path), path);
	CU_ASSERT_EQUAL_FATAL(tree_make(above, 0777), 0);
	CU_ASSERT_EQUAL_FATAL(file_write(path, text, strlen(text), &error), 0);
}

/* Reads an experiment whose server_config is this; NULL if it is refused. */
static struct experiment *read_with(struct bench *bench, const char *server_config,
				    const char *rest)
{
	char text[1024];

	experiment_free(bench->experiment);
	bench->experiment = NULL;
	bench->problems = (struct problems){0};
	snprintf(text, sizeof(text),
		 "{\"schema\": \"weir.experiment/1\", \"name\": \"x\", \"fixed\": {\"stack\": "
		 "\"epoll@loopback\", \"protocol\": \"http1\"}, \"server_config\": \"%s\"%s}",
		 server_config, rest);
	put(bench, "experiment.json", text);
	if (experiment_read(bench->folder, NULL, &bench->experiment, &bench->problems) < 0)
		bench->experiment = NULL;
	return bench->experiment;
}

static const char *file_at(const struct experiment *experiment, size_t index)
{
	return json_string_value(json_object_get(json_array_get(experiment->files, index), "path"));
}

static void a_configuration_and_its_folders_are_listed(void)
{
	struct bench bench;
	const struct experiment *experiment;

	open_bench(&bench);
	put(&bench, "conf/server.json",
	    "{\"routes\": [{\"path\": \"/a\", \"match\": \"prefix\", \"handler\": "
	    "\"static:www\"}, {\"path\": \"/b\", \"match\": \"prefix\", \"handler\": "
	    "\"static:www\"}]}");
	put(&bench, "conf/www/deep/b.txt", "ZZ");
	put(&bench, "conf/www/a.txt", "");
	experiment = read_with(&bench, "conf/server.json", "");
	CU_ASSERT_FATAL(experiment != NULL);
	CU_ASSERT_EQUAL(json_array_size(experiment->files), 3);
	CU_ASSERT_STRING_EQUAL(file_at(experiment, 0), "conf/server.json");
	CU_ASSERT_STRING_EQUAL(file_at(experiment, 1), "conf/www/a.txt");
	CU_ASSERT_STRING_EQUAL(file_at(experiment, 2), "conf/www/deep/b.txt");
	CU_ASSERT_EQUAL(experiment->routes.count, 2);
	CU_ASSERT_STRING_EQUAL(experiment->server_config, "conf/server.json");
	close_bench(&bench);
}

static void files_are_copied_as_they_were_planned(void)
{
	struct directory directory;
	struct bench bench;
	char path[PATH_MAX];
	char *data;
	struct tp_error error;
	size_t bytes;

	open_bench(&bench);
	put(&bench, "server.json",
	    "{\"routes\": [{\"path\": \"/\", \"handler\": \"static:www\"}]}");
	put(&bench, "www/deep/b.txt", "ZZ");
	CU_ASSERT_PTR_NOT_NULL_FATAL(read_with(&bench, "server.json", ""));
	CU_ASSERT_EQUAL_FATAL(directory_create(&directory, bench.folder, "x", 0), 0);
	CU_ASSERT_EQUAL(served_copy(bench.experiment, &directory), 0);
	CU_ASSERT_EQUAL_FATAL(file_read(directory_file(&directory, "www/deep/b.txt", path), 99,
					&data, &bytes, &error),
			      0);
	CU_ASSERT_STRING_EQUAL(data, "ZZ");
	free(data);
	put(&bench, "www/deep/b.txt", "YY");
	CU_ASSERT(served_copy(bench.experiment, &directory) < 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(directory.error.text, "has changed since the plan was made"));
	directory_abandon(&directory, "the test is over");
	close_bench(&bench);
}

/* What is said of a configuration of this text. */
static void expect(struct bench *bench, const char *config, const char *rest, const char *expected)
{
	put(bench, "server.json", config);
	CU_ASSERT_PTR_NULL(read_with(bench, "server.json", rest));
	CU_ASSERT_EQUAL(bench->problems.count, 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(bench->problems.text, expected));
	if (!strstr(bench->problems.text, expected))
		printf("# expected: %s\n# got: %s", expected, bench->problems.text);
}

#define ROUTE(handler) "{\"routes\": [{\"path\": \"/\", \"handler\": \"" handler "\"}]}"
#define UPSTREAM ", \"upstream\": {}"

static void nothing_leads_out_of_the_folder(void)
{
	struct bench bench;
	char path[128];

	open_bench(&bench);
	put(&bench, "www/a.txt", "");
	expect(&bench, ROUTE("static:../www"), "",
	       "'../www' is not below the experiment's folder; give a path there, without '..'");
	expect(&bench, ROUTE("static:/etc"), "", "it serves '/etc'; accepted: a folder below");
	expect(&bench, ROUTE("static:www/../.."), "", "is not below the experiment's folder");
	snprintf(path, sizeof(path), "%s/link", bench.folder);
	CU_ASSERT_EQUAL(symlink("/etc", path), 0);
	expect(&bench, ROUTE("static:link"), "", "'link' is or goes over a link");
	snprintf(path, sizeof(path), "%s/www/passwd", bench.folder);
	CU_ASSERT_EQUAL(symlink("/etc/passwd", path), 0);
	expect(&bench, ROUTE("static:www"), "", "www/passwd is no regular file");
	CU_ASSERT_PTR_NULL(read_with(&bench, "../server.json", ""));
	CU_ASSERT_PTR_NOT_NULL(strstr(bench.problems.text, "is not below the experiment's folder"));
	close_bench(&bench);
}

static void what_cannot_be_served_is_refused(void)
{
	struct bench bench;
	char path[128];

	open_bench(&bench);
	expect(&bench, ROUTE("static:nothing"), "", "nothing: No such file or directory");
	snprintf(path, sizeof(path), "%s/empty", bench.folder);
	CU_ASSERT_EQUAL(mkdir(path, 0777), 0);
	expect(&bench, ROUTE("static:empty"), "", "the folder 'empty' has no files to be served");
	put(&bench, "samples/a.txt", "");
	expect(&bench, ROUTE("static:samples"), "",
	       "a result directory has a 'samples' of its own; give 'samples' another name");
	expect(&bench, "[]", "", "server.json");
	CU_ASSERT_PTR_NULL(read_with(&bench, "other.json", ""));
	CU_ASSERT_PTR_NOT_NULL(
		strstr(bench.problems.text, "other.json: No such file or directory"));
	CU_ASSERT_PTR_NULL(read_with(&bench, "weir.json", ""));
	CU_ASSERT_PTR_NOT_NULL(strstr(bench.problems.text, "give 'weir.json' another name"));
	close_bench(&bench);
}

static void a_configuration_says_no_more_than_is_left_to_it(void)
{
	struct bench bench;

	open_bench(&bench);
	expect(&bench, "{\"delivery\": \"coalesce\"}", "",
	       "'server_config': it says 'delivery', which is a setting of the experiment");
	expect(&bench, "{\"listen\": \"127.0.0.1:1\"}", "",
	       "it says 'listen', which is the runner's");
	expect(&bench, "{\"tls_key\": \"a.key\"}", "",
	       "it says 'tls_key', and a result holds no keys");
	put(&bench, "server.json",
	    "{\"tls_cert\": \"a.pem\", \"listen\": \"127.0.0.1:1\", \"delivery\": \"coalesce\","
	    " \"routes\": [{\"path\": \"/\", \"handler\": \"proxy\"}]}");
	CU_ASSERT_PTR_NULL(read_with(&bench, "server.json", ""));
	CU_ASSERT_EQUAL(bench.problems.count, 4);
	expect(&bench, ROUTE("nobody"), "", "'nobody' is no handler");
	expect(&bench, "{\"routes\": 7}", "", "a list of 1 to 64 routes");
	expect(&bench, ROUTE("proxy"), "", "the experiment has no \"upstream\"; give one");
	expect(&bench, ROUTE("cache"), "", "the experiment has no \"upstream\"; give one");
	expect(&bench, ROUTE("proxy:127.0.0.1:80"), UPSTREAM,
	       "names an upstream of its own; leave the address out");
	expect(&bench, ROUTE("cache:;ttl=60s"), "", "the experiment has no \"upstream\"; give one");
	put(&bench, "server.json", ROUTE("proxy"));
	CU_ASSERT_PTR_NOT_NULL(read_with(&bench, "server.json", UPSTREAM));
	put(&bench, "server.json", ROUTE("cache:;ttl=60s"));
	CU_ASSERT_PTR_NOT_NULL(read_with(&bench, "server.json", UPSTREAM));
	close_bench(&bench);
}

static const struct suite_test tests[] = {
	{"a configuration and all files that it serves are listed with their names",
	 a_configuration_and_its_folders_are_listed},
	{"a result gets the files that the plan knows, and no others",
	 files_are_copied_as_they_were_planned},
	{"no path and no link leads out of the experiment's folder",
	 nothing_leads_out_of_the_folder},
	{"what is not there, empty or a result's own name is refused",
	 what_cannot_be_served_is_refused},
	{"a configuration says neither a setting nor what the runner says",
	 a_configuration_says_no_more_than_is_left_to_it},
};

SUITE_MAIN("run served", tests)
