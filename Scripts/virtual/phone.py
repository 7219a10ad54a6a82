#!/usr/bin/env python3
"""A phone in radio range of the virtual board, with `mdoc-wallet` in it.

    phone.py --controller SOCKET --wallet PROGRAM [OPTIONS] [-- OPTIONS OF mdoc-wallet present]

The radio is bumble's; the wallet believes that it is on a simulated air, a folder of sockets that carry ATT PDUs. This
program is the relay between the two: what the wallet advertises in the folder is advertised on the air, what the board
advertises appears in the folder, and the PDUs of the ATT channel go through unseen by bumble's own GATT. So the phone's
GATT is our own, but what the board's kernel talks to is a foreign L2CAP, link layer and controller. The same with LE
credit-based channels: on the simulated air one is a socket `.ADDRESS.PSM`, of SDUs, beside that of the advertisement.

Each session is a new phone: new address, UUID and key. Events are JSON lines on standard output. With --control, a
socket takes one command a line: `drop` (out of range), `next` (give up this session), `break` (the board's controller
reports a hardware error), `tell` (an event says what the board's controller is busy with).

With --echo there is another phone on the air all the time, which sends back what it gets (Scripts/floor/link.c): what a
transfer is compared with. With --mode central it looks for the board and sends first.
"""
import argparse
import asyncio
import json
import os
import secrets
import shutil
import signal
import socket
import sys
import tempfile
import time
import uuid

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from bumble import att, hci, l2cap
from bumble.core import AdvertisingData
from bumble.device import Device
from bumble.hci import Address
from bumble.host import Host

from air import Air, DualModeRadio, Radio, TurnTakingRadio, report, serve_board, services

PHASES = ("engaged", "connecting", "connected", "started", "established", "mid-response", "after-response")
# Parts of the answer that go out before a phone vanishes or stalls in its middle
HALF = 4
WRITE_COMMAND, NOTIFICATION, READ_RESPONSE = 0x52, 0x1B, 0x0B
# The dynamic PSMs of LE
PSMS = range(0x80, 0x100)
# The longest SDU, both ways
SDU = 8192
# Packets that wait for the radio before the next PDU is handed to it
WAITING = 32
# The phone that echoes, and what a board advertises for it
ECHO_ADDRESS, ECHO_UUID, ECHO_PSM = "C0:00:00:00:EC:40", uuid.UUID("6563686f-0000-4000-8000-000000000001"), 0xF0


def channel_spec(psm):
    return l2cap.LeCreditBasedChannelSpec(psm=psm, mtu=SDU, mps=1024, max_credits=32)


def device_on(air, name):
    """(radio, device): a new phone with a random address of its own."""
    radio = Radio(name, link=air, public_address=str(Address.generate_static_address()))
    device = Device(name=name, address=Address.generate_static_address(), host=Host(radio, radio))
    return radio, device


def take_att(device, handler):
    """Gives the PDUs of the ATT channel to `handler(connection_handle, pdu)` instead of bumble's GATT."""
    device.l2cap_channel_manager.register_fixed_channel(att.ATT_CID, handler)


async def is_taken(device, most=WAITING):
    """The radio has taken what it was handed, all but so many packets."""
    while device.host.le_acl_packet_queue.pending > most:
        await asyncio.sleep(0.001)


async def advertise(device, service):
    data = AdvertisingData([(AdvertisingData.FLAGS, bytes([6])),
                            (AdvertisingData.COMPLETE_LIST_OF_128_BIT_SERVICE_CLASS_UUIDS, service.bytes[::-1])])
    await device.start_advertising(advertising_data=bytes(data), advertising_interval_min=40,
                                   advertising_interval_max=40)


class Gone(Exception):
    """The phone has left, or says nothing any more."""


