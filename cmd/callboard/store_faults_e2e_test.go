package main_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/persistence/redis/redistest"
)

// faultCampaign is a campaign with retries that runs while a test injects faults. Four of five contacts answer, and one
// is always busy.
type faultCampaign struct {
	*service
	answering, busy *sippPeer
	contacts        int
	rounds          int // number of faults
	perMinute       int
	interleaved     bool // the busy contacts are spread over the list instead of at its end
}

const (
	faultCampaignLimit    = 60 // maximum of concurrent calls; killConcurrency explains the number
	faultCampaignAttempts = 2
)

// newFaultCampaign prepares a campaign on a service without the race detector.
func newFaultCampaign(t *testing.T, env ...string) *faultCampaign {
	t.Helper()
	return newFaultCampaignOf(t, newRaceFreeService(t, env...))
}

// newFaultCampaignOf prepares a campaign on a given service. The campaign is short by default and long with NIGHTLY
// set.
func newFaultCampaignOf(t *testing.T, s *service) *faultCampaign {
	t.Helper()
	o := &faultCampaign{
		service:   s,
		answering: startSIPp(t, "uas-answer-logged"), busy: startSIPp(t, "uas-busy"), contacts: 150, rounds: 3, perMinute: 1200,
	}
	if os.Getenv("NIGHTLY") != "" {
		o.contacts, o.rounds = 2000, 60
	}
	o.api("PATCH", "/v1/workspace", object{"plan": "enterprise", "limits": object{
		"requests_per_minute": 1000000, "concurrent_inbound": 1, "concurrent_outbound": faultCampaignLimit, "calls_per_minute": 100000,
	}})
	o.createTrunk("+1202555", o.answering.port)
	o.createTrunk("+1202556", o.busy.port)
	o.api("POST", "/v1/webhooks", object{"url": o.receiver.url, "events": []string{"campaign.*", "call.ended"}})
	return o
}

// createAndStart creates and starts the campaign and returns its id.
func (o *faultCampaign) createAndStart() string {
	people := append(phoneNumbers("+1202555", o.contacts*4/5), phoneNumbers("+1202556", o.contacts/5)...)
	if o.interleaved { // one busy contact after every four that answer
		for i := range o.contacts / 5 {
			people = slices.Insert(people, 5*i+4, people[len(people)-1])
			people = people[:len(people)-1]
		}
	}
	return o.startCampaign(o.createConstantAgent(), people, object{
		"pacing": object{"calls_per_minute": o.perMinute, "max_concurrent": faultCampaignLimit},
		"retry":  object{"enabled": true, "max_attempts": faultCampaignAttempts, "interval_hours": 0.001, "retry_on": []string{"busy"}},
	})
}

// createConstantAgent creates an agent whose only sentence has no variables, so that its audio is cached.
func (s *service) createConstantAgent() string {
	s.t.Helper()
	return s.createAgent(object{
		"name": "terse", "start": "hello",
		"nodes": []object{{"id": "hello", "type": "say", "prompt": "Hello, this is a test."}, {"id": "bye", "type": "end"}},
		"edges": []object{{"from": "hello", "to": "bye", "when": object{"type": "always"}}},
	})
}

// sleepRandomly sleeps for a random time between 0.3 and 1.8 seconds.
func (o *faultCampaign) sleepRandomly() {
	<-time.After(time.Duration(300+rand.IntN(1500)) * time.Millisecond)
}

// checkNoCalls checks that no new call starts while the store is unavailable. It first waits for the INVITEs of call
// attempts that were committed before.
func (o *faultCampaign) checkNoCalls() {
	o.t.Helper()
	before := o.awaitLastInvite(o.answering)
	o.sleepRandomly()
	assert.Equal(o.t, before, fmt.Sprint(o.answering.inviteCounts()), "a call started without a store")
}

// awaitLastInvite waits until a SIPp peer receives no INVITE for three seconds. It returns the called numbers as text.
func (s *service) awaitLastInvite(p *sippPeer) (rung string) {
	s.t.Helper()
	s.await("the last INVITE", time.Minute, func() bool {
		rung = fmt.Sprint(p.inviteCounts())
		<-time.After(3 * time.Second)
		return fmt.Sprint(p.inviteCounts()) == rung
	})
	return rung
}

// countExcessCalls counts the numbers that were called more often than the retry settings permit.
func (o *faultCampaign) countExcessCalls() (n int) {
	for _, c := range o.answering.inviteCounts() {
		if c > 1 {
			n++
		}
	}
	for _, c := range o.busy.inviteCounts() {
		if c > faultCampaignAttempts {
			n++
		}
	}
	return n
}

