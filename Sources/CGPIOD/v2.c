#include "version.h"

#if CGPIOD_MAJOR == 2

#include "CGPIOD.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

struct cgpiod_chip {
  struct gpiod_chip *chip;
  struct gpiod_chip_info *info;
  struct gpiod_line_info *line;
};

struct cgpiod_lines {
  struct gpiod_line_request *request;
  // Of an input.
  struct gpiod_edge_event_buffer *events;
  size_t count;
};

int cgpiod_major(void) { return 2; }

const char *cgpiod_version(void) { return gpiod_api_version(); }

struct cgpiod_chip *cgpiod_chip_open(const char *path) {
  struct cgpiod_chip *chip = calloc(1, sizeof *chip);
  if (chip == NULL) return NULL;
  chip->chip = gpiod_chip_open(path);
  if (chip->chip != NULL) {
    chip->info = gpiod_chip_get_info(chip->chip);
    if (chip->info != NULL) return chip;
  }
  int code = errno;
  if (chip->chip != NULL) gpiod_chip_close(chip->chip);
  free(chip);
  errno = code;
  return NULL;
}

void cgpiod_chip_close(struct cgpiod_chip *chip) {
  if (chip->line != NULL) gpiod_line_info_free(chip->line);
  gpiod_chip_info_free(chip->info);
  gpiod_chip_close(chip->chip);
  free(chip);
}

const char *cgpiod_chip_name(const struct cgpiod_chip *chip) { return gpiod_chip_info_get_name(chip->info); }

const char *cgpiod_chip_label(const struct cgpiod_chip *chip) { return gpiod_chip_info_get_label(chip->info); }

unsigned int cgpiod_chip_line_count(const struct cgpiod_chip *chip) {
  return (unsigned int)gpiod_chip_info_get_num_lines(chip->info);
}

int cgpiod_chip_look_at(struct cgpiod_chip *chip, unsigned int offset) {
  struct gpiod_line_info *line = gpiod_chip_get_line_info(chip->chip, offset);
  if (line == NULL) return -1;
  if (chip->line != NULL) gpiod_line_info_free(chip->line);
  chip->line = line;
  return 0;
}

static const char *text_or_empty(const char *text) { return text == NULL ? "" : text; }

const char *cgpiod_line_name(const struct cgpiod_chip *chip) {
  return text_or_empty(gpiod_line_info_get_name(chip->line));
}

const char *cgpiod_line_consumer(const struct cgpiod_chip *chip) {
  return text_or_empty(gpiod_line_info_get_consumer(chip->line));
}

int cgpiod_line_is_used(const struct cgpiod_chip *chip) { return gpiod_line_info_is_used(chip->line); }

// One set of settings for all lines but the levels, which are NULL for inputs.
static struct cgpiod_lines *request(const char *path, const char *consumer, const unsigned int *offsets,
                                    const int *levels, size_t count, struct gpiod_line_settings *settings) {
  if (count == 0 || count > CGPIOD_LINES_MAX) {
    errno = EINVAL;
    return NULL;
  }
  struct cgpiod_lines *lines = calloc(1, sizeof *lines);
  if (lines == NULL) return NULL;
  lines->count = count;
  struct gpiod_line_config *config = gpiod_line_config_new();
  struct gpiod_request_config *named = gpiod_request_config_new();
  struct gpiod_chip *chip = NULL;
  int isReady = config != NULL && named != NULL;
  for (size_t i = 0; isReady && i < count; i++) {
    if (levels != NULL) {
      enum gpiod_line_value value = levels[i] ? GPIOD_LINE_VALUE_ACTIVE : GPIOD_LINE_VALUE_INACTIVE;
      isReady = gpiod_line_settings_set_output_value(settings, value) == 0;
    }
    isReady = isReady && gpiod_line_config_add_line_settings(config, &offsets[i], 1, settings) == 0;
  }
  if (isReady && levels == NULL) isReady = (lines->events = gpiod_edge_event_buffer_new(16)) != NULL;
  if (isReady && (chip = gpiod_chip_open(path)) != NULL) {
    gpiod_request_config_set_consumer(named, consumer);
    lines->request = gpiod_chip_request_lines(chip, named, config);
  }
  int code = errno;
  if (chip != NULL) gpiod_chip_close(chip);
  if (named != NULL) gpiod_request_config_free(named);
  if (config != NULL) gpiod_line_config_free(config);
  if (lines->request != NULL) return lines;
  if (lines->events != NULL) gpiod_edge_event_buffer_free(lines->events);
  free(lines);
  errno = code;
  return NULL;
}

