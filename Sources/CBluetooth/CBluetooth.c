#define _GNU_SOURCE
#include "CBluetooth.h"

// Structures and numbers are those of libbluetooth-dev's headers; nothing of the library is linked.
#include <bluetooth/bluetooth.h>
#include <bluetooth/hci.h>
#include <bluetooth/l2cap.h>
#include <string.h>

int bluetooth_hci_socket(void) {
  return socket(AF_BLUETOOTH, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, BTPROTO_HCI);
}

int bluetooth_hci_bind(int socket, uint16_t device, uint16_t channel) {
  struct sockaddr_hci address = {.hci_family = AF_BLUETOOTH, .hci_dev = device, .hci_channel = channel};
  return bind(socket, (const struct sockaddr *)&address, sizeof address);
}

int bluetooth_hci_filter(int socket, uint64_t events) {
  struct hci_filter filter = {
    .type_mask = 1 << HCI_EVENT_PKT, .event_mask = {(uint32_t)events, (uint32_t)(events >> 32)}};
  return setsockopt(socket, SOL_HCI, HCI_FILTER, &filter, sizeof filter);
}

int bluetooth_l2cap_socket(void) {
  return socket(AF_BLUETOOTH, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, BTPROTO_L2CAP);
}

static struct sockaddr_l2 l2cap_address(const uint8_t *bytes, uint8_t type, uint16_t psm, uint16_t channel) {
  struct sockaddr_l2 address;
  memset(&address, 0, sizeof address);
  address.l2_family = AF_BLUETOOTH;
  address.l2_psm = htobs(psm);
  memcpy(&address.l2_bdaddr, bytes, sizeof address.l2_bdaddr);
  address.l2_cid = htobs(channel);
  address.l2_bdaddr_type = type;
  return address;
}

int bluetooth_l2cap_bind(int socket, const uint8_t *bytes, uint16_t psm, uint16_t channel) {
  struct sockaddr_l2 address = l2cap_address(bytes, BDADDR_LE_PUBLIC, psm, channel);
  return bind(socket, (const struct sockaddr *)&address, sizeof address);
}

int bluetooth_l2cap_connect(int socket, const uint8_t *bytes, uint8_t type, uint16_t psm, uint16_t channel) {
  struct sockaddr_l2 address = l2cap_address(bytes, type, psm, channel);
  return connect(socket, (const struct sockaddr *)&address, sizeof address);
}

int bluetooth_l2cap_accept(int socket, uint8_t *bytes, uint8_t *type) {
  struct sockaddr_l2 address;
  memset(&address, 0, sizeof address);
  socklen_t length = sizeof address;
  int connected = accept4(socket, (struct sockaddr *)&address, &length, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (connected >= 0) {
    memcpy(bytes, &address.l2_bdaddr, sizeof address.l2_bdaddr);
    *type = address.l2_bdaddr_type;
  }
  return connected;
}

int bluetooth_set_low_security(int socket) {
  struct bt_security security = {.level = BT_SECURITY_LOW};
  return setsockopt(socket, SOL_BLUETOOTH, BT_SECURITY, &security, sizeof security);
}

int bluetooth_set_receive_buffer(int socket, int bytes) {
  if (setsockopt(socket, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) != 0 &&
      setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes) != 0)
    return -1;
  int granted = 0;
  socklen_t length = sizeof granted;
  return getsockopt(socket, SOL_SOCKET, SO_RCVBUF, &granted, &length) == 0 ? granted : -1;
}

int bluetooth_l2cap_psm(int socket) {
  struct sockaddr_l2 address;
  memset(&address, 0, sizeof address);
  socklen_t length = sizeof address;
  return getsockname(socket, (struct sockaddr *)&address, &length) == 0 ? btohs(address.l2_psm) : -1;
}

int bluetooth_set_le_flow_control(int socket) {
  uint8_t mode = BT_MODE_LE_FLOWCTL;
  return setsockopt(socket, SOL_BLUETOOTH, BT_MODE, &mode, sizeof mode);
}

int bluetooth_set_receive_mtu(int socket, uint16_t bytes) {
  return setsockopt(socket, SOL_BLUETOOTH, BT_RCVMTU, &bytes, sizeof bytes);
}

int bluetooth_send_mtu(int socket) {
  uint16_t bytes = 0;
  socklen_t length = sizeof bytes;
  return getsockopt(socket, SOL_BLUETOOTH, BT_SNDMTU, &bytes, &length) == 0 ? bytes : -1;
}