type loggedEvent struct {
	ID      string
	Type    string
	Subject string
	// Sequence is the position of the event among the events of its subject, such as a call.
	Sequence int
	Data     json.RawMessage
}

// committedEvents returns all events in the store, which it requests from the API.
func (s *service) committedEvents() (all []loggedEvent) {
	for after := ""; ; {
		var page struct {
			Data []loggedEvent
		}
		path := "/v1/events?limit=100"
		if after != "" {
			path += "&after=" + after
		}
		code, text, _ := s.tryRequest("GET", path, nil)
		require.Equal(s.t, 200, code, "%s", text)
		require.NoError(s.t, json.Unmarshal(text, &page))
		if len(page.Data) == 0 {
			return all
		}
		all = append(all, page.Data...)
		after = all[len(all)-1].ID
	}
}

// checkInvariants waits for the end of the campaign and checks its calls, its events and the webhook deliveries.
func (o *faultCampaign) checkInvariants(id string) {
	t := o.t
	t.Helper()
	eventCount := o.checkCallInvariants(id)
	o.await("an event for every attempt", 2*time.Minute, func() bool { return len(o.receiver.events("campaign.call.completed")) >= eventCount })
	assert.Len(t, o.receiver.events("campaign.call.completed"), eventCount, "one event for each attempt")
}

// checkCallInvariants waits for the end of the campaign and checks its calls and events. It returns the number of
// campaign.call.completed events that the webhook receiver must get.
func (o *faultCampaign) checkCallInvariants(id string) (eventCount int) {
	t := o.t
	t.Helper()
	st := o.awaitCampaignEnd(id, time.Duration(max(3, o.contacts/150))*time.Minute)
	sum := 0
	for _, n := range st.Outcomes {
		sum += n
	}
	assert.Equal(t, o.contacts, sum, "every contact has an outcome: %v", st.Outcomes)
	assert.Equal(t, o.contacts, st.Progress.Attempted, "nobody is forgotten")
	assert.Zero(t, st.Progress.Remaining+st.Progress.InProgress)
	assert.Zero(t, o.countExcessCalls(), "numbers called more often than they had attempts")

	seen, sequences := map[string]bool{}, map[string]int{}
	begun, ended := map[string]int{}, map[string]int{}
	for _, e := range o.committedEvents() {
		assert.False(t, seen[e.ID], "event %s is in the log twice", e.ID)
		seen[e.ID] = true
		sequences[e.Subject]++
		assert.Equal(t, sequences[e.Subject], e.Sequence, "sequence of %s", e.Subject)
		switch e.Type {
		case "call.started":
			begun[e.Subject]++
		case "call.ended":
			ended[e.Subject]++
		case "campaign.call.completed":
			eventCount++
		}
	}
	assert.Equal(t, begun, ended, "each started call ended once")
	for call, n := range begun {
		assert.Equal(t, 1, n, call)
	}
	_, starts := concurrencyAndStarts(o.answering.logLines())
	assert.LessOrEqual(t, maxStartsWithin(starts, 60000), o.perMinute, "calls within a minute")
	return eventCount
}

// runThroughFaults runs the campaign, injects the faults and checks the invariants.
func (o *faultCampaign) runThroughFaults(fault func(round int)) {
	id := o.createAndStart()
	for round := range o.rounds {
		o.sleepRandomly()
		fault(round)
	}
	o.checkInvariants(id)
}

func TestKillsOfServiceWithRetriesOnPebble(t *testing.T) {
	t.Parallel()
	o := newFaultCampaignOf(t, newService(t))
	o.runThroughFaults(func(int) { o.kill9(); o.start() })
}

// The service, Redis, or both are killed during a campaign. No contact may be called too often, and no event may be lost.
func TestKillsOfServiceAndRedisTogetherAndApart(t *testing.T) {
	t.Parallel()
	url, server := redistest.Start(t)
	o := newFaultCampaignOf(t, newService(t, "CALLBOARD_REDIS_URL="+url))
	o.runThroughFaults(func(round int) {
		switch round % 3 {
		case 0:
			server.Kill()
			o.sleepRandomly()
			server.Restart()
		case 1:
			o.kill9()
			server.Kill()
			server.Restart()
			o.start()
		default:
			o.kill9()
			o.start()
		}
		o.await("readiness", time.Minute, func() bool { return o.readyStatus() == 200 })
	})
}

