package call_test

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/call/leg"
	"github.com/callboard/callboard/actors/call/siptrace"
	"github.com/callboard/callboard/actors/lines"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/polltest"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech"
	"github.com/callboard/callboard/media/tone"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/siptest"
	"github.com/callboard/callboard/sip/testcarrier"
	"github.com/callboard/callboard/sip/transport"
)

const workspace = "ws_01J0000000000000000000000A"

// toneSpeaker synthesizes each text as a tone of 400 ms.
type toneSpeaker struct{ fails, panics string }

func (h toneSpeaker) Speak(_ context.Context, r speech.Request) (media.Clip, error) {
	if h.fails != "" && r.Text == h.fails {
		return nil, errors.New("hoarse")
	}
	if h.panics != "" && r.Text == h.panics {
		panic("choked")
	}
	return tone.Make(400*time.Millisecond, 0.3, 200, 400, 600), nil
}

// phoneLog records the events that the test carrier reports about its simulated phones.
type phoneLog struct {
	mu     sync.Mutex
	events []testcarrier.Event
}

func (d *phoneLog) note(e testcarrier.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.events = append(d.events, e)
}

func (d *phoneLog) count(number, what string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := 0
	for _, e := range d.events {
		if e.Number == number && e.Kind == what {
			n++
		}
	}
	return n
}

// fixture runs calls with real components. Only the store and the blob storage are replaced by memory.
type fixture struct {
	t            *testing.T
	sys          *actor.ActorSystem
	store        *memoryStore
	blobs        *memoryBlobs
	ua           *sip.UserAgent
	engine       *media.Engine
	carrier      *testcarrier.Carrier
	phoneLog     *phoneLog
	lines        *actor.PID
	inboundLines *actor.PID
	trunks       *actor.PID
	calls        *actor.PID
	config       call.Config // configuration of calls
	owner        *actor.PID
	spool        string
	traces       *siptrace.Buffer
	mu           sync.Mutex
	ended        map[string][]call.Ended
	sessions     map[string]leg.Session
	withholdAck  bool // the owner does not acknowledge ends
}

type fixtureOptions struct {
	speaker          speech.Synthesizer
	recognizer       speech.Recognizer
	before           func(actor, callID string, msg any)
	trunks           func(h *fixture) []domain.Trunk
	spool            string
	store            *memoryStore // nil: an empty store
	wrapUserAgent    func(leg.UserAgent) leg.UserAgent
	trunksActor      actor.ReceiveFunc // replaces the trunks actor
	numbers          actor.ReceiveFunc // replaces the actor of numbers; nil: none
	trunkInWorkspace func(domain.Environment, *sip.Incoming) (string, bool)
	keyLife          time.Duration // lifetime of SRTP keys
	idle             time.Duration // silence after which a peer counts as vanished
	listed           leg.IsListed
	redact           domain.Redaction
	onPlay           func(media.Clip) // called with each clip that a session starts to play
	blobs            *memoryBlobs     // nil: empty
	config           func(*call.Config)
}

// rtpPorts returns a range of RTP ports that no other test uses.
func rtpPorts(t *testing.T) (from, to int) {
	t.Helper()
	from = siptest.MediaPorts100(t)
	return from, from + 99
}

var discardLog = slog.New(slog.DiscardHandler)

