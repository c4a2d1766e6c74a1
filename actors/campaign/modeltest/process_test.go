package modeltest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/call/leg"
	"github.com/callboard/callboard/actors/campaign"
	"github.com/callboard/callboard/actors/lines"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/persistence/pebble"
	"github.com/callboard/callboard/sip"
)

// process is one simulated process of the service, from its start to its end.
type process struct {
	boot      string
	dead      atomic.Bool
	driver    *pebble.Driver
	disk      *faultyStore
	boss      *actor.PID
	pids      sync.Map // by name
	abandoned []*time.Timer
}

func commandOf(k stepKind) any {
	switch k { //nolint:exhaustive // other steps send no command
	case begin:
		return campaign.Start{}
	case pause:
		return campaign.Pause{}
	case resume:
		return campaign.Resume{}
	case cancel:
		return campaign.Cancel{HangupActive: true}
	default:
		return campaign.GetStatus{}
	}
}

func (p *process) spawn(ctx actor.Context, name string, of func() actor.Actor) *actor.PID {
	pid, _ := ctx.SpawnNamed(mailbox.Props(of, 1000), name)
	p.pids.Store(name, pid)
	return pid
}

// pid returns the actor with this name in the process, or nil if it is not spawned yet.
func (p *process) pid(name string) *actor.PID {
	v, _ := p.pids.Load(name)
	pid, _ := v.(*actor.PID)
	return pid
}

func campaignChangedMessage() any { return campaign.RowChanged{} }
func contactsAddedMessage() any   { return campaign.ContactsAdded{} }

// startProcess opens the store and starts the actors of a new process on it.
func (w *world) startProcess(first bool) error {
	w.boots++
	p := &process{boot: "boot" + strconv.Itoa(w.boots)}
	var err error
	if p.driver, err = pebble.Open("data", pebble.Options{FS: w.fs, MemTable: 256 << 10}); err != nil {
		return fmt.Errorf("open: %w", err)
	}
	store, err := persistence.NewStore(context.Background(), p.driver, make([]byte, persistence.MasterKeySize), "1|"+p.boot)
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	p.disk = &faultyStore{w: w, process: p, store: store, turn: make(chan struct{}, 1)}
	w.mu.Lock()
	w.alive, w.model.boot = p, p.boot
	w.addTrace("%s", p.boot)
	w.mu.Unlock()
	if first {
		err = w.seedStore(store)
	} else {
		err = w.resolveDoubtfulCommit(store)
		w.compareWithModel()
	}
	if err != nil {
		return err
	}
	p.boss = w.sys.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		if _, ok := ctx.Message().(*actor.Started); ok {
			w.startActors(ctx, p)
		}
	}, actor.WithSupervisor(mailbox.RestartStrategy(slog.New(slog.DiscardHandler), func(who *actor.PID, reason any) {
		w.addFault("%s was given up: %v", who.Id, reason)
	}))))
	synctest.Wait()
	return nil
}

func (w *world) seedStore(store *persistence.Store) error {
	for _, sp := range w.spaces {
		for _, c := range sp.campaigns {
			row := c.row
			progress := &domain.Progress{CampaignID: row.ID, WorkspaceID: sp.id, Total: len(c.people), Outcomes: map[domain.Outcome]int{}}
			chunk := &domain.ContactChunk{CampaignID: row.ID, WorkspaceID: sp.id, Contacts: c.people}
			if _, err := store.Apply(context.Background(), commit.Change{Workspace: sp.id, Puts: []domain.Record{&row, progress, chunk}}); err != nil {
				return err
			}
		}
	}
	return nil
}

