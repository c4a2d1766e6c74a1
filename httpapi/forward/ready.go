package forward

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"
)

const (
	reachMost  = 8                      // nodes that are asked at a time
	readyKept  = 500 * time.Millisecond // that a look counts, however many ask
	readyLimit = 2 * waitReady
)

// Reach asks a node's door whether it answers.
func (f *Forwarder) Reach(ctx context.Context, addr string) error {
	_, host := way{addr: addr}.host(nodeItself)
	r, err := http.NewRequestWithContext(ctx, http.MethodHead, "https://"+host+"/healthz", nil)
	if err != nil {
		return err
	}
	resp, err := f.probe.RoundTrip(r)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

var errSilent = errors.New("a node that has shards does not answer")

// readiness is the last look at whether all shards can be reached.
type readiness struct {
	mu   sync.Mutex
	last *looked
}

type looked struct {
	done chan struct{} // closed when the rest is known
	err  error
	at   time.Time
}

// ready says whether every shard has a node that this one reaches. Those who
// ask together are told the same.
func (f *Forwarder) ready(ctx context.Context) error {
	f.readiness.mu.Lock()
	one := f.readiness.last
	if one == nil || one.over() && time.Since(one.at) > readyKept {
		one = &looked{done: make(chan struct{})}
		f.readiness.last = one
		go func() { //nolint:gosec // others ask for it, too
			bound, cancel := context.WithTimeout(context.Background(), readyLimit)
			defer cancel()
			one.err, one.at = f.look(bound), time.Now()
			close(one.done)
		}()
	}
	f.readiness.mu.Unlock()
	select {
	case <-one.done:
		return one.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *looked) over() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

// look waits a moment for shards that change hands.
func (f *Forwarder) look(ctx context.Context) error {
	end := time.Now().Add(waitReady)
	for {
		addrs, without := f.owners()
		if without < 0 {
			return f.reachAll(ctx, addrs)
		}
		if time.Until(end) < pause {
			return fmt.Errorf("shard %d: %w", without, errNobody)
		}
		wait := time.NewTimer(pause)
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return ctx.Err()
		}
	}
}

// owners are the other nodes that have shards; without: a shard that nobody
// has, -1 where there is none.
func (f *Forwarder) owners() (addrs []string, without int) {
	known := make(map[string]bool)
	for shard := range f.cfg.Shards {
		w, ok := f.way(shard)
		if !ok || w.seat != nil && !w.seat.serves.Load() {
			return nil, shard
		}
		if w.seat == nil && !known[w.addr] {
			known[w.addr], addrs = true, append(addrs, w.addr)
		}
	}
	return addrs, -1
}

func (f *Forwarder) reachAll(ctx context.Context, addrs []string) error {
	places, failed := make(chan struct{}, reachMost), make(chan error, len(addrs))
	for _, addr := range addrs {
		places <- struct{}{}
		go func() {
			err := f.Reach(ctx, addr)
			if err != nil {
				f.cfg.Log.Debug("a node does not answer", slog.String("node", addr), slog.Any("error", err))
				err = errSilent // its address is nobody's business
			}
			failed <- err
			<-places
		}()
	}
	for range addrs {
		if err := <-failed; err != nil {
			return err
		}
	}
	return nil
}
