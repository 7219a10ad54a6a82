"""Puts the independent Python holder on the simulated air: ATT in front of bare characteristic values.

    python3 att_bridge.py --peer FOLDER --air FOLDER [--mode central|peripheral|both] [--mtu N] [--vanish-after N]
                          [holder options]

FOLDER of --peer holds holder_socket.py. The engagement URI is printed first, one line, as the holder prints it; the
holder's remarks and the bridge's own go to standard error. Written from the protocol notes alone, so that the reader is
tested against ATT that shares nothing with it: PDUs are built and taken apart here with `struct`.

The air is a folder of AF_UNIX SOCK_SEQPACKET sockets named `UUID.ADDRESS`, one ATT PDU for each record.
"""
from __future__ import annotations

import argparse
import base64
import os
import secrets
import select
import socket
import struct
import subprocess
import sys
import tempfile
import time

BASE = bytes.fromhex("0000000aA12348CE896B4C76973373E6".lower())
SERVER_MODE = {"state": 1, "client2server": 2, "server2client": 3}            # mdoc peripheral server mode
CLIENT_MODE = {"state": 5, "client2server": 6, "server2client": 7, "ident": 8}  # mdoc central client mode


def characteristic(number: int) -> bytes:
    """The little-endian UUID of a characteristic, as it is on the air."""
    return (struct.pack(">I", number) + BASE[4:])[::-1]


def say(text: str) -> None:
    print(f"bridge: {text}", file=sys.stderr, flush=True)


class Closed(Exception):
    """The other side of a socket is gone."""


class Central:
    """The wallet as GATT client: discovers the reader's service, subscribes, starts."""

    def __init__(self, link: socket.socket, uuid: bytes, ident: bytes, mtu: int):
        self.link, self.uuid, self.ident, self.mtu = link, uuid, ident, mtu
        self.waiting: list[bytes] = []

    def request(self, pdu: bytes) -> bytes:
        """One request and its response; notifications that come between are kept."""
        self.link.sendall(pdu)
        while True:
            answer = self.link.recv(1024)
            if not answer:
                raise Closed
            if answer[0] != 0x1B:
                return answer
            self.waiting.append(answer)

    def start(self) -> None:
        answer = self.request(struct.pack("<BH", 0x02, self.mtu))
        assert answer[0] == 0x03, "no MTU response"
        self.mtu = max(23, min(self.mtu, struct.unpack_from("<H", answer, 1)[0]))
        found = self.request(struct.pack("<BHHH", 0x06, 1, 0xFFFF, 0x2800) + self.uuid[::-1])
        assert found[0] == 0x07, f"service not found: {found.hex()}"
        first, last = struct.unpack_from("<HH", found, 1)
        handles: dict[int, int] = {}
        at = first
        while at <= last:
            answer = self.request(struct.pack("<BHHH", 0x08, at, last, 0x2803))
            if answer[0] == 0x01:
                break
            size = answer[1]
            for place in range(2, len(answer), size):
                declaration, _properties, value = struct.unpack_from("<HBH", answer, place)
                uuid = answer[place + 5:place + size]
                for number in CLIENT_MODE.values():
                    if uuid == characteristic(number):
                        handles[number] = value
                at = declaration + 1
        assert set(handles) == set(CLIENT_MODE.values()), f"characteristics: {handles}"
        descriptors = []
        at = first
        while at <= last:
            answer = self.request(struct.pack("<BHH", 0x04, at, last))
            if answer[0] == 0x01:
                break
            size = 2 if answer[1] == 1 else 16
            for place in range(2, len(answer), 2 + size):
                handle = struct.unpack_from("<H", answer, place)[0]
                if answer[place + 2:place + 2 + size] == b"\x02\x29":
                    descriptors.append(handle)
                at = handle + 1
        answer = self.request(struct.pack("<BH", 0x0A, handles[CLIENT_MODE["ident"]]))
        assert answer[0] == 0x0B and answer[1:] == self.ident, f"Ident differs: {answer.hex()}"
        self.handles = handles
        for name in ("state", "server2client"):
            value = handles[CLIENT_MODE[name]]
            others = [h for h in handles.values() if h > value]
            own = [d for d in descriptors if d > value and all(d < o for o in others)]
            assert own, f"no descriptor of {name}"
            assert self.request(struct.pack("<BHH", 0x12, own[0], 1)) == b"\x13", "subscription refused"
        self.link.sendall(struct.pack("<BH", 0x52, handles[CLIENT_MODE["state"]]) + b"\x01")
        say(f"started as client, MTU {self.mtu}")

    def send(self, value: bytes) -> None:
        self.link.sendall(struct.pack("<BH", 0x52, self.handles[CLIENT_MODE["client2server"]]) + value)

    def take(self, pdu: bytes) -> bytes | None:
        """The value of a notification on Server2Client; None for anything else."""
        if pdu[0] != 0x1B:
            return None
        handle = struct.unpack_from("<H", pdu, 1)[0]
        if handle == self.handles[CLIENT_MODE["state"]]:
            if pdu[3:] == b"\x02":
                raise Closed
            return None
        return pdu[3:] if handle == self.handles[CLIENT_MODE["server2client"]] else None