func newFixture(t *testing.T, p fixtureOptions) *fixture {
	t.Helper()
	h := &fixture{
		t: t, store: newMemoryStore(), blobs: &memoryBlobs{kept: make(map[string][]byte)}, phoneLog: &phoneLog{},
		ended: make(map[string][]call.Ended), sessions: make(map[string]leg.Session), spool: p.spool,
	}
	if p.blobs != nil {
		h.blobs = p.blobs
	}
	if p.store != nil {
		h.store = p.store
	}
	if h.spool == "" {
		h.spool = t.TempDir()
	}
	if p.speaker == nil {
		p.speaker = toneSpeaker{}
	}
	from, to := rtpPorts(t)
	carrier, err := testcarrier.New(testcarrier.Config{
		PortMin: from, PortMax: to, Notify: h.phoneLog.note,
		RingFor: func(string) time.Duration { return 100 * time.Millisecond },
	})
	require.NoError(t, err)
	h.carrier = carrier
	serveInBackground(t, carrier.Serve, carrier.Ready())
	h.traces = siptrace.NewBuffer()
	h.ua = newTracedUserAgent(t, h.traces.Add, nil)
	from, to = rtpPorts(t)
	h.engine, err = media.NewEngine(media.Config{BindIP: loopback(), PublicIP: loopback(), PortMin: from, PortMax: to})
	require.NoError(t, err)
	t.Cleanup(func() { _ = h.engine.Close() })

	h.sys = mailbox.NewSystem(discardLog)
	spawn := func(a actor.Actor) *actor.PID {
		return h.sys.Root.Spawn(mailbox.Props(func() actor.Actor { return a }, 1024))
	}
	h.lines = spawn(lines.New(lines.Config{Concurrent: 100, Log: discardLog}))
	h.inboundLines = spawn(lines.New(lines.Config{Concurrent: 100, Log: discardLog}))
	list := []domain.Trunk{{Meta: domain.Meta{ID: "trunk_sim", Environment: domain.Live}, CallerIDs: []string{"+12025550100"}, Proxies: []domain.Proxy{proxyOf(carrier.Target())}}}
	if p.trunks != nil {
		list = p.trunks(h)
	}
	h.trunks = spawn(trunk.New(trunk.Config{Trunks: list, Log: discardLog}))
	if p.trunksActor != nil {
		h.trunks = h.sys.Root.Spawn(actor.PropsFromFunc(p.trunksActor))
	}
	var owner *actor.PID // actor of numbers
	if p.numbers != nil {
		owner = h.sys.Root.Spawn(actor.PropsFromFunc(p.numbers))
	}
	h.owner = h.sys.Root.Spawn(actor.PropsFromFunc(h.acknowledgeEnds))
	line := leg.NewUserAgent(h.ua, nil)
	if p.wrapUserAgent != nil {
		line = p.wrapUserAgent(line)
	}
	h.config = call.Config{
		Workspace: workspace, Store: h.store, UserAgent: line, Media: trackedMedia{leg.NewMedia(h.engine), h, p.keyLife, p.idle, p.onPlay}, Speaker: p.speaker, Recognizer: p.recognizer,
		Blobs: h.blobs, LinesOut: h.lines, LinesIn: h.inboundLines, Trunks: h.trunks, Numbers: owner, FindTarget: findTestTarget, Traces: h.traces, SpoolDir: h.spool,
		PublicURL: "https://calls.example", Log: discardLog, BeforeMessage: p.before, TrunkInWorkspace: p.trunkInWorkspace, IsListed: p.listed,
		Redactor: p.redact.Redactor,
	}
	if p.config != nil {
		p.config(&h.config)
	}
	h.calls = h.sys.Root.Spawn(call.Props(h.config))
	t.Cleanup(func() {
		h.sys.Root.Poison(h.calls)
		h.waitUntil(5*time.Second, "the calls actor has stopped", func() bool {
			_, alive := h.sys.ProcessRegistry.Get(h.calls)
			return !alive
		})
		h.sys.Shutdown()
	})
	return h
}

// packetsSent returns the number of RTP packets that a live call has sent.
func (h *fixture) packetsSent(id string) uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s := h.sessions[id]; s != nil {
		return s.Stats().PacketsSent
	}
	return 0
}

// unrecorded is the key in fixture.sessions for a session without a recording, which only a transfer leg has.
const unrecorded = "."

// trackedMedia stores each session in fixture.sessions by the name of its recording.
type trackedMedia struct {
	leg.Media
	h       *fixture
	keyLife time.Duration
	idle    time.Duration
	onPlay  func(media.Clip)
}

// playObserver is a session that reports each clip that it starts to play.
type playObserver struct {
	leg.Session
	onPlay func(media.Clip)
}

func (p playObserver) Play(id uint64, clip media.Clip) {
	if len(clip) > 0 {
		p.onPlay(clip)
	}
	p.Session.Play(id, clip)
}

func (l trackedMedia) Open(o media.Options) (leg.Session, error) {
	o.KeyLife, o.IdleAfter = l.keyLife, l.idle
	s, err := l.Media.Open(o)
	l.h.mu.Lock()
	defer l.h.mu.Unlock()
	l.h.sessions[strings.TrimSuffix(filepath.Base(o.RecordPath), ".wav")] = s
	if l.onPlay != nil && err == nil {
		return playObserver{s, l.onPlay}, nil
	}
	return s, err
}

