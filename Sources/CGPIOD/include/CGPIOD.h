// What the GPIO edge needs of libgpiod, the same over 1.6 (Debian 12) and 2.2 (Debian 13). Which one is there is decided
// when this is compiled, and checked when the program starts: the two have different names for the dynamic linker.
//
// Functions that give a pointer give NULL on failure, those that give an int give -1; errno says why. Levels are logical:
// 1 is active, whatever the polarity.
#pragma once

#include <stddef.h>

/// 1 or 2.
int cgpiod_major(void);
/// The version of the library that is loaded: `1.6.3`.
const char *cgpiod_version(void);

/// One open chip, for looking at it.
struct cgpiod_chip;

/// Opens `/dev/gpiochipN`.
struct cgpiod_chip *cgpiod_chip_open(const char *path);
void cgpiod_chip_close(struct cgpiod_chip *chip);
/// The texts of a chip are its own, valid until it is closed.
const char *cgpiod_chip_name(const struct cgpiod_chip *chip);
const char *cgpiod_chip_label(const struct cgpiod_chip *chip);
unsigned int cgpiod_chip_line_count(const struct cgpiod_chip *chip);

/// Looks at one line; what follows then answers for it, until another line is looked at. Texts are empty where there is none.
int cgpiod_chip_look_at(struct cgpiod_chip *chip, unsigned int offset);
const char *cgpiod_line_name(const struct cgpiod_chip *chip);
const char *cgpiod_line_consumer(const struct cgpiod_chip *chip);
int cgpiod_line_is_used(const struct cgpiod_chip *chip);

/// The most lines that one request may have.
#define CGPIOD_LINES_MAX 16

/// Lines of one chip that this process holds, until they are released.
struct cgpiod_lines;

/// Requests outputs of one polarity. Direction, polarity and level come into force with the request, in one call: a line
/// never has another level than the one given.
struct cgpiod_lines *cgpiod_request_outputs(const char *path, const char *consumer, const unsigned int *offsets,
                                            const int *levels, size_t count, int active_low);

/// 0 leaves the resistors as they are, 1 switches them off, 2 pulls up, 3 pulls down.
struct cgpiod_lines *cgpiod_request_input(const char *path, const char *consumer, unsigned int offset, int active_low,
                                          int bias);

void cgpiod_release(struct cgpiod_lines *lines);
/// Sets all lines of the request, in their order, in one call.
int cgpiod_set(struct cgpiod_lines *lines, const int *levels);
/// Reads all lines of the request.
int cgpiod_get(struct cgpiod_lines *lines, int *levels);

/// Of an input: readable when an edge was seen. It stays the request's.
int cgpiod_descriptor(struct cgpiod_lines *lines);
/// Takes all edges that wait, at most a few hundred, without blocking: how many there were.
int cgpiod_drain(struct cgpiod_lines *lines);
