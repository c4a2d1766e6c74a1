package campaign

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/dnc"
	"github.com/callboard/callboard/actors/lines"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/numbers"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/calendar"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/dialer"
	"github.com/callboard/callboard/domain/event"
)

const (
	loadLimit   = time.Minute
	censusLimit = 5 * time.Second
	readLimit   = 10 * time.Second
	commitLimit = 10 * time.Second
	scriptLimit = 10 * time.Second

	firstBackoff = 100 * time.Millisecond
	lastBackoff  = 5 * time.Second

	leastAhead = 5 * time.Millisecond
	mostAhead  = 100 * time.Millisecond

	orphanHold = 32 * time.Second // the longest that BYE or CANCEL may go unanswered
	lostAfter  = 5 * time.Second  // a call repeats its end each 2 s
	askAgain   = 10 * time.Second // lines that were restarted have forgotten us
	brake      = time.Second      // after an attempt that could not be sent
)

// Store is what a campaign needs of the store.
type Store interface {
	Apply(ctx context.Context, c commit.Change) ([]event.Event, error)
	Get(ctx context.Context, into domain.Record) (uint64, error)
	List(ctx context.Context, q commit.Query, fresh func() domain.Record, each func(domain.Record) error) (next string, err error)
	Under(ctx context.Context, prefix domain.Key, after string, limit int, fresh func() domain.Record, each func(domain.Record) error) error
}

// Config is what a campaign needs to know. Functions must not block.
type Config struct {
	Workspace, CampaignID string
	Boot                  string // names this process: open attempts of another one were interrupted
	Store                 Store
	Lines                 func(domain.Environment) *actor.PID
	Trunks, Calls         *actor.PID
	Numbers               *actor.PID                                                               // says last whether a number may be rung; nil: each may
	Lists                 *dnc.Register                                                            // of numbers that are never called; nil: none
	Script                func(context.Context, *domain.Campaign) (domain.Script, error)           // may block; read when the campaign starts
	ProbeEngines          func(context.Context, *domain.Script) error                              // asks what the agent speaks, hears and thinks by; may block; nil: a call tries
	Leg                   func(callID string, slot *trunk.Slot, to, from string) domain.AttemptLeg // of a call that is opened; nil: it has no name
	Left                  func() map[string]time.Time                                              // calls of earlier processes that may live yet, and until when; nil: none
	Check                 Check                                                                    // right before an attempt is opened; nil: everybody may be rung
	Calling               func() domain.DestinationRules                                           // destination rules; nil: any country
	Tariff                func() int                                                               // what attempts cost from now on; nil: the first
	Stopped               func() string                                                            // why nobody may be rung over all workspaces (dialplan.View.Stopped); whoever changes it sends Decide; nil: never
	Draining              func() bool                                                              // the process is about to end, which a campaign that grows after Drain was told hears of here; nil: never
	Committed             func()                                                                   // events were committed; nil: nobody wants to know
	Before                func(msg any)                                                            // sees each message first; nil in production
	Key                   []byte                                                                   // of the log of decisions; nil: its rows are not keyed
	Weight                int                                                                      // share of the lines beside other campaigns
	RingTimeout           time.Duration                                                            // 0: the call's own
	MaxDuration           time.Duration                                                            // 0: the agent's limit, or the call's own
	Log                   *slog.Logger
}

type phase uint8

const (
	loading phase = iota // first, and whenever the store has to be read again
	ready
	gone // another node owns the campaign, or it is not in the store
)

