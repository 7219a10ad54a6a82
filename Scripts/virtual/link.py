#!/usr/bin/env python3
"""What `Scripts/bench link` measures in the virtual board: the reader's transfer of a portrait against an echo on bare kernel
sockets (Scripts/floor/link.c), one after the other in the same boot, and ATT round trips as the kernel's log of PDUs has them.

    link.py --programs FOLDER --floor PROGRAM [--rounds N] [CASE...]

Prints lines as Scripts/bench wants them, and what it saw on standard error. Exit status 1 when something did not come.
"""
import argparse
import os
import statistics
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from bench import Bench, Surprise
from phone import ECHO_ADDRESS, ECHO_PSM, ECHO_UUID, NOTIFICATION, WRITE_COMMAND
from scenarios import PORTRAIT, Options, told

# The requests of ATT: each has a response, or an error
REQUESTS = (0x02, 0x04, 0x06, 0x08, 0x0A, 0x0C, 0x0E, 0x10, 0x12, 0x16, 0x18, 0x20)
CASES = {
    # name: (mode of the wallet, over a channel, most round trips from link to request, the echo)
    "peripheral": ("peripheral", False, 6, f"gatt {ECHO_ADDRESS} {PORTRAIT}"),
    "central": ("central", False, None, f"serve {ECHO_UUID} {PORTRAIT}"),
    "l2cap": ("peripheral", True, None, f"channel {ECHO_ADDRESS} {ECHO_PSM} {PORTRAIT}"),
}


class Log:
    """The ATT PDUs of the last link that came up: [(is sent by the board, operation, length)]."""

    def __init__(self, path):
        self.pdus = []
        with open(path) as file:
            for line in file:
                _, kind, _, text = line.split()
                data = bytes.fromhex(text)
                if kind == "event":
                    # LE Meta, (Enhanced) Connection Complete, success
                    if data[0] == 0x3E and data[2] in (0x01, 0x0A) and data[3] == 0:
                        self.pdus, handle = [], int.from_bytes(data[4:6], "little") & 0xFFF
                    continue
                head = int.from_bytes(data[:2], "little")
                # The first fragment of a PDU on the ATT channel of that link
                if self.pdus is not None and head & 0xFFF == handle and head >> 12 & 3 != 1 and data[6:8] == b"\4\0":
                    self.pdus.append((kind == "sent", data[8], int.from_bytes(data[4:6], "little")))

    def round_trips(self, board_asks):
        """Requests that were answered, before the first byte of the reader's request."""
        trips, waits = 0, False
        for is_sent, operation, length in self.pdus:
            # A value of one byte is State.
            if is_sent and length > 4 and operation == (WRITE_COMMAND if board_asks else NOTIFICATION):
                return trips
            if is_sent == board_asks and operation in REQUESTS:
                waits = True
            elif is_sent != board_asks and waits and operation & 1 and operation not in (NOTIFICATION, 0x1D):
                trips, waits = trips + 1, False
        raise Surprise("the log of PDUs has no request")


def show_newest_code(bench):
    """A wallet does not wait for ever: while a slow board started, another session may have begun."""
    bench.show_code()
    while True:
        try:
            bench.show_code(seconds=1)
        except Surprise:
            return


def measure(name, options, rounds):
    mode, l2cap, most_trips, echo = CASES[name]
    ours, floor = [], []
    with Bench(options, timeout=1200) as bench:
        bench.ring(own=True, mode=mode, portrait=PORTRAIT, l2cap=l2cap, sessions=rounds + 5, echo=PORTRAIT)
        bench.boot().ready()
        for number in range(rounds + 1):
            # The first one warms up, and is logged: the log would take time from the others.
            if number == 0:
                bench.run(f"{options.floor} log /run/share/log >/run/log-errors 2>&1 & echo $! >/run/log; sleep 0.5")
            show_newest_code(bench)
            transaction = bench.transaction()
            if transaction["outcome"] != "granted":
                raise Surprise(f"{name}: {told(transaction)}")
            bench.ready(20)
            bench.hide_code()
            if number == 0:
                bench.run("kill $(cat /run/log); while kill -0 $(cat /run/log) 2>/dev/null; do sleep 0.1; done; cat /run/log-errors")
                link = transaction["link"]
                if link["transport"] != ("l2cap" if l2cap else "gatt"):
                    raise Surprise(f"{name}: the reader says {link['transport']}")
                # Over a channel no request is in the ATT log.
                if not l2cap:
                    trips = Log(f"{bench.folder}/share/log").round_trips(mode == "peripheral")
                    if link["roundTrips"] != trips:
                        raise Surprise(f"{name}: {trips} round trips in the log, and the reader says {link['roundTrips']}")
                    print(f"link {name}-trips {trips} 0 trips {most_trips or '-'}", flush=True)
            rate = transaction["responseBytes"] / transaction["milliseconds"]["transfer"]
            # Alone, as the reader is while it takes an answer: it would look at pictures meanwhile.
            bench.signal_reader("STOP")
            spent = bench.run(f"timeout 90 {options.floor} {echo}", check=False).strip()
            bench.signal_reader("CONT")
            if not spent.isdecimal():
                raise Surprise(f"{name}: the echo says {spent}")
            bare = PORTRAIT * 1e6 / int(spent)
            print(f"{name} {number}: {rate:.1f} kB/s, echo {bare:.1f} kB/s", file=sys.stderr, flush=True)
            if number > 0:
                ours.append(rate)
                floor.append(bare)
        bench.stop()
    print(f"link {name}-100KiB {statistics.median(ours):.1f} {statistics.median(floor):.1f} kB/s >0.90", flush=True)


def main():
    p = argparse.ArgumentParser(prog="link")
    p.add_argument("--programs", required=True, help="folder of mdoc-reader and mdoc-wallet")
    p.add_argument("--floor", required=True, help="Scripts/floor/link.c, compiled")
    p.add_argument("--rounds", type=int, default=9)
    p.add_argument("--keep", action="store_true", help="keep the folder of each boot")
    p.add_argument("cases", nargs="*", default=list(CASES), metavar="CASE")
    arguments = p.parse_args()
    arguments.phone, arguments.shared_wallet = "own", None
    options = Options(arguments)
    options.floor = os.path.abspath(arguments.floor)
    status = 0
    for name in arguments.cases:
        try:
            measure(name, options, arguments.rounds)
        except Surprise as surprise:
            print(f"link: {surprise}", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