// killRedisLosingWrites kills Redis, alone or together with the service, and restarts it. Redis loses the writes of the
// last calls, as a server without fsync does.
func (o *faultCampaign) killRedisLosingWrites(server *redistest.Server, together bool) {
	o.t.Helper()
	calls := func(n int) {
		before := len(o.answering.inviteCounts())
		o.await("some calls", time.Minute, func() bool { return len(o.answering.inviteCounts()) > before+n })
	}
	calls(3)
	mark := server.WrittenBytes()
	calls(15)
	if together {
		o.kill9()
	}
	server.KillAndTruncate(mark)
	server.Restart()
	if together {
		o.start()
	}
	o.await("readiness", time.Minute, func() bool { return o.readyStatus() == 200 })
}

// Redis loses acknowledged writes, and the service does not repair them from its local ledger. The service must then call
// a contact again. This proves that TestKillsOfNonDurableRedisAreRepairedFromLedger detects the fault.
func TestControlKillsOfNonDurableRedisWithoutLedgerCallTwice(t *testing.T) {
	t.Parallel()
	for name, together := range map[string]bool{"alone": false, "with the service": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, server := redistest.Start(t)
			o := newFaultCampaign(t, "CALLBOARD_REDIS_URL="+url, "FAILPOINT_ANY_HISTORY=1")
			o.contacts *= 2 // contacts must remain for calls after the fault
			o.createAndStart()
			o.killRedisLosingWrites(server, together)
			o.await("a contact that is called twice", time.Minute, func() bool { return o.countExcessCalls() > 0 })
		})
	}
}

// Redis loses acknowledged writes, and the service repairs them from its local ledger. No contact may be called twice.
func TestKillsOfNonDurableRedisAreRepairedFromLedger(t *testing.T) {
	t.Parallel()
	url, server := redistest.Start(t)
	o := newFaultCampaign(t, "CALLBOARD_REDIS_URL="+url)
	o.contacts *= 2 // contacts must remain for calls after the fault
	id := o.createAndStart()
	for round := range max(1, o.rounds/10) {
		o.killRedisLosingWrites(server, round%2 == 0)
	}
	o.checkInvariants(id)
}

// failOverToStaleReplica promotes a replica while the service still uses the old primary, so that the replica lacks the
// last calls. It then kills the primary and redirects the service. While the replica synchronizes, the campaign is
// paused, so that contacts remain for calls after the failover.
func (o *faultCampaign) failOverToStaleReplica(id string, from *redistest.Server, way *redistest.Proxy, restart bool) *redistest.Server {
	o.api("POST", "/v1/campaigns/"+id+"/pause", nil)
	replica := redistest.StartReplica(o.t, from)
	o.api("POST", "/v1/campaigns/"+id+"/resume", nil)
	before := len(o.answering.inviteCounts())
	o.await("some calls", time.Minute, func() bool { return len(o.answering.inviteCounts()) > before+3 })
	replica.Promote()
	before = len(o.answering.inviteCounts())
	o.await("calls whose commits the replica does not have", time.Minute, func() bool { return len(o.answering.inviteCounts()) > before+15 })
	if restart {
		o.kill9()
	}
	from.Kill()
	way.SwitchTo(replica)
	if restart {
		o.start()
	}
	return replica
}

func TestFailoverToStaleReplicaCallsEachContactOnce(t *testing.T) {
	t.Parallel()
	_, server := redistest.Start(t)
	way := redistest.NewProxy(t, server)
	o := newFaultCampaign(t, "CALLBOARD_REDIS_URL="+way.URL())
	o.contacts *= 2
	id := o.createAndStart()
	for round := range max(2, o.rounds/10) {
		server = o.failOverToStaleReplica(id, server, way, round%2 == 1)
		o.await("readiness", time.Minute, func() bool { return o.readyStatus() == 200 })
	}
	o.checkInvariants(id)
}

// A service that trusts a stale replica must call a contact again. This proves that
// TestFailoverToStaleReplicaCallsEachContactOnce detects the fault.
func TestControlFailoverToTrustedStaleReplicaCallsTwice(t *testing.T) {
	t.Parallel()
	_, server := redistest.Start(t)
	way := redistest.NewProxy(t, server)
	o := newFaultCampaign(t, "CALLBOARD_REDIS_URL="+way.URL(), "FAILPOINT_ANY_HISTORY=1")
	o.contacts *= 2
	_ = o.failOverToStaleReplica(o.createAndStart(), server, way, true)
	o.await("a contact that is called twice", time.Minute, func() bool { return o.countExcessCalls() > 0 })
}

