/*
 * static: the files below a folder, for GET and HEAD.
 *
 * A small file is read whole and kept in the handler's store, where it answers from memory for
 * LIMIT_FILE_TRUSTED_NS before the folder is asked whether it is still the same. A larger one is
 * sent by the transport where that can, else read piece by piece into the send memory as there is
 * room, from a descriptor that its exchange holds. What was promised is sent: of a file that grew
 * meanwhile no more, and where it shrank the connection is broken.
 */
#include "dataplane/core/check.h"
#include "dataplane/core/clock.h"
#include "dataplane/core/limits.h"
#include "dataplane/core/slab.h"
#include "dataplane/handlers/conditions.h"
#include "dataplane/handlers/fields.h"
#include "dataplane/handlers/handlers.h"
#include "dataplane/handlers/produce.h"
#include "dataplane/handlers/static_file.h"
#include "dataplane/handlers/static_path.h"
#include "dataplane/handlers/store.h"
#include "dataplane/pipeline/world.h"
#include "dataplane/proto/http1_date.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NO_FILE = -1, FIELDS_ROOM = 512 };

/* A file in the store. */
struct kept {
	struct store_entry entry;
	struct file_stamp stamp;
	uint64_t checked_ns;
};

/* An exchange's state. */
struct sending {
	unsigned refusal; /* the code to refuse with, or 0 */
	int fd;		  /* streamed, or NO_FILE */
	bool reads;	  /* it cannot be sent as a file, so it is read */
	uint64_t offset;
	struct kept *kept; /* pinned, or NULL */
	struct store_cursor cursor;
};

struct folder {
	struct handler handler;
	struct conn_world *world;
	int fd;
	struct store store;
	struct slab sendings; /* as many as connections */
	uint32_t streams;     /* descriptors that exchanges hold */
};

static struct folder *folder_of(struct handler *handler)
{
	return (struct folder *)handler;
}

/* --- the answer's source: an entry of the store or a descriptor --- */

static struct span key_of(const char *name)
{
	return (struct span){(const uint8_t *)name, strlen(name)};
}

/* The file as it is kept, pinned, if it may still be believed; else it is dropped. */
static struct kept *find_kept(struct folder *folder, const char *name)
{
	struct kept *kept = (struct kept *)store_find(&folder->store, key_of(name));
	uint64_t now_ns = folder->world->now_ns;

	if (!kept)
		return NULL;
	if (now_ns - kept->checked_ns >= LIMIT_FILE_TRUSTED_NS) {
		if (!static_file_is(folder->fd, name, &kept->stamp)) {
			store_drop(&folder->store, &kept->entry);
			return NULL;
		}
		kept->checked_ns = now_ns;
	}
	store_pin(&kept->entry);
	return kept;
}

static bool fill_kept(struct store *store, struct kept *kept, int fd)
{
	while (kept->entry.bytes < kept->stamp.bytes) {
		uint64_t left = kept->stamp.bytes - kept->entry.bytes;
		struct room room = store_room(store, &kept->entry);
		struct room_writer writer = room_writer_of(&room, 1);
		size_t step = room.bytes < left ? room.bytes : (size_t)left;

		if (step == 0 || !static_file_read(fd, kept->entry.bytes, &writer, step))
			return false;
		store_extend(store, &kept->entry, step);
	}
	return static_file_still(fd, &kept->stamp);
}

/* Reads a small file into the store. Pinned, or NULL: there is no room, or it changes just now. */
static struct kept *keep(struct folder *folder, const char *name, int fd,
			 const struct file_stamp *stamp)
{
	struct kept *kept = (struct kept *)store_add(&folder->store, key_of(name));

	if (!kept)
		return NULL;
	kept->stamp = *stamp;
	kept->checked_ns = folder->world->now_ns;
	if (fill_kept(&folder->store, kept, fd))
		return kept;
	store_drop(&folder->store, &kept->entry);
	store_unpin(&folder->store, &kept->entry);
	return NULL;
}

/* Has the exchange hold the descriptor. 0 or 503. */
static unsigned stream(struct folder *folder, struct sending *sending, int fd)
{
	if (folder->streams == LIMIT_FILE_STREAMS) {
		close(fd);
		return 503;
	}
	folder->streams++;
	sending->fd = fd;
	return 0;
}

/* Finds what `name` stands for. 0, or the code that refuses it. */
static unsigned find_source(struct folder *folder, struct sending *sending, const char *name,
			    struct file_stamp *stamp_out)
{
	unsigned code;
	int fd;

	sending->kept = find_kept(folder, name);
	if (!sending->kept) {
		code = static_file_open(folder->fd, name, &fd, stamp_out);
		if (code)
			return code;
		if (stamp_out->bytes <= LIMIT_FILE_KEPT_BYTES)
			sending->kept = keep(folder, name, fd, stamp_out);
		if (!sending->kept)
			return stream(folder, sending, fd);
		close(fd);
	}
	*stamp_out = sending->kept->stamp;
	return 0;
}

/* --- the answer's head --- */

