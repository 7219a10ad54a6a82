"""What a scenario is made of: the board with a reader in it, the phone, and what is seen from outside.

`Bench` is one boot. The reader's events come as the board's standard output; lines are read from the kernel's own record
of values that were driven (no pulse is too short for it); the phone's events are those of phone.py or wallet.py.
"""
import json
import os
import queue
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from picture import draw

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))


class Surprise(Exception):
    """Something else happened than the scenario declares."""


class KernelCrash(Surprise):
    """The board's kernel is at fault: what the reader did after that means nothing."""


class Lines:
    """JSON lines of a process, as they come. Everything that is no JSON is kept as text."""

    def __init__(self, stream, copy):
        self.copy = open(copy, "w")
        self.all, self.text, self.at = [], [], 0
        self.queue = queue.Queue()
        self.thread = threading.Thread(target=self.read, args=(stream,), daemon=True)
        self.thread.start()

    def read(self, stream):
        for line in stream:
            self.copy.write(line)
            self.copy.flush()
            try:
                event = json.loads(line)
            except ValueError:
                event = None
            if isinstance(event, dict) and "event" in event:
                self.all.append(event)
                self.queue.put(event)
            else:
                self.text.append(line.rstrip("\n"))
        self.copy.close()
        self.queue.put(None)

    def next(self, wanted, seconds, watch=lambda: None):
        """The next event for which `wanted` holds; those before it are passed over. `wanted` may be a name.

        `watch` is called every second meanwhile, and raises what makes waiting vain.
        """
        holds = (lambda e: e["event"] == wanted) if isinstance(wanted, str) else wanted
        end = time.monotonic() + seconds
        while True:
            try:
                event = self.queue.get(timeout=min(1, max(0.001, end - time.monotonic())))
            except queue.Empty:
                watch()
                if time.monotonic() < end:
                    continue
                name = wanted if isinstance(wanted, str) else "event"
                raise Surprise(f"no {name} within {seconds} s") from None
            if event is None:
                raise Surprise(f"ended while {wanted if isinstance(wanted, str) else 'an event'} was awaited")
            if holds(event):
                return event

    def none(self, name, seconds):
        """No such event comes for a while."""
        try:
            event = self.next(name, seconds)
        except Surprise:
            return
        raise Surprise(f"unexpected {name}: {json.dumps(event)}")


class Control:
    """A line of shell in the board, its output back."""

    def __init__(self, path, alive, seconds=180):
        end = time.monotonic() + seconds
        while True:
            self.socket = socket.socket(socket.AF_UNIX)
            try:
                self.socket.connect(path)
                break
            except OSError:
                self.socket.close()
                if time.monotonic() > end or not alive():
                    raise Surprise("the board did not start") from None
                time.sleep(0.05)
        self.socket.settimeout(seconds)
        self.file = self.socket.makefile("rw", encoding="utf-8", errors="replace")

    def run(self, line, check=True):
        self.file.write(line + "\n")
        self.file.flush()
        said = []
        try:
            for answer in self.file:
                if re.fullmatch(r"=\d+\n", answer):
                    if check and answer != "=0\n":
                        raise Surprise(f"in the board: {line}: status {answer[1:-1]}: {' '.join(said)}")
                    return "".join(said)
                said.append(answer)
        except TimeoutError:
            pass
        raise Surprise(f"the board does not answer: {line}")


class Phone:
    """phone.py or the reference wallet.py, with the same wishes for both."""

    def __init__(self, bench, kind, mode="peripheral", mtu=None, portrait=None, l2cap=False, vanish=None, stall=None,
                 second_phone=False, sessions=1, age=34, dual_mode=True, slow=None, psm_in_engagement=False, take_turns=False,
                 deaf=False, echo=None, channel=None, only_first=False):
        self.kind = kind
        python, folder = sys.executable, bench.folder
        common = ["--controller", f"{folder}/hci", "--control", f"{folder}/phone", "--mode", mode]
        common += ["--sessions", str(sessions)] + (["--dual-mode"] if dual_mode else [])
        common += ["--vanish", vanish] if vanish else []
        common += ["--stall", stall] if stall else []
        common += ["--second-phone"] if second_phone else []
        document = ["--age", str(age)] + (["--portrait", str(portrait)] if portrait else [])
        if kind == "shared":
            command = [python, bench.options.shared_wallet, *common, *document, "--trust-out", f"{folder}/out"]
            command += ["--mtu", str(mtu)] if mtu else []
            command += ["--l2cap"] if l2cap else []
            command += ["--psm-in-engagement"] if psm_in_engagement else []
            command += ["--value-delay", str(slow)] if slow else []
            anchor = f"{folder}/out/iaca.pem"
        else:
            wallet, anchor = bench.options.program("mdoc-wallet"), f"{folder}/iaca.pem"
            issued = subprocess.run([wallet, "issue", "--wallet", f"{folder}/wallet", "--anchor-out", anchor, *document],
                                    stdin=subprocess.DEVNULL, capture_output=True, text=True)
            if issued.returncode != 0:
                raise Surprise(f"mdoc-wallet issue: {issued.stderr.strip()}")
            command = [python, f"{HERE}/phone.py", *common, "--wallet", wallet,
                       *(["--take-turns"] if take_turns else []), *(["--deaf"] if deaf else []),
                       *(["--echo", str(echo)] if echo else []), *(["--channel", channel] if channel else []),
                       *(["--only-first"] if only_first else []),
                       "--", "--wallet", f"{folder}/wallet"]
            command += ["--mtu", str(mtu)] if mtu else []
            command += ["--l2cap"] if l2cap else []
            command += ["--psm-in-engagement"] if psm_in_engagement else []
        self.log = open(f"{folder}/phone.log", "w")
        environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log,
                                        text=True, env=environment)
        self.events = Lines(self.process.stdout, f"{folder}/phone.events")
        self.control = f"{folder}/phone"
        end = time.monotonic() + 30
        while not (os.path.exists(f"{folder}/hci") and os.path.exists(anchor)):
            if self.process.poll() is not None or time.monotonic() > end:
                raise Surprise("the phone did not start: " + bench.tail("phone.log"))
            time.sleep(0.02)
        shutil.copy(anchor, f"{folder}/share/trust/iaca.pem")

    def command(self, line):
        with socket.socket(socket.AF_UNIX) as control:
            control.connect(self.control)
            control.sendall(line.encode() + b"\n")
            control.recv(100)

    def end(self):
        end_process(self.process)
        self.log.close()


