package outbox

import (
	"context"
	"errors"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// open reads the position in the event log and, at the first start, the endpoints of the workspace.
func (o *outbox) open(ctx actor.Context) {
	o.busy = true
	cfg, all := o.cfg, o.hooks == nil
	o.work(ctx, func(c context.Context) any {
		m := positionLoaded{of: o, place: LogPosition{WorkspaceID: cfg.Workspace}}
		m.version, m.err = cfg.Store.Get(c, &m.place)
		if errors.Is(m.err, domain.ErrNotFound) {
			m.err = nil
		}
		if m.err == nil && all {
			m.hooks, m.err = endpoints(c, cfg)
		}
		return m
	})
}

func endpoints(ctx context.Context, cfg Config) (all []*domain.Webhook, err error) {
	for _, env := range []domain.Environment{domain.Live, domain.Test} {
		q := commit.Query{Kind: "webhook", Workspace: cfg.Workspace, Index: "env=" + string(env), Oldest: true, Limit: 1000}
		for {
			q.Cursor, err = cfg.Store.List(ctx, q, func() domain.Record { return new(domain.Webhook) }, func(r domain.Record) error {
				if w, ok := r.(*domain.Webhook); ok {
					all = append(all, w)
				}
				return nil
			})
			if err != nil {
				return nil, err
			}
			if q.Cursor == "" {
				break
			}
		}
	}
	return all, nil
}

func (o *outbox) onOpened(ctx actor.Context, m positionLoaded) {
	if m.of != o {
		return
	}
	o.busy = false
	if o.failed("the outbox could not be opened", m.err) {
		return
	}
	o.started, o.dirty, o.pending = true, true, nil
	o.place, o.version, o.saved = m.place, m.version, m.place.Offset
	if o.hooks != nil {
		o.nudge(ctx)
		return
	}
	o.hooks = make(map[string]*subscriber, len(m.hooks))
	for _, w := range m.hooks {
		o.hooks[w.ID] = subscribe(w)
	}
	for id, w := range o.changed { // the messages are newer than the rows that were read
		delete(o.hooks, id)
		if w != nil {
			o.hooks[id] = subscribe(w)
		}
	}
	o.changed, o.routes = nil, nil
	for id := range o.hooks { // an earlier incarnation may have stopped between a commit and its notifications
		o.unnotified[id] = true
	}
	o.nudge(ctx)
}