class Peripheral:
    """The wallet as GATT server: one primary service with three characteristics at fixed handles."""

    def __init__(self, link: socket.socket, uuid: bytes, mtu: int):
        self.link, self.offer, self.mtu, self.started = link, mtu, 23, False
        self.attributes: dict[int, tuple[bytes, bytes]] = {40: (b"\x00\x28", uuid[::-1])}
        layout = (("state", 0x14, 41), ("client2server", 0x04, 44), ("server2client", 0x10, 46))
        self.values: dict[str, int] = {}
        for name, properties, at in layout:
            number = SERVER_MODE[name]
            self.attributes[at] = (b"\x03\x28", struct.pack("<BH", properties, at + 1) + characteristic(number))
            self.attributes[at + 1] = (characteristic(number), b"")
            self.values[name] = at + 1
            if properties & 0x10:
                self.attributes[at + 2] = (b"\x02\x29", b"\x00\x00")

    def error(self, opcode: int, handle: int, code: int) -> None:
        self.link.sendall(struct.pack("<BBHB", 0x01, opcode, handle, code))

    def send(self, value: bytes) -> None:
        self.link.sendall(struct.pack("<BH", 0x1B, self.values["server2client"]) + value)

    def take(self, pdu: bytes) -> bytes | None:
        """Answers a request; the value of a write to Client2Server, None for anything else."""
        opcode = pdu[0]
        if opcode == 0x02:
            self.mtu = max(23, min(self.offer, struct.unpack_from("<H", pdu, 1)[0]))
            self.link.sendall(struct.pack("<BH", 0x03, self.offer))
        elif opcode == 0x06:
            first, last, kind = struct.unpack_from("<HHH", pdu, 1)
            if kind == 0x2800 and first <= 40 <= last and pdu[7:] == self.attributes[40][1]:
                self.link.sendall(struct.pack("<BHH", 0x07, 40, max(self.attributes)))
            else:
                self.error(opcode, first, 0x0A)
        elif opcode in (0x08, 0x10):
            first, last = struct.unpack_from("<HH", pdu, 1)
            wanted = pdu[5:]
            rows = [(h, v) for h, (t, v) in sorted(self.attributes.items()) if first <= h <= last and t == wanted]
            if not rows:
                self.error(opcode, first, 0x0A)
                return None
            size = len(rows[0][1]) + (2 if opcode == 0x08 else 4)
            body = b""
            for handle, value in rows:
                end = struct.pack("<H", max(self.attributes)) if opcode == 0x10 else b""
                row = struct.pack("<H", handle) + end + value
                if len(row) != size or 2 + len(body) + size > self.mtu:
                    break
                body += row
            self.link.sendall(bytes([opcode + 1, size]) + body)
        elif opcode == 0x04:
            first, last = struct.unpack_from("<HH", pdu, 1)
            rows = [(h, t) for h, (t, _) in sorted(self.attributes.items()) if first <= h <= last]
            if not rows:
                self.error(opcode, first, 0x0A)
                return None
            size = len(rows[0][1])
            body = b""
            for handle, kind in rows:
                if len(kind) != size or 2 + len(body) + 2 + size > self.mtu:
                    break
                body += struct.pack("<H", handle) + kind
            self.link.sendall(bytes([0x05, 1 if size == 2 else 2]) + body)
        elif opcode in (0x12, 0x52):
            handle = struct.unpack_from("<H", pdu, 1)[0]
            value = pdu[3:]
            if opcode == 0x12:
                self.link.sendall(b"\x13")
            if handle == self.values["state"]:
                if value == b"\x02":
                    raise Closed
                if value == b"\x01":
                    self.started = True
                    say(f"started as server, MTU {self.mtu}")
            elif handle == self.values["client2server"] and self.started:
                return value
        elif opcode == 0x0A:
            handle = struct.unpack_from("<H", pdu, 1)[0]
            if handle in self.attributes:
                self.link.sendall(b"\x0b" + self.attributes[handle][1][: self.mtu - 1])
            else:
                self.error(opcode, handle, 0x01)
        elif not opcode & 0x40 and opcode & 1 == 0:
            self.error(opcode, 0, 0x06)
        return None


