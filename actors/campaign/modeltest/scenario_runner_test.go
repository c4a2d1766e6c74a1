package modeltest_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
)

// world runs a scenario: the real actors on the real store, fakes for trunks and calls, the remote side and the model. Its
// mutex guards the state that outlives a simulated process.
type world struct {
	scenario
	t   *testing.T
	sys *actor.ActorSystem

	mu             sync.Mutex
	dice           *rand.Rand
	far            *remoteSide
	model          *model
	trace          []traceLine
	plannedFaults  []plannedFault // faults of the next commits
	storeDownUntil time.Time      // until when the store is unavailable
	slowBy         time.Duration
	slowUntil      time.Time
	noTrunk        map[string]time.Time // by workspace
	traps          map[string]int       // number of messages until a panic, by type
	doubt          *commit.Change       // may be durable or not
	pendingCommit  *commit.Change       // passed to the store and not answered
	uploads        map[string]int       // contacts of a campaign, including those being added

	fs    *vfs.MemFS
	boots int
	alive *process
	died  chan *process
	began time.Time
}

type plannedFault struct {
	after int
	what  commitFault
}

type traceLine struct {
	at     time.Time
	format string
	args   []any
}

// playScenario runs a scenario. It returns the violated rules and a trace of the steps and faults.
func playScenario(t *testing.T, s scenario, sys *actor.ActorSystem) (broken, trace []string) {
	t.Helper()
	w := &world{
		scenario: s, t: t, sys: sys, dice: rand.New(rand.NewPCG(s.seed, 7)), far: &remoteSide{seed: s.seed, calls: make(map[string]*simulatedCall)},
		noTrunk: make(map[string]time.Time), traps: make(map[string]int), uploads: make(map[string]int),
		fs: vfs.NewCrashableMem(), died: make(chan *process, 8),
	}
	w.model = newModel(s, w.far)
	time.Sleep(s.start)
	w.began = time.Now()
	if err := w.startProcess(true); err != nil {
		return []string{err.Error()}, nil
	}
	slices.SortStableFunc(w.steps, func(a, b step) int { return int(a.at - b.at) })
	for _, st := range w.steps {
		if w.isBroken() {
			break
		}
		w.waitUntil(st.at)
		w.runStep(st)
	}
	w.finish()
	w.killProcess(0)
	time.Sleep(time.Minute) // timers of stopped actors
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.model.broken) == 0 {
		w.model.checkEnd()
	}
	for _, n := range w.trace {
		trace = append(trace, n.at.Format("15:04:05.000 ")+fmt.Sprintf(n.format, n.args...))
	}
	return w.model.broken, trace
}

func (w *world) addTrace(format string, args ...any) {
	w.trace = append(w.trace, traceLine{time.Now(), format, args})
}

func (w *world) addFault(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.model.addFault(format, args...)
}

// waitUntil waits for a time of the scenario. If the process ends in the meantime, waitUntil starts another one.
func (w *world) waitUntil(at time.Duration) {
	for left := at - time.Since(w.began); left > 0; left = at - time.Since(w.began) {
		t := time.NewTimer(left)
		select {
		case <-t.C:
		case p := <-w.died:
			t.Stop()
			if p == w.alive {
				w.restart(0, false)
			}
		}
	}
}

// restart kills the process and starts another one.
func (w *world) restart(downtime time.Duration, back bool) {
	w.killProcess(w.randomInt(101))
	time.Sleep(downtime)
	if back {
		w.addError(w.setClockBack())
	}
	w.addError(w.startProcess(false))
}

// isBroken reports whether a rule of the model was violated. The run then ends.
func (w *world) isBroken() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.model.broken) > 0
}

func (w *world) addError(err error) {
	if err != nil {
		w.addFault("restart: %v", err)
	}
}

func (w *world) randomInt(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.dice.IntN(n)
}

// finish ends all injected faults and waits until every campaign has ended.
func (w *world) finish() {
	w.mu.Lock()
	w.plannedFaults, w.storeDownUntil, w.slowUntil = nil, time.Time{}, time.Time{}
	clear(w.noTrunk)
	clear(w.traps)
	w.mu.Unlock()
	const patience = 30 * time.Hour
	from, wait := time.Now(), time.Second
	for time.Since(from) < patience {
		over := true
		if w.isBroken() {
			return
		}
		for i, sp := range w.spaces {
			for j, c := range sp.campaigns {
				w.mu.Lock()
				status := w.model.byID[c.row.ID].row.Status
				open := len(w.model.byID[c.row.ID].open)
				w.mu.Unlock()
				over = over && status.Final() && open == 0
				switch status {
				case domain.CampaignDraft:
					w.request(i, j, begin)
				case domain.CampaignPaused:
					w.request(i, j, resume)
				case domain.CampaignRunning, domain.CampaignScheduled, domain.CampaignCompleted, domain.CampaignCancelled:
				}
			}
		}
		if over {
			break
		}
		w.waitUntil(time.Since(w.began) + wait)
		wait = min(wait+wait/4, 2*time.Minute)
	}
	w.compareWithModel()
}

