package forward

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"time"

	"golang.org/x/net/netutil"

	"github.com/callboard/callboard/domain"
)

const noNode = "No node of this service can take the request at the moment; try again."

// failed answers for a request that no node has answered.
func (f *Forwarder) failed(w http.ResponseWriter, r *http.Request, err error) {
	if one, ok := r.Context().Value(flightKey{}).(*flight); ok && one.client.Err() != nil {
		panic(http.ErrAbortHandler) // nobody waits for it; an answer of nothing would be 200
	}
	text := noNode
	if errors.Is(err, errUnknown) {
		f.cfg.Log.Warn("a node has gone before it answered", slog.String("path", r.URL.Path), slog.Any("error", err))
		text = "The node that had the request has gone before it answered: whether it was done is not known. Look, or send it again with an Idempotency-Key."
	}
	if r.URL.Path == "/readyz" {
		text = "Not ready: " + err.Error()
	}
	f.cfg.Log.Debug("a request was not passed on", slog.Any("error", err))
	refuse(w, text)
}

// Idle is the door of a node that is not active: it tells other nodes that it
// lives, and that it has not done what they pass on.
func Idle() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/healthz" && r.Method == http.MethodHead {
			return
		}
		w.Header().Set(NotActive, "1")
		w.Header().Set("Connection", "close") // the next one may be for a seat that is here by then
		refuse(w, "This node is not active.")
	})
}

// Starting answers for a process that waits for its store before it starts: it
// is alive, and takes no request. reason says for what it waits.
func Starting(reason func() string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/healthz" && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
			safe(w.Header())
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"status":"ok"}`))
			return
		}
		refuse(w, "Not ready: "+reason())
	})
}

// safe sets the headers that each answer of the service has.
func safe(h http.Header) {
	h.Set("X-Request-Id", "req_"+rand.Text()[:24])
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Cache-Control", "no-store")
}

// refuse answers 503.
func refuse(w http.ResponseWriter, text string) {
	answer(w, http.StatusServiceUnavailable, domain.CodeUnavailable, text, retryAfter)
}

// answer is an error as the API words it. after: seconds until it may be tried
// again; 0: that is not told.
func answer(w http.ResponseWriter, status int, code domain.Code, text string, after int) {
	h := w.Header()
	safe(h)
	h.Set("Content-Type", "application/json")
	said := map[string]any{"code": code, "message": text, "request_id": h.Get("X-Request-Id")}
	if after > 0 {
		h.Set("Retry-After", strconv.Itoa(after))
		said["retry_after"] = after
	}
	body, _ := json.Marshal(map[string]any{"success": false, "error": said}) // of plain texts
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n'))
}

// Clients bounds how many connections of clients there are at a time.
func Clients(ln net.Listener) net.Listener { return netutil.LimitListener(ln, clientsMost) }

// Server is an HTTP server for a handler of this package, with the bounds that
// strangers need.
func Server(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: 15 * time.Second, IdleTimeout: 75 * time.Second, MaxHeaderBytes: headerBytes,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}