// Campaign is the actor.
type Campaign struct {
	cfg     Config
	log     *slog.Logger
	phase   phase
	down    bool // the store failed
	full    bool // the last commit found no room in the store
	backoff time.Duration
	again   bool // the store has to be read again

	// Both are drawn, so that answers to a predecessor are foreign.
	incarnation uint64
	generation  uint64 // of the load or the commit that is under way

	campaign domain.Campaign
	cVersion uint64
	progress domain.Progress
	pVersion uint64
	script   *domain.Script
	pinned   bool // the script is in the store
	people   *people
	zones    *calendar.Zones // used by the reading work alone
	reading  bool
	scripts  bool // a script is being read

	open      map[string]*attempt  // by attempt
	lost      map[string]*attempt  // of these, those whose calls nobody knows
	lostDue   time.Time            // no lost attempt is given up before
	held      map[string]time.Time // calls of a process that ended, which may ring until then
	heldDue   time.Time            // none of held is over before
	gone      map[string]bool      // of these, those that were ended before we knew of them
	ends      []call.Ended         // not committed yet
	closing   map[string]bool      // attempts whose end is in ends or in flight
	skips     []skip
	skipped   map[int]bool
	heldBy    map[int][]domain.Ruling // what holds contacts just now, for the log of decisions
	heldFull  bool                    // nobody else could be noted there
	clocks    *calendar.Zones         // of that log
	times     map[string]shown        // by zone
	ops       []operation
	revisions []revision
	outdated  []int // chunks that changed while they were read
	flight    *batch
	conflicts int  // of its commits, in a row
	changed   bool // since campaign.progress was sent
	trip      dialer.Trip
	tempo     dialer.Tempo

	asked      int // permits
	come       int // permits of this generation
	askedAt    time.Time
	wants      int // generation of Want
	tries      map[string]*try
	triesDue   time.Time // no permit of tries runs out before
	made       []*try
	madeDue    time.Time // no permit of made runs out before
	gate       []*placing
	gateSet    bool
	gates      uint64
	lastSent   time.Time
	ahead      time.Duration
	trunkUntil time.Time // no slot is asked for before
	spendCap   bool      // trunkUntil is because of the daily_spend_cap
	engine     engineOutage
	untaken    map[string]int // by number: calls in a row that no target of a trunk took
	draining   bool
	looks      atomic.Int64 // at what may be due

	guess   guess        // the estimate that was told last
	askers  []*actor.PID // want the status, before the first load
	cancel  func()       // the wake-up
	wakeDue time.Time    // when cancel's timer is due
	wakings uint64       // how many were set
}

// New makes a campaign; it begins with a look into the store.
func New(cfg Config) *Campaign {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Campaign{
		cfg: cfg, log: cfg.Log.With(slog.String("campaign_id", cfg.CampaignID)),
		incarnation: rand.Uint64(), generation: rand.Uint64(), gates: rand.Uint64(), //nolint:gosec // no secrets
		wants: int(rand.Int32()), //nolint:gosec // no secret
		open:  make(map[string]*attempt), held: make(map[string]time.Time), gone: make(map[string]bool), closing: make(map[string]bool), skipped: make(map[int]bool),
		heldBy: make(map[int][]domain.Ruling), clocks: calendar.NewZones(), times: make(map[string]shown),
		tries: make(map[string]*try), ahead: leastAhead, backoff: firstBackoff,
		people: newPeople(0, calendar.Rules{}),
	}
}

// Receive is the table of contents.
func (a *Campaign) Receive(ctx actor.Context) {
	if a.cfg.Before != nil {
		a.cfg.Before(ctx.Message())
	}
	if a.phase == gone && asks(ctx.Message()) { // it came behind what ended the campaign
		ctx.Respond(domain.Errorf(domain.CodeUnavailable, "the campaign is over or was deleted").With("retry_after", 1))
		return
	}
	switch m := ctx.Message().(type) {
	case *actor.Started:
		a.load(ctx)
	case *actor.Stopping, *actor.Restarting:
		a.phase = gone
		a.rest(ctx)
	case mailbox.Crashed:
		panic(m)
	case Begin, Pause, Resume, Cancel:
		a.operate(ctx, operationOf(m))
	case Edit:
		a.revise(ctx, revision{ordinal: m.Ordinal, contact: &m.Contact, rider: m.Rider})
	case Remove:
		a.revise(ctx, revision{ordinal: m.Ordinal, phone: m.Phone, rider: m.Rider})
	case Status:
		a.status(ctx)
	case Added, Changed, Decide:
		a.reread(ctx)
	case Deleted:
		a.retire(ctx)
	case Drain:
		a.draining = true
	case Gone:
		a.left(m.CallID)
	case lines.Permit, trunk.Slot, trunk.NoSlot, numbers.Granted, numbers.Denied:
		a.answered(ctx, m)
	case call.Ended:
		a.ended(ctx, m)
	case loaded:
		a.loaded(ctx, m)
	case read:
		a.read(ctx, m)
	case scripted:
		a.scripted(ctx, m)
	case engineProbeResult:
		a.probed(m, time.Now())
	case committed:
		a.committed(ctx, m)
	case reload:
		a.reload(ctx, m)
	case release:
		a.release(m)
	case wake: // advance looks again
		a.woken(m)
	}
	a.advance(ctx)
}

