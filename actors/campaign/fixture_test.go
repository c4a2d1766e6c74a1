package campaign_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/call/leg"
	"github.com/callboard/callboard/actors/campaign"
	"github.com/callboard/callboard/actors/lines"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/mailbox/actortest"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/resolve"
)

const (
	workspace  = "ws_01J00000000000000000000000"
	campaignID = "campaign_01J00000000000000000000000"
)

// callPlan determines the result and the duration of a simulated call.
type callPlan struct {
	verdict  domain.Verdict
	duration time.Duration
	reached  bool
}

var (
	busy        = domain.Verdict{Outcome: domain.OutcomeBusy, Reason: domain.ReasonBusy, RetryOn: "busy"}
	noAnswer    = domain.Verdict{Outcome: domain.OutcomeNoAnswer, Reason: domain.ReasonNoAnswer, RetryOn: "no_answer"}
	done        = domain.Verdict{Outcome: domain.OutcomeCompleted, Reason: domain.ReasonCompleted}
	trunkFailed = domain.Verdict{Outcome: domain.OutcomeFailed, Reason: domain.ReasonTrunkError, RetryOn: "failed"}
	throttled   = domain.Verdict{Outcome: domain.OutcomeFailed, Reason: domain.ReasonThrottled, Throttled: true}
	notSent     = domain.Verdict{Outcome: domain.OutcomeFailed, Reason: domain.ReasonNotSent}
)

// fixture is the simulated remote side and the store of a campaign. It outlives the simulated processes of the service and
// remembers every call.
type fixture struct {
	*testing.T
	sys      *actor.ActorSystem
	store    *memoryStore
	callPlan func(c domain.Call) callPlan // course of a call; nil: answered, 5 s

	draining atomic.Bool

	mu              sync.Mutex
	started         map[string][]time.Time // by attempt ID
	uncountedStarts map[string]int         // starts that do not count
	sent            []time.Time
	live            int
	maxLive         int
	callsByNumber   map[string]int // by number
	repeatedEnds    int            // ends that were reported again

	boot       int
	process    *process
	log        *slog.Logger
	noSlot     func() (trunk.SlotDenied, bool)
	trunkActor func() actor.Actor // answers for the trunks; nil: noSlot does
	check      campaign.EligibilityCheck
	calling    func() domain.DestinationRules
	onMessage  func(any)
	numbers    *actor.PID
	limit      int
	perMinute  int
	scriptErr  error
	abandoned  map[string]time.Time // calls that earlier processes left open
}

// process is one simulated process of the service, from its start to its end.
type process struct {
	killed                              bool
	mu                                  sync.Mutex
	lines, trunks, calls, parent, actor *actor.PID
	all                                 []*actor.PID
	campaign                            *campaign.Campaign // the latest campaign actor
}

func (p *process) dead() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.killed
}

// withCampaign runs a test with a campaign of n contacts.
func withCampaign(t *testing.T, n int, change func(c *domain.Campaign), f func(w *fixture)) {
	t.Helper()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		w := &fixture{
			T: t, sys: sys, store: newMemoryStore(t), started: make(map[string][]time.Time), uncountedStarts: make(map[string]int),
			callsByNumber: make(map[string]int), log: slog.New(slog.DiscardHandler), limit: 1000,
		}
		c := &domain.Campaign{
			Meta: domain.Meta{ID: campaignID, Object: "campaign", WorkspaceID: workspace, Environment: domain.Live, CreatedAt: time.Now()},
			Name: "Reminder", Status: domain.CampaignDraft, AgentID: "agent_01J00000000000000000000000", AutoComplete: true,
			Pacing: domain.Pacing{CallsPerMinute: 600, MaxConcurrent: 10}, CallerID: domain.CallerID{Number: "+12025550100"},
			DefaultCountry: "US",
		}
		if change != nil {
			change(c)
		}
		w.storeCampaign(c, n)
		w.startProcess()
		finished := false
		defer func() {
			w.killProcess()
			time.Sleep(time.Minute) // timers of stopped actors fire
			assert.Empty(t, w.store.errors)
			if !finished { // require has ended the test
				sys.Shutdown()
				time.Sleep(2 * time.Second)
			}
		}()
		f(w)
		finished = true
	})
}

