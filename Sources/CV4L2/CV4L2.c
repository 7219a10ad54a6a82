#include "CV4L2.h"

#include <errno.h>
#include <libv4l-plugin.h>
#include <libv4lconvert.h>
#include <linux/videodev2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

static int call(int device, unsigned long request, void *argument) {
  int result;
  do {
    result = ioctl(device, request, argument);
  } while (result == -1 && errno == EINTR);
  return result;
}

static void copy_text(char *to, const void *from, size_t count) {
  memcpy(to, from, count);
  to[count] = 0;
}

int cv4l2_query(int device, struct cv4l2_node *node) {
  struct v4l2_capability found;
  memset(&found, 0, sizeof found);
  if (call(device, VIDIOC_QUERYCAP, &found) == -1) return -1;
  copy_text(node->driver, found.driver, sizeof found.driver);
  copy_text(node->card, found.card, sizeof found.card);
  copy_text(node->bus, found.bus_info, sizeof found.bus_info);
  node->capabilities = found.capabilities & V4L2_CAP_DEVICE_CAPS ? found.device_caps : found.capabilities;
  return 0;
}

int cv4l2_format_at(int device, uint32_t index, uint32_t *fourcc) {
  struct v4l2_fmtdesc format;
  memset(&format, 0, sizeof format);
  format.index = index;
  format.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
  if (call(device, VIDIOC_ENUM_FMT, &format) == -1) return -1;
  *fourcc = format.pixelformat;
  return 0;
}

int cv4l2_size_at(int device, uint32_t fourcc, uint32_t index, struct cv4l2_size *size) {
  struct v4l2_frmsizeenum found;
  memset(&found, 0, sizeof found);
  memset(size, 0, sizeof *size);
  found.index = index;
  found.pixel_format = fourcc;
  if (call(device, VIDIOC_ENUM_FRAMESIZES, &found) == -1) return -1;
  if (found.type == V4L2_FRMSIZE_TYPE_DISCRETE) {
    size->min_width = size->max_width = found.discrete.width;
    size->min_height = size->max_height = found.discrete.height;
    size->step_width = size->step_height = 1;
  } else {
    // A range has one entry only; drivers answer any index with it.
    if (index > 0) {
      errno = EINVAL;
      return -1;
    }
    size->is_range = 1;
    size->min_width = found.stepwise.min_width;
    size->max_width = found.stepwise.max_width;
    size->step_width = found.stepwise.step_width;
    size->min_height = found.stepwise.min_height;
    size->max_height = found.stepwise.max_height;
    size->step_height = found.stepwise.step_height;
  }
  return 0;
}

int cv4l2_set_format(int device, struct cv4l2_format *format) {
  struct v4l2_format found;
  memset(&found, 0, sizeof found);
  found.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
  found.fmt.pix.width = format->width;
  found.fmt.pix.height = format->height;
  found.fmt.pix.pixelformat = format->fourcc;
  found.fmt.pix.field = V4L2_FIELD_ANY;
  if (call(device, VIDIOC_S_FMT, &found) == -1) return -1;
  format->width = found.fmt.pix.width;
  format->height = found.fmt.pix.height;
  format->fourcc = found.fmt.pix.pixelformat;
  format->bytes_per_line = found.fmt.pix.bytesperline;
  format->image_bytes = found.fmt.pix.sizeimage;
  return 0;
}

int cv4l2_set_rate(int device, uint32_t per_second, uint32_t *millihertz) {
  struct v4l2_streamparm found;
  memset(&found, 0, sizeof found);
  found.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
  if (call(device, VIDIOC_G_PARM, &found) == -1) return -1;
  if (found.parm.capture.capability & V4L2_CAP_TIMEPERFRAME) {
    memset(&found, 0, sizeof found);
    found.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    found.parm.capture.timeperframe.numerator = 1;
    found.parm.capture.timeperframe.denominator = per_second;
    if (call(device, VIDIOC_S_PARM, &found) == -1) return -1;
  }
  uint64_t seconds = found.parm.capture.timeperframe.numerator;
  if (seconds == 0) {
    errno = ENOTTY;
    return -1;
  }
  *millihertz = (uint32_t)(found.parm.capture.timeperframe.denominator * 1000ULL / seconds);
  return 0;
}

int cv4l2_request_buffers(int device, uint32_t *count) {
  struct v4l2_requestbuffers request;
  memset(&request, 0, sizeof request);
  request.count = *count;
  request.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
  request.memory = V4L2_MEMORY_MMAP;
  if (call(device, VIDIOC_REQBUFS, &request) == -1) return -1;
  *count = request.count;
  return 0;
}

static struct v4l2_buffer empty_buffer(uint32_t index) {
  struct v4l2_buffer buffer;
  memset(&buffer, 0, sizeof buffer);
  buffer.index = index;
  buffer.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
  buffer.memory = V4L2_MEMORY_MMAP;
  return buffer;
}

int cv4l2_map(int device, uint32_t index, void **address, size_t *length) {
  struct v4l2_buffer buffer = empty_buffer(index);
  if (call(device, VIDIOC_QUERYBUF, &buffer) == -1) return -1;
  // Some drivers refuse a mapping that cannot be written.
  void *mapped = mmap(NULL, buffer.length, PROT_READ | PROT_WRITE, MAP_SHARED, device, buffer.m.offset);
  if (mapped == MAP_FAILED) return -1;
  *address = mapped;
  *length = buffer.length;
  return 0;
}

