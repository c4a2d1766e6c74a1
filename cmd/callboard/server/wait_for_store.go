package server

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/callboard/callboard/cmd/callboard/membership"
	"github.com/callboard/callboard/cmd/callboard/systemd"
	"github.com/callboard/callboard/configs"
	"github.com/callboard/callboard/httpapi/forward"
	"github.com/callboard/callboard/persistence/redis"
)

// Pauses between two attempts to open an unavailable store. attemptLimit is the maximum duration of one attempt, which
// the process announces to the service manager.
const (
	firstPause   = 250 * time.Millisecond
	longestPause = 5 * time.Second
	attemptLimit = time.Minute
)

// startWait repeats the start while the store is unavailable. Meanwhile HTTP answers /healthz with 200 and all
// other requests with 503 and the reason. A nil *startWait does not wait.
type startWait struct {
	cfg       *configs.Config
	log       *slog.Logger
	manager   *systemd.Notifier
	isWaiting bool
	reason    atomic.Pointer[string] // reason of the last failed attempt
	server    *http.Server           // nil: not listening
}

// untilOpen calls open until the store is available, and returns errors of other kinds at once. While it waits, it
// answers HTTP requests.
func (w *startWait) untilOpen(ctx context.Context, open func() error) error {
	return w.retry(ctx, open, func() error { return w.answerHTTP(ctx) })
}

// untilJoined calls open until the store is available. Unlike untilOpen, it opens no HTTP listener, because the node has
// already opened its own.
func (w *startWait) untilJoined(ctx context.Context, open func() error) error {
	return w.retry(ctx, open, func() error { return nil })
}

// retry calls open until the store is available. Before each pause it calls listen, which may open an HTTP server.
func (w *startWait) retry(ctx context.Context, open, listen func() error) error {
	if w == nil {
		return explainStore(open())
	}
	defer w.stopListening()
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		err := open()
		if !membership.IsUnavailable(err) {
			return explainStore(err)
		}
		w.reportWaiting(w.storeUnavailableReason(err), err)
		if err = listen(); err != nil {
			return err
		}
		next := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			next.Stop()
			return ctx.Err()
		case <-next.C:
		}
	}
}

// storeUnavailableReason describes why the store is unavailable. The text contains no address, because HTTP clients may see it.
func (w *startWait) storeUnavailableReason(err error) string {
	what, _ := redis.Diagnose(err)
	return "the store is unavailable: Redis " + what
}

// explainStore adds the name of the setting redis_url to a permanent error of Redis, such as a wrong password.
func explainStore(err error) error {
	if what, later := redis.Diagnose(err); what != "" && !later {
		return fmt.Errorf("redis_url: Redis %s: %w", what, err)
	}
	return err
}

// reportWaiting notifies the service manager that the start waits for the store. It logs the reason if it is new.
func (w *startWait) reportWaiting(reason string, cause error) {
	w.manager.Waiting(reason, longestPause+attemptLimit)
	if was := w.reason.Swap(&reason); !w.isWaiting || *was != reason {
		w.log.Warn("the start waits for the store", slog.String("reason", reason), slog.Any("error", cause))
	}
	w.isWaiting = true
}

// answerHTTP opens an HTTP server at http_addr that answers requests with the reason for which the start waits.
func (w *startWait) answerHTTP(ctx context.Context) error {
	if w.server != nil {
		return nil
	}
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", w.cfg.HTTP.Addr.String())
	if err != nil {
		return fmt.Errorf("http_addr: %w", err)
	}
	if ln, err = listenTLS(w.cfg, forward.LimitClients(ln), w.log); err != nil {
		return err
	}
	server := forward.NewServer(forward.StartingHandler(func() string { return *w.reason.Load() }), w.log)
	go func() { _ = server.Serve(ln) }()
	w.server = server
	return nil
}

// stopListening closes the HTTP server of the waiting start, so that the service can use its address.
func (w *startWait) stopListening() {
	if w.isWaiting {
		w.log.Info("the start continues")
		w.isWaiting = false
	}
	if w.server != nil {
		_ = w.server.Close()
		w.server = nil
	}
}
