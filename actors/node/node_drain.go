package node

import (
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/dialer"
	"github.com/callboard/callboard/domain/load"
)

// Drain keeps new calls off the node while an operator has drained it, and for
// good once it is stopping. Live calls go on. Shards of a process share the drain.
type Drain struct {
	sip      callDrainer                    // nil: there is no SIP
	shared   bool                           // other shards use sip as well
	onChange func()                         // the drain has begun or ended
	current  *atomic.Pointer[load.DrainNow] // of the process; nil within: calls may begin
	log      *slog.Logger

	mu       sync.Mutex  // held while sip is told
	stopping atomic.Bool // the node is stopping
}

// callDrainer refuses inbound calls.
type callDrainer interface{ Drain(on bool) }

// Start drains the node until End or the end of the process. A drained node keeps its
// first drain.
func (d *Drain) Start(at time.Time, by domain.Actor) load.DrainNow {
	d.mu.Lock()
	defer d.mu.Unlock()
	if now := d.current.Load(); now != nil {
		return *now
	}
	now := &load.DrainNow{On: true, Since: &at, By: &by}
	d.current.Store(now)
	if d.sip != nil {
		d.sip.Drain(true)
	}
	d.onChange()
	d.log.Warn("an operator has drained the node", slog.String("actor", by.ID))
	return *now
}

// End lets the node take calls again. Errors: unavailable while the node is stopping.
func (d *Drain) End(by domain.Actor) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.isStopping() {
		return domain.Errorf(domain.CodeUnavailable, "the service is being stopped: it takes no calls any more").With("reason", dialer.ReasonDraining)
	}
	if d.current.Swap(nil) == nil {
		return nil
	}
	if d.sip != nil {
		d.sip.Drain(false)
	}
	d.onChange()
	d.log.Warn("an operator lets the node take calls again", slog.String("actor", by.ID))
	return nil
}

// stop lets no call begin any more. SIP of other shards goes on.
func (d *Drain) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopping.Store(true)
	if d.sip != nil && !d.shared {
		d.sip.Drain(true)
	}
}

// Current returns the operator's drain, if there is one.
func (d *Drain) Current() load.DrainNow {
	if now := d.current.Load(); now != nil {
		return *now
	}
	return load.DrainNow{}
}

// isDrained reports whether an operator has drained the node.
func (d *Drain) isDrained() bool { return d.current.Load() != nil }

// isStopping reports whether the node is stopping.
func (d *Drain) isStopping() bool { return d.stopping.Load() }

// reason returns why a drained node is not ready; nil: it is not drained.
func (d *Drain) reason() error {
	if now := d.current.Load(); now != nil && now.Since != nil {
		return fmt.Errorf("an operator has drained the node at %s", now.Since.Format(time.RFC3339))
	}
	return nil
}