// asks says whether somebody waits for the answer to a message.
func asks(m any) bool {
	switch m.(type) {
	case Begin, Pause, Resume, Cancel, Edit, Remove, Status:
		return true
	}
	return false
}

// answered: what an attempt needs was granted or refused.
func (a *Campaign) answered(ctx actor.Context, m any) {
	switch m := m.(type) {
	case lines.Permit:
		a.permitted(ctx, m)
	case trunk.Slot:
		a.slotted(ctx, m)
	case trunk.NoSlot:
		a.unslotted(ctx, m)
	case numbers.Granted:
		a.granted(ctx, m)
	case numbers.Denied:
		a.denied(ctx, m)
	}
}

// load reads the campaign. What is on its way to be opened is given up before.
func (a *Campaign) load(ctx actor.Context) {
	if a.phase == gone {
		return
	}
	a.phase, a.again = loading, false
	a.unmake(ctx)
	a.generation++
	generation := a.generation
	r := a.reader(ctx)
	mailbox.Work(ctx, loadLimit, func(bound context.Context) any {
		s, err := r.load(bound)
		return loaded{generation, s, err}
	})
}

func (a *Campaign) reader(ctx actor.Context) reader {
	return reader{
		store: a.cfg.Store, sys: ctx.ActorSystem(), calls: a.cfg.Calls, workspace: a.cfg.Workspace, id: a.cfg.CampaignID,
		edited: a.progress.Edits > 0, script: a.cfg.Script,
	}
}

func (a *Campaign) loaded(ctx actor.Context, m loaded) {
	if m.generation != a.generation || a.phase != loading {
		return
	}
	switch {
	case errors.Is(m.err, domain.ErrNotFound):
		a.log.Error("campaign is not in the store", slog.Any("error", m.err))
		a.leave(ctx)
		return
	case m.err != nil:
		a.log.Warn("campaign could not be read", slog.Any("error", m.err))
		a.fail(ctx)
		return
	}
	a.down, a.backoff = false, firstBackoff
	a.adopt(ctx, m.snapshot)
	for _, who := range a.askers {
		ctx.Send(who, a.object(time.Now()))
	}
	a.askers = nil
	if a.again {
		a.load(ctx)
	}
}

// fail waits and reads again; whoever asked for something is told.
func (a *Campaign) fail(ctx actor.Context) {
	a.phase, a.down = loading, true
	a.people.seen.Meter.Look(false, time.Now())
	a.unmake(ctx)
	stops := a.stops()
	a.refuse(ctx, a.storeError())
	if a.full {
		a.ops, a.backoff = stops, lastBackoff
	}
	if len(a.ops) > 0 {
		a.load(ctx)
		return
	}
	d := a.backoff + rand.N(a.backoff/4+1) //nolint:gosec // jitter
	a.backoff = min(2*a.backoff, lastBackoff)
	mailbox.After(ctx, d, reload{a.generation})
}

// storeError is what whoever asks for a change is told while the store fails.
func (a *Campaign) storeError() *domain.Error {
	if a.full {
		return domain.StoreFull()
	}
	return domain.Errorf(domain.CodeUnavailable, "the store does not answer; try again").With("retry_after", 2)
}

// trouble reads the store again, after the commit that is in flight.
func (a *Campaign) trouble(ctx actor.Context) {
	if a.flight != nil {
		a.again = true
		return
	}
	a.fail(ctx)
}

func (a *Campaign) reload(ctx actor.Context, m reload) {
	if m.generation == a.generation && a.phase == loading {
		a.load(ctx)
	}
}

func (a *Campaign) refuse(ctx actor.Context, err *domain.Error) {
	for _, op := range a.ops {
		op.answer(ctx, err)
	}
	for _, who := range a.askers {
		ctx.Send(who, err)
	}
	for _, r := range a.revisions {
		r.answer(ctx, err)
	}
	a.ops, a.askers, a.revisions = nil, nil, nil
}

