#!/usr/bin/env python3
"""The scenarios of the virtual board, each with the outcome that it must have. `Scripts/virtual-board` starts this.

A scenario returns what it saw: (outcome, figures). The outcome has to be the declared one to the letter; figures are
printed beside it. It raises `Surprise` when something did not come. Each is one boot, or one for each part of it.
"""
import argparse
import calendar
import json
import os
import re
import signal
import sys
import time
import tomllib

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from bench import TOP, Bench, Surprise
from picture import draw

SCENARIOS = {}
# Both modes, relay pulses, a device that fails and heals (a visitor comes after it), a phone that leaves
SMOKE = ("central", "line-busy", "vanish-mid-response")
PORTRAIT = 102400


class Scenario:
    def __init__(self, name, what, declared, play, reference_only):
        self.name, self.what, self.play, self.reference_only = name, what, play, reference_only
        self.outcomes = (declared,) if isinstance(declared, str) else declared

    @property
    def declared(self):
        return ", or ".join(self.outcomes)


def scenario(name, what, declared, reference_only=False):
    """Declares one. `declared` is an outcome, or a tuple of those that a race decides between. `reference_only`: the
    project's own phone cannot play it."""
    def keep(play):
        SCENARIOS[name] = Scenario(name, what, declared, play, reference_only)
        return play
    return keep


# --- Visitors ----------------------------------------------------------------------------------------------------------

def told(transaction):
    """The outcome of a transaction in a few words."""
    link, reasons = transaction.get("link"), transaction["reasons"]
    words = [transaction["outcome"] + (f" ({', '.join(reasons)})" if reasons else "")]
    return words[0] + (f" in {link['mode']}" if link else "")


def figures(transaction):
    spans, link = transaction["milliseconds"], transaction.get("link", {})
    words = [f"MTU {link['mtu']}", f"{link['roundTrips']} round trips"] if link else []
    if "responseBytes" in transaction:
        words.append(f"{transaction['responseBytes']} bytes")
    return ", ".join(words + [f"{name} {round(value)} ms" for name, value in spans.items()])


def relay(bench, idle=0):
    """What the relay did: each pulse is two edges."""
    edges = bench.edges(bench.options.roles["relay"], idle)
    return {0: "relay never moved", 2: "one relay pulse"}.get(edges, f"{edges} relay edges")


def carrier(bench, transaction):
    """What carried the messages, as the phone saw it; the reader has to say the same."""
    seen = "L2CAP" if any(e["event"] == "l2cap-open" for e in bench.phone.events.all) else "GATT"
    link = transaction.get("link", {})
    told_so = link.get("transport", "gatt")
    if told_so.lower() != seen.lower():
        return f"{seen}, and the reader says {told_so}"
    return seen + (f" ({link['fallback']})" if "fallback" in link else "")


def visit(options, change=None, code=None, also=None, **wishes):
    """One visitor, from the code to ready again. `also` adds to the outcome what it says of the transaction."""
    with Bench(options) as bench:
        bench.configure(**(change or {}))
        bench.ring(**wishes)
        bench.boot().ready()
        if bench.line(options.roles["blue"]) != "1":
            raise Surprise("ready, and the blue lamp is dark")
        bench.show_code(**(code or {}))
        transaction = bench.transaction()
        bench.ready(20)
        moved = relay(bench)
        bench.stop()
        more = f"; {also(transaction)}" if also else ""
        if wishes.get("l2cap"):
            more += f"; over {carrier(bench, transaction)}"
        return f"{told(transaction)}; {moved}{more}", figures(transaction)


def size_of(transaction):
    return f"MTU {transaction['link']['mtu']}"


def few_trips(transaction):
    """From the link to the first byte of the request."""
    trips = transaction["link"]["roundTrips"]
    return "at most 6 round trips" if trips <= 6 else f"{trips} round trips"


def visitor(name, what, declared, reference_only=False, **how):
    scenario(name, what, declared, reference_only)(lambda options: visit(options, **how))


