package node

import (
	"context"
	"log/slog"
	"time"

	"github.com/callboard/callboard/actors/outbox"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/routing"
)

// alarmLimit bounds the commit of an alarm.
const alarmLimit = 8 * time.Second

// trunkAlarms commits an event when a quality measure of a trunk falls below its bound or recovers.
type trunkAlarms struct {
	store     commit.Store
	committed func(workspaceID string)
	log       *slog.Logger
}

// commit logs an alarm of a trunk and stores its event.
func (t *trunkAlarms) commit(ctx context.Context, a trunk.Alarm) {
	about := []any{
		slog.String("trunk_id", a.Trunk.ID), slog.String("measure", a.Measure), slog.Float64("value", a.Value), slog.Float64("bound", a.Bound),
		slog.Int("calls", a.Calls),
	}
	if a.Recovered {
		t.log.Info("the quality of a trunk has recovered", about...)
	} else {
		t.log.Warn("the quality of a trunk is below its bound", about...)
	}
	bound, cancel := context.WithTimeout(ctx, alarmLimit)
	defer cancel()
	d := outbox.NewEvent(&a.Trunk.Meta, event.SystemDegraded, a.Trunk.ID, domain.UnitID(a.Trunk.WorkspaceID), event.SystemDegradedData{
		TrunkID: a.Trunk.ID, TrunkName: a.Trunk.Name, Measure: a.Measure, Value: a.Value, Bound: a.Bound, Calls: a.Calls,
		WindowSeconds: int(routing.StatisticsWindow / time.Second), Message: a.Message, Recovered: a.Recovered,
	})
	if _, err := t.store.Apply(bound, commit.Change{Workspace: a.Trunk.WorkspaceID, Events: []event.Draft{d}}); err != nil {
		t.log.Warn("the alarm of a trunk could not be stored", slog.Any("error", err))
		return
	}
	t.committed(a.Trunk.WorkspaceID)
}