// leave: the campaign is no longer ours.
func (a *Campaign) leave(ctx actor.Context) {
	a.phase = gone
	a.refuse(ctx, domain.Errorf(domain.CodeUnavailable, "another part of the service runs this campaign now; try again").With("retry_after", 1))
	a.rest(ctx)
	ctx.Poison(ctx.Self())
}

// adopt takes a snapshot over: attempts of a process that ended are closed as
// interrupted, those of calls that nobody knows as never placed.
func (a *Campaign) adopt(ctx actor.Context, s *snapshot) {
	now := time.Now()
	a.phase = ready
	s.people.seen.Carry(&a.people.seen, a.campaign.Pacing == s.campaign.Pacing)
	a.campaign, a.cVersion, a.progress, a.pVersion = s.campaign, s.cVersion, s.progress, s.pVersion
	if a.progress.Outcomes == nil {
		a.progress.Outcomes = make(map[domain.Outcome]int)
	}
	a.people, a.zones, a.reading = s.people, calendar.NewZones(), false
	a.skips, a.skipped, a.outdated = nil, make(map[int]bool), nil
	if a.pinned = s.script != nil; a.pinned {
		a.script = s.script
	}
	a.changed = a.changed || int(a.progress.Percent()) != a.progress.ToldPercent
	first := a.lastSent.IsZero()
	if open := a.progress.LastOpenAt; open.Before(now.Add(commitLimit)) {
		a.lastSent = later(a.lastSent, open)
	} else { // the clock was set back
		a.lastSent = later(a.lastSent, now)
	}
	if first && len(s.attempts) > 0 { // when they were really sent is not known
		a.lastSent = later(a.lastSent, earlier(now, a.lastSent.Add(commitLimit)))
	}
	if a.cfg.Left != nil {
		for id, until := range a.cfg.Left() {
			a.hold(id, until)
		}
	}
	known, queued := a.lost, a.queued()
	a.open, a.lost, a.lostDue = make(map[string]*attempt, len(s.attempts)), make(map[string]*attempt), time.Time{}
	for _, t := range s.attempts {
		a.open[t.row.ID] = t
		switch old := known[t.row.ID]; {
		case a.closing[t.row.ID]:
		case t.row.Boot != a.cfg.Boot:
			a.interrupt(t, now)
		case s.live[t.row.CallID] || queued[t.row.CallID]:
		case old != nil && old.row.CallID == t.row.CallID:
			a.lose(t, old.lostAt)
		default:
			a.lose(t, now.Add(lostAfter))
		}
	}
	a.settle(ctx)
	if a.progress.InProgress != len(a.open) {
		a.log.Error("counters and open attempts disagree", slog.Int("in_progress", a.progress.InProgress), slog.Int("open", len(a.open)))
	}
}

// settle forgets ends whose commit had come through after all.
func (a *Campaign) settle(ctx actor.Context) {
	ends := a.ends[:0]
	a.closing = make(map[string]bool)
	for _, e := range a.ends {
		if t := a.open[e.AttemptID]; t == nil || t.row.CallID != e.CallID {
			a.ack(ctx, e.CallID)
			continue
		}
		if !a.closing[e.AttemptID] {
			a.closing[e.AttemptID] = true
			ends = append(ends, e)
		}
	}
	a.ends = ends
}

func (a *Campaign) interrupt(t *attempt, now time.Time) {
	a.hold(t.row.CallID, now.Add(orphanHold))
	a.ends = append(a.ends, call.Interrupted(t.call, t.row, now))
}

// left: the dialog of an interrupted attempt has ended.
func (a *Campaign) left(callID string) {
	a.gone[callID] = true
	delete(a.held, callID)
}

// maxUntaken is how often a call to a number may find no target that takes it before the attempt counts, while the
// trunks are not known to be out: some carriers do not answer for single numbers.
const maxUntaken = 3

// reread looks into the store again, once no commit is in flight.
func (a *Campaign) reread(ctx actor.Context) {
	switch {
	case a.phase == loading || a.flight != nil: // what is read now may be older than what is told
		a.again = true
	default:
		a.load(ctx)
	}
}

func later(x, y time.Time) time.Time {
	if y.After(x) {
		return y
	}
	return x
}

func earlier(x, y time.Time) time.Time {
	if x.IsZero() || !y.IsZero() && y.Before(x) {
		return y
	}
	return x
}