SERVED = "granted in peripheralServer; one relay pulse"
ASKED = "granted in centralClient; one relay pulse"
visitor("peripheral", "the wallet is the peripheral, over GATT", SERVED + "; at most 6 round trips", also=few_trips)
visitor("central", "the wallet is the central, over GATT", ASKED, mode="central")
visitor("single-mode", "the controller knows LE only", SERVED, dual_mode=False)
visitor("refused", "a visitor of 16 years", "refused (ageTooLow(18)) in peripheralServer; relay never moved", age=16)
visitor("l2cap-peripheral", "the wallet is the peripheral and offers an L2CAP channel", SERVED + "; over L2CAP", l2cap=True)
visitor("l2cap-central", "the wallet is the central and looks for an L2CAP channel", ASKED + "; over L2CAP",
        mode="central", l2cap=True)
visitor("l2cap-engagement", "the same as peripheral, and the code names the channel", SERVED + "; over L2CAP", l2cap=True,
        psm_in_engagement=True)
visitor("l2cap-portrait", "a portrait of 100 KiB over an L2CAP channel", SERVED + "; over L2CAP", l2cap=True,
        portrait=PORTRAIT)
# The reference wallet has no channel that fails.
for channel, what, reason in (("refused", "refuses the channel that it offers", "l2capRefused"),
                              ("silent", "never answers the wish for the channel that it offers", "l2capTimeout")):
    for name, in_code in (("", False), ("-engagement", True)):
        visitor(f"channel-{channel}{name}", f"the phone {what}" + (" in the code" if in_code else ""),
                f"{SERVED}; over GATT ({reason})", own=True, l2cap=True, channel=channel, psm_in_engagement=in_code)
visitor("channel-lost", "the link is lost when the request has come over the channel that the code names",
        f"{SERVED}; over GATT (l2capLost)", own=True, l2cap=True, channel="lost", psm_in_engagement=True)
for size in (23, 185, 517):
    visitor(f"mtu-{size}", f"ATT MTU {size}, the wallet is the peripheral", f"{SERVED}; MTU {size}", also=size_of, mtu=size)
    visitor(f"mtu-{size}-central", f"ATT MTU {size}, the wallet is the central", f"{ASKED}; MTU {size}", also=size_of,
            mtu=size, mode="central")
visitor("portrait", "a portrait of 100 KiB", SERVED, portrait=PORTRAIT)
visitor("portrait-central", "the same, the wallet is the central", ASKED, portrait=PORTRAIT, mode="central")
visitor("light-on-dark", "a light code on a dark ground", SERVED, code={"inverse": True})
visitor("small-code", "a code of three pixels a module", SERVED, code={"part": 0.45})


# Which mode wins is a race that both may win.
scenario("both", "both modes are offered", (SERVED, ASKED))(lambda options: visit(options, mode="both"))


@scenario("turns", "both modes are offered, and the adapter advertises or scans, never both",
          SERVED + "; in turns")
def turns(options):
    with Bench(options) as bench:
        # The reference wallet has no such controller. A phone that did not hear the board is found in the second turn.
        bench.ring(own=True, mode="both", take_turns=True, deaf=True)
        bench.boot().ready()
        bench.show_code()
        transaction = bench.transaction()
        bench.ready(20)
        outcome = f"{told(transaction)}; {relay(bench)}"
        seen = bench.phone.events.all
        taken = [e for e in seen if e["event"] == "turn" and e["by"] == "board"]
        if any(e["event"] == "refused-both" for e in seen):
            outcome += "; asked for both at once"
        elif any(e.get("advertises") for e in taken) and any(e.get("scans") for e in taken):
            outcome += "; in turns"
        bench.stop()
        return outcome, figures(transaction)


def second_phone(options, mode, own=False):
    with Bench(options) as bench:
        bench.configure(response=10)
        # The reference wallet lets the other one go first for 5 s only: its first session ends when the reader is ready.
        is_late = mode == "peripheral" and not own and options.phone == "shared"
        phone = bench.ring(own=own, mode=mode, second_phone=True, sessions=2 if is_late else 1)
        bench.boot().ready()
        if is_late:
            phone.events.next("engagement", 10)
            phone.command("next")
        bench.show_code()
        transaction = bench.transaction()
        bench.ready(20)
        was_there = any(e["event"] == "second-phone-connected" for e in phone.events.all)
        outcome = f"{told(transaction)}; {relay(bench)}; the other was {'' if was_there else 'not '}connected"
        bench.stop()
        return outcome, figures(transaction)