func number(i int) string { return fmt.Sprintf("+1202555%04d", i) }

func (w *fixture) storeCampaign(c *domain.Campaign, n int) {
	w.store.storeRecords(c, &domain.Progress{CampaignID: c.ID, WorkspaceID: workspace, Total: n})
	w.storeContacts(n, func(i int) domain.Contact {
		return domain.Contact{Phone: number(i), Context: domain.Context{"name": "Contact " + strconv.Itoa(i)}}
	})
}

// storeContacts stores n contacts as an upload does: in chunks, with pages of their states.
func (w *fixture) storeContacts(n int, f func(i int) domain.Contact) {
	for i := 0; i < n; i += domain.ChunkSize {
		chunk := &domain.ContactChunk{CampaignID: campaignID, WorkspaceID: workspace, Index: i / domain.ChunkSize}
		for j := i; j < min(i+domain.ChunkSize, n); j++ {
			chunk.Contacts = append(chunk.Contacts, f(j))
		}
		w.store.storeRecords(chunk)
	}
	for i := 0; i < n; i += domain.PageSize {
		size := min(domain.PageSize, n-i)
		w.store.storeRecords(&domain.ContactPage{
			CampaignID: campaignID, WorkspaceID: workspace, Index: i / domain.PageSize, States: make([]byte, size), Attempts: make([]byte, size),
		})
	}
}

// startProcess starts a process of the service that continues from the stored state.
func (w *fixture) startProcess() {
	w.boot++
	p := &process{}
	w.process = p
	boot := "boot" + strconv.Itoa(w.boot)
	spawn := func(f func() actor.Actor) *actor.PID {
		pid := w.sys.Root.Spawn(mailbox.Props(f, 1000))
		p.all = append(p.all, pid)
		return pid
	}
	p.trunks = spawn(func() actor.Actor {
		if w.trunkActor != nil {
			return w.trunkActor()
		}
		return actor.ReceiveFunc(w.trunkReply)
	})
	p.calls = spawn(func() actor.Actor { return &calls{w: w, p: p, live: make(map[string]*simulatedCall)} })
	p.lines = spawn(func() actor.Actor {
		return lines.New(lines.Config{Concurrent: w.limit, PerMinute: w.perMinute})
	})
	cfg := campaign.Config{
		Workspace: workspace, CampaignID: campaignID, Boot: boot, Store: processStore{w.store, p.dead},
		Lines: func(domain.Environment) *actor.PID { return p.lines }, Trunks: p.trunks, Calls: p.calls, Check: w.check, DestinationRules: w.calling, Log: w.log,
		Script: func(context.Context, *domain.Campaign) (domain.Script, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			return domain.Script{AgentID: "agent_1", UnitID: "unit_1"}, w.scriptErr
		},
		NewLeg: func(id string, s *trunk.Slot, _, _ string) domain.AttemptLeg {
			return leg.NewRow(1, s.Trunk().ID, sip.DialogState{CallID: id + "-1", Target: s.Target})
		},
		OnMessage: func(m any) {
			if w.onMessage != nil {
				w.onMessage(m)
			}
		},
		Numbers:          w.numbers,
		AbandonedDialogs: func() map[string]time.Time { return w.abandoned }, Draining: w.draining.Load,
	}
	// The parent restarts the campaign after a panic, as in production.
	p.parent = w.sys.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		if _, ok := ctx.Message().(*actor.Started); ok {
			p.actor, _ = ctx.SpawnNamed(mailbox.Props(func() actor.Actor {
				p.campaign = campaign.New(cfg)
				return p.campaign
			}, 1000), "campaign")
		}
	}, actor.WithSupervisor(mailbox.RestartStrategy(w.log, nil))))
	p.all = append(p.all, p.parent)
	synctest.Wait()
}

