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

// How often what is known of the trunks is kept while it changes, and how long
// that may take.
const (
	keepEvery = 10 * time.Second
	keepLimit = 5 * time.Second
)

type (
	// statesRead are the states that an earlier process left.
	statesRead struct {
		states []domain.TrunkState
		err    error
	}
	// saveStatesDue is the wake-up to keep what has changed.
	saveStatesDue struct{ generation int }
	// statesSaved answers one commit of it.
	statesSaved struct {
		trunks []string
		gone   []string
		err    error
	}
)

// Control: each is an answer, or a wake-up of one's own.
func (statesRead) Control() {}

// Control admits it always.
func (saveStatesDue) Control() {}

// Control admits it always.
func (statesSaved) Control() {}

// stateKeeper saves the states of trunks for a restart: one commit of all changes, every ten seconds at most.
type stateKeeper struct {
	off        bool            // nothing is saved
	dirty      map[string]bool // trunks
	gone       []string
	spent      domain.Amount // as kept last
	spentOn    int64
	generation int
	armed      bool // a wake-up is set
	busy       bool // a commit is under way
	waiting    []*actor.PID
}

func (k *stateKeeper) forgetTrunk(id string) {
	delete(k.dirty, id)
	k.gone = append(k.gone, id)
}

// readStates reads the states that an earlier process saved.
func (t *Trunks) readStates(ctx actor.Context) {
	if t.cfg.LoadStates == nil {
		return
	}
	read := t.cfg.LoadStates
	mailbox.RunTask(ctx, readLimit, func(bound context.Context) any {
		states, err := read(bound)
		return statesRead{states, err}
	})
}

func (t *Trunks) onStatesRead(ctx actor.Context, m statesRead) {
	if m.err != nil {
		t.cfg.Log.Warn("how the trunks did before could not be read", slog.Any("error", m.err))
		return
	}
	now := time.Now()
	for i := range m.states {
		s := &m.states[i]
		if b := t.trunks.byID(s.TrunkID); b != nil {
			b.restore(s, now)
			for measure, at := range s.AlarmsReportedAt {
				t.alarms.sentAt[s.TrunkID+measure] = at
			}
		} else {
			t.keeper.forgetTrunk(s.TrunkID)
		}
	}
	if len(t.keeper.gone) > 0 {
		t.keeper.wake(ctx)
	}
	t.serve(ctx)
}

// markChanged notes that the state of a trunk has changed.
func (t *Trunks) markChanged(ctx actor.Context, b *trunkState) {
	if t.cfg.SaveStates == nil || b.trunk.Simulator {
		return
	}
	if t.keeper.dirty == nil {
		t.keeper.dirty = make(map[string]bool)
	}
	t.keeper.dirty[b.trunk.ID] = true
	t.keeper.wake(ctx)
}

// wake sets the timer of the next commit.
func (k *stateKeeper) wake(ctx actor.Context) {
	if k.armed || k.busy || k.off {
		return
	}
	k.armed = true
	k.generation++
	mailbox.SendAfter(ctx, keepEvery, saveStatesDue{k.generation})
}

// saveStates commits the changes.
func (t *Trunks) saveStates(ctx actor.Context) {
	k := &t.keeper
	if k.busy {
		return
	}
	now := time.Now()
	var s *domain.Spending
	if outside := t.spend.outsideLedger(now); t.spend.known && (outside != k.spent || t.spend.day != k.spentOn) && (outside > 0 || k.spent > 0) {
		s = &domain.Spending{Day: t.spend.day, Micros: outside, Live: t.spend.liveSpendByCall(now)}
		k.spent, k.spentOn = outside, t.spend.day
	}
	if t.cfg.SaveStates == nil || len(k.dirty) == 0 && len(k.gone) == 0 && s == nil {
		t.keeper.answerFlushes(ctx)
		return
	}
	m := statesSaved{gone: k.gone}
	states := make([]domain.TrunkState, 0, len(k.dirty))
	for id := range k.dirty {
		if b := t.trunks.byID(id); b != nil {
			states, m.trunks = append(states, b.kept(t.alarms.sentAt, now)), append(m.trunks, id)
		}
	}
	k.dirty, k.gone, k.busy = nil, nil, true
	keep := t.cfg.SaveStates
	mailbox.RunTask(ctx, keepLimit, func(bound context.Context) any {
		m.err = keep(bound, states, m.gone, s)
		return m
	})
}