# Two kinds of silence: our second phone does not even answer the set-up, so that another one is looked for. The reference
# wallet's has the whole service and goes on to State start: nothing tells it from a holder who thinks it over.
scenario("second-phone", "another phone advertises the same service first, and answers nothing",
         SERVED + "; the other was connected")(lambda options: second_phone(options, "peripheral", own=True))
scenario("second-phone-started", "another phone offers the same service first, and says nothing after State start",
         "failed (timeout) in peripheralServer; relay never moved; the other was connected", True)(
    lambda options: second_phone(options, "peripheral"))
scenario("second-phone-central", "another phone connects first and says nothing",
         ASKED + "; the other was connected")(lambda options: second_phone(options, "central"))


# --- Phones that leave or fall silent ------------------------------------------------------------------------------------

@scenario("dual-mode", "the kernel keeps LE off until the reader turns it on", "LE off, then " + SERVED)
def dual_mode(options):
    with Bench(options) as bench:
        bench.ring()
        bench.boot(before="sleep 4 | timeout 20 btmgmt --index 0 info >/run/before 2>&1").ready()
        settings = re.search(r"current settings:(.*)", said := bench.run("cat /run/before"))
        if settings is None:
            raise Surprise(f"btmgmt says nothing of the settings: {said.strip()}")
        before = "LE on" if "le" in settings[1].split() else "LE off"
        bench.show_code()
        transaction = bench.transaction()
        bench.ready(20)
        outcome = f"{before}, then {told(transaction)}; {relay(bench)}"
        bench.stop()
        return outcome, figures(transaction)


# From the kernel's report that a link is lost to ready again, 0.8 s of which the reader shows `incomplete`. The slack is the
# emulated processor's; where others are at work on the host, that is not enough, and it is tried again.
LOSS, SLACK, TRIES = 1.0, 0.5, 3


def gone(options, connect=30, **wishes):
    """A phone leaves. The time from the kernel's report to ready is a figure, and has a limit."""
    waits = []
    for _ in range(TRIES):
        outcome, numbers, wait = leave(options, connect, wishes)
        if wait is None:
            return outcome, numbers
        waits.append(f"{wait:.3f}")
        numbers += f", ready {' '.join(waits)} s after the loss"
        if wait <= LOSS + SLACK:
            return outcome, numbers
    raise Surprise(f"ready {' '.join(waits)} s after the loss, more than {LOSS} s and {SLACK} s slack; {outcome}")


def leave(options, connect, wishes):
    """(outcome, figures, seconds from loss to ready, where that counts)"""
    with Bench(options) as bench:
        # What is shown after a loss counts, so that this is the default and not the short one.
        bench.configure(display=2, connect=connect)
        bench.ring(sessions=1, **wishes)
        bench.boot().ready()
        bench.show_code()
        transaction = bench.transaction()
        ready = bench.ready(20)
        lost = [entry[0] for entry in bench.trace() if entry[1] == "lost"]
        moved = relay(bench)
        bench.stop()
        outcome = f"{told(transaction)}; {moved}"
        # A phone that is lost before the session began is looked for until its time is over.
        if transaction["outcome"] != "failed" or not transaction.get("link"):
            return outcome, figures(transaction), None
        if not lost:
            raise Surprise(f"the kernel reported no loss; {outcome}")
        return outcome, figures(transaction), moment(ready) - lost[0]


def moment(event):
    """The time of a reader's event, in seconds of the day's clock."""
    text, _, fraction = event["time"].rstrip("Z").partition(".")
    return calendar.timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%S")) + float("0." + (fraction or "0"))


LOST = "failed (linkLost){}; relay never moved"
for phase, declared in (
        ("engaged", "failed (peerNotFound); relay never moved"),
        # The loss may come before or after the kernel has told the reader of the connection.
        ("connected", (LOST.format(""), "failed (connectFailed); relay never moved")), ("started", LOST.format(" in peripheralServer")),
        ("established", LOST.format(" in peripheralServer")), ("mid-response", LOST.format(" in peripheralServer")),
        ("after-response", SERVED)):
    scenario(f"vanish-{phase}", f"the phone leaves: {phase}", declared)(
        lambda options, phase=phase: gone(options, vanish=phase, connect=8 if phase in ("engaged", "connected") else 30))
