#define _GNU_SOURCE
#include "CBluetooth.h"

#include <string.h>
#include <sys/socket.h>

// include/net/bluetooth/{bluetooth,hci_sock,l2cap}.h of the kernel.
enum { protocol_l2cap = 0, protocol_hci = 1 };
enum { level_hci = 0, option_hci_filter = 2 };
enum { level_bluetooth = 274, option_security = 4, option_send_mtu = 12, option_receive_mtu = 13 };
enum { security_low = 1, type_le_public = 1 };

struct address_hci {
  sa_family_t family;
  uint16_t device;
  uint16_t channel;
};

struct address_l2cap {
  sa_family_t family;
  uint16_t psm;
  uint8_t address[6];
  uint16_t channel;
  uint8_t type;
};

struct filter {
  uint32_t types;
  uint32_t events[2];
  uint16_t opcode;
};

struct security {
  uint8_t level;
  uint8_t key_size;
};

static uint16_t little(uint16_t value) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  return __builtin_bswap16(value);
#else
  return value;
#endif
}

int bluetooth_hci_socket(void) {
  return socket(AF_BLUETOOTH, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol_hci);
}

int bluetooth_hci_bind(int socket, uint16_t device, uint16_t channel) {
  struct address_hci address = {.family = AF_BLUETOOTH, .device = device, .channel = channel};
  return bind(socket, (const struct sockaddr *)&address, sizeof address);
}

int bluetooth_hci_filter(int socket, uint64_t events) {
  struct filter filter = {.types = 1 << 4, .events = {(uint32_t)events, (uint32_t)(events >> 32)}};
  return setsockopt(socket, level_hci, option_hci_filter, &filter, sizeof filter);
}

int bluetooth_l2cap_socket(void) {
  return socket(AF_BLUETOOTH, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol_l2cap);
}

static struct address_l2cap l2cap_address(const uint8_t *bytes, uint8_t type, uint16_t psm, uint16_t channel) {
  struct address_l2cap address;
  memset(&address, 0, sizeof address);
  address.family = AF_BLUETOOTH;
  address.psm = little(psm);
  memcpy(address.address, bytes, sizeof address.address);
  address.channel = little(channel);
  address.type = type;
  return address;
}

int bluetooth_l2cap_bind(int socket, const uint8_t *bytes, uint16_t psm, uint16_t channel) {
  struct address_l2cap address = l2cap_address(bytes, type_le_public, psm, channel);
  return bind(socket, (const struct sockaddr *)&address, sizeof address);
}

int bluetooth_l2cap_connect(int socket, const uint8_t *bytes, uint8_t type, uint16_t psm, uint16_t channel) {
  struct address_l2cap address = l2cap_address(bytes, type, psm, channel);
  return connect(socket, (const struct sockaddr *)&address, sizeof address);
}

int bluetooth_l2cap_accept(int socket, uint8_t *bytes, uint8_t *type) {
  struct address_l2cap address;
  memset(&address, 0, sizeof address);
  socklen_t length = sizeof address;
  int connected = accept4(socket, (struct sockaddr *)&address, &length, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (connected >= 0) {
    memcpy(bytes, address.address, sizeof address.address);
    *type = address.type;
  }
  return connected;
}

int bluetooth_set_low_security(int socket) {
  struct security security = {.level = security_low};
  return setsockopt(socket, level_bluetooth, option_security, &security, sizeof security);
}

int bluetooth_set_receive_buffer(int socket, int bytes) {
  if (setsockopt(socket, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) != 0 &&
      setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes) != 0)
    return -1;
  int granted = 0;
  socklen_t length = sizeof granted;
  return getsockopt(socket, SOL_SOCKET, SO_RCVBUF, &granted, &length) == 0 ? granted : -1;
}

int bluetooth_set_receive_mtu(int socket, uint16_t bytes) {
  return setsockopt(socket, level_bluetooth, option_receive_mtu, &bytes, sizeof bytes);
}

int bluetooth_send_mtu(int socket) {
  uint16_t bytes = 0;
  socklen_t length = sizeof bytes;
  return getsockopt(socket, level_bluetooth, option_send_mtu, &bytes, &length) == 0 ? bytes : -1;
}
