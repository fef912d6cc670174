/*
 * rules: every rule of the transport contract, by the test that proves it.
 *
 * X(function, sentence); the functions stand in the file that the group names.
 */
#ifndef WEIR_TESTS_RULES_H
#define WEIR_TESTS_RULES_H

#define RULES(X)                                                                                  \
	/* opening.c */                                                                           \
	X(connect_leads_to_connected_and_accepted,                                                \
	  "connect leads to one CONNECTED here and one ACCEPTED there")                           \
	X(connect_to_nobody_is_refused,                                                           \
	  "a connection to a port without a listener is refused once")                            \
	X(connect_takes_no_memory,                                                                \
	  "connect takes no memory that was not taken at open, unless it is TLS that connects")   \
	X(listening_twice_is_refused, "a second listen on one address fails and says which")      \
	X(full_client_refuses_connect,                                                            \
	  "connect fails with ENOBUFS when the table is full, and works again later")             \
	X(full_server_refuses_newcomers,                                                          \
	  "a full listener refuses newcomers, counts them, and harms nobody")                     \
	X(many_connections_keep_apart, "many connections at once each get their own bytes")       \
	X(slots_are_reused, "hundreds of open-close cycles leave nothing behind")                 \
	/* receiving.c */                                                                         \
	X(bytes_arrive_in_order, "a megabyte each way arrives byte for byte")                     \
	X(bytes_arrive_one_at_a_time, "bytes sent and read one at a time arrive the same")        \
	X(readable_is_not_repeated, "READABLE is not repeated for bytes left unread")             \
	X(unread_bytes_stay, "bytes left unread stay, in order, beside later ones")               \
	X(peek_does_not_consume, "peeking twice lends the same bytes")                            \
	X(peek_lends_enough_in_few_spans,                                                         \
	  "a full receive memory is lent in few spans, or at least two chunks of it")             \
	X(only_consumption_reopens_the_window,                                                    \
	  "a reader that does not consume stops its sender, one that does lets it go on")         \
	/* sending.c */                                                                           \
	X(reserve_lends_exactly_or_nothing,                                                       \
	  "reserve lends exactly what was asked, up to all, or nothing")                          \
	X(refused_reserve_is_answered_once,                                                       \
	  "a refused reserve is answered by exactly one WRITABLE, when it would succeed")         \
	X(commit_may_be_less_than_reserved, "what was reserved but not committed is not sent")    \
	X(flush_leaves_a_lent_room,                                                               \
	  "a flush between reserve and commit leaves the room where it is")                       \
	X(commits_leave_at_the_next_poll,                                                         \
	  "what was committed but not flushed leaves at the next poll")                           \
	X(commits_keep_their_order, "several commits before a flush leave in order as one write") \
	X(flushes_are_writes, "each flush of something committed is one write of its size")       \
	X(large_write_crosses_the_ring, "writes of awkward sizes wrap without harm")              \
	X(files_are_sent_where_declared, "a stack sends files if and only if it declares it")     \
	/* ending.c */                                                                            \
	X(finish_delivers_first, "finish comes behind all that was committed, flushed or not")    \
	X(half_closed_still_sends, "a half-closed connection still carries the other direction")  \
	X(both_finished_is_done, "when both sides finished, each gets one CLOSED(DONE)")          \
	X(finish_at_once_from_both, "both sides finishing at once ends done")                     \
	X(finish_twice_is_harmless, "finishing twice, or sending after it, does nothing")         \
	X(abort_resets, "abort ends as ABORTED here and RESET there, once each")                  \
	X(abort_before_connected, "a connection aborted before it was established just ends")     \
	X(abort_comes_before_what_was_not_told,                                                   \
	  "an abort leaves nothing to tell but itself, not even an end that had come")            \
	X(many_aborts_reach_all_peers, "a hundred aborts in one turn reset a hundred peers")      \
	X(calls_after_the_end_are_not_counted,                                                    \
	  "what is called after finish or abort is neither a refusal nor a write")                \
	X(ends_in_order_have_no_fault,                                                            \
	  "a connection that was ended on purpose has no fault, whatever became of others")       \
	X(close_resets_the_rest, "closing an instance resets its hundred connections")            \
	X(unread_bytes_survive_finish, "bytes before the finish can be read after it")            \
	X(stranger_does_not_suffer, "the reset of one connection leaves another's stream whole")  \
	/* turning.c */                                                                           \
	X(room_for_one_event_loses_none, "polls with room for one event lose none")               \
	X(waiting_is_what_is_declared,                                                            \
	  "poll sleeps if and only if the stack declares that it can")                            \
	X(waits_are_counted, "what a poll slept is in its turn and in the counters")              \
	X(waiting_leaves_the_cpu, "a poll that waits uses little CPU time")                       \
	X(events_end_a_wait, "what arrives ends a wait early")                                    \
	X(counters_balance, "the counters of both sides agree with what happened")

/* Of those that declare TP_SENDS_FILES; files.c. */
#define FILE_RULES(X)                                                                       \
	X(files_arrive_behind_what_was_committed,                                           \
	  "files arrive byte for byte behind what was committed")                           \
	X(a_file_without_room_is_told_once,                                                 \
	  "a file that found no room is told of it by one WRITABLE")                        \
	X(a_file_behind_full_memory_waits_for_it,                                           \
	  "a file behind full send memory waits until that has left")                       \
	X(a_file_before_the_connection_is_told_once,                                        \
	  "a file that comes before the connection is told when it may come")               \
	X(a_file_leaves_a_lent_room,                                                        \
	  "a file leaves a lent room where it is, and comes before its bytes")              \
	X(what_is_no_longer_in_the_file_is_said,                                            \
	  "what is no longer in the file is said, and nothing else is harmed")              \
	X(nothing_is_sent_after_the_end, "nothing of a file is sent after finish or abort") \
	X(a_peer_that_reset_ends_it_without_a_signal, "a peer's reset ends a file's sender")

#define X(function, sentence) void function(void);
RULES(X)
FILE_RULES(X)
#undef X

#endif