class Progress:
    """Follows a session by its PDUs, to leave or fall silent at the phase that was named."""

    def __init__(self):
        self.phase, self.parts, self.bytes, self.trips, self.began = "connected", 0, 0, 0, 0.0

    def passes(self, pdu, from_phone):
        """The phase that begins with this PDU, or nothing."""
        if self.phase in ("connected", "started") and pdu[0] & 0x41 == 0:
            self.trips += 1                 # a request: it has a response
        if pdu[0] not in (WRITE_COMMAND, NOTIFICATION) or len(pdu) < 4:
            return None
        value = pdu[3:]
        if self.phase == "connected":
            return self.enter("started") if value == b"\x01" and pdu[0] == WRITE_COMMAND else None
        if len(value) < 2:
            return None                     # State
        if self.phase == "started" and not from_phone and value[0] == 0:
            return self.enter("established")
        if from_phone:
            self.began = self.began or time.monotonic()
            self.parts += 1
            self.bytes += len(value) - 1
            if value[0] == 0:
                return self.enter("after-response")
            if self.parts == HALF:
                return self.enter("mid-response")
        return None

    def enter(self, phase):
        self.phase = phase
        return phase

    def figures(self):
        """ATT round trips from the link to the first whole message; size, parts and seconds of the answer."""
        if self.phase == "established":
            return {"trips": self.trips}
        if self.phase == "after-response":
            return {"bytes": self.bytes, "parts": self.parts, "seconds": round(time.monotonic() - self.began, 3)}
        return {}


