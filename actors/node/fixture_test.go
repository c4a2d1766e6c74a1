package node_test

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/alerts"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/node"
	"github.com/callboard/callboard/actors/polltest"
	"github.com/callboard/callboard/actors/storecache"
	"github.com/callboard/callboard/cmd/callboard/services"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/engines/llm"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech"
	"github.com/callboard/callboard/media/tone"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/persistence/blob"
	"github.com/callboard/callboard/persistence/pebble"
	"github.com/callboard/callboard/persistence/redis"
	"github.com/callboard/callboard/service/keys"
	"github.com/callboard/callboard/service/workspaces"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/siptest"
	"github.com/callboard/callboard/sip/testcarrier"
	"github.com/callboard/callboard/sip/transport"
)

// ports is a range of RTP ports that no other test uses.
func ports(t *testing.T) (low, high int) {
	t.Helper()
	low = siptest.MediaPorts100(t)
	return low, low + 99
}

// hum speaks without words.
type hum struct{}

func (hum) Speak(context.Context, speech.Request) (media.Clip, error) {
	return tone.Make(300*time.Millisecond, 0.3, 200, 400, 600), nil
}

// fixture is a node with its services: a real store, SIP and sound over loopback, phones to
// ring and an endpoint to tell.
type fixture struct {
	*testing.T
	dir      string
	store    *persistence.Store
	driver   persistence.Driver
	redis    string // where the store is; "": embedded
	keys     *keys.Keyring
	first    *workspaces.FirstStart
	svc      *services.Services
	node     *node.Node
	ua       *sip.UserAgent
	engine   *media.Engine
	pairs    int // of ports for sound, which rest for a moment only; 0: fifty
	phones   *testcarrier.Carrier
	diary    *diary
	receiver *receiver
	before   func(actor string, msg any)
	wrap     func(storecache.Backend) storecache.Backend // stands between the node and its store; nil: nothing
	log      *journal
	models   llm.Models
	ears     speech.Recognizer
	lives    *speech.RealtimeEngines
	speaker  speech.Synthesizer // nil: hum
	mail     alerts.Mailer      // nil: there is none
	egress   *access.Egress     // nil: this machine may be reached
	survive  bool               // calls outlive the node
	live     domain.Principal   // the operator
	test     domain.Principal
	stop     []func()
}

// build makes a fixture and starts it.
func build(t *testing.T, before func(actor string, msg any)) *fixture {
	t.Helper()
	return buildOn(t, "", before)
}

// buildOn makes a fixture on a Redis; "": on the embedded store.
func buildOn(t *testing.T, redisURL string, before func(actor string, msg any)) *fixture {
	t.Helper()
	h := &fixture{T: t, dir: t.TempDir(), redis: redisURL, diary: newDiary(), before: before, log: &journal{}}
	h.receiver = newReceiver(t)
	low, high := ports(t)
	var err error
	h.phones, err = testcarrier.New(testcarrier.Config{
		PortMin: low, PortMax: high, Notify: h.diary.note,
		RingFor: func(string) time.Duration { return 60 * time.Millisecond },
	})
	require.NoError(t, err)
	serve(t, h.phones.Serve, h.phones.Ready())
	h.open()
	t.Cleanup(func() {
		h.payloads()
		h.shut()
		if t.Failed() {
			t.Logf("the log of the node:\n%s", h.log)
		}
	})
	return h
}

var master = bytes.Repeat([]byte{7}, 32)

