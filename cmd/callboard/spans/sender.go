package spans

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/callboard/callboard/actors"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
)

const (
	mostWaiting = 4096             // spans that are kept for the collector
	mostAtOnce  = 512              // of them in a request
	sendEvery   = 5 * time.Second  // what is less than that
	sendLimit   = 10 * time.Second // for one request
	tries       = 4                // of a request that may succeed later
	mostAnswer  = 4 << 10
)

// Config says where spans go.
type Config struct {
	URL     string // of the collector, without /v1/traces
	Header  http.Header
	Share   float64 // of all traces, 0 to 1
	Version string
	Node    string // which process this is
	Log     *slog.Logger
}

// Sender sends spans to a collector, some seconds later and many at once. What
// it cannot take is left out and counted: no call waits for it.
type Sender struct {
	cfg     Config
	waiting chan span
	sent    atomic.Uint64
	lost    atomic.Uint64
	done    chan struct{}
}

// New makes a sender; Run lets it work.
func New(cfg Config) *Sender {
	return &Sender{cfg: cfg, waiting: make(chan span, mostWaiting), done: make(chan struct{})}
}

// Counts are the spans that the collector took, and those that were left out.
func (s *Sender) Counts() (sent, lost uint64) { return s.sent.Load(), s.lost.Load() }

// Store is a store whose commits are watched.
func (s *Sender) Store(inner actors.Store) actors.Store { return watched{inner, s} }

type watched struct {
	actors.Store
	s *Sender
}

// Apply is the store's.
func (w watched) Apply(ctx context.Context, c commit.Change) ([]event.Event, error) {
	events, err := w.Store.Apply(ctx, c)
	if err == nil {
		w.s.watch(&c)
	}
	return events, err
}

func (s *Sender) watch(c *commit.Change) {
	var over map[string]bool
	for i := range c.Events {
		if d, ok := c.Events[i].Data.(event.CallEndedData); ok {
			if over == nil {
				over = make(map[string]bool)
			}
			over[d.CallID] = true
		}
	}
	for _, r := range c.Puts {
		switch r := r.(type) {
		case *domain.Call:
			if over[r.ID] && s.wants(r.ID) {
				s.add(ofCall(r))
			}
		case *domain.Delivery:
			if r.LastAttemptAt != nil && s.wants(ofWhat(r)) {
				s.add(ofDelivery(r))
			}
		}
	}
}

// wants says whether the trace of what has an id is one of those that are sent.
func (s *Sender) wants(id string) bool {
	trace, ok := traceOf(id)
	return ok && sampled(trace, s.cfg.Share)
}

func (s *Sender) add(all []span) {
	for i := range all {
		select {
		case s.waiting <- all[i]:
		default:
			s.lost.Add(uint64(len(all) - i)) //nolint:gosec // never negative
			return
		}
	}
}

// Run sends until ctx ends, and then what is left, for as long as one request
// may take.
func (s *Sender) Run(ctx context.Context) {
	defer close(s.done)
	tick := time.NewTicker(sendEvery)
	defer tick.Stop()
	var batch []span
	for {
		select {
		case one := <-s.waiting:
			if batch = append(batch, one); len(batch) < mostAtOnce {
				continue
			}
		case <-tick.C:
		case <-ctx.Done():
			s.rest(context.WithoutCancel(ctx), batch)
			return
		}
		s.post(ctx, batch)
		batch = batch[:0]
	}
}

// Wait waits until Run has ended.
func (s *Sender) Wait() { <-s.done }

// rest sends what is left, once.
func (s *Sender) rest(ctx context.Context, batch []span) {
	for len(s.waiting) > 0 {
		batch = append(batch, <-s.waiting)
	}
	ctx, cancel := context.WithTimeout(ctx, sendLimit/2)
	defer cancel()
	for len(batch) > 0 {
		n := min(len(batch), mostAtOnce)
		if _, err := s.try(ctx, batch[:n]); err != nil {
			s.gaveUp(len(batch), err)
			return
		}
		s.sent.Add(uint64(n))
		batch = batch[n:]
	}
}

// post sends a batch, again where it may succeed later.
func (s *Sender) post(ctx context.Context, batch []span) {
	if len(batch) == 0 {
		return
	}
	wait := time.Second
	for n := 1; ; n++ {
		again, err := s.try(ctx, batch)
		if err == nil {
			s.sent.Add(uint64(len(batch)))
			return
		}
		if !again || n == tries {
			s.gaveUp(len(batch), err)
			return
		}
		select {
		case <-time.After(wait):
			wait *= 2
		case <-ctx.Done():
			s.gaveUp(len(batch), err)
			return
		}
	}
}

func (s *Sender) gaveUp(n int, err error) {
	s.lost.Add(uint64(n)) //nolint:gosec // a length
	s.cfg.Log.Warn("the collector did not take spans", slog.Int("spans", n), slog.Any("error", err))
}

// try posts a batch once; again says whether another try may succeed.
func (s *Sender) try(ctx context.Context, batch []span) (again bool, err error) {
	body, err := encode(batch, s.cfg.Version, s.cfg.Node)
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(ctx, sendLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.cfg.URL+"/v1/traces", bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	if s.cfg.Header != nil {
		req.Header = s.cfg.Header.Clone()
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := collector.Do(req)
	if err != nil {
		return true, fmt.Errorf("spans: %w", err)
	}
	defer func() { _ = res.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, mostAnswer))
	if res.StatusCode/100 == 2 {
		return false, nil
	}
	return res.StatusCode == http.StatusTooManyRequests || res.StatusCode >= 500, fmt.Errorf("spans: the collector answered %s", strconv.Itoa(res.StatusCode))
}

// collector asks the collector, which is the operator's own: it may stand on this
// machine. It follows no redirects, which would take the header lines along.
var collector = &http.Client{ //nolint:gochecknoglobals // never changed
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}