// commitDelay returns a random duration for the next commit.
func (w *world) commitDelay() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	d := w.slow
	if time.Now().Before(w.slowUntil) {
		d = w.slowBy
	}
	if d == 0 {
		return 0
	}
	return d/4 + time.Duration(w.dice.Int64N(int64(d)))
}

// nextFault returns the fault to inject into a commit. It returns false if the store is unavailable.
func (w *world) nextFault(p *process, c *commit.Change) (commitFault, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p.dead.Load() || time.Now().Before(w.storeDownUntil) {
		return fine, false
	}
	what := fine
	if isCampaign(c) && len(w.plannedFaults) > 0 {
		if w.plannedFaults[0].after--; w.plannedFaults[0].after < 0 {
			what = w.plannedFaults[0].what
			w.plannedFaults = w.plannedFaults[1:]
			w.addTrace("trick %d with a commit of %d rows", what, len(c.Puts))
		}
	}
	w.pendingCommit = c
	return what, true
}

func isCampaign(c *commit.Change) bool {
	return slices.ContainsFunc(c.Puts, func(r domain.Record) bool { _, ok := r.(*domain.Progress); return ok })
}

// killDuringCommit kills the process during a commit. doubt is the commit whose durability is then unknown.
func (w *world) killDuringCommit(p *process, doubt *commit.Change) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p.dead.Store(true)
	w.doubt, w.pendingCommit = doubt, nil
	w.addTrace("the process dies at a commit, done: %v", doubt != nil)
	w.died <- p
}

// reportDurable reports the result of a commit to the model. It returns false if the process was killed.
func (w *world) reportDurable(p *process, c commit.Change, events []event.Event, err error) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p.dead.Load() {
		return false
	}
	w.pendingCommit = nil
	if err == nil {
		w.model.onCommit(c, events, time.Now())
	} else {
		w.addTrace("commit: %v", err)
	}
	return true
}

func (w *world) isStoreDown(p *process) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return p.dead.Load() || time.Now().Before(w.storeDownUntil)
}

// messageHook returns a function that the actors call with each message before they handle it. The function panics at the
// planned messages.
func (w *world) messageHook(p *process) func(any) {
	return func(msg any) {
		w.mu.Lock()
		if len(w.traps) == 0 || p.dead.Load() {
			w.mu.Unlock()
			return
		}
		name := fmt.Sprintf("%T", msg)
		left, set := w.traps[name]
		if set {
			if left--; left < 0 {
				delete(w.traps, name)
				w.addTrace("panic at %s", name)
				w.mu.Unlock()
				panic("planted at " + name)
			}
			w.traps[name] = left
		}
		w.mu.Unlock()
	}
}

// runStep runs one step of the scenario.
func (w *world) runStep(st step) {
	w.mu.Lock()
	w.addTrace("%v", st)
	until := time.Now().Add(st.lasts)
	switch st.kind {
	case forbid:
		c := w.spaces[st.space].campaigns[st.campaign]
		phone := c.people[st.n%len(c.people)].Phone
		if t := w.model.tenants[w.spaces[st.space].id]; t.forbidden[phone].IsZero() {
			t.forbidden[phone] = time.Now()
		}
	case lose, loseReply, refuse, crashAt:
		what := map[stepKind][]commitFault{lose: {commitLost}, loseReply: {replyLost}, refuse: {conflict}, crashAt: {killBefore, killAfter}}[st.kind]
		w.plannedFaults = append(w.plannedFaults, plannedFault{st.n % 6, what[st.m%len(what)]})
	case outage:
		w.storeDownUntil = until
	case delay:
		w.slowUntil, w.slowBy = until, time.Duration(1+st.n%2500)*time.Millisecond
	case panicAtMessage:
		w.traps[panicMessages()[st.n%len(panicMessages())]] = st.m % 8
	case noTrunk:
		w.noTrunk[w.spaces[st.space].id] = until
	case begin, pause, resume, cancel, look, patchPacing, patchRetry, patchEnd, add, crash, clockBack, requestTwice:
	}
	w.mu.Unlock()
	w.runAction(st)
}

// runAction runs a step that sends requests to the running process or changes its stored data.
func (w *world) runAction(st step) {
	verbs := []stepKind{begin, pause, resume, look}
	switch st.kind {
	case begin, pause, resume, cancel, look:
		w.request(st.space, st.campaign, st.kind)
	case requestTwice:
		w.request(st.space, st.campaign, verbs[st.n%4])
		w.request(st.space, st.campaign, verbs[st.m%4])
	case patchPacing, patchRetry, patchEnd:
		go w.changeCampaignRow(st)
	case add:
		w.addContacts(st)
	case crash:
		w.restart(time.Duration(st.n%3)*st.lasts, false)
	case clockBack:
		w.restart(time.Duration(st.n%3)*st.lasts, true)
	case forbid, lose, loseReply, refuse, crashAt, outage, delay, panicAtMessage, noTrunk:
	}
	synctest.Wait()
}

