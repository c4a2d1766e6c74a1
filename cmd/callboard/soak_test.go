package main_test

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/persistence/pebble"
	"github.com/callboard/callboard/sip/siptest"
)

// soakTest runs many short calls and some long calls. SOAK_CALLS, SOAK_LONG, SOAK_MINUTES and SOAK_RATE set its size.
// Without SOAK_CALLS the test is short.
type soakTest struct {
	*service
	calls, longCalls, rate int
	longCallDuration       time.Duration // of the long calls
	full                   bool
	admin, home            string
	phoneFarm              *phoneFarm
	agents                 map[string]string
	next                   map[string]int // next number of each kind
	outcomes               map[string]int
	callers                callerStats
	peakCounters           processCounters
}

// callKind is a kind of short outbound call, such as answered or busy. The called numbers begin with prefix.
type callKind struct {
	name, prefix, agent string
	percent             int // percent of the outbound calls
	wantOutcome         string
}

func callKinds() []callKind {
	return []callKind{
		{"answered, ends at once", "+120251", "mute", 40, "completed"},
		{"answered, the agent speaks, recorded", "+120252", "hello", 15, "completed"},
		{"answered, the callee hangs up", "+120253", "patient", 9, "completed"},
		{"busy", "+120254", "mute", 12, "busy"},
		{"declined", "+120255", "mute", 7, "failed"},
		{"an unknown number", "+120256", "mute", 7, "failed"},
		{"first target down, the second answers", "+120257", "mute", 5, "completed"},
		{"bridged to a desk that hangs up", "+120258", "bridge", 2, "confirmed"},
		{"bridged to a desk that is busy", "+120259", "engaged", 2, "declined"},
		{"transferred by REFER", "+120260", "refer", 1, "completed"},
	}
}

const (
	inboundShare = 30 // of 100 calls
	desk, noDesk = "+12025550199", "+12025550198"
	soakNumber   = "+12025550142"
	// storeCache is the maximum growth of the store's block cache: 48 MB minus two memory tables of 8 MB each. The
	// cache still grows long after the first calls, because it fills with stored data: by 5 MB after 60,000 calls.
	storeCache = 32 * mb
)

func envNumber(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil && n > 0 {
		return n
	}
	return otherwise
}

// After calls of every kind have ended, the service must hold no resources for them. make soak runs the test with many
// calls.
func TestCallsReleaseAllResources(t *testing.T) {
	t.Parallel()
	s := &soakTest{calls: 1000, longCalls: 6, rate: 60, longCallDuration: 5 * time.Second, full: os.Getenv("SOAK_CALLS") != ""}
	env := []string{"CALLBOARD_MEDIA_PORTS=61000-63998", "FAILPOINT_DIALOG_LINGER=3s"}
	if s.full {
		s.calls, s.longCalls, s.rate = envNumber("SOAK_CALLS", 200000), envNumber("SOAK_LONG", 300), envNumber("SOAK_RATE", 250)
		s.longCallDuration = time.Duration(envNumber("SOAK_MINUTES", 20)) * time.Minute
		env = []string{"CALLBOARD_MEDIA_PORTS=20000-29999"}
	}
	s.admin = "127.0.0.1:" + strconv.Itoa(siptest.Port(t))
	s.service = prepareRaceFreeService(t, append(env, "CALLBOARD_ADMIN_ADDR="+s.admin, "CALLBOARD_LOG_LEVEL=error")...)
	s.next, s.outcomes = make(map[string]int), make(map[string]int)
	s.start()
	s.removeLimits()
	s.home = s.api("GET", "/v1/workspace", nil)["id"].(string)
	s.createResources()

	began := time.Now()
	s.runWave(max(s.calls/20, 200)) // fills the permanent caches, pools and buffers
	base := s.awaitRelease()
	var done int
	longs := s.startLongCalls()
	waves := 1
	if s.full {
		waves = 20
	}
	for n := range waves {
		n, done = s.calls*19/20*(n+1)/waves-done, s.calls*19/20*(n+1)/waves
		s.runWave(n)
		s.recordPeak(done, time.Since(began))
	}
	heard := s.endLongCalls(longs)
	end := s.awaitRelease()
	s.assertReleased(base, end, heard)
	s.stop()
	s.checkNoOpenAttempts()
	s.report(base, end, heard, time.Since(began))
}

