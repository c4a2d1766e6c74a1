package administration

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// socketPath returns the path of the local socket in a data folder.
func socketPath(data string) string { return filepath.Join(data, "admin.sock") }

// Socket is the local HTTP server for the command line. It also serves the pages of admin_addr: metrics and debugging.
// It requires no API key, because only the owner of the data folder can open the socket.
type Socket struct {
	server *http.Server
	path   string
}

// OpenSocket starts the HTTP server on the local socket of a data folder. It serves keys to the command line, and pages
// below /debug/ and at /metrics.
func OpenSocket(data string, keys Administration, pages http.Handler, log *slog.Logger) (*Socket, error) {
	path := socketPath(data)
	_ = os.Remove(path) // removes the socket of an ended process; this process holds the lock of the data folder
	ln, err := new(net.ListenConfig).Listen(context.Background(), "unix", path)
	if err != nil {
		return nil, fmt.Errorf("open the local socket: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, ln.Close())
	}
	mux := http.NewServeMux()
	mux.Handle("/", newSocketHandler(keys))
	mux.Handle("/debug/", pages)
	mux.Handle("/metrics", pages)
	a := &Socket{path: path, server: &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn)}}
	go func() { _ = a.server.Serve(ln) }()
	return a, nil
}

// Close stops the server. It waits at most two seconds for running requests, for example for a profile, and aborts them.
func (a *Socket) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_ = a.server.Shutdown(ctx)
	_ = a.server.Close() // aborts a profile request
	_ = os.Remove(a.path)
}