// open starts the node, as often as the test shuts it.
func (h *fixture) open() {
	h.Helper()
	ctx := context.Background()
	log := slog.New(slog.NewTextHandler(h.log, nil))
	var err error
	if h.redis != "" {
		h.driver, err = redis.Open(ctx, h.redis, redis.Options{})
	} else {
		h.driver, err = pebble.Open(filepath.Join(h.dir, "store"), pebble.Options{})
	}
	require.NoError(h, err)
	h.store, err = persistence.NewStore(ctx, h.driver, master, "1|"+mailbox.NewID("node"))
	require.NoError(h, err)
	h.keys = keys.NewKeyring(h.store, master)
	first, err := workspaces.Bootstrap{Store: h.store, Keys: h.keys, Plan: domain.Enterprise, Limits: domain.DefaultEnterpriseLimits(), TestCarrier: true}.Run(ctx)
	require.NoError(h, err)
	if first != nil {
		h.first = first
	}
	disk, err := blob.NewDisk(filepath.Join(h.dir, "blobs"), h.store)
	require.NoError(h, err)
	low, high := ports(h.T)
	loopback := netip.AddrFrom4([4]byte{127, 0, 0, 1})
	sound := media.Config{BindIP: loopback, PublicIP: loopback, PortMin: low, PortMax: high, Log: log}
	if h.pairs > 0 {
		sound.PortMax, sound.Quarantine = low+2*h.pairs-1, 10*time.Millisecond
	}
	h.engine, err = media.NewEngine(sound)
	require.NoError(h, err)
	h.ua, err = sip.New(sip.Config{Listen: []transport.Listener{{Network: "udp", Addr: "127.0.0.1:0"}}, PublicIP: loopback, Secret: master, OverloadAfter: patience, Log: log})
	require.NoError(h, err)
	store := storecache.Backend(h.store)
	if h.wrap != nil {
		store = h.wrap(store)
	}
	egress := access.Egress{Allow: []access.EgressRule{{Network: netip.PrefixFrom(loopback, 8)}}}
	if h.egress != nil {
		egress = *h.egress
	}
	voice := speech.Synthesizer(hum{})
	if h.speaker != nil {
		voice = h.speaker
	}
	h.svc = services.New(&services.Config{
		Store: store, Keys: h.keys,
		Node: node.Config{
			Blobs: disk, SIP: h.ua, Media: h.engine, Speaker: voice, Models: h.models, Recognizer: h.ears, Realtime: h.lives,
			TestCarrierTarget: func() (resolve.Target, bool) { return h.phones.Target(), true }, TestCarrierAddr: func() netip.AddrPort { return h.phones.Addr() },
			Egress: egress, RootCAs: h.receiver.roots,
			PublicURL: "https://calls.example", SpoolDir: filepath.Join(h.dir, "spool"), Log: log, BeforeMessage: h.before, Mail: h.mail, AlertInterval: 200 * time.Millisecond, SurviveCalls: h.survive,
		},
		TestCall: func(ctx context.Context, o testcarrier.CallRequest) error {
			at := h.ua.Addr("udp")
			o.Target = resolve.Target{Host: at.Addr().String(), Port: int(at.Port()), Transport: "udp"}
			return h.phones.Call(ctx, o)
		},
		BrowserCall: func(ctx context.Context, o testcarrier.CallRequest, ear func([]byte), told func(testcarrier.Event)) (*testcarrier.Handset, error) {
			at := h.ua.Addr("udp")
			o.Target = resolve.Target{Host: at.Addr().String(), Port: int(at.Port()), Transport: "udp"}
			return h.phones.CallWithHandset(ctx, o, ear, told)
		},
	})
	h.node = h.svc.Node
	h.ua.OnInvite(h.node.ReceiveInvite)
	h.ua.OnMessage(h.node.ReceiveMessage)
	h.ua.SetRegistrar(h.node.Registrar())
	h.ua.SetAdmission(h.node.TrunkSources().Admit)
	ended := make(chan error, 1)
	serving, cancel := context.WithCancel(ctx)
	go func() { ended <- h.ua.Serve(serving) }()
	<-h.ua.Ready()
	require.NoError(h, h.node.Start(ctx))
	h.live, err = h.keys.Authenticate(ctx, h.first.AdminKey, loopback)
	require.NoError(h, err)
	h.test, err = h.keys.Authenticate(ctx, h.first.TestKey, loopback)
	require.NoError(h, err)
	h.stop = []func(){h.node.Stop, cancel, func() { assert.NoError(h, <-ended) }, func() { _ = h.ua.Close() }, func() { _ = h.engine.Close() }, func() { _ = h.driver.Close() }}
}