scenario("vanish-mid-response-central", "the same, the wallet is the central", LOST.format(" in centralClient"))(
    lambda options: gone(options, vanish="mid-response", mode="central"))

def busy(bench):
    """What the board's controller is busy with, by its own account."""
    # Looked for among all: what the next visitor's phone has said meanwhile is not to be passed over.
    def said():
        return [e for e in bench.phone.events.all if e["event"] == "busy"]
    before, end = len(said()), time.monotonic() + 10
    bench.phone.command("tell")
    while len(said()) == before:
        if time.monotonic() > end:
            raise Surprise("the board's controller does not tell what it is busy with")
        time.sleep(0.02)
    return {what for what in ("advertises", "scans", "connects") if said()[-1][what]}


def until_busy(bench, wanted, seconds):
    end = time.monotonic() + seconds
    while not wanted <= (seen := busy(bench)):
        if time.monotonic() > end:
            raise Surprise(f"the board's controller is busy with {', '.join(sorted(seen)) or 'nothing'}")
        time.sleep(0.2)


def rest(bench, outcome):
    """After a phone that did not come: the radio has been given up, and the next visitor is served."""
    bench.ready(20)
    left = busy(bench)
    bench.show_code()
    transaction = bench.transaction()
    bench.ready(20)
    outcome += f"; radio {'busy' if left else 'idle'}, then {told(transaction)}; {relay(bench)}"
    bench.stop()
    return outcome, figures(transaction)


GIVEN_UP = "; radio idle, then granted in {}; one relay pulse"


@scenario("give-up-advertising", "both modes are offered and nobody comes; then somebody does",
          tuple("failed (peerNotFound)" + GIVEN_UP.format(mode) for mode in ("peripheralServer", "centralClient")))
def give_up_advertising(options):
    with Bench(options) as bench:
        bench.configure(connect=10)
        bench.ring(own=True, mode="both", vanish="engaged", only_first=True, sessions=2)
        bench.boot().ready()
        bench.show_code()
        until_busy(bench, {"advertises", "scans"}, 8)
        bench.hide_code()                   # it is good for another try as long as nothing was started with it
        outcome = told(bench.transaction())
        bench.phone.command("next")
        return rest(bench, outcome)


def connecting(bench, **wishes):
    """A phone leaves between being heard and being connected: the controller looks for it in vain."""
    bench.ring(own=True, mode="peripheral", vanish="connecting", only_first=True, **wishes)
    bench.boot().ready()
    bench.show_code()
    bench.phone.events.next(lambda e: e["event"] == "vanished" and e["phase"] == "connecting", 40)
    until_busy(bench, {"connects"}, 5)
    bench.hide_code()


@scenario("give-up-connecting", "the phone leaves while the controller connects to it; then the next comes",
          "failed (connectFailed), attempt cancelled" + GIVEN_UP.format("peripheralServer"))
def give_up_connecting(options):
    with Bench(options) as bench:
        bench.configure(connect=10)
        connecting(bench, sessions=2)
        outcome = told(bench.transaction())
        is_cancelled = any(e["event"] == "cancel-connection" and e["by"] == "board" for e in bench.phone.events.all)
        return rest(bench, f"{outcome}, attempt {'' if is_cancelled else 'not '}cancelled")


@scenario("end-connecting", "the reader is told to end while the controller connects", "failed (stopped); radio idle")
def end_connecting(options):
    with Bench(options) as bench:
        connecting(bench)
        bench.signal_reader("TERM")
        outcome = told(bench.transaction(15))
        bench.event("stopped", 15)
        return f"{outcome}; radio {'busy' if busy(bench) else 'idle'}", ""


SHORT = {"connect": 30, "idle": 4, "response": 8}
# A set-up has ten seconds of its own.
visitor("stall-connected", "the phone stays and says nothing: connected", "failed (setupTimeout); relay never moved",
        change={"connect": 25}, stall="connected")
for phase, declared in (
        ("established", "failed (timeout) in peripheralServer; relay never moved"),
        ("mid-response", "failed (timeout) in peripheralServer; relay never moved")):
    visitor(f"stall-{phase}", f"the phone stays and says nothing: {phase}", declared, change=SHORT, stall=phase)