// killProcess ends the process like kill -9: none of its writes reach the store, and its calls end some time later.
func (w *fixture) killProcess() {
	w.process.mu.Lock()
	w.process.killed = true
	w.process.mu.Unlock()
	for _, pid := range slices.Backward(w.process.all) {
		w.sys.Root.Poison(pid)
	}
	synctest.Wait()
	w.mu.Lock()
	w.live = 0
	w.mu.Unlock()
}

func (w *fixture) request(m any) (domain.CampaignStatusObject, error) {
	ctx, cancel := context.WithTimeout(w.Context(), 20*time.Second)
	defer cancel()
	o, err := mailbox.Ask[domain.CampaignStatusObject](ctx, w.sys, w.process.actor, m)
	if domain.CodeOf(err) == domain.CodeUnavailable { // as the service does: the actor of an ended campaign has stopped
		c, p := domain.Campaign{Meta: domain.Meta{WorkspaceID: workspace, ID: campaignID}}, w.store.progress()
		w.store.withLock(func(m *memoryStore) { _, _ = m.get(&c) })
		if c.Status.Final() {
			return campaign.HandleEnded(&c, &p, m)
		}
	}
	return o, err
}

func (w *fixture) mustRequest(m any) domain.CampaignStatusObject {
	w.Helper()
	s, err := w.request(m)
	require.NoError(w, err)
	return s
}

// changeRemoteSide runs f under the lock of the fixture, to change how simulated calls end.
func (w *fixture) changeRemoteSide(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
}

func (w *fixture) send(m any) {
	w.sys.Root.Send(w.process.actor, m)
	synctest.Wait()
}

// waitForStatus waits in fake time until the campaign has status s. It fails the test after limit.
func (w *fixture) waitForStatus(limit time.Duration, s domain.CampaignStatus) domain.CampaignStatusObject {
	w.Helper()
	for end := time.Now().Add(limit); ; {
		if o, err := w.request(campaign.GetStatus{}); err == nil && o.Status == s {
			return o
		}
		require.True(w, time.Now().Before(end), "the campaign does not become %s; calls sent: %d", s, len(w.callTimes()))
		time.Sleep(max(limit/2000, 100*time.Millisecond))
	}
}

// openCalls returns the call IDs of the attempts that are open in the store.
func (w *fixture) openCalls() []string {
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	var out []string
	for k := range w.store.kinds["attempt"] {
		a := domain.Attempt{ID: k.ID, WorkspaceID: k.Workspace}
		_, _ = w.store.get(&a)
		out = append(out, a.CallID)
	}
	return out
}

func (w *fixture) callTimes() []time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.sent)
}

// checkOneCallPerAttempt checks that no attempt was called twice. Calls that do not count as attempts may be repeated.
func (w *fixture) checkOneCallPerAttempt() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for a, at := range w.started {
		assert.LessOrEqual(w, len(at), 1+w.uncountedStarts[a], "attempt %s", a)
	}
}

func (w *fixture) trunkReply(ctx actor.Context) {
	if m, ok := ctx.Message().(trunk.RequestSlot); ok {
		if w.noSlot != nil {
			if no, ok := w.noSlot(); ok {
				no.CallID, no.Generation = m.CallID, m.Generation
				ctx.Send(ctx.Sender(), no)
				return
			}
		}
		ctx.Send(ctx.Sender(), trunk.Slot{
			CallID: m.CallID, Key: "k", Generation: m.Generation, Target: resolve.Target{Host: "192.0.2.1"},
			Via: &domain.Trunk{Meta: domain.Meta{ID: "trunk_1"}},
		})
	}
}

