package node_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/service/calls"
	contactsservice "github.com/callboard/callboard/service/contacts"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/record/contactlist"
	"github.com/callboard/callboard/service/webhooks"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/testcarrier"
	"github.com/callboard/callboard/sip/transport"
)

// panicTrap makes actors panic. Once armed, it panics at the first message of each wanted type.
type panicTrap struct {
	mu     sync.Mutex
	armed  bool
	want   []string
	sprung map[string]bool
	seen   map[string]bool
}

func (p *panicTrap) before(who string, msg any) {
	name := fmt.Sprintf("%s %T", who, msg)
	p.mu.Lock()
	hit := p.armed && !p.sprung[name] && slices.Contains(p.want, name)
	if p.armed {
		p.seen[name] = true
	}
	if hit {
		p.sprung[name] = true
	}
	p.mu.Unlock()
	if hit {
		panic("planted at " + name)
	}
}

func (p *panicTrap) armAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.armed = true
}

// typesNotSeen returns the wanted message types of which no message has arrived.
func (p *panicTrap) typesNotSeen() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(p.want), func(name string) bool { return p.sprung[name] })
}

// typesSeen returns all message types that have arrived.
func (p *panicTrap) typesSeen() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Sorted(maps.Keys(p.seen))
}

// Phone numbers that the scenario calls.
var (
	longPhones  = []string{carrierNumber(1, 1, "11"), carrierNumber(1, 2, "11"), carrierNumber(1, 3, "11")}
	shortPhones = []string{carrierNumber(2, 1, "11"), carrierNumber(2, 2, "11"), carrierNumber(2, 3, "14"), carrierNumber(2, 4, "13")}
	morePhone   = carrierNumber(2, 5, "11")
)

// panicScenario is a fixture that exercises most actors. Long calls stay live during the whole scenario. A short campaign, a
// single call, an inbound call and API requests run at the same time.
type panicScenario struct {
	*fixture
	trap        *panicTrap
	long, short string
	over        bool // the short campaign may end before its last contact is added
	people      int  // contacts of both campaigns at the end
	singles     []string
	webhook     string
}

func (s *panicScenario) startLongCalls() {
	s.Helper()
	p, d, ctx := s.live, s.services(), s.Context()
	hook, err := d.Webhooks.CreateWebhook(ctx, p, &domain.Webhook{URL: s.receiver.url, Events: []string{"*"}})
	require.NoError(s, err)
	s.webhook = hook.ID
	lingering := s.createAgent(p, waitingPathway())
	s.long = s.createCampaign(p, lingering, longPhones...)
	_, err = d.Campaigns.StartCampaign(ctx, p, s.long)
	require.NoError(s, err)
	s.waitUntil(10*time.Second, "the long calls talk", func() bool { _, n := s.phoneLog.liveDialogs(); return n == len(longPhones) })
	trunk, err := d.Trunks.CreateTrunk(ctx, p, &domain.Trunk{
		Name: "in", Proxies: []domain.Proxy{{Host: "127.0.0.1", Port: 9, Transport: "udp"}}, Prefixes: []string{"+999"}, NumberFormat: "e164",
		Inbound: domain.TrunkInbound{AllowedIPs: []string{"127.0.0.1"}},
	})
	require.NoError(s, err)
	_, err = d.Numbers.CreateNumber(ctx, p, &domain.PhoneNumber{Number: "+12025550100", AgentID: lingering, TrunkID: trunk.ID})
	require.NoError(s, err)
}

