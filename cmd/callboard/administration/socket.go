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

// Socket is the local HTTP server for the command line, with the pages of admin_addr. It requires no API key,
// because only the owner of the data folder can open the socket.
type Socket struct {
	server *http.Server
	path   string
}

// OpenSocket serves an Administration, and pages below /debug/ and /metrics, on the socket of a data folder.
func OpenSocket(data string, keys Administration, pages http.Handler, log *slog.Logger) (*Socket, error) {
	path := socketPath(data)
	_ = os.Remove(path) // of an ended process: this process holds the lock of the folder
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

// Close stops the server. It aborts a profile request that takes longer than two seconds.
func (a *Socket) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_ = a.server.Shutdown(ctx)
	_ = a.server.Close() // aborts a profile request
	_ = os.Remove(a.path)
}