@scenario("code-again", "the code is hidden and shown again in the middle of the transfer, and stays",
          SERVED + "; no second transaction")
def code_again(options):
    with Bench(options) as bench:
        phone = bench.ring(portrait=PORTRAIT, slow=0.003)
        bench.boot().ready()
        bench.show_code()
        phone.events.next(lambda e: e["event"] in ("request", "wallet-asked"), 40)
        bench.hide_code()
        time.sleep(0.3)
        draw(bench.code, bench.lens)
        transaction = bench.transaction()
        bench.ready(20)
        bench.events.none("transaction", 5)
        outcome = f"{told(transaction)}; {relay(bench)}; no second transaction"
        bench.stop()
        return outcome, figures(transaction)


@scenario("in-a-row", "30 visitors one after the other", "30 granted; 60 relay edges")
def in_a_row(options, visitors=30):
    with Bench(options, timeout=1200) as bench:
        bench.ring(sessions=visitors)
        bench.boot().ready()
        granted, times = 0, []
        for _ in range(visitors):
            bench.show_code()
            begin = time.monotonic()
            transaction = bench.transaction()
            if transaction["outcome"] != "granted":
                raise Surprise(f"after {granted} granted: {told(transaction)}")
            granted += 1
            bench.ready(20)
            times.append(time.monotonic() - begin)
        edges = bench.edges(options.roles["relay"])
        memory = bench.run("grep VmHWM /proc/$(cat /run/reader)/status").split()
        bench.stop()
        return (f"{granted} granted; {edges} relay edges",
                f"code to ready {min(times):.1f} to {max(times):.1f} s, peak memory {memory[1]} kB")


# --- The camera --------------------------------------------------------------------------------------------------------

def faults(bench, cause, remedy, fault, served=True, names=""):
    """A fault that names what it has to, then the remedy, then ready; with a visitor at the end to prove it."""
    begin = time.monotonic()
    cause()
    event = bench.event("fault", 180)
    raised = time.monotonic() - begin
    if fault not in event["reasons"]:
        raise Surprise(f"the fault is {event['reasons']}: {event.get('detail')}")
    if names not in event.get("detail", ""):
        raise Surprise(f"{names} is not named: {event.get('detail')}")
    if not bench.is_running():
        raise Surprise("the reader has ended")
    begin = time.monotonic()
    remedy()
    bench.event("faultCleared", 40)
    bench.ready(20)
    cleared = time.monotonic() - begin
    outcome = f"{event['reasons'][0]}, then ready"
    if served:
        bench.show_code()
        transaction = bench.transaction()
        bench.ready(20)
        outcome += f", then {told(transaction)}"
    outcome += f"; {relay(bench)}"
    bench.stop()
    return outcome, f"fault after {raised:.1f} s, ready after {cleared:.1f} s: {event.get('detail', '')}"


@scenario("camera-silent", "the camera stops giving pictures, then gives them again",
          "cameraUnavailable, then ready, then " + SERVED)
def camera_silent(options):
    with Bench(options) as bench:
        bench.ring()
        bench.boot().ready()
        return faults(bench, lambda: bench.run("kill -STOP $(cat /run/lens)"),
                      lambda: bench.run("kill -CONT $(cat /run/lens)"), "cameraUnavailable")


def vivid(bench):
    """The kernel's test camera as the board's, small and slow: drawing its picture takes the emulated processor's time."""
    def change(text):
        for fact, value in (("width = 640", "width = 320"), ("height = 480", "height = 180"), ("rate = 15", "rate = 5")):
            if fact not in text:
                raise Surprise(f"board/virtual/board.toml has no {fact}")
            text = text.replace(fact, value)
        return text
    bench.facts(change)
    return bench.boot(camera="--vivid", lens=False)


@scenario("camera-unplugged", "the camera is unplugged, then plugged again (vivid)",
          "cameraUnavailable, then ready; relay never moved")
def camera_unplugged(options):
    with Bench(options) as bench:
        vivid(bench).ready()
        # The test camera is there again as soon as its last user has closed it.
        return faults(bench, lambda: bench.run("v4l2-ctl -d /dev/video0 -c disconnect=1"), lambda: None,
                      "cameraUnavailable", served=False)