/* Strong: it changes with the file, its length, or when it was written or put in place. */
static void put_tag(struct fields_text *text, const struct file_stamp *stamp)
{
	fields_put_text(text, "\"");
	fields_put_number(text, (uint64_t)stamp->modified_ns);
	fields_put_text(text, "-");
	fields_put_number(text, stamp->bytes);
	fields_put_text(text, "-");
	fields_put_number(text, stamp->inode);
	fields_put_text(text, "-");
	fields_put_number(text, (uint64_t)stamp->changed_ns);
	fields_put_text(text, "\"");
}

static void put_validators(struct fields_text *text, const struct validators *validators)
{
	char date[HTTP1_DATE_BYTES];

	http1_date_print(validators->modified_seconds, date);
	fields_put_line(text, key_of("ETag"), validators->tag);
	fields_put_line(text, key_of("Last-Modified"),
			(struct span){(const uint8_t *)date, sizeof(date)});
	fields_put_text(text, "Accept-Ranges: bytes\r\n");
}

static void put_range(struct fields_text *text, const struct range *range, uint64_t bytes)
{
	fields_put_text(text, "Content-Range: bytes ");
	if (range->kind == RANGE_PART) {
		fields_put_number(text, range->first);
		fields_put_text(text, "-");
		fields_put_number(text, range->first + range->bytes - 1);
	} else {
		fields_put_text(text, "*");
	}
	fields_put_text(text, "/");
	fields_put_number(text, bytes);
	fields_put_text(text, "\r\n");
}

/* Which part of the file goes out, under which code. */
struct choice {
	uint16_t status;
	struct range range;
};

static struct choice choose(const struct http1_request *request,
			    const struct validators *validators, uint64_t bytes,
			    int64_t now_seconds)
{
	static const uint16_t codes[] = {
		[RANGE_WHOLE] = 200, [RANGE_PART] = 206, [RANGE_UNSATISFIABLE] = 416};
	struct choice choice = {.status = (uint16_t)conditions_judge(request, validators)};

	if (choice.status) {
		choice.range.bytes = choice.status == 304 ? bytes : 0;
		return choice;
	}
	choice.range = conditions_range(request, validators, bytes, now_seconds);
	choice.status = codes[choice.range.kind];
	if (choice.range.kind == RANGE_WHOLE)
		choice.range.bytes = bytes;
	return choice;
}

static void respond(struct folder *folder, struct exchange *exchange, const struct request *request,
		    const char *name, const struct file_stamp *stamp)
{
	struct sending *sending = exchange_state(exchange);
	uint8_t tag_room[128], fields_room[FIELDS_ROOM];
	struct fields_text tag = {.base = tag_room, .room = sizeof(tag_room)};
	struct fields_text fields = {.base = fields_room, .room = sizeof(fields_room)};
	struct validators validators = {.modified_seconds =
						stamp->modified_ns / (int64_t)CLOCK_SECOND_NS};
	struct choice choice;

	put_tag(&tag, stamp);
	validators.tag = fields_written(&tag);
	choice = choose(request->http, &validators, stamp->bytes,
			date_seconds(&folder->world->date, folder->world->now_ns));
	put_validators(&fields, &validators);
	if (choice.range.kind != RANGE_WHOLE)
		put_range(&fields, &choice.range, stamp->bytes);
	CHECK(!tag.full && !fields.full); /* there is room for all numbers */
	exchange_respond(
		exchange,
		&(struct response){.status = choice.status,
				   .body_bytes = choice.range.bytes,
				   .type = choice.status < 300 ? static_file_type(name) : NULL,
				   .fields = fields_written(&fields)});
	sending->offset = choice.range.first;
	if (sending->kept)
		sending->cursor =
			store_cursor(&folder->store, &sending->kept->entry, choice.range.first,
				     choice.status < 300 ? choice.range.bytes : 0);
	folder->world->counters->files_cached += sending->kept != NULL;
	folder->world->counters->files_streamed += sending->kept == NULL;
}

/* --- the exchange --- */

static void static_advance(struct handler *handler, struct exchange *exchange);

/* A folder's name lacks its '/', without which the names in its index would lead elsewhere. */
static unsigned redirect(struct exchange *exchange, const struct request *request)
{
	uint8_t room[EXCHANGE_FIELDS_BYTES];
	struct fields_text fields = {.base = room, .room = sizeof(room)};

	fields_put_text(&fields, "Location: ");
	fields_put(&fields, request->path);
	fields_put_text(&fields, "/");
	if (request->query.bytes > 0) {
		fields_put_text(&fields, "?");
		fields_put(&fields, request->query);
	}
	fields_put_text(&fields, "\r\n");
	if (fields.full)
		return 414;
	exchange_respond(exchange,
			 &(struct response){.status = 301, .fields = fields_written(&fields)});
	return 0;
}