// createResources creates the trunks, numbers and agents.
func (s *soakTest) createResources() {
	t := s.t
	// A late retransmission must not make SIPp drop a call.
	patient := func(scenario string) *sippPeer {
		return startSIPp(t, scenario, "-default_behaviors", "all,-abortunexp")
	}
	instant, refer := patient("uas-instant"), patient("uas-refer")
	busy, hangup := patient("uas-busy"), patient("uas-hangup")
	ports := map[string][]int{
		"+120251": {instant.port}, "+120252": {patient("uas-instant").port}, "+120253": {hangup.port}, "+120254": {busy.port},
		"+120255": {patient("uas-decline").port}, "+120256": {patient("uas-unknown").port},
		"+120257": {patient("uas-503").port, instant.port}, "+120258": {patient("uas-instant").port}, "+120259": {instant.port},
		"+120260": {refer.port}, desk: {hangup.port}, noDesk: {busy.port},
	}
	s.phoneFarm = startPhoneFarm(t)
	ports["+120261"] = []int{s.phoneFarm.port}
	var trunk string
	for prefix, to := range ports {
		proxies := make([]object, len(to))
		for i, p := range to {
			proxies[i] = object{"host": "127.0.0.1", "port": p, "transport": "udp", "priority": i}
		}
		trunk = s.api("POST", "/v1/trunks", object{"caller_ids": []string{"+12025550100"}, "name": "t" + prefix, "proxies": proxies, "prefixes": []string{prefix}, "calls_per_second": 1000})["id"].(string)
	}
	s.agents = map[string]string{
		"mute": s.createMuteAgent(), "hello": s.createGreetingAgent(), "patient": s.createWaitingAgent("wait"), "talker": s.createTalkingAgent(),
		"bridge": s.createTransferAgent(desk, "bridge"), "engaged": s.createTransferAgent(noDesk, "bridge"), "refer": s.createTransferAgent(desk, "blind"),
	}
	s.api("POST", "/v1/phone-numbers", object{"number": soakNumber, "agent_id": s.agents["hello"], "trunk_id": trunk})
}

// createTransferAgent creates an agent that transfers every caller at once.
func (s *soakTest) createTransferAgent(to, mode string) string {
	p := s.api("POST", "/v1/pathways", object{
		"name": mode + to, "start": "hand",
		"nodes": []object{
			{"id": "hand", "type": "transfer", "destination": "desk", "mode": mode},
			{"id": "back", "type": "end", "outcome": "confirmed"},
			{"id": "sorry", "type": "end", "outcome": "declined"},
		},
		"edges": []object{
			{"from": "hand", "to": "back", "when": object{"type": "success"}},
			{"from": "hand", "to": "sorry", "when": object{"type": "failure"}},
		},
	})
	return s.api("POST", "/v1/agents", object{
		"name": mode + to, "pathway_id": p["id"], "transfer": object{"destinations": []object{{"name": "desk", "to": to}}},
	})["id"].(string)
}

// createTalkingAgent creates an agent that speaks longer than any call lasts.
func (s *soakTest) createTalkingAgent() string {
	nodes, edges := []object{}, []object{}
	for n := range 2 + int(s.longCallDuration/(2*time.Minute)) {
		id := "talk" + strconv.Itoa(n)
		nodes = append(nodes, object{"id": id, "type": "say", "prompt": strings.Repeat("All our lines are open for this measurement. ", 80)})
		edges = append(edges, object{"from": id, "to": "talk" + strconv.Itoa(n+1), "when": object{"type": "always"}})
	}
	edges[len(edges)-1]["to"] = "bye"
	return s.createAgent(object{"name": "talker", "start": "talk0", "nodes": append(nodes, object{"id": "bye", "type": "end"}), "edges": edges})
}

