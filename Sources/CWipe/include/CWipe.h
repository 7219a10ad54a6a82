#ifndef CWIPE_H
#define CWIPE_H

/// Memory that is given back is wiped first: a program that has this target among its dependencies replaces `free` and
/// `realloc` of the C library, for itself and for every library it loads. Nothing has to be called.
///
/// Whoever reads a document makes copies of it: arrays, strings, what OpenSSL and jansson build. Each is wiped by whoever lets
/// go of it, so that no value, portrait or key outlives its visitor in freed memory.
///
/// Under the address and thread sanitizers, which have allocators of their own, it does nothing.

#endif