@scenario("camera-errors", "buffers of the camera fail (vivid)", "cameraUnavailable, then ready; relay never moved")
def camera_errors(options):
    with Bench(options) as bench:
        vivid(bench).ready()
        return faults(bench, lambda: bench.run("v4l2-ctl -d /dev/video0 -c inject_fatal_streaming_error=1"), lambda: None,
                      "cameraUnavailable", served=False)


@scenario("camera-drops", "a third of the pictures are lost (vivid)", "no fault; relay never moved")
def camera_drops(options):
    with Bench(options) as bench:
        vivid(bench).ready()
        bench.run("v4l2-ctl -d /dev/video0 -c percentage_of_dropped_buffers=33")
        bench.events.none("fault", 6)
        outcome = f"no fault; {relay(bench)}"
        bench.stop()
        return outcome, ""


# --- Lines and the radio -------------------------------------------------------------------------------------------------

def driving(line, value):
    """Shell that holds a line until it is killed, with the gpioset of either libgpiod."""
    return (f"(if command -v gpiofind >/dev/null; then exec gpioset --mode=signal $(gpiofind {line})={value}; "
            f"else exec gpioset {line}={value}; fi)")


def ended(bench, seconds=180):
    """Exit status and words of a reader that did not start."""
    end = time.monotonic() + seconds
    while not any(text.startswith("ended with ") for text in bench.events.text):
        if time.monotonic() > end:
            raise Surprise("the reader did not end: " + ", ".join(e["event"] for e in bench.events.all))
        time.sleep(0.1)
    bench.errors.flush()
    with open(f"{bench.folder}/board.log") as file:
        words = file.read()
    return bench.events.text[-1], words


@scenario("line-busy", "another program holds the relay's line, and is named, then lets it go",
          "panelUnavailable, then ready, then " + SERVED)
def line_busy(options):
    with Bench(options) as bench:
        bench.ring()
        bench.boot(before=f"{driving(options.roles['relay'], 0)} & sleep 1")
        return faults(bench, lambda: None, lambda: bench.run("kill $(pidof gpioset)"), "panelUnavailable", names="gpioset")


def wrong(options, old, new, wanted):
    """A board file with one wrong fact stops the start and names it."""
    def change(text):
        if old not in text:
            raise Surprise(f"board/virtual/board.toml has no {old}")
        return text.replace(old, new)
    with Bench(options) as bench:
        bench.facts(change)
        bench.boot()
        status, words = ended(bench)
        if wanted not in words:
            raise Surprise(f"{wanted} is not named: {words.strip()}")
        return f"{status}, and the fact is named; {relay(bench)}", words.strip().splitlines()[0]


@scenario("wrong-line", "the board file names a line that is not there",
          "ended with 2, and the fact is named; relay never moved")
def wrong_line(options):
    name = options.roles["relay"]
    return wrong(options, f'"{name}"', '"NOWHERE"', "panel.lines.relay")


@scenario("line-twice", "the board file puts two roles on one line",
          "ended with 2, and the fact is named; relay never moved")
def line_twice(options):
    return wrong(options, f'"{options.roles["relay"]}"', f'"{options.roles["green"]}"', "panel.lines.relay")


@scenario("bluetoothd", "bluetoothd has the adapter, and is named, then ends", "radioUnavailable, then ready, then " + SERVED)
def bluetoothd(options):
    with Bench(options) as bench:
        bench.ring()
        bench.boot(before="mkdir -p /run/dbus; dbus-daemon --system --fork --nopidfile; "
                   "/usr/libexec/bluetooth/bluetoothd --nodetach >/run/bluetoothd.log 2>&1 & sleep 3")
        return faults(bench, lambda: None, lambda: bench.run("kill $(pidof bluetoothd)"), "radioUnavailable",
                      names="bluetoothd")


@scenario("radio-unplugged", "the adapter goes away and comes back",
          "radioUnavailable, then ready, then " + SERVED)
