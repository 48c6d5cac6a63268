/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What collq-agent and its clients say to each other.
 *
 * A TCP connection is one process. Either end sends frames: a byte of type,
 * three of zero, the length of what follows as 32 bits, most significant byte
 * first; then that many bytes. The client describes the process, starts it, and
 * feeds it; the agent sends what it writes and, as the last frame, how it ended.
 * When the client closes the connection, or its host falls silent, the process
 * and all of its process group are killed. There is no authentication of any
 * kind: this is for a private link among virtual machines.
 *
 * The agent always reads, also while nobody reads what it has to say: so a client
 * that waits until it has sent a frame doesn't wait for long, and signals aren't held
 * up. Therefore there is a bound to the input that the process hasn't taken yet.
 */
#ifndef AGENT_FRAME_H
#define AGENT_FRAME_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define AGENT_PORT		"7411"
#define FRAME_HEADER		8
#define FRAME_MAX		65536		/* bytes behind the header */
#define INPUT_WINDOW		65536U		/* bytes of input that are not TAKEN yet */

/* From the client */
#define FRAME_ARGUMENT		'a'	/* the next of argv */
#define FRAME_ENVIRON		'e'	/* one more NAME=VALUE; starts from nothing */
#define FRAME_FOLDER		'd'	/* where to start it */
#define FRAME_START		's'	/* empty: all of that has been said */
#define FRAME_INPUT		'i'	/* for its standard input; empty: end of file */
#define FRAME_SIGNAL		'k'	/* one byte: send this to the process group */
#define FRAME_CRASH		'c'	/* empty, instead of all the above: crash the host */

/* From the agent */
#define FRAME_STARTED		'S'	/* empty */
#define FRAME_FAILED		'F'	/* one byte: the errno for which it did not start */
#define FRAME_OUTPUT		'O'	/* from its standard output */
#define FRAME_ERROR		'E'	/* from its standard error */
#define FRAME_TAKEN		'T'	/* 32 bits as above: so much input more, or in vain */
#define FRAME_EXITED		'X'	/* one byte: exit status, or 128 + signal */

struct frame {
	uint8_t type;
	uint32_t length;
	const uint8_t *data;	/* until the next call for this reader */
};

/* Takes a stream apart. All zero is a new one. */
struct frame_reader {
	size_t used;		/* bytes in the buffer */
	size_t done;		/* of these, belong to frames already handed out */
	uint8_t buffer[FRAME_HEADER + FRAME_MAX];
};

/*
 * Take what the descriptor has, without waiting. 1: there may be a new frame; 0:
 * nothing to read; -ECONNRESET: the stream has ended; or another error.
 */
int frame_fill(struct frame_reader *reader, int fd);

/* The next frame: 1; 0: not complete yet; -EPROTO: the other end is no peer of ours. */
int frame_next(struct frame_reader *reader, struct frame *frame);

/* What stands before that many bytes. */
void frame_header(uint8_t *header, uint8_t type, uint32_t length);

/* Send one or more frames of a type, waiting until the last byte is taken. */
int frame_send(int fd, uint8_t type, const void *data, size_t length);

/* Notice that the other end's host is gone, within half a minute when all is quiet. */
void frame_watch_peer(int fd);

#endif
