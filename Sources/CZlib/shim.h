#pragma once
#include <zlib.h>

/* inflateInit is a macro, which Swift does not see. */
static inline int czlib_inflate_init(z_stream *stream) { return inflateInit(stream); }
