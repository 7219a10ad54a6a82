// What Swift cannot call of libmicrohttpd: functions with a variable number of arguments. 0.9.75 and 1.0.1 compile alike.
#pragma once

#include <microhttpd.h>
#include <stddef.h>

// The library's constants under names of ours: how Swift sees an enumeration depends on its attributes, which differ by version.
static const enum MHD_Result cmhd_yes = MHD_YES;
static const enum MHD_Result cmhd_no = MHD_NO;
static const enum MHD_ValueKind cmhd_headers = MHD_HEADER_KIND;
static const enum MHD_ResponseMemoryMode cmhd_copied = MHD_RESPMEM_MUST_COPY;
static const enum MHD_FEATURE cmhd_tls = MHD_FEATURE_TLS;
static const enum MHD_ConnectionNotificationCode cmhd_started = MHD_CONNECTION_NOTIFY_STARTED;

/// Whom the library calls, each with `context` first, in the thread that calls MHD_run.
struct cmhd_calls {
  void *context;
  /// A request begins: its target as it was sent. What is returned is the request's own pointer from then on.
  void *(*begin)(void *context, const char *target, struct MHD_Connection *connection);
  MHD_AccessHandlerCallback take;
  /// A request that began has ended, whether or not it was answered.
  MHD_RequestCompletedCallback end;
  MHD_NotifyConnectionCallback connection;
};

/// A server without threads and without a socket to listen on, in epoll mode: MHD_add_connection gives it connections. It times
/// nothing out by itself. `memory` is what each connection has for its head and buffers. With a certificate and its key (PEM, read
/// during the call) it speaks TLS 1.2 and 1.3. NULL on failure.
struct MHD_Daemon *cmhd_start(
  const struct cmhd_calls *calls, unsigned connections, size_t memory, const char *certificate, const char *key);

/// The epoll descriptor of the server; -1 where there is none.
int cmhd_epoll(struct MHD_Daemon *daemon);

/// The socket of a connection; -1 where there is none.
int cmhd_socket(struct MHD_Connection *connection);