// startFileCampaign uploads contacts as a CSV file, starts a campaign with them and returns its id.
func (s *soakTest) startFileCampaign(k callKind, n, atOnce int) string {
	var rows strings.Builder
	rows.WriteString("phone\n")
	for range n {
		fmt.Fprintf(&rows, "%s%0*d\n", k.prefix, 12-len(k.prefix), 20000+s.next[k.prefix]%80000)
		s.next[k.prefix]++
	}
	id := s.api("POST", "/v1/campaigns", object{
		"name": k.name, "agent_id": s.agents[k.agent], "caller_id": object{"number": "+12025550100"}, "compliance": allHours(),
		"pacing": object{"calls_per_minute": max(60, s.rate*60*(100-inboundShare)*k.percent/10000), "max_concurrent": atOnce},
	})["id"].(string)
	status, text, _ := s.tryRequest("POST", "/v1/campaigns/"+id+"/contacts", rows.String(), "Content-Type", "text/csv")
	require.Less(s.t, status, 300, string(text))
	s.await("the start of "+k.name, time.Minute, func() bool { // a busy campaign may not have counted its contacts yet
		code, _, _, err := s.sendRequest("POST", "/v1/campaigns/"+id+"/start", nil)
		if err == nil && code < 300 {
			return true
		}
		st, ok := s.campaignStatus(id) // the response of the start request may have been late
		return ok && (st.Status == "running" || st.Status == "completed")
	})
	return id
}

// runWave makes n calls, by campaigns of every call kind and by inbound calls, and waits for their end.
func (s *soakTest) runWave(n int) {
	var wait sync.WaitGroup
	in := n * inboundShare / 100
	wait.Go(func() { s.callers.placeCalls(s.service, in, max(1, s.rate*inboundShare/100)) })
	ids := map[string]callKind{}
	for _, k := range callKinds() {
		ids[s.startFileCampaign(k, max(1, (n-in)*k.percent/100), 900)] = k
	}
	limit := 3*time.Minute + 8*time.Second*time.Duration(n/s.rate)
	for id, k := range ids {
		st := s.awaitCampaignEnd(id, limit)
		for outcome, count := range st.Outcomes {
			if count == 0 {
				continue
			}
			s.outcomes[k.name+": "+outcome] += count
			if outcome != k.wantOutcome {
				s.outcomes["other than wanted"] += count
			}
			s.outcomes["all"] += count
		}
	}
	wait.Wait()
}

// callerStats counts the results of inbound calls as SIPp, the caller, reports them.
type callerStats struct {
	mu                sync.Mutex
	succeeded, failed int
}