def end_process(process):
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


# What the configuration says in every scenario: a short display, and limits that an emulated machine keeps even when
# others are at work on the host. Scenarios that wait for a limit have their own.
CONFIGURATION = """board = "virtual"
[[request.document]]
doc_type = "org.iso.18013.5.1.mDL"
[request.document.name_spaces]
"org.iso.18013.5.1" = ["age_over_18", "portrait"]
[[request.document.condition]]
age_at_least = 18
[trust]
folder = "trust"
[status]
file = "/run/mdoc-reader/status.json"
[signals]
display_seconds = {display}
relay_pulse_seconds = 0.3
[timeouts]
connect_seconds = {connect}
idle_seconds = {idle}
response_seconds = {response}
"""


class Bench:
    """One boot of the board, from `with` to its end."""

    def __init__(self, options, timeout=300):
        self.options, self.timeout = options, timeout
        self.folder = tempfile.mkdtemp(prefix="bench.")
        self.phone, self.process, self.control = None, None, None
        os.makedirs(f"{self.folder}/share/trust")
        self.lens = f"{self.folder}/share/lens.pgm"
        draw("", self.lens)
        self.configure()
        self.facts()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process is not None:
            end_process(self.process)
        if self.phone is not None:
            self.phone.end()
        if self.options.keep:
            print(f"    kept {self.folder}", file=sys.stderr)
        else:
            shutil.rmtree(self.folder, ignore_errors=True)

    def tail(self, name, lines=3):
        try:
            with open(f"{self.folder}/{name}", errors="replace") as file:
                return " | ".join(file.read().splitlines()[-lines:])
        except OSError:
            return ""

    def look_at_kernel(self):
        """Raises when the board's kernel has reported a fault of its own."""
        try:
            with open(f"{self.folder}/console", errors="replace") as file:
                text = file.read()
        except OSError:
            return
        fault = re.search(r"kernel BUG at .*|BUG: .*|Oops: .*|general protection fault.*|Kernel panic.*", text)
        if fault:
            where = re.search(r"Call Trace:.*?\] +(?:<TASK>.*?\] +)?([a-z]\w+\+0x\S+)", text[fault.start():], re.DOTALL)
            raise KernelCrash(f"the board's kernel crashed: {fault[0].strip()}" + (f" in {where[1]}" if where else ""))

    # --- Before the boot -----------------------------------------------------------------------------------------

    def configure(self, display=0.5, connect=30, idle=20, response=30, more=""):
        with open(f"{self.folder}/share/reader.toml", "w") as file:
            file.write(CONFIGURATION.format(display=display, connect=connect, idle=idle, response=response) + more)

    def facts(self, change=lambda text: text):
        """The project's own board file, changed for this scenario."""
        os.makedirs(f"{self.folder}/share/board/virtual", exist_ok=True)
        with open(f"{TOP}/board/virtual/board.toml") as file:
            text = file.read()
        with open(f"{self.folder}/share/board/virtual/board.toml", "w") as file:
            file.write(change(text))

    def ring(self, own=False, **wishes):
        """A phone comes into radio range; `own` is the project's own phone whatever the options say."""
        self.phone = Phone(self, "own" if own else self.options.phone, **wishes)
        return self.phone

    def boot(self, before="", command=None, camera="--camera", lens=True, lines=None):
        """Starts the board and the reader in it. `before` is shell that runs first."""
        if self.phone is None:
            self.phone = Nobody(self)
        self.reader = command or f"exec {self.options.program('mdoc-reader')} run --config /run/share/reader.toml"
        script = "mkdir -p /run/mdoc-reader\n"
        if lens:
            script += f"/usr/bin/python3 {HERE}/lens.py /dev/video0 /run/share/lens.pgm >/dev/null & echo $! >/run/lens\n"
            script += "for wait in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do\n"
            script += "  v4l2-ctl -d /dev/video0 --get-fmt-video 2>/dev/null | grep -q 640/480 && break; sleep 0.1; done\n"
        script += f"{before}\n({self.reader}) & echo $! >/run/reader; wait $!; echo \"ended with $?\"\n"
        # The board stays until the scenario has seen all it wants.
        script += "while [ ! -e /run/over ]; do sleep 0.1; done\n"
        with open(f"{self.folder}/script", "w") as file:
            file.write(script)
        self.lines = lines or self.options.lines
        self.errors = open(f"{self.folder}/board.log", "w")
        self.process = subprocess.Popen(
            [f"{HERE}/run.sh", "--timeout", str(self.timeout), "--gpio", self.lines, "--hci", f"{self.folder}/hci",
             "--control", f"{self.folder}/control", "--share", f"{self.folder}/share",
             "--console", f"{self.folder}/console", *([camera] if camera else []),
             "--env", "PYTHONDONTWRITEBYTECODE=1", "--", "sh", f"{self.folder}/script"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.errors, text=True)
        self.events = Lines(self.process.stdout, f"{self.folder}/reader.events")
        self.control = Control(f"{self.folder}/control", lambda: self.process.poll() is None)
        return self

    # --- While it runs -------------------------------------------------------------------------------------------

    def run(self, line, check=True):
        """Shell in the board."""
        return self.control.run(line, check)

    def event(self, name, seconds=30):
        """The reader's next event of that name."""
        try:
            return self.events.next(name, seconds, watch=self.look_at_kernel)
        except KernelCrash:
            raise
        except Surprise as surprise:
            last = ", ".join(e["event"] for e in self.events.all[-4:])
            raise Surprise(f"{surprise}; the reader's last events: {last or 'none'}; {self.tail('board.log')} "
                           + " | ".join(self.events.text[-2:])) from None

    def ready(self, seconds=180):
        return self.event("ready", seconds)

    def show_code(self, seconds=30, inverse=False, part=0.7):
        """Shows the camera the code of the phone's next session."""
        try:
            self.code = self.phone.events.next("engagement", seconds)["uri"]
        except Surprise as surprise:
            raise Surprise(f"the phone: {surprise}; {self.tail('phone.log')}") from None
        draw(self.code, self.lens, inverse=inverse, part=part)

    def hide_code(self):
        draw("", self.lens)

    def transaction(self, seconds=120):
        return self.event("transaction", seconds)

    def line(self, name):
        return self.run(f"cat /run/gpio/{name}/value").strip()

    def trace(self):
        """[(time, kind, ...)]: ("line", name, value) and ("lost",), seconds of the day's clock."""
        base = re.search(r"GPIOs (\d+)-\d+, parent: platform/gpio-sim", self.run("cat /sys/kernel/debug/gpio"))
        names = {str(int(base[1]) + at): name for at, name in enumerate(self.lines.split())} if base else {}
        found = []
        record = self.run("grep -e gpio_value: -e link_lost: /sys/kernel/tracing/trace", check=False)
        for entry in record.splitlines():
            at = re.search(r" ([0-9]+\.[0-9]+): (gpio_value: (\d+) set ([01])|link_lost:)", entry)
            if at is None:
                continue
            if at[3] is None:
                found.append((float(at[1]), "lost"))
            else:
                found.append((float(at[1]), "line", names.get(at[3], at[3]), int(at[4])))
        return found

    def edges(self, name, idle=0):
        """How often a line was driven to another value than before; it begins at its idle value."""
        count, last = 0, idle
        for entry in self.trace():
            if entry[1] == "line" and entry[2] == name and entry[3] != last:
                count, last = count + 1, entry[3]
        return count

    def signal_reader(self, name):
        self.run(f"kill -{name} $(cat /run/reader)")

    def is_running(self):
        return self.run("kill -0 $(cat /run/reader) 2>/dev/null && echo yes; true").strip() == "yes"

    def stop(self):
        """The reader ends by SIGTERM, properly and with the relay inactive."""
        self.signal_reader("TERM")
        self.event("stopped", 15)


class Nobody(Phone):
    """A controller without a phone on the air. There is an issuer all the same: a reader that trusts nobody is not ready."""

    def __init__(self, bench):
        subprocess.run([bench.options.program("mdoc-wallet"), "issue", "--wallet", f"{bench.folder}/wallet", "--anchor-out",
                        f"{bench.folder}/share/trust/iaca.pem"], stdin=subprocess.DEVNULL, capture_output=True, check=True)
        self.log = open(f"{bench.folder}/phone.log", "w")
        self.process = subprocess.Popen(
            [sys.executable, f"{HERE}/phone.py", "--controller", f"{bench.folder}/hci", "--dual-mode"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log, text=True,
            env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1"))
        self.events = Lines(self.process.stdout, f"{bench.folder}/phone.events")
        self.events.next("ready", 30)