// runShortWork runs all parts of the scenario except the long calls. It repeats failed requests as API clients do.
func (s *panicScenario) runShortWork() {
	s.Helper()
	p, d := s.live, s.services()
	s.trap.armAll()
	s.short = s.createCampaign(p, s.createAgent(p, keyMenuPathway()), shortPhones...)
	status := func(f func(context.Context, domain.Principal, string) (domain.CampaignStatusObject, error)) {
		retryUntilAvailable(s.fixture, func(ctx context.Context) (domain.CampaignStatusObject, error) { return f(ctx, p, s.short) })
	}
	status(d.Campaigns.StartCampaign)
	retryUntilAvailable(s.fixture, func(ctx context.Context) (contactlist.UploadSummary, error) {
		sum, err := d.Contacts.AddContacts(ctx, p, s.short, contactRows(morePhone))
		s.over = s.over || domain.CodeOf(err) == domain.CodeInvalidState
		return sum, err
	})
	s.callInbound()
	status(d.Campaigns.PauseCampaign)
	status(d.Campaigns.ResumeCampaign)
	retryUntilAvailable(s.fixture, func(ctx context.Context) (*domain.CampaignStatusObject, error) {
		return d.Campaigns.CampaignStatus(ctx, p, s.short)
	})
	s.placeSingleCall()
	retryUntilAvailable(s.fixture, func(ctx context.Context) (webhooks.TestResult, error) {
		return d.Webhooks.TestWebhook(ctx, p, s.webhook, "")
	})
	retryUntilAvailable(s.fixture, func(ctx context.Context) (*domain.Webhook, error) { return d.Webhooks.PauseWebhook(ctx, p, s.webhook) })
	retryUntilAvailable(s.fixture, func(ctx context.Context) (*domain.Webhook, error) { return d.Webhooks.ResumeWebhook(ctx, p, s.webhook) })
	retryUntilAvailable(s.fixture, func(ctx context.Context) (*domain.Workspace, error) {
		return d.Workspaces.UpdateWorkspace(ctx, p, func(w *domain.Workspace) error { w.Limits.CallsPerMinute++; return nil })
	})
	other := retryUntilAvailable(s.fixture, func(ctx context.Context) (*domain.Webhook, error) {
		return d.Webhooks.CreateWebhook(ctx, p, &domain.Webhook{URL: s.receiver.url, Events: []string{"campaign.progress"}})
	})
	tries := 0
	retryUntilAvailable(s.fixture, func(ctx context.Context) (struct{}, error) {
		err := d.Webhooks.DeleteWebhook(ctx, p, other.ID)
		if tries++; tries > 1 && domain.CodeOf(err) == domain.CodeNotFound {
			err = nil // an earlier attempt succeeded although its reply was lost
		}
		return struct{}{}, err
	})
	s.waitUntil(20*time.Second, "the short campaign has ended", func() bool { return s.statusOf(s.short) == domain.CampaignCompleted })
}

func (s *panicScenario) statusOf(campaign string) domain.CampaignStatus {
	s.Helper()
	c, err := s.services().Campaigns.Campaign(context.Background(), s.live, campaign)
	require.NoError(s, err)
	return c.Status
}

// placeSingleCall places a call outside of campaigns and hangs it up.
func (s *panicScenario) placeSingleCall() {
	s.Helper()
	agent := s.createAgent(s.live, waitingPathway())
	tries := 0
	c := retryUntilAvailable(s.fixture, func(ctx context.Context) (*domain.Call, error) {
		tries++ // the previous attempt may have placed the call
		s.singles = append(s.singles, carrierNumber(3, tries, "11"))
		return s.services().Calls.PlaceCall(ctx, s.live, domain.NewCall{To: carrierNumber(3, tries, "11"), AgentID: agent, RingTimeout: 5 * time.Second, MaxDuration: time.Minute, Record: true})
	})
	s.waitUntil(10*time.Second, "the single call is answered or ended", func() bool {
		now := s.getCall(s.live, c.ID)
		return now.Status == domain.CallInProgress || now.Final()
	})
	s.hangUp(c.ID)
}

