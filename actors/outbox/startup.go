package outbox

import (
	"context"
	"errors"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// startReading reads the position in the event log from the store and, at the first start, the endpoints of the
// workspace.
func (o *outbox) startReading(ctx actor.Context) {
	o.isBusy = true
	cfg, all := o.cfg, o.subscribers == nil
	o.runTask(ctx, func(c context.Context) any {
		m := positionLoaded{outbox: o, position: LogPosition{WorkspaceID: cfg.Workspace}}
		m.version, m.err = cfg.Store.Get(c, &m.position)
		if errors.Is(m.err, domain.ErrNotFound) {
			m.err = nil
		}
		if m.err == nil && all {
			m.endpoints, m.err = readEndpoints(c, cfg)
		}
		return m
	})
}

func readEndpoints(ctx context.Context, cfg Config) (all []*domain.Webhook, err error) {
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

func (o *outbox) onPositionLoaded(ctx actor.Context, m positionLoaded) {
	if m.outbox != o {
		return
	}
	o.isBusy = false
	if o.storeFailed("the outbox could not be opened", m.err) {
		return
	}
	o.started, o.readAgain, o.pending = true, true, nil
	o.position, o.version, o.storedOffset = m.position, m.version, m.position.Offset
	if o.subscribers != nil {
		o.notifyEndpoints(ctx)
		return
	}
	o.subscribers = make(map[string]*subscriber, len(m.endpoints))
	for _, w := range m.endpoints {
		o.subscribers[w.ID] = newSubscriber(w)
	}
	for id, w := range o.earlyChanges { // the messages are newer than the rows that were read
		delete(o.subscribers, id)
		if w != nil {
			o.subscribers[id] = newSubscriber(w)
		}
	}
	o.earlyChanges, o.routes = nil, nil
	for id := range o.subscribers { // an earlier incarnation may have stopped between a commit and its notifications
		o.unnotified[id] = true
	}
	o.notifyEndpoints(ctx)
}