func (t *Trunks) onStatesSaved(ctx actor.Context, m statesSaved) {
	k := &t.keeper
	k.busy = false
	if m.err != nil {
		t.cfg.Log.Warn("how the trunks do could not be kept; trying again", slog.Any("error", m.err))
		k.gone, k.spentOn = append(k.gone, m.gone...), 0
		for _, id := range m.trunks {
			if b := t.trunks.byID(id); b != nil {
				t.markChanged(ctx, b)
			}
		}
		t.keeper.answerFlushes(ctx)
		return
	}
	switch {
	case len(k.waiting) > 0 && len(k.dirty) > 0: // whoever waits wants to see what came meanwhile too
		t.saveStates(ctx)
		return
	case len(k.dirty) > 0 || len(k.gone) > 0 || len(t.spend.live) > 0:
		t.keeper.wake(ctx)
	}
	t.keeper.answerFlushes(ctx)
}

// answerFlushes answers the requests that wait for a commit.
func (k *stateKeeper) answerFlushes(ctx actor.Context) {
	for _, pid := range k.waiting {
		if pid != nil {
			ctx.Send(pid, StatesFlushed{})
		}
	}
	k.waiting = nil
}

// kept is what is known of a trunk, as it is kept.
func (b *trunkState) kept(told map[string]time.Time, now time.Time) domain.TrunkState {
	s := domain.TrunkState{
		TrunkID: b.trunk.ID, WorkspaceID: b.trunk.WorkspaceID, BackoffUntil: b.backoff, BackoffDelay: b.wait, LastError: b.lastErr,
		ActiveAlarms: maps.Clone(b.raised), AlarmsReportedAt: make(map[string]time.Time), Minutes: b.record.Minutes(now),
		InboundCalls: b.arrived, InboundRefusals: maps.Clone(b.refused),
	}
	for measure := range b.raised {
		if at, ok := told[b.trunk.ID+measure]; ok {
			s.AlarmsReportedAt[measure] = at
		}
	}
	for _, key := range slices.Sorted(maps.Keys(b.health)) {
		if h := b.health[key]; h.failures > 0 || h.good || h.out.After(now) || h.rests.After(now) {
			s.Targets = append(s.Targets, domain.TargetState{
				Key: key, Failures: h.failures, Good: h.good, OutUntil: h.out, RestsUntil: h.rests, LastError: h.lastErr,
			})
		}
	}
	return s
}

// restore goes on from what was kept; what this process has seen itself counts
// more.
func (b *trunkState) restore(s *domain.TrunkState, now time.Time) {
	b.record.AddMinutes(s.Minutes, now)
	b.arrived += s.InboundCalls
	for why, n := range s.InboundRefusals {
		b.refused[why] += n
	}
	if b.backoff.IsZero() {
		b.backoff, b.wait = sooner(s.BackoffUntil, now), s.BackoffDelay
	}
	if b.lastErr == "" {
		b.lastErr = s.LastError
	}
	for measure, since := range s.ActiveAlarms {
		if _, on := b.raised[measure]; !on {
			b.raised[measure] = since
		}
	}
	for _, x := range s.Targets {
		h := b.health[x.Key]
		if h == nil || h.failures > 0 || h.good {
			continue
		}
		h.failures, h.good, h.lastErr = x.Failures, x.Good, x.LastError
		h.out, h.rests = sooner(x.OutUntil, now), sooner(x.RestsUntil, now)
		b.publishHealth(x.Key, h)
	}
}

// sooner bounds a rest by the longest that there is: the clock may have been
// set back meanwhile.
func sooner(until, now time.Time) time.Time {
	if limit := now.Add(maxWait); until.After(limit) {
		return limit
	}
	return until
}