// hangUp repeats the hang-up request until the call has ended.
func (s *panicScenario) hangUp(id string) {
	s.Helper()
	s.waitUntil(15*time.Second, "call "+id+" is over", func() bool {
		if s.getCall(s.live, id).Final() {
			return true
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_, _ = s.services().Calls.HangupCall(ctx, s.live, id) // a panic may have lost the reply
		return false
	})
}

// callInbound makes an inbound call to the service and hangs up.
func (s *panicScenario) callInbound() {
	s.Helper()
	ua, err := sip.New(sip.Config{Listen: []transport.Listener{{Network: "udp", Addr: "127.0.0.1:0"}}, OverloadAfter: longWait})
	require.NoError(s, err)
	runServer(s.T, ua.Serve, ua.Ready())
	low, high := rtpPorts(s.T)
	loopback := netip.AddrFrom4([4]byte{127, 0, 0, 1})
	engine, err := media.NewEngine(media.Config{BindIP: loopback, PublicIP: loopback, PortMin: low, PortMax: high})
	require.NoError(s, err)
	defer func() { _ = engine.Close() }()
	sound, err := engine.Open(media.Options{})
	require.NoError(s, err)
	defer sound.Close()
	received := make(chan sip.Event, 64)
	at := s.ua.Addr("udp")
	dialog, err := ua.Invite(sip.Invite{
		Attempt: "in", Leg: 1, Target: resolve.Target{Host: at.Addr().String(), Port: int(at.Port()), Transport: "udp"},
		To: "+12025550100", From: "+12025550199", Body: sound.Offer(), Notify: func(e sip.Event) { received <- e },
	})
	require.NoError(s, err)
	for limit := time.After(longWait); ; {
		select {
		case e := <-received:
			switch e := e.(type) {
			case sip.Answered:
				require.NoError(s, sound.Accept(e.Body))
				sound.Begin()
				dialog.Bye(16, "")
			case sip.Refused, sip.Ended:
				return
			}
		case <-limit:
			s.Fatal("the call in found no end")
		}
	}
}

// waitForPermits waits until the number of permits in use for a direction equals n().
func (s *panicScenario) waitForPermits(d domain.Direction, n func() int) {
	s.Helper()
	last, want := -1, 0
	defer func() {
		if s.Failed() {
			s.Logf("%s: %d lines in use, %d dialogs on the wire", d, last, want)
		}
	}()
	s.waitUntil(15*time.Second, "the permits in use are the dialogs on the wire", func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		now, err := s.node.LinesUsage(ctx, s.live.WorkspaceID, d)
		if err != nil {
			return false
		}
		last, want = now.Active, n()
		return last == want
	})
}

func zero() int { return 0 }

// endLongCalls hangs up the long calls and waits until all calls have ended and are stored.
func (s *panicScenario) endLongCalls() {
	s.Helper()
	s.waitForPermits(domain.Outbound, func() int { n, _ := s.phoneLog.liveDialogs(); return n })
	s.waitForPermits(domain.Inbound, zero)
	s.waitForAudio()
	_, talking := s.phoneLog.liveDialogs()
	assert.GreaterOrEqual(s, talking, len(longPhones)-len(s.trap.want), "a panic ends at most one call")
	calls, err := s.services().Calls.ListCalls(s.Context(), s.live, calls.Query{Status: "active", PageQuery: record.PageQuery{Limit: 100}})
	require.NoError(s, err)
	for _, c := range calls.Data {
		s.hangUp(c.ID)
	}
	s.waitUntil(20*time.Second, "the long campaign has ended", func() bool { return s.statusOf(s.long) == domain.CampaignCompleted })
	s.waitUntil(10*time.Second, "every remote party received the end of its call", func() bool { n, _ := s.phoneLog.liveDialogs(); return n == 0 })
	s.waitForPermits(domain.Outbound, zero)
	s.waitUntil(10*time.Second, "no call is open", func() bool { return !s.hasOpenCalls() })
}

// hasOpenCalls reports whether any call has not ended or its recording is still being processed.
func (s *panicScenario) hasOpenCalls() bool {
	s.Helper()
	calls, err := s.services().Calls.ListCalls(context.Background(), s.live, calls.Query{PageQuery: record.PageQuery{Limit: 100}})
	require.NoError(s, err)
	return slices.ContainsFunc(calls.Data, func(c *domain.Call) bool { return !c.Final() || c.Processing })
}

// checkInvariants checks the phone log, the stored records and the events. They must be consistent after any panic.
func (s *panicScenario) checkInvariants() {
	s.Helper()
	s.checkPhoneLog()
	s.checkRecords()
	events := s.events(s.live.WorkspaceID)
	calls, err := s.services().Calls.ListCalls(s.Context(), s.live, calls.Query{PageQuery: record.PageQuery{Limit: 100}})
	require.NoError(s, err)
	once := make(map[string]int, len(calls.Data))
	for _, c := range calls.Data {
		once[c.ID] = 1
	}
	assert.Equal(s, once, countEvents(events, event.CallStarted), "each call began once")
	assert.Equal(s, once, countEvents(events, event.CallEnded), "each call ended once")
	people := 0
	for _, e := range events {
		if e.Type == event.CampaignCallCompleted {
			people++
		}
	}
	assert.Equal(s, s.people, people, "each contact has one campaign.call.completed event")
	done := countEvents(events, event.CampaignCompleted)
	assert.Equal(s, map[string]int{s.long: 1, s.short: 1}, done)
	s.waitUntil(20*time.Second, "the endpoint has every event", func() bool {
		return !slices.ContainsFunc(events, func(e event.Event) bool { return !s.receiver.hasEvent(e.ID) })
	})
}

