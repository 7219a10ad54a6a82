"""The picture of a code as a camera sees it: grey around it, a quiet zone, not quite black and white."""
import os


def draw(text, path, size=(640, 480), inverse=False, part=0.7):
    """Writes a binary PGM, replacing the file in one step; without a text only the grey. `part` of the height is code."""
    width, height = size
    rows = [bytearray(b"\x5a") * width for _ in range(height)]
    if text:
        import segno            # not where scenarios are only listed
        matrix = [list(row) for row in segno.make(text, error="l").matrix_iter(border=4)]
        scale = int(height * part) // len(matrix)
        if not scale:
            raise ValueError(f"{len(matrix)} modules do not fit into {width}x{height}")
        left, top = (width - scale * len(matrix)) // 2, (height - scale * len(matrix)) // 2
        dark, light = (230, 25) if inverse else (25, 230)
        for y, row in enumerate(matrix):
            line = b"".join(bytes([dark if module else light]) * scale for module in row)
            for repeat in range(scale):
                rows[top + y * scale + repeat][left:left + len(line)] = line
    with open(path + ".new", "wb") as file:
        file.write(b"P5 %d %d 255\n" % size + b"".join(rows))
    os.replace(path + ".new", path)