// startActors starts the actors in the order of their dependencies. A call that an earlier process left open keeps
// its permit until its BYE is answered.
func (w *world) startActors(ctx actor.Context, p *process) {
	before := w.messageHook(p)
	for _, sp := range w.spaces {
		callsPID := p.spawn(ctx, "calls "+sp.id, func() actor.Actor { return &fakeCalls{w: w, p: p, live: make(map[string]*placedCall)} })
		linesPID := p.spawn(ctx, "lines "+sp.id, func() actor.Actor {
			return &messageObserver{lines.New(lines.Config{
				Concurrent: sp.lines, PerMinute: sp.perMinute,
				ListLiveCalls:    func(bound context.Context) ([]lines.LiveCall, error) { return w.liveCalls(bound, callsPID) },
				ListRecentStarts: func(bound context.Context) ([]time.Time, error) { return w.recentCalls(bound, p, sp.id) },
			}), before}
		})
		w.endAbandonedDialogs(p, sp.id)
		trunksPID := p.spawn(ctx, "trunks "+sp.id, func() actor.Actor { return &fakeTrunks{w: w, space: sp.id} })
		for _, c := range sp.campaigns {
			cfg := campaign.Config{
				Workspace: sp.id, CampaignID: c.row.ID, Boot: p.boot, Store: p.disk, Trunks: trunksPID, Calls: callsPID,
				Lines: func(domain.Environment) *actor.PID { return linesPID },
				Script: func(context.Context, *domain.Campaign) (domain.Script, error) {
					return domain.Script{AgentID: "agent_1", UnitID: "unit_1"}, nil
				},
				NewLeg: func(id string, s *trunk.Slot, _, _ string) domain.AttemptLeg {
					return leg.NewRow(1, s.Trunk().ID, sip.DialogState{CallID: id + "-1", Target: s.Target})
				},
				Check: w.eligibilityCheck(sp.id), OnMessage: before,
			}
			p.spawn(ctx, c.row.ID, func() actor.Actor { return campaign.New(cfg) })
		}
	}
}

type messageObserver struct {
	actor.Actor
	before func(any)
}

// Receive implements actor.Actor.
func (o *messageObserver) Receive(ctx actor.Context) {
	o.before(ctx.Message())
	o.Actor.Receive(ctx)
}

func (w *world) eligibilityCheck(ws string) campaign.EligibilityCheck {
	return func(who domain.Contact) (campaign.SkipReason, bool) {
		w.mu.Lock()
		defer w.mu.Unlock()
		_, listed := w.model.tenants[ws].forbidden[who.Phone]
		return campaign.SkipDNC, !listed
	}
}

func (w *world) liveCalls(ctx context.Context, calls *actor.PID) ([]lines.LiveCall, error) {
	now, err := mailbox.Ask[call.LiveCalls](ctx, w.sys, calls, call.GetLiveCalls{})
	if err != nil {
		return nil, err
	}
	var out []lines.LiveCall
	for _, c := range now.Calls {
		out = append(out, lines.LiveCall{CallID: c.CallID, Call: c.PID, Campaign: true})
	}
	return out, nil
}

// recentCalls returns the calls that were started within the last minute, according to the store.
func (w *world) recentCalls(ctx context.Context, p *process, ws string) ([]time.Time, error) {
	if w.isStoreDown(p) {
		return nil, errAway
	}
	var out []time.Time
	err := forEachRow(ctx, p.disk.store, "call", ws, "env=live", func(c *domain.Call) {
		if c.StartedAt == nil || time.Since(*c.StartedAt) > 71*time.Second {
			return
		}
		if at := c.StartedAt.Add(10 * time.Second); at.Before(time.Now()) { // the latest time at which the INVITE can have been sent
			out = append(out, at)
		} else {
			out = append(out, time.Now())
		}
	})
	return out, err
}

