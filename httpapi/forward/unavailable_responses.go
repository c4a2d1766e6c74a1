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

const noNodeMessage = "No node can serve the request at the moment; try again."

// respondFailure answers a request that no node has answered.
func (f *Forwarder) respondFailure(w http.ResponseWriter, r *http.Request, err error) {
	if one, ok := r.Context().Value(requestKey{}).(*forwardedRequest); ok && one.client.Err() != nil {
		panic(http.ErrAbortHandler) // the client is gone, and an empty response would look like 200
	}
	text := noNodeMessage
	if errors.Is(err, errOutcomeUnknown) {
		f.cfg.Log.Warn("node failed before it responded", slog.String("path", r.URL.Path), slog.Any("error", err))
		text = "The node failed before it responded, so the outcome is unknown. Check the result, or send the request again with an Idempotency-Key."
	}
	if r.URL.Path == "/readyz" {
		text = "Not ready: " + err.Error()
	}
	f.cfg.Log.Debug("request not forwarded", slog.Any("error", err))
	respondUnavailable(w, text)
}

// NotOwnerHandler answers requests to a node that does not own their shard. The response says that the node is alive and
// that the request did not run.
func NotOwnerHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/healthz" && r.Method == http.MethodHead {
			return
		}
		w.Header().Set(NotActive, "1")
		w.Header().Set("Connection", "close") // the next request needs a new connection, because this node may own the shard by then
		respondUnavailable(w, "This node is not active.")
	})
}

// StartingHandler answers requests while the process waits for its store. The response says that the process is alive
// and runs no requests. reason returns what the process waits for.
func StartingHandler(reason func() string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/healthz" && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
			setSecurityHeaders(w.Header())
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"status":"ok"}`))
			return
		}
		respondUnavailable(w, "Not ready: "+reason())
	})
}

// setSecurityHeaders sets the headers of every response.
func setSecurityHeaders(h http.Header) {
	h.Set("X-Request-Id", "req_"+rand.Text()[:24])
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Cache-Control", "no-store")
}

// respondUnavailable responds with 503.
func respondUnavailable(w http.ResponseWriter, text string) {
	respondError(w, http.StatusServiceUnavailable, domain.CodeUnavailable, text, retryAfter)
}

// respondError responds with the error envelope of the API. after is Retry-After in seconds, 0 for none.
func respondError(w http.ResponseWriter, status int, code domain.Code, text string, after int) {
	h := w.Header()
	setSecurityHeaders(h)
	h.Set("Content-Type", "application/json")
	failure := map[string]any{"code": code, "message": text, "request_id": h.Get("X-Request-Id")}
	if after > 0 {
		h.Set("Retry-After", strconv.Itoa(after))
		failure["retry_after"] = after
	}
	body, _ := json.Marshal(map[string]any{"success": false, "error": failure}) // strings and integers: marshaling cannot fail
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n'))
}

// LimitClients bounds the number of client connections.
func LimitClients(ln net.Listener) net.Listener { return netutil.LimitListener(ln, maxClientConns) }

// NewServer returns an HTTP server for a handler of this package, with limits against slow and large requests.
func NewServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: 15 * time.Second, IdleTimeout: 75 * time.Second, MaxHeaderBytes: maxHeaderBytes,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}