struct cgpiod_lines *cgpiod_request_outputs(const char *path, const char *consumer, const unsigned int *offsets,
                                            const int *levels, size_t count, int active_low) {
  struct gpiod_line_settings *settings = gpiod_line_settings_new();
  if (settings == NULL) return NULL;
  struct cgpiod_lines *lines = NULL;
  gpiod_line_settings_set_active_low(settings, active_low);
  if (gpiod_line_settings_set_direction(settings, GPIOD_LINE_DIRECTION_OUTPUT) == 0)
    lines = request(path, consumer, offsets, levels, count, settings);
  int code = errno;
  gpiod_line_settings_free(settings);
  errno = code;
  return lines;
}

struct cgpiod_lines *cgpiod_request_input(const char *path, const char *consumer, unsigned int offset, int active_low,
                                          int bias) {
  static const enum gpiod_line_bias biases[] = {GPIOD_LINE_BIAS_AS_IS, GPIOD_LINE_BIAS_DISABLED,
                                                GPIOD_LINE_BIAS_PULL_UP, GPIOD_LINE_BIAS_PULL_DOWN};
  struct gpiod_line_settings *settings = gpiod_line_settings_new();
  if (settings == NULL) return NULL;
  struct cgpiod_lines *lines = NULL;
  gpiod_line_settings_set_active_low(settings, active_low);
  if (gpiod_line_settings_set_direction(settings, GPIOD_LINE_DIRECTION_INPUT) == 0 &&
      gpiod_line_settings_set_edge_detection(settings, GPIOD_LINE_EDGE_BOTH) == 0 &&
      gpiod_line_settings_set_bias(settings, bias > 0 && bias < 4 ? biases[bias] : GPIOD_LINE_BIAS_AS_IS) == 0)
    lines = request(path, consumer, &offset, NULL, 1, settings);
  int code = errno;
  gpiod_line_settings_free(settings);
  if (lines != NULL) {
    int descriptor = cgpiod_descriptor(lines);
    int flags = fcntl(descriptor, F_GETFL);
    if (flags >= 0 && fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0) return lines;
    code = errno;
    cgpiod_release(lines);
  }
  errno = code;
  return NULL;
}

void cgpiod_release(struct cgpiod_lines *lines) {
  gpiod_line_request_release(lines->request);
  if (lines->events != NULL) gpiod_edge_event_buffer_free(lines->events);
  free(lines);
}

int cgpiod_set(struct cgpiod_lines *lines, const int *levels) {
  enum gpiod_line_value values[CGPIOD_LINES_MAX];
  for (size_t i = 0; i < lines->count; i++)
    values[i] = levels[i] ? GPIOD_LINE_VALUE_ACTIVE : GPIOD_LINE_VALUE_INACTIVE;
  return gpiod_line_request_set_values(lines->request, values);
}

int cgpiod_get(struct cgpiod_lines *lines, int *levels) {
  enum gpiod_line_value values[CGPIOD_LINES_MAX];
  if (gpiod_line_request_get_values(lines->request, values) != 0) return -1;
  for (size_t i = 0; i < lines->count; i++) levels[i] = values[i] == GPIOD_LINE_VALUE_ACTIVE;
  return 0;
}

int cgpiod_descriptor(struct cgpiod_lines *lines) { return gpiod_line_request_get_fd(lines->request); }

int cgpiod_drain(struct cgpiod_lines *lines) {
  int count = 0;
  // The kernel keeps 16 edges; a line that flutters faster than it is read must not hold the loop here.
  for (int i = 0; i < 16; i++) {
    int got = gpiod_line_request_read_edge_events(lines->request, lines->events, 16);
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