class Session:
    """One code and what comes of it."""

    def __init__(self, air, options, number):
        self.air, self.options, self.number = air, options, number
        self.folder = tempfile.mkdtemp(prefix="air.")
        self.radio, self.device = device_on(air, f"phone {number}")
        # Names in the folder that stand for the board's advertisements, and who waits there
        self.own = {}
        self.connection, self.link, self.task, self.progress = None, None, None, Progress()
        self.is_silent, self.is_gone, self.over, self.offered = False, False, asyncio.Event(), None
        self.second = SilentPhone(air, self.device) if options.second_phone else None
        # Channels: what we serve on the air, where the wallet opens the board's, and those that are open
        self.servers, self.doors, self.channels = {}, {}, set()

    def report(self, event, **fields):
        report(event, session=self.number, **fields)

    def attempted(self):
        """The board begins to connect to whom it has heard."""
        if self.options.vanish == "connecting" and not self.is_gone:
            self.progress.enter("connecting")
            self.vanish()

    async def run(self):
        wallet = await asyncio.create_subprocess_exec(
            self.options.wallet, "present", "--air", self.folder, "--json", "--mode", self.options.mode, "--yes",
            *self.options.present, stdout=asyncio.subprocess.PIPE)
        reading = asyncio.ensure_future(self.read(wallet.stdout))
        relaying = asyncio.ensure_future(self.relay())
        over = asyncio.ensure_future(self.over.wait())
        try:
            await asyncio.wait([reading, over], return_when=asyncio.FIRST_COMPLETED)
            # The reader closes the link in its own time; a kernel keeps it for 2 s after the last socket.
            await self.until(lambda: self.connection is None, 5)
        finally:
            for task in (relaying, reading, over):
                task.cancel()
            if wallet.returncode is None:
                wallet.send_signal(signal.SIGTERM)
            status = await wallet.wait()
            self.leave()
            shutil.rmtree(self.folder, ignore_errors=True)
            self.report("session-end", wallet_status=status)

    async def until(self, condition, seconds):
        for _ in range(int(seconds / 0.02)):
            if condition():
                return
            await asyncio.sleep(0.02)

    async def read(self, lines):
        """What the wallet says."""
        while line := await lines.readline():
            said = json.loads(line)
            kind = said.pop("event", "wallet")
            if kind == "engagement":
                self.report("engagement", uri=said["text"], mode=self.options.mode)
            else:
                self.report(f"wallet-{kind}", **said)

    # --- Being found and finding ---------------------------------------------------------------------------------

    async def relay(self):
        await self.device.power_on()
        take_att(self.device, self.from_board)
        self.device.on("connection", self.on_connection)
        self.device.on("advertisement", self.on_advertisement)
        if self.options.vanish == "engaged":
            self.is_gone = True
            self.report("vanished", phase="engaged")
            return
        if self.second is not None:
            await self.let_second_go_first()
        if self.options.mode != "peripheral" and not self.options.deaf:
            await self.device.start_scanning(filter_duplicates=False)
        advertised = None
        while not self.is_gone:
            offered = self.wallet_offer()
            wanted = offered if self.connection is None and self.task is None else None
            if wanted != advertised:
                if wanted is None:
                    if self.device.is_advertising:
                        await self.device.stop_advertising()
                else:
                    await advertise(self.device, uuid.UUID(wanted.partition(".")[0]))
                    self.report("advertising", uuid=wanted.partition(".")[0])
                advertised = wanted
            self.offered = offered
            self.offer_channels()
            await asyncio.sleep(0.02)

    def wallet_offer(self):
        """The name of the socket on which the wallet waits, when it does."""
        return next((name for name in os.listdir(self.folder)
                     if not name.startswith(".") and name not in self.own), None)

    # --- Channels ------------------------------------------------------------------------------------------------

    def offer_channels(self):
        """A channel that the wallet takes beside its advertisement is taken on the air."""
        for name in os.listdir(self.folder) if self.offered else ():
            address, _, psm = name[1:].partition(".")
            if name.startswith(".") and address == self.offered.partition(".")[2] and psm.isdecimal() \
                    and int(psm) not in self.servers:
                path = os.path.join(self.folder, name)
                if self.options.channel == "refused":
                    self.servers[int(psm)] = None       # as one who never had such a channel
                    continue
                if self.options.channel == "silent":
                    self.device.l2cap_channel_manager.on_l2cap_le_credit_based_connection_request = self.ignore_channel
                self.servers[int(psm)] = self.device.create_l2cap_server(
                    channel_spec(int(psm)), lambda channel, path=path: self.on_channel(channel, path))
                self.report("channel-offered", psm=int(psm))

    def ignore_channel(self, connection, cid, request):
        self.report("channel-ignored", psm=request.le_psm)

    def lose_channel(self, record):
        """The board has asked on the channel: the link is gone, and the phone is not."""
        self.report("channel-lost", bytes=len(record))
        self.radio.vanish()

    def on_channel(self, channel, path):
        if self.options.channel == "lost":
            channel.sink = self.lose_channel
            return
        link = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            link.connect(path)
        except OSError as error:
            self.report("channel-refused", why=str(error))
            asyncio.ensure_future(channel.disconnect())
            return
        self.join_channel(channel, link)

    def find_psm(self, pdu):
        """The board says by which PSM it takes a channel: the wallet may open it."""
        value = pdu[1:]
        if pdu[0] != READ_RESPONSE or len(value) not in (2, 4) or self.connection.role != hci.Role.CENTRAL:
            return
        psm = next((n for n in (int.from_bytes(value, "big"), int.from_bytes(value, "little")) if n in PSMS), None)
        for name in self.own if psm else ():
            path = os.path.join(self.folder, f".{name.partition('.')[2]}.{psm}")
            if path not in self.doors:
                listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                listener.setblocking(False)
                listener.bind(path)
                listener.listen(4)
                self.doors[path] = asyncio.ensure_future(self.await_channel(listener, psm))

    async def await_channel(self, listener, psm):
        try:
            link, _ = await asyncio.get_running_loop().sock_accept(listener)
        finally:
            listener.close()
        try:
            channel = await self.connection.create_l2cap_channel(channel_spec(psm))
        except Exception as error:          # of many kinds in bumble
            self.report("channel-failed", why=repr(error))
            link.close()
            return
        self.join_channel(channel, link)

    def join_channel(self, channel, link):
        link.setblocking(False)
        inbox = asyncio.Queue()
        channel.sink = inbox.put_nowait
        sending = asyncio.ensure_future(self.to_channel(channel, link))
        self.pumps += [asyncio.ensure_future(self.to_wallet(inbox, link)), sending]

        def on_close():
            self.channels.discard(channel)
            sending.cancel()
            inbox.put_nowait(None)          # after what has come
        self.channels.add(channel)
        channel.on("close", on_close)
        self.report("l2cap-open", psm=channel.psm, mtu=channel.mtu, peer_mtu=channel.peer_mtu)

    async def to_channel(self, channel, link):
        loop = asyncio.get_running_loop()
        try:
            while record := await loop.sock_recv(link, SDU):
                if self.is_gone:
                    return
                if not self.is_silent:
                    channel.write(record)
                    await channel.drain()
        except (OSError, ValueError):       # the channel has closed
            return
        if channel.state == l2cap.LeCreditBasedChannel.State.CONNECTED:
            # bumble fails when its own waiting is cancelled, as this is by the close that it waits for.
            await asyncio.shield(channel.disconnect())

    async def let_second_go_first(self):
        """The second phone is connected before ours can be found: that is what the scenario is about."""
        service = None
        if self.options.mode != "central":
            await self.until(self.wallet_offer, 10)
            service = uuid.UUID(self.wallet_offer().partition(".")[0])
        await self.second.start(service)
        await self.until(lambda: self.second.is_connected, 300)
        await asyncio.sleep(0.5)

    def on_connection(self, connection):
        connection.on("disconnection", lambda reason: self.on_disconnection(connection, reason))
        if connection.role == hci.Role.CENTRAL:
            return                          # by `connect`
        if self.connection is not None or self.offered is None:
            asyncio.ensure_future(connection.disconnect())
            return
        link = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            link.connect(os.path.join(self.folder, self.offered))
        except OSError as error:            # the wallet has just gone over to the other mode
            self.report("refused", why=str(error))
            asyncio.ensure_future(connection.disconnect())
            return
        self.join(connection, link, "peripheral")

    def on_advertisement(self, advertisement):
        """What the board advertises appears in the folder, under its address."""
        for service in services(advertisement.data):
            address = bytes(advertisement.address)[::-1].hex()
            name = f"{uuid.UUID(bytes=service)}.{address}"
            if name in self.own or self.is_gone or self.connection is not None:
                continue
            self.report("found", uuid=name.partition(".")[0], address=str(advertisement.address))
            listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            listener.setblocking(False)
            hidden = os.path.join(self.folder, "." + secrets.token_hex(6))
            listener.bind(hidden)
            listener.listen(4)
            self.own[name] = asyncio.ensure_future(self.await_wallet(name, listener, advertisement.address))
            # It gets its name when it listens, so that nobody who sees the name is refused.
            os.rename(hidden, os.path.join(self.folder, name))

    async def await_wallet(self, name, listener, address):
        loop = asyncio.get_running_loop()
        # Closed by who waits for it, and by nobody else: the loop would take the next socket of that number for this one.
        try:
            while name in self.own:
                link, _ = await loop.sock_accept(listener)
                if self.connection is not None or self.task is not None or self.is_gone:
                    link.close()
                    continue
                self.task = asyncio.ensure_future(self.connect(link, address))
        finally:
            listener.close()

    async def connect(self, link, address):
        link.setblocking(False)
        try:
            if self.device.scanning:
                await self.device.stop_scanning()
            connection = await self.device.connect(address, timeout=10)
            self.join(connection, link, "central")
        except Exception as error:          # of many kinds in bumble, all of them "no connection"
            self.report("connect-failed", why=repr(error))
            link.close()
            await self.look_again()
        finally:
            self.task = None

    async def look_again(self):
        for name, waiting in self.own.items():
            waiting.cancel()
            if os.path.exists(path := os.path.join(self.folder, name)):
                os.unlink(path)
        self.own.clear()
        if self.options.mode != "peripheral" and not self.options.deaf and not self.is_gone and not self.device.scanning:
            await self.device.start_scanning(filter_duplicates=False)

    # --- The link ------------------------------------------------------------------------------------------------

    def join(self, connection, link, role):
        link.setblocking(False)
        self.connection, self.link, self.progress = connection, link, Progress()
        self.inbox = asyncio.Queue()
        self.report("connected", role=role, peer=str(connection.peer_address))
        self.pumps = [asyncio.ensure_future(self.to_board(connection, link)),
                      asyncio.ensure_future(self.to_wallet(self.inbox, link))]
        self.happens("connected")

    def from_board(self, handle, pdu):
        if self.connection is None or handle != self.connection.handle or self.is_silent or not pdu:
            return
        self.find_psm(pdu)
        self.inbox.put_nowait(pdu)
        self.happens(self.progress.passes(pdu, from_phone=False))

    async def to_wallet(self, inbox, link):
        loop = asyncio.get_running_loop()
        try:
            while (record := await inbox.get()) is not None:
                await loop.sock_sendall(link, record)
        except OSError:
            return                          # the wallet has closed; the other direction ends the link
        except asyncio.CancelledError:
            link.close()
            raise
        link.close()

    async def to_board(self, connection, link):
        loop = asyncio.get_running_loop()
        try:
            while pdu := await loop.sock_recv(link, 1024):
                if self.is_gone:
                    return
                if self.is_silent:
                    continue
                phase = self.progress.passes(pdu, from_phone=True)
                self.device.send_l2cap_pdu(connection.handle, att.ATT_CID, pdu)
                await is_taken(self.device)
                if phase:
                    await is_taken(self.device, 0)
                    self.happens(phase)
        except OSError:
            pass
        # The wallet is done with GATT, and perhaps not with a channel; then with this link. As server it leaves that to the
        # reader for a while.
        while self.connection is connection and self.channels:
            await asyncio.sleep(0.02)
        if self.connection is connection and not self.is_silent:
            await is_taken(self.device, 0)
            await self.until(lambda: self.connection is not connection,
                             0.1 if connection.role == hci.Role.CENTRAL else 3)
            if self.connection is connection:
                await connection.disconnect()

    def on_disconnection(self, connection, reason):
        if self.connection is not connection:
            return
        self.report("disconnected", reason=int(reason), phase=self.progress.phase)
        self.connection = None
        for pump in self.pumps:
            pump.cancel()
        asyncio.get_running_loop().call_soon(self.link.close)
        if self.is_gone or self.is_silent:
            self.over.set()
        elif self.progress.phase == "connected":
            asyncio.ensure_future(self.look_again())

    # --- Faults --------------------------------------------------------------------------------------------------

    def happens(self, phase):
        if phase is None or self.is_silent or self.is_gone:
            return
        self.report("phase", phase=phase, **self.progress.figures())
        if phase == self.options.vanish:
            self.vanish()
        elif phase == self.options.stall:
            self.is_silent = True
            self.report("stalled", phase=phase)

    def vanish(self):
        self.is_gone = True
        self.report("vanished", phase=self.progress.phase)
        self.radio.silence()
        self.radio.vanish()
        self.over.set()

    def leave(self):
        self.is_gone = True
        self.radio.silence()
        self.radio.vanish()
        self.air.controllers.discard(self.radio)
        if self.second is not None:
            self.second.radio.silence()
            self.second.radio.vanish()
            self.air.controllers.discard(self.second.radio)
        for waiting in [*self.own.values(), *self.doors.values()]:
            waiting.cancel()


