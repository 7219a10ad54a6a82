// Video4Linux calls (ioctl) with plain arguments, and libv4l's picture conversion. Each function returns what the call
// it names returns: -1 and errno on failure. Interrupted calls are made again.
#pragma once

#include <stddef.h>
#include <stdint.h>

static const uint32_t cv4l2_capability_capture = 0x00000001;
static const uint32_t cv4l2_capability_capture_mplane = 0x00001000;
static const uint32_t cv4l2_capability_metadata = 0x00800000;
static const uint32_t cv4l2_capability_streaming = 0x04000000;

/// VIDIOC_QUERYCAP. The texts end with a zero.
struct cv4l2_node {
  char driver[17];
  char card[33];
  char bus[33];
  /// Of this node, which may be fewer than those of the whole device; the device's where a driver does not tell.
  uint32_t capabilities;
};
int cv4l2_query(int device, struct cv4l2_node *node);

/// VIDIOC_ENUM_FMT for capture; EINVAL after the last.
int cv4l2_format_at(int device, uint32_t index, uint32_t *fourcc);

/// VIDIOC_ENUM_FRAMESIZES. One size, or a range in steps; `is_range` says which. EINVAL after the last.
struct cv4l2_size {
  int is_range;
  uint32_t min_width, min_height, max_width, max_height, step_width, step_height;
};
int cv4l2_size_at(int device, uint32_t fourcc, uint32_t index, struct cv4l2_size *size);

/// VIDIOC_S_FMT for capture: what is asked for goes in, what the driver made of it comes out.
struct cv4l2_format {
  uint32_t fourcc, width, height, bytes_per_line, image_bytes;
};
int cv4l2_set_format(int device, struct cv4l2_format *format);

/// VIDIOC_S_PARM: asks for a number of pictures in a second, and tells what the driver made of it, in thousandths.
/// ENOTTY when the driver has no say in it.
int cv4l2_set_rate(int device, uint32_t per_second, uint32_t *millihertz);

/// VIDIOC_REQBUFS for mapped buffers; 0 frees them.
int cv4l2_request_buffers(int device, uint32_t *count);
/// VIDIOC_QUERYBUF and mmap.
int cv4l2_map(int device, uint32_t index, void **address, size_t *length);
int cv4l2_unmap(void *address, size_t length);
/// VIDIOC_QBUF.
int cv4l2_queue(int device, uint32_t index);

/// VIDIOC_DQBUF; EAGAIN when no picture is ready.
struct cv4l2_buffer {
  uint32_t index, bytes, sequence;
  int is_bad;
  /// When it was taken, on CLOCK_MONOTONIC; 0 when the driver uses another clock.
  int64_t nanoseconds;
};
int cv4l2_dequeue(int device, struct cv4l2_buffer *buffer);
/// VIDIOC_STREAMON or VIDIOC_STREAMOFF.
int cv4l2_stream(int device, int is_on);

/// VIDIOC_QUERYCTRL. With `is_next`, the first one after `id`.
struct cv4l2_control {
  uint32_t id;
  char name[33];
  int32_t minimum, maximum, step, standard;
  /// Whether it takes a number now: neither disabled, read-only nor something else than a number.
  int is_settable;
  /// Whether another control (an automatic) holds it just now.
  int is_inactive;
};
int cv4l2_query_control(int device, uint32_t id, int is_next, struct cv4l2_control *control);
int cv4l2_get_control(int device, uint32_t id, int32_t *value);
int cv4l2_set_control(int device, uint32_t id, int32_t value);

/// libv4l's conversion from motion JPEG, without a device. It belongs to one thread at a time.
struct cv4l2_converter;
struct cv4l2_converter *cv4l2_converter_create(void);
void cv4l2_converter_destroy(struct cv4l2_converter *converter);
/// Decodes one picture to planar YUV 4:2:0; its first `width` times `height` bytes are the luma. `capacity` must be
/// half as much again. Returns -1 for a picture that cannot be decoded.
int cv4l2_convert_jpeg(struct cv4l2_converter *converter, uint32_t width, uint32_t height, const void *bytes,
                       size_t count, void *yuv, size_t capacity);
/// What the last conversion said.
const char *cv4l2_converter_message(struct cv4l2_converter *converter);