// request sends a request to a campaign and reports the reply to the model.
func (w *world) request(i, j int, k stepKind) {
	id := w.spaces[i].campaigns[j].row.ID
	w.mu.Lock()
	w.model.byID[id].requests[k] = time.Now()
	p := w.alive
	pid := p.pid(id)
	w.mu.Unlock()
	since := time.Now()
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		o, err := mailbox.Ask[domain.CampaignStatusObject](ctx, w.sys, pid, commandOf(k))
		w.mu.Lock()
		defer w.mu.Unlock()
		if p.dead.Load() {
			return
		}
		w.addTrace("%v of %s: %s %v", k, id[len(id)-3:], o.Status, err)
		w.model.checkReply(w.model.byID[id], k, since, o.Status, err)
	}()
}

// changeCampaignRow changes the stored campaign record and notifies the campaign, as the API does.
func (w *world) changeCampaignRow(st step) {
	id, ws := w.spaces[st.space].campaigns[st.campaign].row.ID, w.spaces[st.space].id
	p := w.alive
	for range 5 {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		row := &domain.Campaign{Meta: domain.Meta{ID: id, WorkspaceID: ws}}
		version, err := p.disk.Get(ctx, row)
		if err == nil && row.Status.Final() {
			cancel()
			return
		}
		switch st.kind { //nolint:exhaustive // only the kinds of changes
		case patchPacing:
			row.Pacing = domain.Pacing{CallsPerMinute: []int{9, 30, 90, 400}[st.n%4], MaxConcurrent: 1 + st.m%9}
		case patchRetry:
			row.Retry = domain.Retry{Enabled: st.n%4 > 0, MaxAttempts: 1 + st.m%4, IntervalHours: 0.01, RetryOn: []string{"busy", "no_answer", "failed", "interrupted"}}
		default:
			end := time.Now().Add(time.Duration(60+st.n%900) * time.Second).UTC()
			if row.Schedule.Start == nil || end.After(*row.Schedule.Start) {
				row.Schedule.End = &end
			}
		}
		if err == nil {
			_, err = p.disk.Apply(ctx, commit.Change{Workspace: ws, Puts: []domain.Record{row}, Guards: []commit.Guard{{Key: row.Key(), Version: version}}})
		}
		cancel()
		if err == nil {
			w.send(p, id, campaignChangedMessage())
			return
		}
		time.Sleep(200 * time.Millisecond)
	}
	w.send(p, id, campaignChangedMessage())
}

func (w *world) send(p *process, id string, msg any) {
	if !p.dead.Load() {
		w.sys.Root.Send(p.pid(id), msg)
	}
}

// addedContact returns the nth contact of a campaign that is added during the run.
func addedContact(id string, n int) domain.Contact {
	return domain.Contact{Phone: fmt.Sprintf("+1202556%s%03d", id[len(id)-2:len(id)-1], n), Timezone: "Etc/UTC"}
}

// addContacts adds contacts in the order of a real upload: first the chunks, then the total.
func (w *world) addContacts(st step) {
	c := w.spaces[st.space].campaigns[st.campaign]
	id, ws := c.row.ID, c.row.WorkspaceID
	w.mu.Lock()
	busy := w.uploads[id] > 0
	if !busy {
		w.uploads[id] = 1
	}
	p := w.alive
	w.mu.Unlock()
	if busy {
		return
	}
	go func() {
		defer func() { w.mu.Lock(); delete(w.uploads, id); w.mu.Unlock() }()
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		row := &domain.Campaign{Meta: domain.Meta{ID: id, WorkspaceID: ws}}
		progress := &domain.Progress{CampaignID: id, WorkspaceID: ws}
		chunk := &domain.ContactChunk{CampaignID: id, WorkspaceID: ws}
		if _, err := p.disk.Get(ctx, progress); err != nil {
			return
		}
		total := progress.Total
		if _, err := p.disk.Get(ctx, chunk); err != nil {
			return
		}
		chunk.Contacts = chunk.Contacts[:total:total] // removes contacts that an aborted upload left behind
		for i := range 1 + st.n%5 {
			chunk.Contacts = append(chunk.Contacts, addedContact(id, total+i))
		}
		if _, err := p.disk.Apply(ctx, commit.Change{Workspace: ws, Puts: []domain.Record{chunk}}); err != nil {
			return
		}
		for range 10 {
			of, err := p.disk.Get(ctx, row)
			if err != nil || row.Status.Final() {
				return
			}
			version, err := p.disk.Get(ctx, progress)
			if err != nil || progress.Total != total {
				return
			}
			progress.Total = len(chunk.Contacts)
			_, err = p.disk.Apply(ctx, commit.Change{
				Workspace: ws, Puts: []domain.Record{progress},
				Guards: []commit.Guard{{Key: row.Key(), Version: of}, {Key: progress.Key(), Version: version}},
			})
			if err == nil || !strings.Contains(err.Error(), domain.ErrConflict.Error()) {
				break
			}
			progress.Total = total
		}
		w.send(p, id, contactsAddedMessage())
	}()
}