/* Answers with the file, or decides the code that refuses it. */
static unsigned answer(struct folder *folder, struct exchange *exchange,
		       const struct request *request)
{
	struct sending *sending = exchange_state(exchange);
	char name[STATIC_NAME_BYTES];
	struct file_stamp stamp;
	unsigned code = static_path_name(request->path, name);

	if (code == 0)
		code = find_source(folder, sending, name, &stamp);
	folder->world->counters->files_refused += code == 503;
	if (code == 0)
		respond(folder, exchange, request, name, &stamp);
	else if (code == 301) /* an index that is a folder is none */
		code = request->path.base[request->path.bytes - 1] == '/'
			       ? 404
			       : redirect(exchange, request);
	return code;
}

static void static_begin(struct handler *handler, struct exchange *exchange,
			 const struct request *request)
{
	struct folder *folder = folder_of(handler);
	struct sending *sending = slab_acquire(&folder->sendings);

	CHECK(sending); /* a connection has one exchange at a time */
	*sending = (struct sending){.fd = NO_FILE};
	exchange_set_state(exchange, sending);
	if (request->method == HTTP1_GET || request->method == HTTP1_HEAD)
		sending->refusal = answer(folder, exchange, request);
	else
		exchange_respond(exchange, &(struct response){.status = 405,
							      .fields = key_of("Allow: GET, "
									       "HEAD\r\n")});
	static_advance(handler, exchange);
}

/* The next `bytes` of the file; false if they are no longer there. */
static bool produce(struct exchange *exchange, void *source, struct room_writer *writer,
		    size_t bytes)
{
	struct sending *sending = exchange_state(exchange);
	struct folder *folder = source;

	if (sending->kept) {
		store_copy(&folder->store, &sending->cursor, writer, bytes);
		return true;
	}
	if (!static_file_read(sending->fd, sending->offset, writer, bytes))
		return false;
	sending->offset += bytes;
	return true;
}

/*
 * Has the transport send the file, as far as it takes it. Where it can not, the rest is read from
 * now on.
 */
static void send_file(struct folder *folder, struct exchange *exchange, struct sending *sending)
{
	int64_t sent = 0;

	while (exchange_left(exchange) > 0) {
		sent = exchange_send_file(exchange, sending->fd, sending->offset);
		if (sent <= 0)
			break;
		sending->offset += (uint64_t)sent;
		folder->world->counters->file_bytes_sent += (uint64_t)sent;
	}
	sending->reads = sent < 0;
}

static void static_advance(struct handler *handler, struct exchange *exchange)
{
	struct sending *sending = exchange_state(exchange);

	exchange_drop(exchange);
	if (sending->refusal) {
		exchange_refuse(exchange, sending->refusal, http1_reason(sending->refusal));
		return;
	}
	if (sending->fd != NO_FILE && !sending->reads) {
		send_file(folder_of(handler), exchange, sending);
		if (!sending->reads && exchange_left(exchange) > 0)
			return;
	}
	produce_rest(exchange, produce, folder_of(handler));
}

static void static_end(struct handler *handler, struct exchange *exchange)
{
	struct folder *folder = folder_of(handler);
	struct sending *sending = exchange_state(exchange);

	if (sending->kept)
		store_unpin(&folder->store, &sending->kept->entry);
	if (sending->fd != NO_FILE) {
		close(sending->fd);
		folder->streams--;
	}
	slab_release(&folder->sendings, sending);
}

/* --- setup --- */

static int static_judge(const char *argument, struct tp_error *error)
{
	int fd = static_folder_open(argument, error);

	if (fd < 0)
		return -EINVAL;
	close(fd);
	return 0;
}

static void static_destroy(struct handler *handler)
{
	struct folder *folder = folder_of(handler);

	store_destroy(&folder->store);
	slab_destroy(&folder->sendings);
	if (folder->fd >= 0)
		close(folder->fd);
	free(folder);
}

static int static_create(const char *argument, const struct handler_config *config,
			 struct handler **handler_out, struct tp_error *error)
{
	struct folder *folder = calloc(1, sizeof(*folder));
	int code;

	if (!folder)
		return tp_fail(error, -ENOMEM, "static: no memory");
	folder->handler.ops = &static_ops;
	folder->world = config->world;
	folder->fd = code = static_folder_open(argument, error);
	if (code >= 0) {
		code = store_create(&folder->store, LIMIT_FILE_STORE_BYTES,
				    LIMIT_FILE_STORE_ENTRIES, sizeof(struct kept));
		if (code == 0)
			code = slab_create(&folder->sendings, config->world->conns.count,
					   sizeof(struct sending));
		if (code < 0)
			tp_fail(error, code, "static: no memory for files and connections");
	}
	if (code < 0) {
		static_destroy(&folder->handler);
		return code;
	}
	*handler_out = &folder->handler;
	return 0;
}

const struct handler_ops static_ops = {
	.name = "static",
	.argument = "DIR",
	.argument_is = HANDLER_PATH,
	.argument_needed = true,
	.http_only = true,
	.judge = static_judge,
	.create = static_create,
	.destroy = static_destroy,
	.begin = static_begin,
	.advance = static_advance,
	.end = static_end,
};
