// Linux calls and constants that Swift's Glibc module does not offer, with plain arguments. Each function returns
// what the call it names returns: -1 and errno on failure.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/socket.h>

static const uint32_t linux_epoll_in = EPOLLIN;
static const uint32_t linux_epoll_out = EPOLLOUT;
static const uint32_t linux_epoll_err = EPOLLERR;
static const uint32_t linux_epoll_hup = EPOLLHUP;

static const int linux_epoll_ctl_add = EPOLL_CTL_ADD;
static const int linux_epoll_ctl_mod = EPOLL_CTL_MOD;
static const int linux_epoll_ctl_del = EPOLL_CTL_DEL;

static const uint32_t linux_in_create = IN_CREATE;
static const uint32_t linux_in_close_write = IN_CLOSE_WRITE;
static const uint32_t linux_in_moved_to = IN_MOVED_TO;
static const uint32_t linux_in_moved_from = IN_MOVED_FROM;
static const uint32_t linux_in_delete = IN_DELETE;
static const uint32_t linux_in_attrib = IN_ATTRIB;
static const uint32_t linux_in_delete_self = IN_DELETE_SELF;
static const uint32_t linux_in_move_self = IN_MOVE_SELF;
static const uint32_t linux_in_onlydir = IN_ONLYDIR;
static const uint32_t linux_in_q_overflow = IN_Q_OVERFLOW;
static const uint32_t linux_in_ignored = IN_IGNORED;

/// One event of an epoll set. `struct epoll_event` is packed on x86-64 only; this one is the same everywhere.
struct linux_event {
  uint32_t events;
  uint64_t token;
};

int linux_epoll_create(void);
int linux_epoll_ctl(int set, int operation, int descriptor, uint32_t events, uint64_t token);
/// At most 64 events at a time.
int linux_epoll_wait(int set, struct linux_event *events, int capacity, int timeout_ms);

/// Non-blocking and close-on-exec, like all that follow.
int linux_eventfd(void);
int linux_inotify(void);

/// Blocks the signals in the calling thread and gives a descriptor that reports them.
int linux_signalfd(const int *signals, size_t count);
/// The number of the next signal, 0 when there is none now.
int linux_signalfd_read(int descriptor);
/// Lets the signals through again in the calling thread.
int linux_unblock_signals(const int *signals, size_t count);

/// pipe2() with O_CLOEXEC.
int linux_pipe(int ends[2]);

/// AF_UNIX sockets of SOCK_SEQPACKET. A path that does not fit fails with ENAMETOOLONG.
int linux_seqpacket_socket(void);
int linux_seqpacket_pair(int descriptors[2]);
int linux_unix_bind(int socket, const char *path);
int linux_unix_connect(int socket, const char *path);
int linux_accept(int socket);
/// Room for a path in a socket address, without its terminating zero.
size_t linux_unix_path_capacity(void);
/// send with MSG_NOSIGNAL.
ptrdiff_t linux_send(int socket, const void *bytes, size_t count);
/// recv that gives the true length of a record, also when it did not fit.
ptrdiff_t linux_receive_record(int socket, void *bytes, size_t capacity);
/// Takes the error that a socket keeps (SO_ERROR) through `code`.
int linux_socket_error(int socket, int *code);

/// A datagram socket connected to the service manager's address: an absolute path, or `@` and an abstract name. Anything
/// else fails with EAFNOSUPPORT.
int linux_notify_socket(const char *address);

/// prctl(PR_SET_DUMPABLE, 0).
int linux_set_not_dumpable(void);
/// 0 or 1, as prctl(PR_GET_DUMPABLE) says.
int linux_is_dumpable(void);

/// Wipes 256 KiB of stack below the caller's frame: what the functions that it called before have left there.
void linux_wipe_stack(void);

/// Lets the C library keep no more than 256 KiB of what is freed at the end of the heap, and no block of 1 MiB or more.
void linux_bound_kept_memory(void);

/// Names the calling thread; 15 bytes at most.
void linux_name_thread(const char *name);

/// The text of an error number in English, or NULL. Thread-safe; the text is static.
const char *linux_error_text(int code);
/// EPERM and its like; NULL when unknown.
const char *linux_error_name(int code);