def radio_unplugged(options):
    with Bench(options) as bench:
        bench.ring()
        bench.boot().ready()
        return faults(
            bench, lambda: bench.run("kill $(pidof btattach)"),
            lambda: bench.run("while [ -e /sys/class/bluetooth/hci0 ]; do sleep 0.1; done; "
                              "btattach -B /dev/ttyS1 -P h4 -S 115200 >/run/btattach.log 2>&1 &"), "radioUnavailable")


@scenario("hardware-error", "the controller reports a fault of its own, and the kernel resets it",
          "radioUnavailable, then ready, then " + SERVED)
def hardware_error(options):
    with Bench(options) as bench:
        # The reference wallet has no such controller.
        phone = bench.ring(own=True, mode="peripheral")
        bench.boot().ready()
        return faults(bench, lambda: phone.command("break"), lambda: None, "radioUnavailable")


@scenario("restarts", "50 starts, and as many ends by SIGTERM or SIGKILL", "50 starts; relay never moved")
def restarts(options, count=50):
    with Bench(options, timeout=1800) as bench:
        loop = f"""
          n=0
          while [ $n -lt {count} ]; do
            n=$((n + 1))
            {options.program('mdoc-reader')} run --config /run/share/reader.toml >/run/events &
            echo $! >/run/one
            wait=0
            until grep -q '"ready"' /run/events; do
              wait=$((wait + 1)); [ $wait -lt 300 ] || {{ echo "no ready at $n"; cat /run/events; exit 1; }}
              sleep 0.1
            done
            # Each third one crashes.
            if [ $((n % 3)) -eq 0 ]; then kill -KILL $(cat /run/one); else kill -TERM $(cat /run/one); fi
            wait $(cat /run/one)
          done
          echo all done"""
        path = f"{bench.folder}/share/loop"
        with open(path, "w") as file:
            file.write(loop)
        bench.boot(command="sh /run/share/loop")
        begin = time.monotonic()
        while not any(t.startswith("ended with") for t in bench.events.text):
            bench.look_at_kernel()
            if time.monotonic() - begin > 1700:
                raise Surprise(f"{count} starts take too long")
            time.sleep(0.5)
        if "all done" not in bench.events.text:
            raise Surprise(" ".join(bench.events.text))
        return f"{count} starts; {relay(bench)}", f"{(time.monotonic() - begin) / count:.1f} s each"


# --- What a technician asks ----------------------------------------------------------------------------------------------

@scenario("verbs", "what check, camera, scan, bluetooth and signal say of the board, before anybody comes",
          "check: no fault; camera: YUYV 640x480, pictures with the code; scan: peripheralServer, of a picture too; "
          "bluetooth: advertises, hears the phone; signal: every lamp; relay never moved")
def verbs(options):
    with Bench(options) as bench:
        bench.configure()
        bench.ring()
        bench.boot(command="touch /run/there; while [ ! -e /run/asked ]; do sleep 0.1; done")
        bench.run("while [ ! -e /run/there ]; do sleep 0.1; done")

        def asked(words):
            """The lines of JSON that a verb answers with."""
            said = bench.run(f"{options.program('mdoc-reader')} {words} --json >/run/told 2>/run/said || :; "
                             "if [ -s /run/told ]; then cat /run/told; else cat /run/said; fi")
            try:
                return [json.loads(line) for line in said.splitlines()]
            except json.JSONDecodeError:
                raise Surprise(f"{words}: {said.strip()}") from None

        def checked(words):
            """What fails of a list of checks, and what is said of the others."""
            checks, = asked(words)
            return [c["what"] for c in checks if c["outcome"] == "fail"], {c["what"]: c["detail"] for c in checks}

        words = []
        faults, _ = checked("check --config /run/share/reader.toml")
        words.append("check: " + (", ".join(faults) or "no fault"))

        bench.show_code()
        listed, = asked("camera --list")
        seen, = asked(f"camera {listed['node']} --seconds 5 --size 640x480 --snapshot /run/seen.png")
        found = "pictures with the code" if seen["pictures_with_code"] else f"{seen['pictures']} pictures, no code"
        words.append(f"camera: {'/'.join(listed['formats'])} {seen['width']}x{seen['height']}, {found}")

        live, = asked("scan --seconds 20")
        still, = asked("scan /run/seen.png")
        words.append(f"scan: {', '.join(live['modes'])}{', of a picture too' if still == live else ', a picture differs'}")

        faults, details = checked("bluetooth --seconds 5")
        heard = "hears nobody" if details["listening"].startswith("0 ") else "hears the phone"
        words.append("bluetooth: " + (", ".join(faults) or f"advertises, {heard}"))

        shown = len(asked("signal --seconds 1 --config /run/share/reader.toml"))
        dark = [role for role in ("green", "red", "blue") if not bench.edges(options.roles[role])]
        words.append("signal: " + (", ".join(dark) + " stayed dark" if dark else "every lamp"))
        bench.run("touch /run/asked")
        return "; ".join(words + [relay(bench)]), f"{seen['pictures']} pictures in 5 s, {shown} signals"