// endAbandonedDialogs keeps a permit for each dialog that an earlier process may have left open, until its BYE is
// answered.
func (w *world) endAbandonedDialogs(p *process, ws string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.far.rings { // a call that the store does not contain cannot keep a permit
		r.isKnown = r.isKnown && r.space != ws
	}
	for _, sp := range w.spaces {
		if sp.id != ws {
			continue
		}
		for _, c := range sp.campaigns {
			for _, a := range w.model.byID[c.row.ID].open {
				w.sys.Root.Send(p.pid("lines "+ws), lines.HoldPermit{CallID: a.CallID, Until: time.Now().Add(32 * time.Second)})
				r := w.far.calls[a.CallID]
				if r != nil {
					r.isKnown = true
				}
				heard := time.Duration(w.dice.IntN(300)) * time.Millisecond
				if r != nil && r.ended.IsZero() { // a BYE that was sent arrives even if this process dies
					time.AfterFunc(heard, func() { w.hangUpCall(r) })
				}
				after := heard + time.Duration(w.dice.IntN(6000))*time.Millisecond
				p.abandoned = append(p.abandoned, time.AfterFunc(after, func() {
					if p.dead.Load() {
						return
					}
					w.sys.Root.Send(p.pid("lines "+ws), lines.ReleaseCall{CallID: a.CallID})
					if pid := p.pid(a.CampaignID); pid != nil {
						w.sys.Root.Send(pid, campaign.DialogEnded{CallID: a.CallID})
					}
				}))
			}
		}
	}
}

func (w *world) hangUpCall(r *simulatedCall) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r.ended.IsZero() {
		r.ended = time.Now()
	}
}

// killProcess ends the process like kill -9 or a power failure: unsynced data is partly lost.
func (w *world) killProcess(unsynced int) {
	p := w.alive
	w.mu.Lock()
	w.addTrace("%s ends", p.boot)
	p.dead.Store(true)
	if w.pendingCommit != nil {
		w.doubt, w.pendingCommit = w.pendingCommit, nil
	}
	w.fs = w.fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: unsynced, RNG: w.dice})
	w.mu.Unlock()
	for _, t := range p.abandoned {
		t.Stop()
	}
	if p.boss != nil {
		w.sys.Root.Poison(p.boss)
	}
	synctest.Wait()
	_ = p.driver.Close()
}

// resolveDoubtfulCommit handles the commit that was in progress at the crash. It finds out whether the commit is durable and
// reports a durable one to the model.
func (w *world) resolveDoubtfulCommit(store *persistence.Store) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.doubt
	w.doubt = nil
	if c == nil {
		return nil
	}
	for _, r := range c.Puts {
		i := slices.IndexFunc(c.Guards, func(g commit.Guard) bool { return g.Key == r.Key() })
		if i < 0 {
			continue
		}
		into, _ := reflect.TypeAssert[domain.Record](reflect.New(reflect.TypeOf(r).Elem()))
		body, _ := json.Marshal(r)
		_ = json.Unmarshal(body, into) // fills in the key
		version, err := store.Get(context.Background(), into)
		if err != nil || version != c.Guards[i].Version+1 {
			w.addTrace("the commit in doubt is not there")
			return nil
		}
		t := w.model.tenants[c.Workspace]
		events, err := store.Events(context.Background(), c.Workspace, uint64(len(t.log)), 1000)
		if err != nil {
			return err
		}
		w.addTrace("the commit in doubt is there, with %d events", len(events))
		if len(events) != len(c.Events) {
			w.model.addFault("%d of %d events of a commit survived a crash", len(events), len(c.Events))
		}
		w.model.boot = "boot" + strconv.Itoa(w.boots-1)
		w.model.onCommit(*c, events, time.Now())
		w.model.boot = "boot" + strconv.Itoa(w.boots)
		return nil
	}
	return nil
}

