#!/usr/bin/env python3
"""What the loopback camera sees: writes a picture into the device, again and again, as YUYV without colour.

    lens.py DEVICE PICTURE [FRAMES-A-SECOND]

PICTURE is a binary PGM of an even width. It is looked at before each frame: rename another of the same size over it and
the camera sees that. Runs in the board. SIGSTOP makes the camera silent.
"""
import fcntl
import os
import struct
import sys
import time

# struct v4l2_format on a 64-bit machine: type, padding, then struct v4l2_pix_format in a union of 200 bytes.
VIDIOC_S_FMT = 0xC0D05605
OUTPUT, FIELD_NONE, SRGB = 2, 1, 8
YUYV = int.from_bytes(b"YUYV", "little")


def frame(path):
    """(width, height, bytes)"""
    with open(path, "rb") as file:
        data = file.read()
    kind, width, height, _, grey = data.split(maxsplit=4) if data[:2] == b"P5" else (None,) * 5
    if kind != b"P5":
        sys.exit(f"lens: {path} is no binary PGM")
    width, height = int(width), int(height)
    grey = data[-width * height:]           # a first pixel that looks like white space was split away
    packed = bytearray(b"\x80") * (2 * width * height)
    packed[::2] = grey
    return width, height, bytes(packed)


def mark(path):
    facts = os.stat(path)
    return facts.st_ino, facts.st_mtime_ns


def main():
    device, path = sys.argv[1:3]
    pause = 1 / float(sys.argv[3] if len(sys.argv) > 3 else 12)
    camera = os.open(device, os.O_RDWR)
    seen, (width, height, data) = mark(path), frame(path)
    fcntl.ioctl(camera, VIDIOC_S_FMT, struct.pack(
        "=II8I", OUTPUT, 0, width, height, YUYV, FIELD_NONE, 2 * width, 2 * width * height, SRGB, 0).ljust(208, b"\0"))
    print(f"feeding {width}x{height}", flush=True)
    while True:
        try:
            if mark(path) != seen:
                seen, (other_width, other_height, other) = mark(path), frame(path)
                if (other_width, other_height) == (width, height):
                    data = other
        except OSError:
            pass                            # between two pictures
        os.write(camera, data)
        time.sleep(pause)


if __name__ == "__main__":
    main()
