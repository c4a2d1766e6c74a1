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

// Pauses between two attempts to open an unavailable store. attemptLimit is the time for one attempt that the
// process reports to the service manager.
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

// untilOpen calls open until the store is available, and returns any other error. Meanwhile it listens on the HTTP
// address.
func (w *startWait) untilOpen(ctx context.Context, open func() error) error {
	return w.retry(ctx, open, func() error { return w.answerHTTP(ctx) })
}

// untilJoined is untilOpen for a process whose HTTP server already listens.
func (w *startWait) untilJoined(ctx context.Context, open func() error) error {
	return w.retry(ctx, open, func() error { return nil })
}

// retry calls open until the store is available. Before each pause it calls listen.
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
		w.reportWaiting(w.storeAwayReason(err), err)
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

// storeAwayReason returns why the store is unavailable, without its address.
func (w *startWait) storeAwayReason(err error) string {
	what, _ := redis.Diagnose(err)
	return "the store is unavailable: Redis " + what
}

// explainStore adds the setting redis_url to an error that Redis reports.
func explainStore(err error) error {
	if what, later := redis.Diagnose(err); what != "" && !later {
		return fmt.Errorf("redis_url: Redis %s: %w", what, err)
	}
	return err
}

// reportWaiting notifies the service manager that the start waits. It logs a new reason.
func (w *startWait) reportWaiting(reason string, cause error) {
	w.manager.Waiting(reason, longestPause+attemptLimit)
	if was := w.reason.Swap(&reason); !w.isWaiting || *was != reason {
		w.log.Warn("the start waits for the store", slog.String("reason", reason), slog.Any("error", cause))
	}
	w.isWaiting = true
}

// answerHTTP opens an HTTP server that answers that the service is starting.
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

// stopListening releases the HTTP address for the service.
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
