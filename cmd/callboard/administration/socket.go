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

func socketPath(data string) string { return filepath.Join(data, "admin.sock") }

// Socket serves the command line from the running process, and what
// admin_addr tells besides. Whoever can open the socket owns the data folder, so
// it asks for no key.
type Socket struct {
	server *http.Server
	path   string
}

// OpenSocket serves an administration, and pages below /debug/ and /metrics, at the
// socket of a data folder.
func OpenSocket(data string, keys Administration, pages http.Handler, log *slog.Logger) (*Socket, error) {
	path := socketPath(data)
	_ = os.Remove(path) // of a process that ended; the folder is locked by us
	ln, err := new(net.ListenConfig).Listen(context.Background(), "unix", path)
	if err != nil {
		return nil, fmt.Errorf("the local socket: %w", err)
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

// Close ends the listener; a profile under way is cut off.
func (a *Socket) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_ = a.server.Shutdown(ctx)
	_ = a.server.Close() // a profile under way is cut off
	_ = os.Remove(a.path)
}
