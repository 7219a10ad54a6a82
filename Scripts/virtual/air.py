"""The air of the virtual board and the controllers on it, with bumble, a Bluetooth stack that is not ours.

`LocalLink` and `Controller` of bumble 0.0.236 need corrections to satisfy a Linux host; each says why.
"""
import asyncio
import json
import time

from bumble import hci, ll
from bumble.controller import Controller
from bumble.core import AdvertisingData
from bumble.link import LocalLink
from bumble.transport import open_transport

START = time.monotonic()


def report(event, **fields):
    """One event as a JSON line: `t` in seconds since the start, `time` as seconds of the day's clock."""
    print(json.dumps({"t": round(time.monotonic() - START, 3), "time": round(time.time(), 3), "event": event, **fields}),
          flush=True)


class Air(LocalLink):
    """Sends data from the address that the connection was made with. bumble takes the random one always; a Linux host
    with a public address connects with that, and its data would be dropped."""

    def send_acl_data(self, sender, destination, transport, data):
        connection = sender.le_connections.get(destination)
        receiver = self.find_le_controller(destination)
        if connection is not None and receiver is not None:
            asyncio.get_running_loop().call_soon(
                receiver.on_link_acl_data, connection.self_address, transport, data)


class Radio(Controller):
    """A controller of Bluetooth 4.2, as on a Raspberry Pi 4: legacy advertising and scanning, longer packets."""

    le_acl_data_packet_length = acl_data_packet_length = 251
    total_num_le_acl_data_packets = 8
    supported_max_tx_octets = supported_max_rx_octets = suggested_max_tx_octets = 251
    # Without extended advertising: bumble would answer a legacy scan with extended reports.
    le_features = (hci.LeFeatureMask.LE_ENCRYPTION | hci.LeFeatureMask.CONNECTION_PARAMETERS_REQUEST_PROCEDURE
                   | hci.LeFeatureMask.PERIPHERAL_INITIATED_FEATURE_EXCHANGE | hci.LeFeatureMask.LE_PING
                   | hci.LeFeatureMask.LE_DATA_PACKET_LENGTH_EXTENSION)
    # Called when the host wants a connection, before it is looked for
    on_attempt = staticmethod(lambda: None)

    def on_hci_reset_command(self, command):
        # bumble's reset forgets nothing: a second power-on would find scan, advertiser and links of the life before.
        self.silence()
        self.pending_le_connection = None
        for connection in list(self.le_connections.values()):
            connection.send_ll_control_pdu(ll.TerminateInd(hci.HCI_ErrorCode.CONNECTION_TIMEOUT_ERROR))
            del self.le_connections[connection.peer_address]
        return super().on_hci_reset_command(command)

    def on_hci_command(self, command):
        # Asked for something that bumble has no handler for, it answers nothing, and Linux waits 2 s.
        report("unsupported-command", by=self.name, command=command.name)
        status = hci.HCI_ErrorCode.UNKNOWN_HCI_COMMAND_ERROR
        if isinstance(command, hci.HCI_SyncCommand):
            return hci.HCI_StatusReturnParameters(status)
        self._send_hci_command_status(status, command.op_code)
        return None

    def on_hci_le_create_connection_command(self, command):
        report("create-connection", by=self.name, peer=str(command.peer_address),
               interval_ms=[command.connection_interval_min * 1.25, command.connection_interval_max * 1.25],
               supervision_ms=command.supervision_timeout * 10)
        self.on_attempt()
        return super().on_hci_le_create_connection_command(command)

    def on_hci_le_create_connection_cancel_command(self, command):
        # The host waits for the connection-complete event of the attempt that it cancelled.
        pending, self.pending_le_connection = self.pending_le_connection, None
        if pending is None:
            return hci.HCI_StatusReturnParameters(hci.HCI_ErrorCode.COMMAND_DISALLOWED_ERROR)
        report("cancel-connection", by=self.name, peer=str(pending.peer_address))
        asyncio.get_running_loop().call_soon(self.send_hci_packet, hci.HCI_LE_Connection_Complete_Event(
            status=hci.HCI_ErrorCode.UNKNOWN_CONNECTION_IDENTIFIER_ERROR, connection_handle=0, role=hci.Role.CENTRAL,
            peer_address_type=pending.peer_address.address_type, peer_address=pending.peer_address,
            connection_interval=0, peripheral_latency=0, supervision_timeout=0, central_clock_accuracy=0))
        return super().on_hci_le_create_connection_cancel_command(command)

    def break_down(self):
        """Reports a fault of its own, as a controller does whose firmware has crashed; the host resets it."""
        self.host.on_packet(bytes([hci.HCI_EVENT_PACKET, hci.HCI_HARDWARE_ERROR_EVENT, 1, 0x42]))

    def tell(self):
        """Reports what it is busy with."""
        report("busy", by=self.name, advertises=self.le_legacy_advertiser.enabled, scans=bool(self.le_scan_enable),
               connects=self.pending_le_connection is not None)

    def silence(self):
        """Neither advertises nor scans any more."""
        self.le_scan_enable = False
        self.le_legacy_advertiser.stop()

    def vanish(self):
        """Loses every link as a phone does that leaves: both ends run into the supervision timeout."""
        reason = hci.HCI_ErrorCode.CONNECTION_TIMEOUT_ERROR
        for connection in list(self.le_connections.values()):
            connection.send_ll_control_pdu(ll.TerminateInd(reason))
            self.on_le_disconnected(connection, reason)


