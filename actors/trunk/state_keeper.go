package trunk

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
)

// Interval and time limit of the commits of changed trunk states.
const (
	saveInterval = 10 * time.Second
	saveTimeout  = 5 * time.Second
)

type (
	// statesRead delivers the trunk states that an earlier process stored.
	statesRead struct {
		states []domain.TrunkState
		err    error
	}
	// saveStatesDue is the timer message that makes the actor store changed trunk states.
	saveStatesDue struct{ generation int }
	// statesSaved is the result of one commit of trunk states.
	statesSaved struct {
		trunks  []string
		deleted []string
		err     error
	}
)

// Control marks the message as one that a full mailbox admits too. The actor's own work causes it.
func (statesRead) Control() {}

// Control marks the message as one that a full mailbox admits too. The actor's own timer causes it.
func (saveStatesDue) Control() {}

// Control marks the message as one that a full mailbox admits too. The actor's own work causes it.
func (statesSaved) Control() {}

// stateKeeper stores the states of trunks, so that they survive a restart. It makes at most one commit every
// saveInterval.
type stateKeeper struct {
	disabled        bool            // states are not stored
	dirty           map[string]bool // IDs of trunks whose state has changed since the last commit
	deleted         []string
	savedSpend      domain.Amount // spending in the last commit
	savedSpendDay   int64
	generation      int
	timerSet        bool // the timer is set
	saving          bool // a commit is running
	flushRequesters []*actor.PID
}

func (k *stateKeeper) deleteTrunk(id string) {
	delete(k.dirty, id)
	k.deleted = append(k.deleted, id)
}

// readStates reads in the background the trunk states that an earlier process stored.
func (t *Trunks) readStates(ctx actor.Context) {
	if t.cfg.LoadStates == nil {
		return
	}
	read := t.cfg.LoadStates
	mailbox.RunTask(ctx, readTimeout, func(bound context.Context) any {
		states, err := read(bound)
		return statesRead{states, err}
	})
}

func (t *Trunks) onStatesRead(ctx actor.Context, m statesRead) {
	if m.err != nil {
		t.cfg.Log.Warn("stored trunk states could not be read", slog.Any("error", m.err))
		return
	}
	now := time.Now()
	for i := range m.states {
		s := &m.states[i]
		if b := t.trunks.byID(s.TrunkID); b != nil {
			b.restoreState(s, now)
			for measure, at := range s.AlarmsReportedAt {
				t.alarms.sentAt[s.TrunkID+measure] = at
			}
		} else {
			t.keeper.deleteTrunk(s.TrunkID)
		}
	}
	if len(t.keeper.deleted) > 0 {
		t.keeper.scheduleSave(ctx)
	}
	t.serveWaiting(ctx)
}

// markChanged records that the state of a trunk has changed and schedules a commit of the changed states.
func (t *Trunks) markChanged(ctx actor.Context, b *trunkState) {
	if t.cfg.SaveStates == nil || b.trunk.Simulator {
		return
	}
	if t.keeper.dirty == nil {
		t.keeper.dirty = make(map[string]bool)
	}
	t.keeper.dirty[b.trunk.ID] = true
	t.keeper.scheduleSave(ctx)
}

// scheduleSave sets the timer for the next commit, unless it is set or a commit is running.
func (k *stateKeeper) scheduleSave(ctx actor.Context) {
	if k.timerSet || k.saving || k.disabled {
		return
	}
	k.timerSet = true
	k.generation++
	mailbox.SendAfter(ctx, saveInterval, saveStatesDue{k.generation})
}

// saveStates commits the states of all changed trunks, and the spending that the billing ledger does not contain.
func (t *Trunks) saveStates(ctx actor.Context) {
	k := &t.keeper
	if k.saving {
		return
	}
	now := time.Now()
	var s *domain.Spending
	if outside := t.spend.outsideLedger(now); t.spend.known && (outside != k.savedSpend || t.spend.day != k.savedSpendDay) && (outside > 0 || k.savedSpend > 0) {
		s = &domain.Spending{Day: t.spend.day, Micros: outside, Live: t.spend.liveSpendByCall(now)}
		k.savedSpend, k.savedSpendDay = outside, t.spend.day
	}
	if t.cfg.SaveStates == nil || len(k.dirty) == 0 && len(k.deleted) == 0 && s == nil {
		t.keeper.answerFlushes(ctx)
		return
	}
	m := statesSaved{deleted: k.deleted}
	states := make([]domain.TrunkState, 0, len(k.dirty))
	for id := range k.dirty {
		if b := t.trunks.byID(id); b != nil {
			states, m.trunks = append(states, b.savedState(t.alarms.sentAt, now)), append(m.trunks, id)
		}
	}
	k.dirty, k.deleted, k.saving = nil, nil, true
	keep := t.cfg.SaveStates
	mailbox.RunTask(ctx, saveTimeout, func(bound context.Context) any {
		m.err = keep(bound, states, m.deleted, s)
		return m
	})
}