// waitForAudio waits until the phone of every live call has received another second of audio.
func (s *panicScenario) waitForAudio() {
	s.Helper()
	before := s.phones.PacketsReceived()
	s.waitUntil(10*time.Second, "the live calls receive audio", func() bool {
		now := s.phones.PacketsReceived()
		for phone, n := range before {
			if more, live := now[phone]; live && more < n+50 {
				return false
			}
		}
		return true
	})
}

// checkPhoneLog checks that no number was called twice and that each answered call ended.
func (s *panicScenario) checkPhoneLog() {
	s.Helper()
	rung := make(map[string]int)
	for _, r := range s.phoneLog.all() {
		rung[r.number]++
		if r.answeredAt.IsZero() {
			continue
		}
		last := r.events[len(r.events)-1]
		assert.Contains(s, []string{testcarrier.CallerHungUp, testcarrier.PhoneHungUp}, last, r.number)
	}
	for phone, n := range rung {
		assert.Equal(s, 1, n, "%s rang", phone)
	}
	for _, phone := range longPhones {
		assert.Equal(s, 1, rung[phone], phone)
	}
}

// checkRecords checks the records in the store after all calls have ended.
func (s *panicScenario) checkRecords() {
	s.Helper()
	ctx := s.Context()
	for campaign, phones := range map[string][]string{s.long: longPhones, s.short: append(slices.Clone(shortPhones), morePhone)} {
		list, err := s.services().Contacts.ListContacts(ctx, s.live, campaign, contactsservice.Query{Limit: 100})
		require.NoError(s, err)
		if s.over && campaign == s.short && len(list.Data) == len(shortPhones) {
			phones = shortPhones
		}
		require.Len(s, list.Data, len(phones))
		s.people += len(phones)
		for i, c := range list.Data {
			assert.Equal(s, phones[i], c.Phone)
			assert.NotEmpty(s, c.Outcome, "%s: %s", c.Phone, c.Status)
			assert.NotNil(s, c.CompletedAt, c.Phone)
		}
		assert.Zero(s, s.openAttempts("campaign="+campaign))
	}
	assert.Zero(s, s.openAttempts("single"))
}

func runPanicScenario(t *testing.T, at ...string) *panicTrap {
	t.Helper()
	p := &panicTrap{want: at, seen: make(map[string]bool), sprung: make(map[string]bool)}
	s := &panicScenario{trap: p, fixture: newFixture(t, p.before)}
	s.startLongCalls()
	s.runShortWork()
	s.endLongCalls()
	s.checkInvariants()
	return p
}

var plantedAt = flag.String("planted", "", "plant the panic at this message only, as \"campaign lines.Permit\"")

// parallelScenarios is the number of panic scenarios that run in parallel.
const parallelScenarios = 6

func TestPanicAtAnyActorMessageEndsAtMostOneCall(t *testing.T) {
	if *plantedAt != "" {
		assert.Empty(t, runPanicScenario(t, *plantedAt).typesNotSeen())
		return
	}
	var kinds []string
	t.Run("nowhere", func(t *testing.T) {
		kinds = runPanicScenario(t).typesSeen()
	})
	require.Greater(t, len(kinds), 50, kinds)
	queue := make(chan []string)
	var wait sync.WaitGroup
	for range parallelScenarios {
		wait.Go(func() {
			for names := range queue {
				t.Run(strings.Join(names, " and "), func(t *testing.T) {
					for _, name := range runPanicScenario(t, names...).typesNotSeen() {
						t.Logf("%s did not come this time", name)
					}
				})
			}
		})
	}
	const each = 4 // panics in one scenario, mostly of different actors
	houses := (len(kinds) + each - 1) / each
	for i := range houses {
		var names []string
		for k := i; k < len(kinds); k += houses {
			names = append(names, kinds[k])
		}
		queue <- names
	}
	close(queue)
	wait.Wait()
}
