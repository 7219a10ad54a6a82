#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/un.h>
#include <unistd.h>

int linux_epoll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

int linux_epoll_ctl(int set, int operation, int descriptor, uint32_t events, uint64_t token) {
  struct epoll_event event = {.events = events, .data.u64 = token};
  return epoll_ctl(set, operation, descriptor, &event);
}

int linux_epoll_wait(int set, struct linux_event *events, int capacity, int timeout_ms) {
  struct epoll_event buffer[64];
  int count = epoll_wait(set, buffer, capacity < 64 ? capacity : 64, timeout_ms);
  for (int i = 0; i < count; i++) {
    events[i].events = buffer[i].events;
    events[i].token = buffer[i].data.u64;
  }
  return count;
}

int linux_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

int linux_inotify(void) { return inotify_init1(IN_CLOEXEC | IN_NONBLOCK); }

static void fill(sigset_t *set, const int *signals, size_t count) {
  sigemptyset(set);
  for (size_t i = 0; i < count; i++) sigaddset(set, signals[i]);
}

int linux_signalfd(const int *signals, size_t count) {
  sigset_t set;
  fill(&set, signals, count);
  int code = pthread_sigmask(SIG_BLOCK, &set, NULL);
  if (code != 0) {
    errno = code;
    return -1;
  }
  return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int linux_signalfd_read(int descriptor) {
  struct signalfd_siginfo information;
  ssize_t count;
  do count = read(descriptor, &information, sizeof information);
  while (count < 0 && errno == EINTR);
  if (count < 0) return errno == EAGAIN ? 0 : -1;
  return count == sizeof information ? (int)information.ssi_signo : 0;
}

int linux_unblock_signals(const int *signals, size_t count) {
  sigset_t set;
  fill(&set, signals, count);
  int code = pthread_sigmask(SIG_UNBLOCK, &set, NULL);
  if (code == 0) return 0;
  errno = code;
  return -1;
}

int linux_seqpacket_socket(void) { return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0); }

int linux_seqpacket_pair(int descriptors[2]) {
  return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, descriptors);
}

int linux_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

size_t linux_unix_path_capacity(void) { return sizeof ((struct sockaddr_un *)0)->sun_path - 1; }

static int fill_address(struct sockaddr_un *address, const char *path) {
  size_t length = strlen(path);
  if (length == 0) {  // would be an unnamed or abstract address
    errno = EINVAL;
    return -1;
  }
  if (length > linux_unix_path_capacity()) {
    errno = ENAMETOOLONG;
    return -1;
  }
  memset(address, 0, sizeof *address);
  address->sun_family = AF_UNIX;
  memcpy(address->sun_path, path, length);
  return 0;
}

int linux_unix_bind(int socket, const char *path) {
  struct sockaddr_un address;
  if (fill_address(&address, path) != 0) return -1;
  return bind(socket, (const struct sockaddr *)&address, sizeof address);
}

int linux_unix_connect(int socket, const char *path) {
  struct sockaddr_un address;
  if (fill_address(&address, path) != 0) return -1;
  return connect(socket, (const struct sockaddr *)&address, sizeof address);
}

int linux_accept(int socket) { return accept4(socket, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK); }

ptrdiff_t linux_send(int socket, const void *bytes, size_t count) { return send(socket, bytes, count, MSG_NOSIGNAL); }

ptrdiff_t linux_receive_record(int socket, void *bytes, size_t capacity) {
  return recv(socket, bytes, capacity, MSG_TRUNC);
}

int linux_socket_error(int socket, int *code) {
  socklen_t length = sizeof *code;
  return getsockopt(socket, SOL_SOCKET, SO_ERROR, code, &length);
}

int linux_notify_socket(const char *name) {
  struct sockaddr_un address;
  if (name[0] != '/' && name[0] != '@') {
    errno = EAFNOSUPPORT;
    return -1;
  }
  if (fill_address(&address, name) != 0) return -1;
  // An abstract name has no terminator: its length says where it ends.
  socklen_t length = offsetof(struct sockaddr_un, sun_path) + strlen(name) + (name[0] == '/');
  if (name[0] == '@') address.sun_path[0] = 0;
  int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return -1;
  if (connect(descriptor, (const struct sockaddr *)&address, length) == 0) return descriptor;
  int code = errno;
  close(descriptor);
  errno = code;
  return -1;
}

int linux_set_not_dumpable(void) { return prctl(PR_SET_DUMPABLE, 0L, 0L, 0L, 0L); }

int linux_is_dumpable(void) { return prctl(PR_GET_DUMPABLE, 0L, 0L, 0L, 0L); }

__attribute__((noinline)) void linux_wipe_stack(void) {
  // Below the caller's frame, where whatever it called before has left its own
  char used[256 * 1024];
  explicit_bzero(used, sizeof used);
}

void linux_bound_kept_memory(void) {
  // Setting the first also ends glibc's own adjustment of both: after one large block is freed it would keep twice its size.
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  mallopt(M_TRIM_THRESHOLD, 1 << 18);
}

void linux_name_thread(const char *name) { pthread_setname_np(pthread_self(), name); }

const char *linux_error_text(int code) { return strerrordesc_np(code); }

const char *linux_error_name(int code) { return strerrorname_np(code); }
