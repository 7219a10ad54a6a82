"""Lets the independent Python holder say who signed a request.

    python3 verify_request.py PEER_FOLDER < LINES

Three lines of hex: the DeviceRequest, the SessionTranscript, the reader root (DER). One line for each document: the state
(trusted, untrusted, invalid, malformed, absent), the reason, the subject, separated by tabs.
"""
import sys

sys.path.insert(0, sys.argv[1])
from mdoc_holder import parse_request  # noqa: E402  the independent peer's own code

request, transcript, root = (bytes.fromhex(line) for line in sys.stdin.read().split())
for document in parse_request(request, transcript, [root]):
    reader = document.reader
    print(reader.state, reader.reason, reader.subject, sep="\t")
