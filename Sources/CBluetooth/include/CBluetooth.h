// Bluetooth sockets of Linux with plain arguments. Each function returns what the call it names returns: -1 and errno on
// failure.
#pragma once

#include <stddef.h>
#include <stdint.h>

/// No controller.
static const uint16_t bluetooth_no_device = 0xffff;
/// The channel of raw packets of one controller, and that of the management interface.
static const uint16_t bluetooth_channel_raw = 0;
static const uint16_t bluetooth_channel_control = 3;

/// Non-blocking and close-on-exec, like all that follow. An HCI socket, not bound.
int bluetooth_hci_socket(void);
int bluetooth_hci_bind(int socket, uint16_t device, uint16_t channel);
/// Which events a raw socket gets: bit N of `events` stands for event N, 0 to 63. Packets other than events: none.
int bluetooth_hci_filter(int socket, uint64_t events);

/// An L2CAP socket of packets, not bound.
int bluetooth_l2cap_socket(void);
/// Binds to any LE adapter's `address` (6 bytes, little-endian; zeros for any), and to a fixed channel or a PSM.
int bluetooth_l2cap_bind(int socket, const uint8_t *address, uint16_t psm, uint16_t channel);
int bluetooth_l2cap_connect(int socket, const uint8_t *address, uint8_t type, uint16_t psm, uint16_t channel);
/// The peer's address (6 bytes) and its type come back.
int bluetooth_l2cap_accept(int socket, uint8_t *address, uint8_t *type);

/// BT_SECURITY low: no pairing, no encryption.
int bluetooth_set_low_security(int socket);
/// SO_RCVBUFFORCE, or SO_RCVBUF where that is not allowed. Gives what the kernel counts now (twice what was asked).
int bluetooth_set_receive_buffer(int socket, int bytes);
/// The PSM of a bound socket; the kernel chooses one for a socket that was bound to none.
int bluetooth_l2cap_psm(int socket);
/// BT_MODE: LE flow control, for a bound socket. Kernels that know no other mode for LE refuse the option.
int bluetooth_set_le_flow_control(int socket);
/// BT_RCVMTU and BT_SNDMTU of a channel with a PSM.
int bluetooth_set_receive_mtu(int socket, uint16_t bytes);
int bluetooth_send_mtu(int socket);
