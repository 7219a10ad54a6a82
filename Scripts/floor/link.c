// An echo on bare kernel sockets, in the virtual board: what the reader's transfer is compared with; and the log of the PDUs.
//
//   link gatt ADDRESS BYTES           connects to the phone's ATT channel, sends so many bytes, gets them back
//   link channel ADDRESS PSM BYTES    the same over an LE L2CAP channel
//   link serve UUID BYTES             advertises UUID, gets so many bytes on the ATT channel, sends them back
//   link log FILE                     until SIGTERM: "SECONDS DIRECTION LENGTH BEGINNING" of each HCI event and ACL packet
//
// The first three print the nanoseconds from the first part that comes in to the last: in that direction an answer goes. As
// in ISO 18013-5, each value on the ATT channel begins with 1 when more come and 0 when it is the last.
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

// From the kernel's <net/bluetooth/...>, which it does not give to programs
enum {
  protocol_l2cap = 0,
  protocol_hci = 1,
  level_bluetooth = 274,
  option_receive_mtu = 13,
  option_send_mtu = 12,
  no_device = 0xffff,
  channel_monitor = 2,
  channel_control = 3,
  att_channel = 4,
  public_address = 1,
  random_address = 2,
  monitor_event = 3,
  monitor_sent = 4,
  monitor_received = 5,
  add_advertising = 0x3e,
  remove_advertising = 0x3f,
};
enum { mtu = 517, value_limit = 512, sdu_limit = 2048, value_handle = 3, advertisement = 5, patience = 30 };
enum { most_packets = 1 << 16, kept = 24 };

struct l2cap_address {
  sa_family_t family;
  uint16_t psm;
  uint8_t address[6];
  uint16_t channel;
  uint8_t type;
};

struct hci_address {
  sa_family_t family;
  uint16_t device, channel;
};

static void check(int good, const char *what) {
  if (good) return;
  fprintf(stderr, "floor: %s failed: %s\n", what, strerror(errno));
  exit(1);
}

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static unsigned number(const uint8_t *bytes) { return bytes[0] | bytes[1] << 8; }

static void put(uint8_t *bytes, unsigned value) {
  bytes[0] = (uint8_t)value;
  bytes[1] = (uint8_t)(value >> 8);
}

// --- Sockets

