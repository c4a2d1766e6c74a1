package operator

import (
	"context"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/load"
	"github.com/callboard/callboard/service/record"
)

// dialStop stores whether dialing is stopped in the whole installation.
type dialStop interface {
	Current() load.DiallingNow
	// Stop stops dialing and stores the reason and the author in row. If dialing is already stopped, it changes nothing.
	Stop(ctx context.Context, row *domain.DialStop) (load.DiallingNow, error)
	// Resume allows dialing again. row contains the author.
	Resume(ctx context.Context, row *domain.DialStop) error
}

// nodeDrain drains this node.
type nodeDrain interface {
	Current() load.DrainNow
	// Start drains the node, so that it accepts no new calls. If the node is already draining, Start changes nothing.
	Start(at time.Time, by domain.Actor) load.DrainNow
	// End makes the node accept calls again. Errors: unavailable while the node is stopping.
	End(by domain.Actor) error
}

// StopDialling stops dialing in all workspaces until ResumeDialling, also across restarts. Live calls continue. If
// dialing is already stopped, it keeps the earlier reason.
func (s *Service) StopDialling(ctx context.Context, p domain.Principal, reason string) (load.DiallingNow, error) {
	return s.dialStop.Stop(ctx, &domain.DialStop{Reason: reason, By: record.ActorOf(p)})
}

// ResumeDialling allows dialing again. Paused campaigns stay paused.
func (s *Service) ResumeDialling(ctx context.Context, p domain.Principal) (load.DiallingNow, error) {
	return load.DiallingNow{}, s.dialStop.Resume(ctx, &domain.DialStop{By: record.ActorOf(p)})
}

// DrainNode refuses new inbound and outbound calls on this node, until UndrainNode or the end of the process. Live
// calls continue.
func (s *Service) DrainNode(_ context.Context, p domain.Principal) (load.DrainNow, error) {
	return s.drain.Start(record.Now(), record.ActorOf(p)), nil
}

// UndrainNode makes this node accept calls again. Errors: unavailable while the node is stopping.
func (s *Service) UndrainNode(_ context.Context, p domain.Principal) (load.DrainNow, error) {
	return load.DrainNow{}, s.drain.End(record.ActorOf(p))
}