// shut ends the node as a restart would, without waiting for calls.
func (h *fixture) shut() {
	for _, f := range h.stop {
		f()
	}
	h.stop = nil
}

func (h *fixture) services() *services.Services { return h.svc }

func serve(t *testing.T, f func(context.Context) error, ready <-chan struct{}) {
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

// until waits for something, within a limit for an idle machine.
func (h *fixture) until(limit time.Duration, what string, check func() bool) {
	h.Helper()
	polltest.Until(h, limit, what, check)
}

// patience limits waits whose duration does not matter.
const patience = time.Minute

// again does what a client does: it asks again while the service is
// unavailable.
func again[T any](h *fixture, f func(ctx context.Context) (T, error)) T {
	h.Helper()
	var out T
	h.until(15*time.Second, "the services answer", func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), 1500*time.Millisecond)
		defer cancel()
		var err error
		out, err = f(ctx)
		switch {
		case domain.CodeOf(err) == domain.CodeUnavailable, errors.Is(err, context.DeadlineExceeded):
			return false
		case domain.CodeOf(err) == domain.CodeInvalidState:
			return true // the one before was heard, though its answer was not
		}
		require.NoError(h, err)
		return true
	})
	return out
}

// agent creates a pathway and an agent with it, and returns the id of the agent.
func (h *fixture) agent(p domain.Principal, w domain.Pathway) string {
	h.Helper()
	ctx := h.Context()
	w.Name = w.Start
	kept, err := h.services().Pathways.CreatePathway(ctx, p, &w)
	require.NoError(h, err)
	a, err := h.services().Agents.CreateAgent(ctx, p, &domain.Agent{Name: w.Start, PathwayID: kept.ID, Language: "en-US", Timezone: "UTC"})
	require.NoError(h, err)
	return a.ID
}

// linger asks again and again for a key that nobody presses.
func linger() domain.Pathway {
	return domain.Pathway{
		Start: "wait",
		Nodes: []domain.Node{
			{ID: "wait", Type: domain.NodeCollect, Input: "dtmf", Length: 1, Values: []string{"9"}, TimeoutSeconds: 0.8, Retries: 500, Prompt: "Please hold the line."},
			{ID: "end", Type: domain.NodeEnd},
		},
		Edges: []domain.Edge{{From: "wait", To: "end", When: domain.When{Type: domain.EdgeElse}}},
	}
}

// menu ends with the answer of a key.
func menu() domain.Pathway {
	return domain.Pathway{
		Start: "ask",
		Nodes: []domain.Node{
			{ID: "ask", Type: domain.NodeCollect, Input: "dtmf", Length: 1, Values: []string{"1", "2"}, TimeoutSeconds: 10, Prompt: "Press one or two."},
			{ID: "yes", Type: domain.NodeEnd, Prompt: "Thank you.", Outcome: domain.OutcomeConfirmed},
			{ID: "none", Type: domain.NodeEnd},
		},
		Edges: []domain.Edge{
			{From: "ask", To: "yes", When: domain.When{Type: domain.EdgeDTMF, Digits: "1"}},
			{From: "ask", To: "none", When: domain.When{Type: domain.EdgeElse}},
		},
	}
}

func contacts(phones ...string) iter.Seq2[domain.RawContact, error] {
	return func(yield func(domain.RawContact, error) bool) {
		for i, p := range phones {
			if !yield(domain.RawContact{Line: i + 1, Phone: p}, nil) {
				return
			}
		}
	}
}

// campaign is created, not started.
func (h *fixture) campaign(p domain.Principal, agent string, phones ...string) string {
	h.Helper()
	made, err := h.services().Campaigns.CreateCampaign(h.Context(), p, &domain.Campaign{
		Name: "c", Status: domain.CampaignDraft, AgentID: agent, DefaultCountry: "US", AutoComplete: true,
		Schedule: domain.Schedule{Timezone: "UTC", Days: []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}},
		Pacing:   domain.Pacing{CallsPerMinute: 1200, MaxConcurrent: 20}, Retry: domain.Retry{MaxAttempts: 1, IntervalHours: 1},
		CallerID:   domain.CallerID{Number: "+15005550100"},
		Compliance: domain.Compliance{CallingHours: domain.CallingHours{Start: "00:00", End: "24:00", Timezone: "UTC"}},
	}, "", contacts(phones...))
	require.NoError(h, err)
	require.Equal(h, len(phones), made.Upload.Summary.Accepted)
	return made.Campaign.ID
}