class DualModeRadio(Radio):
    """The same with Bluetooth Classic, as every Raspberry Pi has it: the kernel then leaves LE off until it is enabled
    through the management channel."""

    lmp_features = hci.LmpFeatureMask.LE_SUPPORTED_CONTROLLER | hci.LmpFeatureMask.EXTENDED_FEATURES
    # What Linux asks at power-on and bumble does not know: the answer after the status byte
    ANSWERS = {
        hci.HCI_READ_VOICE_SETTING_COMMAND: bytes(2),
        hci.HCI_READ_NUMBER_OF_SUPPORTED_IAC_COMMAND: b"\x01",
        hci.HCI_READ_CURRENT_IAC_LAP_COMMAND: b"\x01\x33\x8b\x9e",
        hci.HCI_SET_EVENT_FILTER_COMMAND: b"",
        hci.HCI_WRITE_CONNECTION_ACCEPT_TIMEOUT_COMMAND: b"",
        hci.HCI_WRITE_DEFAULT_LINK_POLICY_SETTINGS_COMMAND: b"",
        hci.HCI_READ_PAGE_SCAN_ACTIVITY_COMMAND: bytes(4),
        hci.HCI_READ_PAGE_SCAN_TYPE_COMMAND: bytes(1),
        hci.HCI_WRITE_AUTHENTICATION_ENABLE_COMMAND: b"",
        hci.HCI_DELETE_STORED_LINK_KEY_COMMAND: bytes(2),
    }

    def on_hci_command(self, command):
        if command.op_code in self.ANSWERS:
            return hci.HCI_GenericReturnParameters(data=b"\0" + self.ANSWERS[command.op_code])
        return super().on_hci_command(command)


class TurnTakingRadio(DualModeRadio):
    """The same, and it advertises or scans, never both: it says so, and refuses the second."""

    # Every state alone, no combination of two
    le_states = bytes([0xFF, 0, 0, 0, 0, 0, 0, 0])

    def refuse(self, what):
        report("refused-both", by=self.name, command=what)
        return hci.HCI_StatusReturnParameters(hci.HCI_ErrorCode.COMMAND_DISALLOWED_ERROR)

    def on_hci_le_set_scan_enable_command(self, command):
        if command.le_scan_enable and self.le_legacy_advertiser.enabled:
            return self.refuse("scan")
        report("turn", by=self.name, scans=bool(command.le_scan_enable))
        return super().on_hci_le_set_scan_enable_command(command)

    def on_hci_le_set_advertising_enable_command(self, command):
        if command.advertising_enable and self.le_scan_enable:
            return self.refuse("advertise")
        report("turn", by=self.name, advertises=bool(command.advertising_enable))
        return super().on_hci_le_set_advertising_enable_command(command)


async def serve_board(air, path, kind):
    """The board's controller, a `kind` of Radio, on a socket that the emulated machine connects to."""
    transport = await open_transport("unix-server:" + path)
    return kind("board", host_source=transport.source, host_sink=transport.sink, link=air,
                public_address="DC:A6:32:00:00:01")


def services(data):
    """The 128-bit service UUIDs of an advertisement: 16 bytes each, as they are written."""
    kinds = (AdvertisingData.COMPLETE_LIST_OF_128_BIT_SERVICE_CLASS_UUIDS,
             AdvertisingData.INCOMPLETE_LIST_OF_128_BIT_SERVICE_CLASS_UUIDS)
    return [value[at:at + 16][::-1] for kind, value in data.ad_structures if kind in kinds
            for at in range(0, len(value), 16)]