func (t *Trunks) onStatesSaved(ctx actor.Context, m statesSaved) {
	k := &t.keeper
	k.saving = false
	if m.err != nil {
		t.cfg.Log.Warn("trunk states could not be stored; trying again", slog.Any("error", m.err))
		k.deleted, k.savedSpendDay = append(k.deleted, m.deleted...), 0
		for _, id := range m.trunks {
			if b := t.trunks.byID(id); b != nil {
				t.markChanged(ctx, b)
			}
		}
		t.keeper.answerFlushes(ctx)
		return
	}
	switch {
	case len(k.flushRequesters) > 0 && len(k.dirty) > 0: // a flush includes changes that arrived during the commit
		t.saveStates(ctx)
		return
	case len(k.dirty) > 0 || len(k.deleted) > 0 || len(t.spend.meters) > 0:
		t.keeper.scheduleSave(ctx)
	}
	t.keeper.answerFlushes(ctx)
}

// answerFlushes answers the FlushStates requests that wait for a commit.
func (k *stateKeeper) answerFlushes(ctx actor.Context) {
	for _, pid := range k.flushRequesters {
		if pid != nil {
			ctx.Send(pid, StatesFlushed{})
		}
	}
	k.flushRequesters = nil
}

// savedState returns the state of a trunk in the form in which it is stored. alarmsSentAt contains the times of sent
// alarms. Its keys consist of the trunk ID and the measure.
func (b *trunkState) savedState(alarmsSentAt map[string]time.Time, now time.Time) domain.TrunkState {
	s := domain.TrunkState{
		TrunkID: b.trunk.ID, WorkspaceID: b.trunk.WorkspaceID, BackoffUntil: b.backoffUntil, BackoffDelay: b.backoffTime, LastError: b.lastErr,
		ActiveAlarms: maps.Clone(b.raisedAlarms), AlarmsReportedAt: make(map[string]time.Time), Minutes: b.statistics.Minutes(now),
		InboundCalls: b.inboundCalls, InboundRefusals: maps.Clone(b.inboundRefusals),
	}
	for measure := range b.raisedAlarms {
		if at, ok := alarmsSentAt[b.trunk.ID+measure]; ok {
			s.AlarmsReportedAt[measure] = at
		}
	}
	for _, key := range slices.Sorted(maps.Keys(b.health)) {
		if h := b.health[key]; h.failures > 0 || h.lastSucceeded || h.outUntil.After(now) || h.restUntil.After(now) {
			s.Targets = append(s.Targets, domain.TargetState{
				Key: key, Failures: h.failures, Good: h.lastSucceeded, OutUntil: h.outUntil, RestsUntil: h.restUntil, LastError: h.lastErr,
			})
		}
	}
	return s
}

// restoreState adds a stored state to the state of the trunk. Observations of this process take precedence over it.
func (b *trunkState) restoreState(s *domain.TrunkState, now time.Time) {
	b.statistics.AddMinutes(s.Minutes, now)
	b.inboundCalls += s.InboundCalls
	for why, n := range s.InboundRefusals {
		b.inboundRefusals[why] += n
	}
	if b.backoffUntil.IsZero() {
		b.backoffUntil, b.backoffTime = limitPause(s.BackoffUntil, now), s.BackoffDelay
	}
	if b.lastErr == "" {
		b.lastErr = s.LastError
	}
	for measure, since := range s.ActiveAlarms {
		if _, on := b.raisedAlarms[measure]; !on {
			b.raisedAlarms[measure] = since
		}
	}
	for _, x := range s.Targets {
		h := b.health[x.Key]
		if h == nil || h.failures > 0 || h.lastSucceeded {
			continue
		}
		h.failures, h.lastSucceeded, h.lastErr = x.Failures, x.Good, x.LastError
		h.outUntil, h.restUntil = limitPause(x.OutUntil, now), limitPause(x.RestsUntil, now)
		b.publishHealth(x.Key, h)
	}
}

// limitPause limits a stored time until which a trunk or target is not used. The clock may have been set back since, so
// that this time could be far in the future.
func limitPause(until, now time.Time) time.Time {
	if limit := now.Add(maxRetryAfter); until.After(limit) {
		return limit
	}
	return until
}