// number is a phone of the simulator: its last two digits say how it behaves.
func number(series, n int, nature string) string {
	return fmt.Sprintf("+1500555%d%d%s", series, n, nature)
}

// events are all that were committed, in order.
func (h *fixture) events(ws string) []event.Event {
	h.Helper()
	var out []event.Event
	after := uint64(0)
	for {
		batch, err := h.store.Events(context.Background(), ws, after, 500)
		require.NoError(h, err)
		if len(batch) == 0 {
			return out
		}
		out = append(out, batch...)
		after = batch[len(batch)-1].Offset
	}
}

// told counts the events of a type by their subjects.
func told(events []event.Event, of event.Type) map[string]int {
	out := make(map[string]int)
	for _, e := range events {
		if e.Type == of {
			out[e.Subject]++
		}
	}
	return out
}

func (h *fixture) call(p domain.Principal, id string) *domain.Call {
	h.Helper()
	c, err := h.services().Calls.Call(context.Background(), p, id)
	require.NoError(h, err)
	return c
}

// attempts counts the rows of open attempts in an index.
func (h *fixture) attempts(index string) int {
	h.Helper()
	n := 0
	q := commit.Query{Kind: "attempt", Workspace: h.live.WorkspaceID, Index: index, Limit: 100}
	_, err := h.store.List(context.Background(), q, func() domain.Record { return &domain.Attempt{} }, func(domain.Record) error { n++; return nil })
	require.NoError(h, err)
	return n
}

// diary keeps what happened on the phones.
type diary struct {
	mu     sync.Mutex
	phones map[string]*ringing // by the Call-ID of SIP
}

// ringing is one call on one phone.
type ringing struct {
	number         string
	what           []string
	answered, over time.Time
}

func newDiary() *diary { return &diary{phones: make(map[string]*ringing)} }

func (d *diary) note(e testcarrier.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.phones[e.CallID]
	if r == nil {
		r = &ringing{number: e.Number}
		d.phones[e.CallID] = r
	}
	r.what = append(r.what, e.Kind)
	switch e.Kind {
	case testcarrier.Answered:
		r.answered = time.Now()
	case testcarrier.Cancelled, testcarrier.PhoneHungUp, testcarrier.CallerHungUp, testcarrier.Refused:
		r.over = time.Now()
	}
}

// all are copies of what is known of every call.
func (d *diary) all() []ringing {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := make([]ringing, 0, len(d.phones))
	for _, r := range d.phones {
		out = append(out, *r)
	}
	return out
}

// dialogs is the number of calls on the wire.
func (d *diary) dialogs() (n, answered int) {
	for _, r := range d.all() {
		if r.over.IsZero() {
			n++
			if !r.answered.IsZero() {
				answered++
			}
		}
	}
	return n, answered
}

// journal is a log that many may write.
type journal struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.String()
}

// receiver is an endpoint over HTTPS.
type receiver struct {
	url   string
	roots *x509.CertPool
	mu    sync.Mutex
	ids   map[string]int
	// other answers what is not sent to "/"; nil: as if it were.
	other atomic.Pointer[func(w http.ResponseWriter, r *http.Request, body []byte)]
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{ids: make(map[string]int), roots: x509.NewCertPool()}
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		if f := r.other.Load(); f != nil && req.URL.Path != "/" {
			(*f)(w, req, body)
			return
		}
		var e event.Event
		_ = json.Unmarshal(body, &e)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.ids[e.ID]++
	}))
	t.Cleanup(s.Close)
	r.url = s.URL
	r.roots.AppendCertsFromPEM(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
	return r
}

func (r *receiver) has(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ids[id] > 0
}