// placeCalls places n inbound calls and adds SIPp's statistics.
func (c *callerStats) placeCalls(s *service, n, rate int) {
	stats := filepath.Join(s.t.TempDir(), "stats.csv")
	p := startSIPpCaller(s.t, "uac-hangup", "-m", strconv.Itoa(n), "-r", strconv.Itoa(rate), "-s", soakNumber, "-d", "400",
		"-trace_stat", "-stf", stats, "127.0.0.1:"+strconv.Itoa(s.sip))
	<-p.done //nolint:errcheck // the statistics contain failures
	text, err := os.ReadFile(stats)
	if err != nil {
		s.t.Errorf("the statistics of SIPp: %v", err)
		return
	}
	read := csv.NewReader(strings.NewReader(string(text)))
	read.Comma, read.FieldsPerRecord, read.LazyQuotes = ';', -1, true
	rows, err := read.ReadAll()
	if err != nil || len(rows) < 2 {
		s.t.Errorf("the statistics of SIPp: %v, %d rows", err, len(rows))
		return
	}
	last := func(name string) int {
		at := slices.Index(rows[0], name)
		if at < 0 {
			return 0
		}
		v, _ := strconv.Atoi(rows[len(rows)-1][at])
		return v
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.succeeded += last("SuccessfulCall(C)")
	c.failed += last("FailedCall(C)")
}

// startLongCalls starts a campaign of long calls and returns its id when all calls have audio.
func (s *soakTest) startLongCalls() string {
	if s.longCalls == 0 {
		return ""
	}
	id := s.startFileCampaign(callKind{name: "long", prefix: "+120261", agent: "talker", percent: 100}, s.longCalls, s.longCalls)
	s.await("audio of all phones", 3*time.Minute, func() bool { return s.phoneFarm.sendCommand(s.t, "count").Phones >= s.longCalls })
	s.callers.mu.Lock()
	defer s.callers.mu.Unlock()
	s.peakCounters.at = time.Now()
	return id
}

// longCallStats holds the media statistics that the API reports for the long calls.
type longCallStats struct {
	calls          int
	received, sent float64 // packets per second of the worst call
	mos            float64
}

// endLongCalls waits until the long calls have had their duration, ends them and returns their statistics.
func (s *soakTest) endLongCalls(id string) (all longCallStats) {
	if id == "" {
		return all
	}
	s.await("the end of the long calls", s.longCallDuration+time.Minute, func() bool { return time.Since(s.peakCounters.at) >= s.longCallDuration })
	s.await("the last long call's end", 5*time.Minute, func() bool {
		live := s.api("GET", "/v1/calls?status=active&limit=100&campaign_id="+id, nil)["data"].([]any)
		for _, c := range live {
			_, _, _, _ = s.sendRequest("POST", "/v1/calls/"+c.(object)["id"].(string)+"/hangup", nil)
		}
		return len(live) == 0
	})
	all.received, all.sent, all.mos = math.Inf(1), math.Inf(1), math.Inf(1)
	for page := ""; ; {
		list := s.api("GET", "/v1/calls?limit=100&campaign_id="+id+page, nil)
		for _, raw := range list["data"].([]any) {
			c := raw.(object)
			q, _ := c["quality"].(object)
			if q == nil {
				continue
			}
			secs := max(1, c["duration_seconds"].(float64))
			all.calls++
			all.received = min(all.received, q["packets_received"].(float64)/secs)
			all.sent = min(all.sent, q["packets_sent"].(float64)/secs)
			all.mos = min(all.mos, q["mos"].(float64))
		}
		if list["has_more"] != true {
			return all
		}
		page = "&cursor=" + list["next_cursor"].(string)
	}
}

// processCounters is the response of /debug/counters.
type processCounters struct {
	at      time.Time
	Process struct {
		Goroutines, Files int
		HeapInUse         float64 `json:"heap_inuse"`
		HeapLive          float64 `json:"heap_live"`
		Objects, Resident float64
	}
	Tree map[string]int
	SIP  struct {
		Received, Sent, Retransmitted, Panics, TransportErrors, Invites, Incoming int
		Dialogs, HalfOpen, TCP, Pending, HalfHosts                                int
	}
	Media struct {
		Sessions int
		Ports    struct{ Pairs, Taken, Resting, Bound int }
	}
	Traces struct {
		Calls     int
		Unclaimed int
	}
}

func (s *soakTest) readCounters(query string) (n processCounters, ok bool) {
	resp, err := http.Get("http://" + s.admin + "/debug/counters" + query)
	if err != nil {
		return n, false
	}
	defer func() { _ = resp.Body.Close() }()
	n.at = time.Now()
	return n, resp.StatusCode == http.StatusOK && json.NewDecoder(resp.Body).Decode(&n) == nil
}

// heldResources returns the numbers of resources that the service still holds for calls, by name.
func (n *processCounters) heldResources() map[string]int {
	all := map[string]int{
		"dialogs": n.SIP.Dialogs, "calls nobody answered": n.SIP.HalfOpen, "invites kept": n.SIP.Pending, "hosts of these": n.SIP.HalfHosts,
		"media sessions": n.Media.Sessions, "media ports taken": n.Media.Ports.Taken, "media ports resting": n.Media.Ports.Resting,
		"traces of calls": n.Traces.Calls,
	}
	for name, v := range n.Tree {
		if name != "workspaces" && name != "actors" {
			all[name] = v
		}
	}
	for name, v := range all {
		if v == 0 {
			delete(all, name)
		}
	}
	return all
}

// awaitRelease waits until no resources are held, and returns the counters after a garbage collection.
func (s *soakTest) awaitRelease() (n processCounters) {
	s.t.Helper()
	end := time.Now().Add(3 * time.Minute)
	for {
		got, ok := s.readCounters("")
		if ok && len(got.heldResources()) == 0 {
			break
		}
		if time.Now().After(end) {
			s.t.Fatalf("resources held without a call: %v", got.heldResources())
		}
		time.Sleep(100 * time.Millisecond)
	}
	for range 2 { // the first collection also runs cleanups
		_, _ = s.readCounters("?gc=1")
	}
	n, ok := s.readCounters("?gc=1")
	require.True(s.t, ok)
	return n
}

// recordPeak prints the progress of the test. It stores the counters if there are more goroutines than at any time before.
func (s *soakTest) recordPeak(calls int, after time.Duration) {
	n, ok := s.readCounters("?gc=1")
	if !ok || !s.full {
		return
	}
	fmt.Printf("  %6d calls after %v: %d goroutines, %d files, %.1f MB live, %.1f MB resident, %d media sessions, %d dialogs\n", calls,
		after.Round(time.Second), n.Process.Goroutines, n.Process.Files, n.Process.HeapLive/mb, n.Process.Resident/mb, n.Media.Sessions, n.SIP.Dialogs)
	if n.Process.Goroutines > s.peakCounters.Process.Goroutines {
		at := s.peakCounters.at
		s.peakCounters = n
		s.peakCounters.at = at
	}
}

// countFiles returns the number of open files without the pooled sockets of unused RTP ports. The pool has a limit, so
// these sockets are no leak.
func (n *processCounters) countFiles() int { return n.Process.Files - 2*n.Media.Ports.Bound }

// assertReleased checks that the counters at the end are close to those after the first wave of calls.
func (s *soakTest) assertReleased(base, end processCounters, heard longCallStats) {
	t := s.t
	slack := 64.0 * mb // after a short run the permanent caches are not full yet
	if s.full {
		slack = 16*mb + storeCache
	}
	assert.Empty(t, end.heldResources())
	assert.LessOrEqual(t, end.Process.Goroutines, base.Process.Goroutines+20)
	tables, err := filepath.Glob(filepath.Join(s.dataFolder(), "store", "*.sst")) // the store keeps some of its table files open
	require.NoError(t, err)
	assert.LessOrEqual(t, end.countFiles(), base.countFiles()+20+len(tables))
	assert.LessOrEqual(t, end.Process.HeapLive, base.Process.HeapLive+slack, "bytes of live objects")
	assert.LessOrEqual(t, end.Tree["actors"], base.Tree["actors"]+300, "ended campaigns keep their actors, calls do not")
	if s.full { // the race detector needs memory of its own
		assert.LessOrEqual(t, end.Process.Resident, base.Process.Resident+256*mb, "resident bytes")
	}
	assert.Zero(t, end.SIP.Panics)
	assert.LessOrEqual(t, s.longCalls-heard.calls, s.longCalls/50, "long calls with audio")
	if s.full {
		assert.Greater(t, min(heard.received, heard.sent), 45.0, "packets per second in both directions")
	}
	assert.Positive(t, s.callers.succeeded)
	if s.full { // rejected calls on a busy machine are not leaks
		assert.LessOrEqual(t, s.callers.failed, s.callers.succeeded/50+2, "failed inbound calls")
		assert.LessOrEqual(t, s.outcomes["other than wanted"], s.outcomes["all"]/50+5, "%v", s.outcomes)
	}
}

// checkNoOpenAttempts opens the store after the service has stopped and checks that no call attempt is unfinished.
func (s *soakTest) checkNoOpenAttempts() {
	d, err := pebble.Open(filepath.Join(s.dataFolder(), "store"), pebble.Options{})
	require.NoError(s.t, err)
	defer func() { _ = d.Close() }()
	open, calls := 0, 0
	for _, kind := range []struct {
		name  string
		count *int
	}{{"attempt", &open}, {"call", &calls}} {
		r := persistence.Range{Table: kind.name + "/" + s.home, Limit: persistence.MaxPage}
		for {
			page, err := d.Scan(context.Background(), r)
			require.NoError(s.t, err)
			*kind.count += len(page.Rows)
			if !page.More || len(page.Rows) == 0 {
				break
			}
			r.After = page.Rows[len(page.Rows)-1].Position
		}
	}
	assert.Zero(s.t, open, "open attempts in the store")
	assert.GreaterOrEqual(s.t, calls, s.calls*9/10, "the store contains the calls")
}