func proxyOf(t resolve.Target) domain.Proxy {
	return domain.Proxy{Host: t.Host, Port: t.Port, Transport: t.Transport}
}

func serveInBackground(t *testing.T, f func(context.Context) error, ready <-chan struct{}) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = f(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	<-ready
}

// newUserAgent starts a user agent on loopback. A nil onInvite accepts no calls.
func newUserAgent(t *testing.T, onInvite func(*sip.Incoming)) *sip.UserAgent {
	t.Helper()
	return newTracedUserAgent(t, nil, onInvite)
}

func newTracedUserAgent(t *testing.T, trace sip.Trace, onInvite func(*sip.Incoming)) *sip.UserAgent {
	t.Helper()
	ua, err := sip.New(sip.Config{Trace: trace, OverloadAfter: patience, Listen: []transport.Listener{{Network: "udp", Addr: "127.0.0.1:0"}}})
	require.NoError(t, err)
	if onInvite != nil {
		ua.OnInvite(onInvite)
	}
	serveInBackground(t, ua.Serve, ua.Ready())
	return ua
}

func targetOf(ua *sip.UserAgent) resolve.Target {
	a := ua.Addr("udp")
	return resolve.Target{Host: a.Addr().String(), Port: int(a.Port()), Transport: "udp"}
}

// acknowledgeEnds is the actor that owns the calls. It commits ends as a campaign does.
func (h *fixture) acknowledgeEnds(ctx actor.Context) {
	e, ok := ctx.Message().(call.Ended)
	if !ok {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	first := len(h.ended[e.CallID]) == 0
	h.ended[e.CallID] = append(h.ended[e.CallID], e)
	if h.withholdAck {
		return
	}
	if first || len(h.store.eventTypes(e.CallID)) == 0 || !slices.Contains(h.store.eventTypes(e.CallID), event.CallEnded) {
		if _, err := h.store.Apply(context.Background(), call.EndChange(e, time.Now())); err != nil {
			return
		}
	}
	ctx.Send(ctx.Sender(), call.AcknowledgeEnd{CallID: e.CallID})
}

func (h *fixture) endsOf(id string) []call.Ended {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.ended[id])
}

// prepareCall commits the opening of an outbound call and requests its permit and trunk slot.
func (h *fixture) prepareCall(to string, p domain.Pathway) call.StartOutbound {
	h.t.Helper()
	now := time.Now().UTC()
	id := mailbox.NewID(domain.PrefixCall)
	c := domain.Call{
		Meta:      domain.Meta{ID: id, Object: "call", WorkspaceID: workspace, Environment: domain.Live, CreatedAt: now, UpdatedAt: now},
		Direction: domain.Outbound, From: "+15550001111", To: to, AgentID: "agent_1", Status: domain.CallInitiated, Record: true,
		StartedAt: &now, Attempt: 1, Context: domain.Context{"name": "Ada"},
	}
	slot := h.requestSlot(to, id)
	a := domain.Attempt{
		ID: id, WorkspaceID: workspace, Environment: domain.Live, CallID: id, Number: 1, Direction: domain.Outbound, Boot: "b", OpenedAt: now,
		Legs: []domain.AttemptLeg{{Number: 1, TrunkID: slot.Trunk().ID, SIPCallID: h.ua.CallID(id, 1)}},
	}
	_, err := h.store.Apply(context.Background(), commit.Change{
		Guards: []commit.Guard{commit.Absent(a.Key())}, Puts: []domain.Record{&c, &a},
		Events: []event.Draft{{Type: event.CallStarted, Subject: id}},
	})
	require.NoError(h.t, err)
	permit, err := mailbox.Ask[lines.Permit](context.Background(), h.sys, h.lines, lines.TryPermit{})
	require.NoError(h.t, err)
	return call.StartOutbound{
		Call: c, Attempt: a, Script: domain.Script{AgentID: "agent_1", Language: "en-US", Pathway: p},
		Permit: permit, Slot: slot, RingTimeout: patience, MaxDuration: 10 * patience, Owner: h.owner,
	}
}

func (h *fixture) requestSlot(to, id string) trunk.Slot {
	h.t.Helper()
	got := make(chan any, 1)
	pid := h.sys.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		switch m := ctx.Message().(type) {
		case trunk.Slot, trunk.SlotDenied:
			got <- m
		}
	}))
	defer h.sys.Root.Poison(pid)
	h.sys.Root.RequestWithCustomSender(h.trunks, trunk.RequestSlot{To: to, Environment: domain.Live, CallID: id}, pid)
	s, ok := (<-got).(trunk.Slot)
	require.True(h.t, ok, "no slot")
	return s
}