// calls replaces the actor of the workspace's calls. It binds the permit of each simulated call, ends the call as planned,
// and repeats the end until it is acknowledged.
type calls struct {
	w    *fixture
	p    *process
	live map[string]*simulatedCall
}

type simulatedCall struct {
	start    call.StartOutbound
	pid      *actor.PID
	over     bool
	reported bool
	plan     callPlan
}

type callOver struct{ id string }

func (callOver) Control() {}

func (c *calls) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case call.StartOutbound:
		c.start(ctx, m)
	case callOver:
		c.over(ctx, m.id)
	case call.AcknowledgeEnd:
		if r := c.live[m.CallID]; r != nil {
			ctx.Poison(r.pid)
			delete(c.live, m.CallID)
		}
	case call.HangUp:
		if r := c.live[m.CallID]; r != nil && !r.over {
			r.plan.verdict = domain.Verdict{Outcome: domain.OutcomeCompleted, Reason: domain.ReasonHangup}
			c.over(ctx, m.CallID)
		}
		ctx.Respond(call.HangupStarted{})
	case call.GetLiveCalls:
		var now call.LiveCalls
		for id, r := range c.live {
			if r.over { // the worst case: the call is gone, but its end is still reported
				continue
			}
			now.Calls = append(now.Calls, call.LiveCall{CallID: id, AttemptID: r.start.Attempt.ID, CampaignID: campaignID, PID: r.pid})
		}
		ctx.Respond(now)
	}
}

func (c *calls) start(ctx actor.Context, m call.StartOutbound) {
	w := c.w
	pid := ctx.Spawn(actor.PropsFromFunc(func(actor.Context) {}))
	r := &simulatedCall{start: m, pid: pid, plan: callPlan{verdict: done, duration: 5 * time.Second, reached: true}}
	w.mu.Lock()
	ends := w.callPlan
	w.mu.Unlock()
	if ends != nil {
		r.plan = ends(m.Call)
	}
	c.live[m.Call.ID] = r
	ctx.Request(c.p.lines, lines.BindPermit{Permit: m.Permit, CallID: m.Call.ID, Call: pid})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.started[m.Attempt.ID] = append(w.started[m.Attempt.ID], time.Now())
	if !r.plan.verdict.SpendsAttempt() {
		w.uncountedStarts[m.Attempt.ID]++
	}
	w.sent = append(w.sent, time.Now())
	w.callsByNumber[m.Call.To]++
	w.live++
	w.maxLive = max(w.maxLive, w.live)
	mailbox.SendAfter(ctx, r.plan.duration, callOver{m.Call.ID})
}

func (c *calls) over(ctx actor.Context, id string) {
	r := c.live[id]
	if r == nil {
		return
	}
	now := time.Now()
	if !r.over {
		r.over = true
		c.w.mu.Lock()
		c.w.live--
		c.w.mu.Unlock()
		k := &r.start.Call
		k.Status, k.Disposition, k.EndedReason, k.EndedAt = domain.StatusFor(r.plan.verdict.Outcome), string(r.plan.verdict.Outcome), r.plan.verdict.Reason, &now
		if k.Status == domain.CallCompleted {
			answered := now.Add(-3 * time.Second)
			k.AnsweredAt, k.DurationSeconds = &answered, 3
		}
	}
	if r.reported {
		c.w.mu.Lock()
		c.w.repeatedEnds++
		c.w.mu.Unlock()
	}
	r.reported = true
	ctx.Send(r.start.Owner, call.Ended{
		CallID: id, AttemptID: r.start.Attempt.ID, Call: r.start.Call, Verdict: r.plan.verdict, Reached: r.plan.reached,
		Tariff: r.start.Attempt.Tariff,
	})
	mailbox.SendAfter(ctx, 2*time.Second, callOver{id})
}

func types(events []event.Event) map[event.Type]int {
	n := make(map[event.Type]int)
	for _, e := range events {
		n[e.Type]++
	}
	return n
}