// compareWithModel checks that the store contains exactly the state of the model: no committed change is missing, and no
// other record exists.
func (w *world) compareWithModel() {
	w.mu.Lock()
	defer w.mu.Unlock()
	ctx, store, m := context.Background(), w.alive.disk.store, w.model
	for id, b := range m.byID {
		row, progress := &domain.Campaign{Meta: b.row.Meta}, &domain.Progress{CampaignID: id, WorkspaceID: b.tenant.id}
		if _, err := store.Get(ctx, row); err != nil || row.Status != b.row.Status {
			m.addFault("%s is %s in the store and %s in the model (%v)", id, row.Status, b.row.Status, err)
		}
		if _, err := store.Get(ctx, progress); err != nil {
			m.addFault("%s: %v", id, err)
		}
		m.checkCounters(b, progress)
		attempts := 0
		_ = forEachRow(ctx, store, "attempt", b.tenant.id, "campaign="+id, func(a *domain.Attempt) {
			attempts++
			if b.open[a.ID].CallID != a.CallID {
				m.addFault("%s is open in the store and not in the model", a.ID)
			}
		})
		if attempts != len(b.open) {
			m.addFault("%s: %d attempts are open in the store, %d in the model", id, attempts, len(b.open))
		}
	}
	for ws, t := range m.tenants {
		w.compareEventLog(ws, t)
	}
}

// compareEventLog checks that every event is stored once, with consecutive offsets and sequence numbers.
func (w *world) compareEventLog(ws string, t *tenant) {
	sequences := make(map[string]uint64)
	seen := make(map[string]bool)
	var last uint64
	for {
		events, err := w.alive.disk.store.Events(context.Background(), ws, last, 1000)
		if err != nil {
			w.model.addFault("events: %v", err)
			return
		}
		if len(events) == 0 {
			break
		}
		for _, e := range events {
			last++
			sequences[e.Subject]++
			if int(last) > len(t.log) {
				w.model.addFault("event %d of %s was never committed", last, ws)
				return
			}
			want := t.log[last-1]
			if e.Offset != last || e.Sequence != sequences[e.Subject] || e.ID != want.id || e.Subject != want.subject || e.WorkspaceID != ws || seen[e.ID] {
				w.model.addFault("event %d of %s is %s %s (offset %d, sequence %d), committed was %+v", last, ws, e.ID, e.Type, e.Offset, e.Sequence, want)
			}
			seen[e.ID] = true
		}
	}
	if int(last) != len(t.log) {
		w.model.addFault("%d events are in the log of %s, %d were committed", last, ws, len(t.log))
	}
}

// setClockBack moves all stored times an hour into the future. To the service this looks as if the clock was set back.
func (w *world) setClockBack() error {
	if w.doubt != nil { // versions decide whether the commit is durable
		return nil
	}
	driver, err := pebble.Open("data", pebble.Options{FS: w.fs, MemTable: 256 << 10})
	if err != nil {
		return err
	}
	store, err := persistence.NewStore(context.Background(), driver, make([]byte, persistence.MasterKeySize), "1|clock")
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.addTrace("the clock is set back by an hour")
	shift := func(t *time.Time) {
		if t != nil && !t.IsZero() {
			*t = t.Add(time.Hour)
		}
	}
	for id, b := range w.model.byID {
		var puts []domain.Record
		ctx, ws := context.Background(), b.tenant.id
		progress := &domain.Progress{CampaignID: id, WorkspaceID: ws}
		if _, err = store.Get(ctx, progress); err != nil {
			return err
		}
		shift(&progress.LastOpenAt)
		shift(&progress.ReportedAt)
		puts = append(puts, progress)
		if err = forEachRow(ctx, store, "result", ws, "retry="+id, func(r *domain.ContactResult) { shift(r.RetryAt); puts = append(puts, r) }); err != nil {
			return err
		}
		if err = forEachRow(ctx, store, "attempt", ws, "campaign="+id, func(a *domain.Attempt) { shift(&a.OpenedAt); puts = append(puts, a) }); err != nil {
			return err
		}
		if err = forEachRow(ctx, store, "call", ws, "campaign="+id, func(c *domain.Call) { shift(c.StartedAt); puts = append(puts, c) }); err != nil {
			return err
		}
		if _, err = store.Apply(ctx, commit.Change{Workspace: ws, Puts: puts}); err != nil {
			return err
		}
	}
	return driver.Close()
}
