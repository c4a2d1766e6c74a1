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
	maxProbes        = 8                      // concurrent probes of nodes
	readinessMaxAge  = 500 * time.Millisecond // maximum age of a readiness check
	readinessTimeout = 2 * readinessWait
)

// ProbeNode returns an error if a node does not respond.
func (f *Forwarder) ProbeNode(ctx context.Context, addr string) error {
	_, host := destination{addr: addr}.urlHost(nodeShard)
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

var errNodeSilent = errors.New("a node that owns shards does not respond")

// readiness holds the last check whether all shards can be reached.
type readiness struct {
	mu   sync.Mutex
	last *readinessCheck
}

type readinessCheck struct {
	done chan struct{} // closed at the end of the check
	err  error
	at   time.Time
}

// checkReady checks whether every shard has an owner that this node can reach. Concurrent callers share one check.
func (f *Forwarder) checkReady(ctx context.Context) error {
	f.readiness.mu.Lock()
	probe := f.readiness.last
	if probe == nil || probe.isDone() && time.Since(probe.at) > readinessMaxAge {
		probe = &readinessCheck{done: make(chan struct{})}
		f.readiness.last = probe
		go func() { //nolint:gosec // other callers wait for the result
			bound, cancel := context.WithTimeout(context.Background(), readinessTimeout)
			defer cancel()
			probe.err, probe.at = f.checkShards(bound), time.Now()
			close(probe.done)
		}()
	}
	f.readiness.mu.Unlock()
	select {
	case <-probe.done:
		return probe.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *readinessCheck) isDone() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

// checkShards waits at most readinessWait until every shard has an owner. Then it probes the owners.
func (f *Forwarder) checkShards(ctx context.Context) error {
	end := time.Now().Add(readinessWait)
	for {
		addrs, without := f.shardOwners()
		if without < 0 {
			return f.probeAll(ctx, addrs)
		}
		if time.Until(end) < retryDelay {
			return fmt.Errorf("shard %d: %w", without, errNoOwner)
		}
		wait := time.NewTimer(retryDelay)
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return ctx.Err()
		}
	}
}

// shardOwners returns the addresses of the other nodes that own shards. without is the number of a shard without an
// owner, -1 if all shards have owners.
func (f *Forwarder) shardOwners() (addrs []string, without int) {
	known := make(map[string]bool)
	for shard := range f.cfg.Shards {
		w, ok := f.destinationOf(shard)
		if !ok || w.listener != nil && !w.listener.accepting.Load() {
			return nil, shard
		}
		if w.listener == nil && !known[w.addr] {
			known[w.addr], addrs = true, append(addrs, w.addr)
		}
	}
	return addrs, -1
}

func (f *Forwarder) probeAll(ctx context.Context, addrs []string) error {
	places, failed := make(chan struct{}, maxProbes), make(chan error, len(addrs))
	for _, addr := range addrs {
		places <- struct{}{}
		go func() {
			err := f.ProbeNode(ctx, addr)
			if err != nil {
				f.cfg.Log.Debug("node does not respond", slog.String("node", addr), slog.Any("error", err))
				err = errNodeSilent // the error must not show the node's address to clients
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