func (h *fixture) startCall(s call.StartOutbound) string {
	h.sys.Root.Send(h.calls, s)
	return s.Call.ID
}

// dial places a call and returns its ID.
func (h *fixture) dial(to string, p domain.Pathway) string {
	h.t.Helper()
	return h.startCall(h.prepareCall(to, p))
}

// waitForEnd waits until the owner gets the end of a call.
func (h *fixture) waitForEnd(id string) call.Ended {
	h.t.Helper()
	h.waitUntil(30*time.Second, "call "+id+" has ended", func() bool { return len(h.endsOf(id)) > 0 })
	return h.endsOf(id)[0]
}

// waitUntilFinished waits until the final record and the recording of a call are stored.
func (h *fixture) waitUntilFinished(id string) *domain.Call {
	h.t.Helper()
	h.waitUntil(15*time.Second, "call "+id+" is finished", func() bool {
		c := h.store.readCall(id)
		return c.Final() && !c.Processing
	})
	return h.store.readCall(id)
}

// patience is the time limit of waits in tests that do not check how long something takes.
const patience = time.Minute

// waitUntil waits until f returns true and fails the test after limit. Pass a limit for an idle machine:
// polltest.NewDeadline adapts it to the load.
func (h *fixture) waitUntil(limit time.Duration, what string, f func() bool) {
	h.t.Helper()
	for deadline := polltest.NewDeadline(limit); !f(); time.Sleep(5 * time.Millisecond) {
		if deadline.HasPassed() {
			h.phoneLog.mu.Lock()
			seen := slices.Clone(h.phoneLog.events)
			h.phoneLog.mu.Unlock()
			h.t.Logf("phones: %+v", seen)
			h.t.Logf("sip: %+v, permits in use %d, sessions %d", h.ua.Counters(), h.permitsInUse(), h.engine.Live())
			h.t.Fatalf("%s: not within %s", what, limit)
		}
	}
}

// receive returns the next value of a channel. It fails the test if none arrives in time.
func receive[T any](t *testing.T, ch <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-ch:
	case <-time.After(patience):
		require.FailNow(t, "no value arrives")
	}
	return v
}

// receiveEvent returns the next SIP event of type T and skips events of other types.
func receiveEvent[T sip.Event](t *testing.T, ch <-chan sip.Event) T {
	t.Helper()
	for {
		if e, ok := receive(t, ch).(T); ok {
			return e
		}
	}
}

// waitUntilStable calls count repeatedly and returns its value once the value has not changed for 200 ms.
func (h *fixture) waitUntilStable(what string, count func() uint64) (n uint64) {
	h.t.Helper()
	since := time.Now()
	h.waitUntil(patience, what, func() bool {
		if now := count(); now != n {
			n, since = now, time.Now()
		}
		return time.Since(since) > 200*time.Millisecond
	})
	return n
}

// assertSeenOnce waits until a phone has logged an event exactly once. A phone logs after its answer, so the
// service may know of the event first.
func (h *fixture) assertSeenOnce(number, what string, why ...any) {
	h.t.Helper()
	h.waitUntil(2*time.Second, "the diary of "+number+" says "+what, func() bool { return h.phoneLog.count(number, what) > 0 })
	require.Equal(h.t, 1, h.phoneLog.count(number, what), why...)
}

// assertNever checks repeatedly for a time that f returns false. Unlike assert.Never it runs in the goroutine of
// the test.
func (h *fixture) assertNever(d time.Duration, what string, f func() bool) {
	h.t.Helper()
	for deadline := time.Now().Add(d); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		require.False(h.t, f(), what)
	}
}

func (h *fixture) permitsInUse() int {
	u, err := mailbox.Ask[lines.Usage](context.Background(), h.sys, h.lines, lines.GetUsage{})
	require.NoError(h.t, err)
	return u.Active
}

func (h *fixture) countSpoolFiles() int {
	files, _ := os.ReadDir(filepath.Join(h.spool, workspace))
	return len(files)
}

func loopback() netip.Addr { return netip.MustParseAddr("127.0.0.1") }