# --- The bench itself ----------------------------------------------------------------------------------------------------

@scenario("bench", "what another program drives on a line is seen; status and words of a command come back",
          "2 edges seen; ended with 7")
def bench_itself(options):
    line = options.roles["relay"]
    with Bench(options) as bench:
        bench.boot(command=f"{driving(line, 1)} & sleep 1; kill $!; wait $!; {driving(line, 0)} & sleep 1; kill $!; exit 7")
        status, _ = ended(bench)
        return f"{bench.edges(line)} edges seen; {status}", ""


# --- Playing them --------------------------------------------------------------------------------------------------------

def roles():
    """The lines of board/virtual/board.toml: role to name, in the order of the simulated chip."""
    with open(f"{TOP}/board/virtual/board.toml", "rb") as file:
        return {role: fact["line"] for role, fact in tomllib.load(file)["panel"]["lines"].items()}


def play(one, options):
    """Prints how it went; whether it was as declared."""
    if one.reference_only and options.phone != "shared":
        print(f"skipped   {one.name}: needs the reference wallet beside the checkout (../shared)", flush=True)
        return True
    begin = time.monotonic()
    try:
        outcome, numbers = one.play(options)
    except Surprise as surprise:
        outcome, numbers = None, str(surprise)
    seconds = time.monotonic() - begin
    good = outcome in one.outcomes
    print(f"{'ok' if good else 'SURPRISE':<9} {one.name:<24} {seconds:6.1f} s  {outcome or numbers}", flush=True)
    if not good:
        print(f"          declared: {one.declared}", flush=True)
    if numbers and outcome:
        print(f"          {numbers}", flush=True)
    return good


class Options:
    """What all scenarios share."""

    def __init__(self, arguments):
        self.programs, self.keep = arguments.programs, arguments.keep
        self.phone, self.shared_wallet = arguments.phone, arguments.shared_wallet
        self.roles = roles()
        self.lines = " ".join(self.roles.values())

    def program(self, name):
        return os.path.join(self.programs, name)


def main():
    p = argparse.ArgumentParser(prog="virtual-board")
    p.add_argument("--programs", required=True, help="folder of mdoc-reader and mdoc-wallet")
    p.add_argument("--phone", choices=("own", "shared"), required=True)
    p.add_argument("--shared-wallet", help="wallet.py of the reference data")
    p.add_argument("--keep", action="store_true", help="keep the folder of each boot")
    p.add_argument("names", nargs="+")
    arguments = p.parse_args()
    if arguments.names == ["list"]:
        for one in SCENARIOS.values():
            print(f"{one.name:<28} {one.what}: {one.declared}")
        return 0
    names = list(SCENARIOS) if arguments.names == ["all"] else list(SMOKE) if arguments.names == ["smoke"] \
        else arguments.names
    if unknown := [name for name in names if name not in SCENARIOS]:
        print(f"virtual-board: no scenario {' '.join(unknown)}\n  Scripts/virtual-board list", file=sys.stderr)
        return 2
    options = Options(arguments)

    # Ended from outside, the boards and phones that run have to end too.
    def end(*_):
        print("virtual-board: told to end before all was played", file=sys.stderr)
        sys.exit(143)
    signal.signal(signal.SIGTERM, end)
    surprises = [name for name in names if not play(SCENARIOS[name], options)]
    print(f"{len(names) - len(surprises)} as declared, {len(surprises)} surprises"
          + (": " + " ".join(surprises) if surprises else ""), flush=True)
    return 1 if surprises else 0


if __name__ == "__main__":
    sys.exit(main())