class SilentPhone:
    """Somebody else's phone: offers the same service, or connects to the board's, and then says nothing at all."""

    def __init__(self, air, visitor):
        self.visitor = visitor
        self.radio, self.device = device_on(air, "second phone")
        self.is_connected = False

    async def start(self, service):
        """`service` is what the visitor's phone would advertise; None where that only looks for the board."""
        await self.device.power_on()
        take_att(self.device, lambda handle, pdu: None)
        self.device.on("connection", self.on_connection)
        if service is not None:
            await advertise(self.device, service)
        else:
            self.device.on("advertisement", self.on_advertisement)
            await self.device.start_scanning(filter_duplicates=False)
        report("second-phone", address=str(self.device.random_address))

    def on_connection(self, connection):
        report("second-phone-connected", peer=str(connection.peer_address))
        self.is_connected = True
        connection.on("disconnection", lambda reason: report("second-phone-disconnected", reason=int(reason)))

    def on_advertisement(self, advertisement):
        if services(advertisement.data) and not self.is_connected \
                and advertisement.address != self.visitor.random_address:
            self.is_connected = True
            asyncio.ensure_future(self.connect(advertisement.address))

    async def connect(self, address):
        await self.device.stop_scanning()
        await self.device.connect(address)


class EchoPhone:
    """Sends back what it gets, as fast as the radio takes it: no service, no wallet, nothing but values. On the ATT channel
    each begins with 1 when more come and 0 when it is the last; on an L2CAP channel four bytes say first how many come."""

    def __init__(self, air, looks_for_board, size):
        self.looks_for_board, self.size = looks_for_board, size
        self.radio = Radio("echo", link=air, public_address=str(Address.generate_static_address()))
        self.device = Device(name="echo", address=Address(ECHO_ADDRESS), host=Host(self.radio, self.radio))
        self.connection, self.mtu, self.taken = None, 23, bytearray()

    async def start(self):
        await self.device.power_on()
        take_att(self.device, self.take)
        self.device.on("connection", self.on_connection)
        self.device.on("advertisement", self.on_advertisement)
        self.device.create_l2cap_server(channel_spec(ECHO_PSM), self.on_channel)
        await self.wait()

    async def wait(self):
        if self.looks_for_board:
            await self.device.start_scanning(filter_duplicates=False)
        else:
            await advertise(self.device, ECHO_UUID)

    def on_connection(self, connection):
        self.connection, self.mtu, self.taken = connection, 23, bytearray()
        connection.on("disconnection", self.on_disconnection)

    def on_disconnection(self, reason):
        self.connection = None
        asyncio.ensure_future(self.wait())

    def on_advertisement(self, advertisement):
        if ECHO_UUID.bytes in services(advertisement.data) and self.connection is None and self.device.scanning:
            asyncio.ensure_future(self.connect(advertisement.address))

    async def connect(self, address):
        if not self.device.scanning:
            return
        await self.device.stop_scanning()
        try:
            connection = await self.device.connect(address, timeout=10)
        except Exception as error:          # of many kinds in bumble
            report("echo-failed", why=repr(error))
            return await self.wait()
        self.device.send_l2cap_pdu(connection.handle, att.ATT_CID, bytes([2]) + (517).to_bytes(2, "little"))

    def take(self, handle, pdu):
        if self.connection is None or handle != self.connection.handle or not pdu:
            return
        if pdu[0] == 0x02:
            self.mtu = min(517, int.from_bytes(pdu[1:3], "little"))
            self.device.send_l2cap_pdu(handle, att.ATT_CID, bytes([3]) + (517).to_bytes(2, "little"))
        elif pdu[0] == 0x03:
            self.mtu = min(517, int.from_bytes(pdu[1:3], "little"))
            asyncio.ensure_future(self.send(WRITE_COMMAND, bytes((n * 7 + n // 256) & 0xFF for n in range(self.size))))
        elif pdu[0] in (WRITE_COMMAND, NOTIFICATION):
            self.taken += pdu[4:]
            if pdu[3] == 0:
                report("echo", bytes=len(self.taken), way=f"{pdu[0]:02x}")
                if pdu[0] == WRITE_COMMAND:
                    asyncio.ensure_future(self.send(NOTIFICATION, bytes(self.taken)))
                else:
                    asyncio.ensure_future(self.connection.disconnect())
                self.taken = bytearray()

    async def send(self, operation, message):
        connection, room = self.connection, min(self.mtu - 3, 512) - 1
        for at in range(0, len(message), room):
            if self.connection is not connection:
                return
            part = bytes([operation, 3, 0, 1 if at + room < len(message) else 0]) + message[at:at + room]
            self.device.send_l2cap_pdu(connection.handle, att.ATT_CID, part)
            await is_taken(self.device)

    def on_channel(self, channel):
        taken = bytearray()

        def take(record):
            taken.extend(record)
            if len(taken) >= 4 and len(taken) == 4 + int.from_bytes(taken[:4], "little"):
                asyncio.ensure_future(self.send_back(channel, bytes(taken[4:])))
        channel.sink = take

    async def send_back(self, channel, message):
        report("echo", bytes=len(message), way="channel")
        for at in range(0, len(message), channel.peer_mtu):
            channel.write(message[at:at + channel.peer_mtu])
            await channel.drain()


async def serve_commands(path, board, current):
    async def serve(reader, writer):
        while line := (await reader.readline()).decode().strip():
            session = current()
            if line == "break":
                board.break_down()
            elif line == "tell":
                board.tell()
            elif session is not None and line == "drop":
                session.vanish()
            elif session is not None and line == "next":
                session.over.set()
            writer.write(b"ok\n" if line in ("drop", "next", "break", "tell") else b"unknown\n")
        writer.close()
    await asyncio.start_unix_server(serve, path)


async def main():
    own, present = sys.argv[1:], []
    if "--" in own:
        own, present = own[:own.index("--")], own[own.index("--") + 1:]
    p = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    p.add_argument("--controller", required=True, help="socket on which the board's controller is served")
    p.add_argument("--wallet", help="the program mdoc-wallet; without it nobody is there")
    p.add_argument("--mode", choices=("peripheral", "central", "both"), default="both")
    p.add_argument("--dual-mode", action="store_true", help="the board's controller knows Bluetooth Classic too")
    p.add_argument("--take-turns", action="store_true", help="the board's controller advertises or scans, never both")
    p.add_argument("--sessions", type=int, default=1)
    p.add_argument("--pause", type=float, default=0.2, help="seconds between sessions")
    p.add_argument("--vanish", choices=PHASES, help="leaves radio range there")
    p.add_argument("--stall", choices=PHASES[2:], help="stays, and says nothing from there on")
    p.add_argument("--only-first", action="store_true", help="only the first phone vanishes or stalls")
    p.add_argument("--channel", choices=("refused", "silent", "lost"),
                   help="what comes of the board's wish for an L2CAP channel, instead of one")
    p.add_argument("--second-phone", action="store_true", help="another phone is there first, and says nothing")
    p.add_argument("--deaf", action="store_true", help="never hears the board, whatever the mode")
    p.add_argument("--echo", type=int, metavar="BYTES", help="another phone is there that echoes; how many it sends itself")
    p.add_argument("--control", help="socket for commands")
    options = p.parse_args(own)
    options.present = present
    air, session = Air(), None
    kind = TurnTakingRadio if options.take_turns else DualModeRadio if options.dual_mode else Radio
    board = await serve_board(air, options.controller, kind)
    if options.echo:
        await EchoPhone(air, options.mode == "central", options.echo).start()
    report("ready")
    if options.control:
        await serve_commands(options.control, board, lambda: session)
    for number in range(1, options.sessions + 1) if options.wallet else ():
        session = Session(air, options, number)
        board.on_attempt = session.attempted
        await session.run()
        await asyncio.sleep(options.pause)
        if options.only_first:
            options.vanish = options.stall = None
    report("done")
    await asyncio.get_running_loop().create_future()    # the controller stays until this program is ended


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        pass
