// Which libgpiod this is compiled against: CGPIOD_MAJOR becomes 1 or 2. Version 2 replaced the whole interface and has no
// macro that says so, but one of the things it took away was a macro.
#pragma once

#if !__has_include(<gpiod.h>)
#error "libgpiod is missing: install libgpiod-dev (1.6 of Debian 12 or 2.2 of Debian 13)"
#endif

#include <gpiod.h>

#if defined(GPIOD_LINE_BULK_MAX_LINES)
#define CGPIOD_MAJOR 1
#elif defined(__LIBGPIOD_GPIOD_H__) && !defined(GPIOD_API)
#define CGPIOD_MAJOR 2
#else
#error "this libgpiod is neither 1.6 nor 2: install the libgpiod-dev of Debian 12 or 13"
#endif

