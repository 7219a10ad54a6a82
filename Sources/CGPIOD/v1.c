#include "version.h"

#if CGPIOD_MAJOR == 1

#include "CGPIOD.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

struct cgpiod_chip {
  struct gpiod_chip *chip;
  struct gpiod_line *line;
};

struct cgpiod_lines {
  // Closing the chip releases its lines, so that it stays open with them.
  struct gpiod_chip *chip;
  struct gpiod_line_bulk bulk;
};

int cgpiod_major(void) { return 1; }

const char *cgpiod_version(void) { return gpiod_version_string(); }

struct cgpiod_chip *cgpiod_chip_open(const char *path) {
  struct cgpiod_chip *chip = calloc(1, sizeof *chip);
  if (chip == NULL) return NULL;
  chip->chip = gpiod_chip_open(path);
  if (chip->chip == NULL) {
    int code = errno;
    free(chip);
    errno = code;
    return NULL;
  }
  return chip;
}

void cgpiod_chip_close(struct cgpiod_chip *chip) {
  gpiod_chip_close(chip->chip);
  free(chip);
}

const char *cgpiod_chip_name(const struct cgpiod_chip *chip) { return gpiod_chip_name(chip->chip); }

const char *cgpiod_chip_label(const struct cgpiod_chip *chip) { return gpiod_chip_label(chip->chip); }

unsigned int cgpiod_chip_line_count(const struct cgpiod_chip *chip) { return gpiod_chip_num_lines(chip->chip); }

int cgpiod_chip_look_at(struct cgpiod_chip *chip, unsigned int offset) {
  chip->line = gpiod_chip_get_line(chip->chip, offset);
  return chip->line == NULL ? -1 : 0;
}

static const char *text_or_empty(const char *text) { return text == NULL ? "" : text; }

const char *cgpiod_line_name(const struct cgpiod_chip *chip) { return text_or_empty(gpiod_line_name(chip->line)); }

const char *cgpiod_line_consumer(const struct cgpiod_chip *chip) {
  return text_or_empty(gpiod_line_consumer(chip->line));
}

int cgpiod_line_is_used(const struct cgpiod_chip *chip) { return gpiod_line_is_used(chip->line); }

static struct cgpiod_lines *request(const char *path, const unsigned int *offsets, const int *levels, size_t count,
                                    struct gpiod_line_request_config config) {
  if (count == 0 || count > CGPIOD_LINES_MAX) {
    errno = EINVAL;
    return NULL;
  }
  struct cgpiod_lines *lines = calloc(1, sizeof *lines);
  if (lines == NULL) return NULL;
  lines->chip = gpiod_chip_open(path);
  if (lines->chip == NULL) goto failed;
  gpiod_line_bulk_init(&lines->bulk);
  for (size_t i = 0; i < count; i++) {
    struct gpiod_line *line = gpiod_chip_get_line(lines->chip, offsets[i]);
    if (line == NULL) goto failed;
    gpiod_line_bulk_add(&lines->bulk, line);
  }
  if (gpiod_line_request_bulk(&lines->bulk, &config, levels) == 0) return lines;

failed:;
  int code = errno;
  if (lines->chip != NULL) gpiod_chip_close(lines->chip);
  free(lines);
  errno = code;
  return NULL;
}

struct cgpiod_lines *cgpiod_request_outputs(const char *path, const char *consumer, const unsigned int *offsets,
                                            const int *levels, size_t count, int active_low) {
  struct gpiod_line_request_config config = {
      .consumer = consumer,
      .request_type = GPIOD_LINE_REQUEST_DIRECTION_OUTPUT,
      .flags = active_low ? GPIOD_LINE_REQUEST_FLAG_ACTIVE_LOW : 0,
  };
  return request(path, offsets, levels, count, config);
}

struct cgpiod_lines *cgpiod_request_input(const char *path, const char *consumer, unsigned int offset, int active_low,
                                          int bias) {
  static const int biases[] = {0, GPIOD_LINE_REQUEST_FLAG_BIAS_DISABLE, GPIOD_LINE_REQUEST_FLAG_BIAS_PULL_UP,
                               GPIOD_LINE_REQUEST_FLAG_BIAS_PULL_DOWN};
  struct gpiod_line_request_config config = {
      .consumer = consumer,
      .request_type = GPIOD_LINE_REQUEST_EVENT_BOTH_EDGES,
      .flags = (active_low ? GPIOD_LINE_REQUEST_FLAG_ACTIVE_LOW : 0) | (bias > 0 && bias < 4 ? biases[bias] : 0),
  };
  struct cgpiod_lines *lines = request(path, &offset, NULL, 1, config);
  if (lines == NULL) return NULL;
  int descriptor = cgpiod_descriptor(lines);
  int flags = fcntl(descriptor, F_GETFL);
  if (flags >= 0 && fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0) return lines;
  int code = errno;
  cgpiod_release(lines);
  errno = code;
  return NULL;
}

void cgpiod_release(struct cgpiod_lines *lines) {
  gpiod_chip_close(lines->chip);
  free(lines);
}

int cgpiod_set(struct cgpiod_lines *lines, const int *levels) {
  return gpiod_line_set_value_bulk(&lines->bulk, levels);
}

int cgpiod_get(struct cgpiod_lines *lines, int *levels) { return gpiod_line_get_value_bulk(&lines->bulk, levels); }

int cgpiod_descriptor(struct cgpiod_lines *lines) {
  return gpiod_line_event_get_fd(gpiod_line_bulk_get_line(&lines->bulk, 0));
}

int cgpiod_drain(struct cgpiod_lines *lines) {
  struct gpiod_line_event events[16];
  int count = 0;
  // The kernel keeps 16 edges; a line that flutters faster than it is read must not hold the loop here.
  for (int i = 0; i < 16; i++) {
    int got = gpiod_line_event_read_fd_multiple(cgpiod_descriptor(lines), events, 16);
    if (got < 0) {
      if (errno == EAGAIN || errno == EINTR) break;
      return -1;
    }
    if (got == 0) break;
    count += got;
  }
  return count;
}

#endif
