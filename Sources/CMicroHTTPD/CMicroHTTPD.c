#include "CMicroHTTPD.h"

struct MHD_Daemon *cmhd_start(
  const struct cmhd_calls *calls, unsigned connections, size_t memory, const char *certificate, const char *key) {
  const unsigned flags = MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | (certificate ? MHD_USE_TLS : 0);
  // The end of the list stands in the place of the first option of TLS.
  return MHD_start_daemon(
    flags, 0, NULL, NULL, calls->take, calls->context,
    MHD_OPTION_URI_LOG_CALLBACK, calls->begin, calls->context,
    MHD_OPTION_NOTIFY_COMPLETED, calls->end, calls->context,
    MHD_OPTION_NOTIFY_CONNECTION, calls->connection, calls->context,
    MHD_OPTION_CONNECTION_LIMIT, connections,
    MHD_OPTION_CONNECTION_MEMORY_LIMIT, memory,
    MHD_OPTION_CONNECTION_TIMEOUT, 0u,
    MHD_OPTION_STRICT_FOR_CLIENT, 1,
    certificate ? MHD_OPTION_HTTPS_MEM_CERT : MHD_OPTION_END, certificate,
    MHD_OPTION_HTTPS_MEM_KEY, key,
    MHD_OPTION_HTTPS_PRIORITIES, "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2",
    MHD_OPTION_END);
}

int cmhd_epoll(struct MHD_Daemon *daemon) {
  const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
  return info ? info->epoll_fd : -1;
}

int cmhd_socket(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info ? info->connect_fd : -1;
}
