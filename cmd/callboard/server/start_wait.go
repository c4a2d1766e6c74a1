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

// The pause between two attempts to open a store that is away, and what a service
// manager is told that the next attempt may take.
const (
	firstPause   = 250 * time.Millisecond
	longestPause = 5 * time.Second
	attemptLimit = time.Minute
)

// startWait lets a start wait while the store is away. Meanwhile HTTP answers
// /healthz with 200, and everything else with 503 and the reason. A nil one does
// not wait.
type startWait struct {
	cfg       *configs.Config
	log       *slog.Logger
	manager   *systemd.Notifier
	isWaiting bool
	reason    atomic.Pointer[string] // of the last wait
	server    *http.Server           // nil: it does not listen
}

// untilOpen opens a store, again and again while it is away, and returns what else
// goes wrong. Nothing else listens at the address of HTTP meanwhile.
func (w *startWait) untilOpen(ctx context.Context, open func() error) error {
	return w.retry(ctx, open, func() error { return w.answerHTTP(ctx) })
}

// untilJoined is until for a process whose HTTP server answers already.
func (w *startWait) untilJoined(ctx context.Context, open func() error) error {
	return w.retry(ctx, open, func() error { return nil })
}

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

// storeAwayReason is why the store is away, without an address.
func (w *startWait) storeAwayReason(err error) string {
	what, _ := redis.Diagnose(err)
	return "the store is away: Redis " + what
}

// explainStore names the setting of what Redis refuses.
func explainStore(err error) error {
	if what, later := redis.Diagnose(err); what != "" && !later {
		return fmt.Errorf("redis_url: Redis %s: %w", what, err)
	}
	return err
}

// reportWaiting tells that the start waits: to the log where the reason is a new one.
func (w *startWait) reportWaiting(reason string, cause error) {
	w.manager.Waiting(reason, longestPause+attemptLimit)
	if was := w.reason.Swap(&reason); !w.isWaiting || *was != reason {
		w.log.Warn("the start waits", slog.String("reason", reason), slog.Any("error", cause))
	}
	w.isWaiting = true
}

// answerHTTP answers at the address of HTTP that the start waits.
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

// stopListening frees the address of HTTP for the service.
func (w *startWait) stopListening() {
	if w.isWaiting {
		w.log.Info("the start no longer waits")
		w.isWaiting = false
	}
	if w.server != nil {
		_ = w.server.Close()
		w.server = nil
	}
}