func (o *faultCampaign) setDiskState(path, mood string) {
	o.t.Helper()
	require.NoError(o.t, os.WriteFile(path+".new", []byte(mood), 0o600))
	require.NoError(o.t, os.Rename(path+".new", path))
}

func TestFullDiskStopsDialingAndLosesNoContact(t *testing.T) {
	t.Parallel()
	mood := filepath.Join(t.TempDir(), "mood")
	o := newFaultCampaign(t, "FAILPOINT_DISK="+mood)
	o.rounds = max(2, o.rounds/10)
	o.runThroughFaults(func(round int) {
		if round%2 == 0 { // the service notices the full disk before a write fails
			o.setDiskState(mood, "full")
			o.await("readiness to fail", time.Minute, func() bool { return o.readyStatus() == 503 })
			o.setDiskState(mood, "")
			o.await("health again", time.Minute, func() bool { return o.readyStatus() == 200 })
			return
		}
		o.setDiskState(mood, "broken") // a write fails halfway, and the store must be opened by a new process
		o.await("readiness to fail", time.Minute, func() bool { return o.readyStatus() == 503 })
		o.checkNoCalls()
		o.kill9()
		o.setDiskState(mood, "")
		o.start()
	})
}

func TestFullRedisStopsDialingAndLosesNoContact(t *testing.T) {
	t.Parallel()
	url, server := redistest.Start(t)
	o := newFaultCampaign(t, "CALLBOARD_REDIS_URL="+url)
	o.rounds = max(2, o.rounds/10)
	o.runThroughFaults(func(round int) {
		server.FillMemory()
		o.await("readiness to fail", time.Minute, func() bool { return o.readyStatus() == 503 })
		o.checkNoCalls()
		if round%2 == 1 {
			o.kill9()
			o.startProcess()
		}
		server.FreeMemory()
		o.await("health again", time.Minute, func() bool { return o.readyStatus() == 200 })
	})
}

// A service that commits call attempts only after their INVITEs loses them if Redis is full, and must call a contact
// again. This proves that TestFullRedisStopsDialingAndLosesNoContact detects the fault.
func TestControlFullRedisWithLateCommitCallsTwice(t *testing.T) {
	t.Parallel()
	url, server := redistest.Start(t)
	o := newFaultCampaign(t, "CALLBOARD_REDIS_URL="+url, "FAILPOINT_LATE_OPEN=1")
	o.contacts *= 2 // contacts must remain for calls after the fault
	o.createAndStart()
	for round := 0; round < 5 && o.countExcessCalls() == 0; round++ { // no attempt is pending if all permits are in use when Redis fills
		before := len(o.answering.inviteCounts())
		o.await("more calls", time.Minute, func() bool { return len(o.answering.inviteCounts()) > before+1 || o.countExcessCalls() > 0 })
		server.FillMemory()
		o.await("readiness to fail", time.Minute, func() bool { return o.readyStatus() == 503 })
		o.kill9()
		server.FreeMemory()
		o.start()
		o.await("calls again", time.Minute, func() bool { return o.countExcessCalls() > 0 || len(o.answering.inviteCounts()) > before+2 })
	}
	o.await("a contact that is called twice", time.Minute, func() bool { return o.countExcessCalls() > 0 })
}

// On a disk that reports success but stores nothing, the service must call a contact again after a kill. This proves that
// TestFullDiskStopsDialingAndLosesNoContact detects the fault.
func TestControlFullDiskReportedAsWrittenCallsTwice(t *testing.T) {
	t.Parallel()
	mood := filepath.Join(t.TempDir(), "mood")
	o := newFaultCampaign(t, "FAILPOINT_DISK="+mood)
	o.contacts *= 2 // contacts must remain for calls after the fault
	o.createAndStart()
	o.await("some calls", time.Minute, func() bool { return len(o.answering.inviteCounts()) > 3 })
	o.setDiskState(mood, "lying")
	before := len(o.answering.inviteCounts())
	o.await("calls whose commits the disk has lost", time.Minute, func() bool { return len(o.answering.inviteCounts()) > before+15 })
	o.kill9()
	o.setDiskState(mood, "")
	o.start()
	o.await("a contact that is called twice", time.Minute, func() bool { return o.countExcessCalls() > 0 })
}
