package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"time"
)

// adminListener serves metrics, profiles and counters to the operator. It requires no API key, because the settings
// allow loopback addresses only.
type adminListener struct{ server *http.Server }

// openAdminListener serves pages at addr. Without an address it opens nothing and returns nil.
func openAdminListener(ctx context.Context, addr netip.AddrPort, pages http.Handler, log *slog.Logger) (*adminListener, error) {
	if !addr.IsValid() {
		return nil, nil //nolint:nilnil // nil: admin_addr is not set
	}
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", addr.String())
	if err != nil {
		return nil, fmt.Errorf("admin_addr: %w", err)
	}
	a := &adminListener{server: &http.Server{
		Handler: localOnly(pages), ReadHeaderTimeout: 5 * time.Second, MaxHeaderBytes: 16 << 10, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}}
	go func() {
		if err := a.server.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			log.Error("the admin listener failed", slog.Any("error", err))
		}
	}()
	return a, nil
}

// adminPages returns the HTTP handler of the Go profiles, the debug counters and the Prometheus metrics.
func adminPages(count counterReader, meters http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("GET /debug/counters", count.handleCounters)
	mux.Handle("GET /metrics", meters)
	return mux
}

// localOnly rejects requests whose Host header is not localhost or a loopback address. This prevents DNS rebinding: a
// web page whose host name resolves to 127.0.0.1 cannot read the listener.
func localOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		ip, err := netip.ParseAddr(host)
		if host != "localhost" && (err != nil || !ip.IsLoopback()) {
			http.Error(w, "this listener answers to loopback addresses only", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// close closes the listener and aborts requests in progress.
func (a *adminListener) close() {
	if a != nil {
		_ = a.server.Close()
	}
}