static int l2cap_socket(unsigned channel, int receives) {
  int link = socket(AF_BLUETOOTH, SOCK_SEQPACKET | SOCK_CLOEXEC, protocol_l2cap);
  check(link >= 0, "an L2CAP socket");
  struct l2cap_address own = {.family = AF_BLUETOOTH, .channel = (uint16_t)channel, .type = public_address};
  check(bind(link, (void *)&own, sizeof own) == 0, "bind");
  int buffer = 4 << 20;
  check(setsockopt(link, SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof buffer) == 0, "SO_RCVBUFFORCE");
  uint16_t size = (uint16_t)receives;
  if (receives > 0) check(setsockopt(link, level_bluetooth, option_receive_mtu, &size, sizeof size) == 0, "BT_RCVMTU");
  struct timeval limit = {.tv_sec = patience};
  check(setsockopt(link, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0, "SO_RCVTIMEO");
  check(setsockopt(link, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) == 0, "SO_SNDTIMEO");
  return link;
}

static int connected(const char *text, unsigned psm, unsigned channel, int receives) {
  struct l2cap_address peer = {
      .family = AF_BLUETOOTH, .psm = (uint16_t)psm, .channel = (uint16_t)channel, .type = random_address};
  unsigned bytes[6];
  check(sscanf(text, "%x:%x:%x:%x:%x:%x", bytes, bytes + 1, bytes + 2, bytes + 3, bytes + 4, bytes + 5) == 6, "ADDRESS");
  for (int at = 0; at < 6; at++) peer.address[at] = (uint8_t)bytes[5 - at];
  int link = l2cap_socket(channel, receives);
  check(connect(link, (void *)&peer, sizeof peer) == 0, "connect");
  return link;
}

static void whole(int link, const uint8_t *bytes, size_t count) {
  check(write(link, bytes, count) == (ssize_t)count, "write");
}

// Waits without reading. Debian 12's kernels from 6.1.119 on, not 6.1.192 any more, keep an L2CAP socket locked while a read
// waits (bt_sock_recvmsg), and what would end its waiting is not let in.
static void await(int link) {
  struct pollfd waiting = {.fd = link, .events = POLLIN};
  int ready = poll(&waiting, 1, patience * 1000);
  if (ready == 0) errno = ETIMEDOUT;
  check(ready > 0, "waiting for the phone");
}

static size_t received(int link, uint8_t *bytes, size_t limit) {
  ssize_t count;
  while ((count = recv(link, bytes, limit, MSG_DONTWAIT)) < 0 && errno == EAGAIN) await(link);
  check(count > 0, "recv");
  return (size_t)count;
}

static uint8_t *pattern(size_t count) {
  uint8_t *bytes = malloc(count);
  check(bytes != NULL, "malloc");
  for (size_t at = 0; at < count; at++) bytes[at] = (uint8_t)(at * 7 + at / 256);
  return bytes;
}

// --- The ATT channel

static void send_parts(int link, uint8_t operation, const uint8_t *bytes, size_t count, size_t size) {
  uint8_t part[3 + value_limit];
  size_t room = (size - 3 < value_limit ? size - 3 : value_limit) - 1;
  for (size_t at = 0; at < count;) {
    size_t length = count - at < room ? count - at : room;
    part[0] = operation;
    put(part + 1, value_handle);
    part[3] = at + length < count;
    memcpy(part + 4, bytes + at, length);
    whole(link, part, length + 4);
    at += length;
  }
}

// Takes parts until the last one, answers the question for the MTU, and gives the time from the first to the last.
static int64_t take_parts(int link, uint8_t operation, uint8_t *bytes, size_t count, size_t *size) {
  uint8_t part[mtu];
  int64_t first = 0;
  for (size_t at = 0;;) {
    size_t length = received(link, part, sizeof part);
    if (part[0] == 2 && length == 3) {
      *size = number(part + 1) < mtu ? number(part + 1) : mtu;
      put(part + 1, mtu);
      part[0] = 3;
      whole(link, part, 3);
    }
    if (part[0] != operation || length < 4) continue;
    if (first == 0) first = now();
    check(at + length - 4 <= count, "taking no more than was asked for");
    memcpy(bytes + at, part + 4, length - 4);
    at += length - 4;
    if (part[3] != 0) continue;
    int64_t time = now() - first;
    check(at == count, "taking all");
    return time;
  }
}

static int64_t gatt(const char *address, size_t count) {
  int link = connected(address, 0, att_channel, 0);
  uint8_t question[3] = {2}, answer[mtu];
  put(question + 1, mtu);
  whole(link, question, sizeof question);
  check(received(link, answer, sizeof answer) == 3 && answer[0] == 3, "asking for the MTU");
  size_t size = number(answer + 1) < mtu ? number(answer + 1) : mtu;
  uint8_t *sent = pattern(count), *back = malloc(count);
  check(back != NULL, "malloc");
  send_parts(link, 0x52, sent, count, size);
  int64_t time = take_parts(link, 0x1b, back, count, &size);
  check(memcmp(sent, back, count) == 0, "getting the same bytes back");
  close(link);
  return time;
}

// --- A channel: all bytes there, then all bytes back

static int64_t channel(const char *address, unsigned psm, size_t count) {
  int link = connected(address, psm, 0, sdu_limit);
  uint16_t limit = 0;
  socklen_t length = sizeof limit;
  check(getsockopt(link, level_bluetooth, option_send_mtu, &limit, &length) == 0 && limit > 0, "BT_SNDMTU");
  if (limit > sdu_limit) limit = sdu_limit;
  uint8_t *sent = pattern(count), *back = malloc(count + sdu_limit), size[4];
  check(back != NULL, "malloc");
  put(size, count & 0xffff);
  put(size + 2, (unsigned)(count >> 16));
  whole(link, size, sizeof size);
  for (size_t at = 0; at < count;) {
    size_t piece = count - at < limit ? count - at : limit;
    whole(link, sent + at, piece);
    at += piece;
  }
  int64_t first = 0, last = 0;
  for (size_t at = 0; at < count; last = now()) {
    at += received(link, back + at, sdu_limit);
    if (first == 0) first = now();
  }
  check(memcmp(sent, back, count) == 0, "getting the same bytes back");
  close(link);
  return last - first;
}

// --- Being found

static int hci_socket(unsigned which) {
  int link = socket(AF_BLUETOOTH, SOCK_RAW | SOCK_CLOEXEC, protocol_hci);
  check(link >= 0, "an HCI socket");
  struct hci_address own = {.family = AF_BLUETOOTH, .device = no_device, .channel = (uint16_t)which};
  check(bind(link, (void *)&own, sizeof own) == 0, "binding an HCI socket");
  return link;
}

static void manage(int link, unsigned command, const uint8_t *parameters, size_t count) {
  uint8_t packet[64], answer[600];
  put(packet, command);
  put(packet + 2, 0);
  put(packet + 4, (unsigned)count);
  memcpy(packet + 6, parameters, count);
  whole(link, packet, count + 6);
  for (;;) {
    size_t length = received(link, answer, sizeof answer);
    unsigned event = number(answer);
    if (length < 9 || (event != 1 && event != 2) || number(answer + 6) != command) continue;
    errno = EPROTO;
    check(answer[8] == 0, "a management command");
    return;
  }
}

static int64_t serve(const char *text, size_t count) {
  // Instance, flags (connectable, discoverable), duration and timeout, lengths of data and scan response, the data
  uint8_t wish[11 + 18] = {advertisement, 3, 0, 0, 0, 0, 0, 0, 0, 18, 0, 17, 7};
  size_t digits = 0;
  for (; *text != 0 && digits < 32; text++) {
    char digit[2] = {*text, 0};
    if (*text == '-') continue;
    uint8_t *byte = wish + 13 + 15 - digits / 2;
    *byte = (uint8_t)(*byte << 4 | strtoul(digit, NULL, 16));
    digits++;
  }
  check(digits == 32, "UUID");
  int door = l2cap_socket(att_channel, 0), management = hci_socket(channel_control);
  check(listen(door, 1) == 0, "listen");
  manage(management, add_advertising, wish, sizeof wish);
  int link = accept(door, NULL, NULL);
  check(link >= 0, "accept");
  manage(management, remove_advertising, wish, 1);
  int buffer = 4 << 20;
  check(setsockopt(link, SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof buffer) == 0, "SO_RCVBUFFORCE");
  uint8_t *bytes = malloc(count), *sent = pattern(count);
  check(bytes != NULL, "malloc");
  size_t size = 23;
  int64_t time = take_parts(link, 0x52, bytes, count, &size);
  check(memcmp(sent, bytes, count) == 0, "getting the bytes of the pattern");
  send_parts(link, 0x1b, bytes, count, size);
  // The phone ends the link when it has all.
  await(link);
  close(link);
  close(door);
  return time;
}

// --- The log

static volatile sig_atomic_t is_over;
static void end(int number) {
  (void)number;
  is_over = 1;
}

static void keep_log(const char *path) {
  struct packet {
    struct timeval time;
    uint16_t what, length;
    uint8_t bytes[kept];
  } *packets = calloc(most_packets, sizeof *packets);
  check(packets != NULL, "calloc");
  int link = hci_socket(channel_monitor), yes = 1, buffer = 4 << 20;
  check(setsockopt(link, SOL_SOCKET, SO_TIMESTAMP, &yes, sizeof yes) == 0, "SO_TIMESTAMP");
  check(setsockopt(link, SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof buffer) == 0, "SO_RCVBUFFORCE");
  signal(SIGTERM, end);
  size_t count = 0;
  while (!is_over) {
    struct pollfd waiting = {.fd = link, .events = POLLIN};
    if (poll(&waiting, 1, 100) <= 0) continue;
    uint8_t bytes[2048];
    union {
      struct cmsghdr header;
      char room[256];
    } extra;
    struct iovec place = {bytes, sizeof bytes};
    struct msghdr message = {
        .msg_iov = &place, .msg_iovlen = 1, .msg_control = &extra, .msg_controllen = sizeof extra};
    ssize_t length = recvmsg(link, &message, MSG_DONTWAIT);
    if (length < 6) continue;
    unsigned what = number(bytes);
    if (what != monitor_event && what != monitor_sent && what != monitor_received) continue;
    check(count < most_packets, "keeping the log");
    struct packet *packet = packets + count++;
    for (struct cmsghdr *one = CMSG_FIRSTHDR(&message); one != NULL; one = CMSG_NXTHDR(&message, one))
      if (one->cmsg_level == SOL_SOCKET && one->cmsg_type == SCM_TIMESTAMP)
        memcpy(&packet->time, CMSG_DATA(one), sizeof packet->time);
    packet->what = (uint16_t)what;
    packet->length = (uint16_t)(length - 6);
    memcpy(packet->bytes, bytes + 6, packet->length < kept ? packet->length : kept);
  }
  FILE *file = fopen(path, "w");
  check(file != NULL, "opening the file");
  for (struct packet *packet = packets; packet < packets + count; packet++) {
    fprintf(file, "%lld.%06ld %s %u ", (long long)packet->time.tv_sec, (long)packet->time.tv_usec,
            packet->what == monitor_event ? "event" : packet->what == monitor_sent ? "sent" : "received", packet->length);
    for (int at = 0; at < kept && at < packet->length; at++) fprintf(file, "%02x", packet->bytes[at]);
    fputc('\n', file);
  }
  check(fclose(file) == 0, "writing the file");
}

int main(int count, char **words) {
  const char *verb = count > 1 ? words[1] : "";
  if (count == 3 && strcmp(verb, "log") == 0) {
    keep_log(words[2]);
    return 0;
  }
  int64_t time = 0;
  if (count == 4 && strcmp(verb, "gatt") == 0) time = gatt(words[2], strtoul(words[3], NULL, 10));
  if (count == 5 && strcmp(verb, "channel") == 0)
    time = channel(words[2], (unsigned)strtoul(words[3], NULL, 0), strtoul(words[4], NULL, 10));
  if (count == 4 && strcmp(verb, "serve") == 0) time = serve(words[2], strtoul(words[3], NULL, 10));
  errno = EINVAL;
  check(time > 0, "gatt, channel, serve or log");
  printf("%lld\n", (long long)time);
  return 0;
}