int cv4l2_unmap(void *address, size_t length) { return munmap(address, length); }

int cv4l2_queue(int device, uint32_t index) {
  struct v4l2_buffer buffer = empty_buffer(index);
  return call(device, VIDIOC_QBUF, &buffer);
}

int cv4l2_dequeue(int device, struct cv4l2_buffer *found) {
  struct v4l2_buffer buffer = empty_buffer(0);
  if (call(device, VIDIOC_DQBUF, &buffer) == -1) return -1;
  found->index = buffer.index;
  found->bytes = buffer.bytesused;
  found->sequence = buffer.sequence;
  found->is_bad = (buffer.flags & V4L2_BUF_FLAG_ERROR) != 0;
  found->nanoseconds = 0;
  if ((buffer.flags & V4L2_BUF_FLAG_TIMESTAMP_MASK) == V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC)
    found->nanoseconds = (int64_t)buffer.timestamp.tv_sec * 1000000000 + (int64_t)buffer.timestamp.tv_usec * 1000;
  return 0;
}

int cv4l2_stream(int device, int is_on) {
  int type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
  return call(device, is_on ? VIDIOC_STREAMON : VIDIOC_STREAMOFF, &type);
}

int cv4l2_query_control(int device, uint32_t id, int is_next, struct cv4l2_control *control) {
  struct v4l2_queryctrl found;
  memset(&found, 0, sizeof found);
  found.id = is_next ? id | V4L2_CTRL_FLAG_NEXT_CTRL : id;
  if (call(device, VIDIOC_QUERYCTRL, &found) == -1) return -1;
  control->id = found.id;
  copy_text(control->name, found.name, sizeof found.name);
  control->minimum = found.minimum;
  control->maximum = found.maximum;
  control->step = found.step;
  control->standard = found.default_value;
  int is_number = found.type == V4L2_CTRL_TYPE_INTEGER || found.type == V4L2_CTRL_TYPE_BOOLEAN ||
                  found.type == V4L2_CTRL_TYPE_MENU || found.type == V4L2_CTRL_TYPE_INTEGER_MENU;
  control->is_settable = is_number && !(found.flags & (V4L2_CTRL_FLAG_DISABLED | V4L2_CTRL_FLAG_READ_ONLY));
  control->is_inactive = (found.flags & (V4L2_CTRL_FLAG_INACTIVE | V4L2_CTRL_FLAG_GRABBED)) != 0;
  return 0;
}

int cv4l2_get_control(int device, uint32_t id, int32_t *value) {
  struct v4l2_control control = {.id = id, .value = 0};
  if (call(device, VIDIOC_G_CTRL, &control) == -1) return -1;
  *value = control.value;
  return 0;
}

int cv4l2_set_control(int device, uint32_t id, int32_t value) {
  struct v4l2_control control = {.id = id, .value = value};
  return call(device, VIDIOC_S_CTRL, &control);
}

// The converter believes that it has a device: one that answers who it is, and nothing else. So the conversion needs no
// descriptor, has no device's quirks, and may run in another thread than the capture. It claims a format that needs no
// conversion: else the library adds controls of its own, kept in shared memory.
static int nameless_ioctl(void *private, int device, unsigned long request, void *argument) {
  (void)private;
  (void)device;
  if (request == VIDIOC_QUERYCAP) {
    struct v4l2_capability *answer = argument;
    memset(answer, 0, sizeof *answer);
    answer->capabilities = V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING;
    return 0;
  }
  if (request == VIDIOC_ENUM_FMT) {
    struct v4l2_fmtdesc *answer = argument;
    if (answer->index == 0) {
      answer->pixelformat = V4L2_PIX_FMT_YUV420;
      return 0;
    }
    errno = EINVAL;
    return -1;
  }
  errno = ENOTTY;
  return -1;
}

static const struct libv4l_dev_ops nameless = {.ioctl = nameless_ioctl};

struct cv4l2_converter *cv4l2_converter_create(void) {
  return (struct cv4l2_converter *)v4lconvert_create_with_dev_ops(-1, NULL, &nameless);
}

void cv4l2_converter_destroy(struct cv4l2_converter *converter) {
  v4lconvert_destroy((struct v4lconvert_data *)converter);
}

int cv4l2_convert_jpeg(struct cv4l2_converter *converter, uint32_t width, uint32_t height, const void *bytes,
                       size_t count, void *yuv, size_t capacity) {
  struct v4l2_format from, to;
  memset(&from, 0, sizeof from);
  from.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
  from.fmt.pix.width = width;
  from.fmt.pix.height = height;
  from.fmt.pix.field = V4L2_FIELD_NONE;
  to = from;
  from.fmt.pix.pixelformat = V4L2_PIX_FMT_MJPEG;
  from.fmt.pix.sizeimage = (uint32_t)count;
  to.fmt.pix.pixelformat = V4L2_PIX_FMT_YUV420;
  to.fmt.pix.bytesperline = width;
  to.fmt.pix.sizeimage = (uint32_t)capacity;
  // The library does not write to its source here: it only lacks the const.
  return v4lconvert_convert((struct v4lconvert_data *)converter, &from, &to, (unsigned char *)(uintptr_t)bytes,
                            (int)count, yuv, (int)capacity);
}

const char *cv4l2_converter_message(struct cv4l2_converter *converter) {
  return v4lconvert_get_error_message((struct v4lconvert_data *)converter);
}