def text(uuid: bytes) -> str:
    h = uuid.hex()
    return "-".join((h[:8], h[8:12], h[12:16], h[16:20], h[20:]))


def connect(air: str, uuid: bytes, own: str, deadline: float) -> socket.socket | None:
    """A connection to whoever advertises `uuid`, apart from ourselves; None when nobody does yet."""
    for name in sorted(os.listdir(air)):
        if name.startswith(text(uuid) + ".") and name != own and time.monotonic() < deadline:
            link = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            try:
                link.connect(os.path.join(air, name))
                return link
            except OSError:
                link.close()
    return None


def establish(options: argparse.Namespace, ble: dict[int, object], ident: bytes) -> Central | Peripheral:
    """The first link of the offered modes that reaches State start."""
    deadline = time.monotonic() + options.timeout
    own, server, peripheral = "", None, None
    if ble.get(0):
        own = text(ble[10]) + "." + secrets.token_hex(6)
        server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        server.bind(os.path.join(options.air, own))
        server.listen(4)
        server.setblocking(False)
    try:
        while time.monotonic() < deadline:
            if ble.get(1):
                link = connect(options.air, ble[11], own, deadline)
                if link is not None:
                    link.settimeout(options.timeout)
                    central = Central(link, ble[11], ident, options.mtu)
                    central.start()
                    return central
            if server is not None and peripheral is None:
                try:
                    link, _ = server.accept()
                    link.settimeout(options.timeout)
                    peripheral = Peripheral(link, ble[10], options.mtu)
                except BlockingIOError:
                    pass
            if peripheral is not None and select.select([peripheral.link], [], [], 0.005)[0]:
                pdu = peripheral.link.recv(1024)
                if not pdu:
                    peripheral.link.close()
                    peripheral = None
                    continue
                peripheral.take(pdu)
                if peripheral.started:
                    return peripheral
            elif peripheral is None:
                time.sleep(0.005)
        raise SystemExit("bridge: nobody came")
    finally:
        if server is not None:
            server.close()
            os.unlink(os.path.join(options.air, own))


def relay(link: Central | Peripheral, holder: socket.socket, vanish_after: int | None) -> None:
    """Values both ways until one side is gone; with `vanish_after`, until so many values were sent."""
    for pdu in getattr(link, "waiting", []):
        value = link.take(pdu)
        if value is not None:
            holder.sendall(value)
    sent = 0
    holder_open = True
    while True:
        sources = [link.link] + ([holder] if holder_open else [])
        ready, _, _ = select.select(sources, [], [], 60)
        if not ready:
            raise SystemExit("bridge: nothing happened for a minute")
        if link.link in ready:
            pdu = link.link.recv(1024)
            if not pdu:
                return
            value = link.take(pdu)
            if value is not None and holder_open:
                try:
                    holder.sendall(value)
                except OSError:
                    holder_open = False
        if holder in ready:
            value = holder.recv(65536)
            if not value:
                holder_open = False
                continue
            link.send(value)
            sent += 1
            if vanish_after is not None and sent >= vanish_after:
                say(f"vanished after {sent} values")
                return


def main() -> int:
    p = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    p.add_argument("--peer", required=True)
    p.add_argument("--air", required=True)
    p.add_argument("--mode", choices=("central", "peripheral", "both"), default="both")
    p.add_argument("--mtu", type=int, default=515)
    p.add_argument("--timeout", type=float, default=30.0)
    p.add_argument("--vanish-after", type=int, help="close the link after so many values to the reader")
    options, holder_options = p.parse_known_args()
    sys.path.insert(0, options.peer)
    from mdoc_holder import ble_ident           # the independent peer's own code
    from wire import decode

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "holder")
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        listener.bind(path)
        listener.listen(1)
        process = subprocess.Popen(
            [sys.executable, os.path.join(options.peer, "holder_socket.py"), "--connect", f"unix:{path}",
             "--mode", options.mode, "--mtu", str(options.mtu), *holder_options],
            stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            uri = process.stdout.readline().strip()
            if not uri:
                return process.wait()
            holder, _ = listener.accept()
            data = uri.partition(":")[2]
            engagement = base64.urlsafe_b64decode(data + "=" * (-len(data) % 4))
            ble: dict[int, object] = {}
            for method in decode(engagement).plain()[2]:
                if method[0] == 2:
                    ble.update({k: v for k, v in method[2].items() if v is not False})
            print(uri, flush=True)
            link = establish(options, ble, ble_ident(engagement))
            try:
                relay(link, holder, options.vanish_after)
            except (Closed, ConnectionError):
                pass
            link.link.close()
            holder.close()
        finally:
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
