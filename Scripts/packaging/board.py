#!/usr/bin/env python3
"""The installed package in the virtual board, under systemd: `Scripts/package board` starts this.

    board.py ROOT FOLDER   ROOT: a Debian 13 root; FOLDER: mdoc-reader's package, and a program mdoc-wallet that runs here

The service serves a visitor through the kernel's camera, Bluetooth and lines; then each of its capabilities is taken away.
Exit status 1 when anything is not as the unit says.
"""
import glob
import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "virtual"))

from bench import Bench, Surprise
from scenarios import figures, relay, roles, told


class Options:
    """What the parts of the bench ask for."""

    def __init__(self, folder):
        self.phone, self.keep, self.programs = "own", bool(os.environ.get("MDOC_KEEP")), folder
        self.roles = roles()
        self.lines = " ".join(self.roles.values())

    def program(self, name):
        return os.path.join(self.programs, name)


def main():
    root, folder = map(os.path.abspath, sys.argv[1:3])
    with Bench(Options(folder), timeout=600) as bench:
        for name in [*glob.glob(f"{folder}/mdoc-reader_*.deb"), f"{HERE}/try-board"]:
            shutil.copy(name, f"{bench.folder}/share/")
        bench.ring()
        # The events go through a folder in memory: the shared one is too slow to be followed
        bench.boot(
            before="mkdir -p /run/unit; cp -r /run/share /run/unit/share; : >/run/unit/share/log\n"
                   "mount -t cgroup2 cgroup2 /sys/fs/cgroup 2>/dev/null\n"
                   f"sh {HERE}/boot {root} /run/unit/layer /share/try-board /run/unit/share >&2 &",
            command="exec tail -n +1 -f /run/unit/share/log")
        try:
            bench.event("starting", 240)
            print(f"  the unit's capabilities: {bench.event('capabilities')['what']}", flush=True)
            bench.ready(60)
            bench.show_code()
            transaction = bench.transaction()
            bench.hide_code()
            bench.ready(30)
            print(f"  a visitor: {told(transaction)}; {relay(bench)}; {figures(transaction)}", flush=True)
            if transaction["outcome"] != "granted":
                raise Surprise("the visitor was not let in")
            bench.run("touch /run/unit/share/one-visitor")
            failed = False
            while (event := bench.event(lambda e: e["event"] in ("without", "over"), 60))["event"] == "without":
                capability, seen = event["what"], {}
                # What it may do and how it fares, in either order
                while len(seen) < 2:
                    event = bench.event(lambda e: e["event"] in ("capabilities", "ready", "fault"), 60)
                    seen["left" if event["event"] == "capabilities" else "state"] = event
                left, state = seen["left"]["what"], seen["state"]
                said = state["event"] + "".join(f", {text}" for text in (*state.get("reasons", ()), state.get("detail")) if text)
                print(f"  without {capability} (left: {left}): {said}", flush=True)
                wanted = "ready" if capability == "NONE" else "fault, radioUnavailable"
                failed |= not said.startswith(wanted)
                bench.run(f"touch /run/unit/share/without-{capability}")
            if failed:
                raise Surprise("without a capability it must fail, and with all it must be ready")
        except Surprise as surprise:
            print(f"board: {surprise}; {bench.tail('reader.events', 12)}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
