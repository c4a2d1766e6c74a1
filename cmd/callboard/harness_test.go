package main_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/polltest"
	"github.com/callboard/callboard/media/mediatest"
	"github.com/callboard/callboard/sip/siptest"
)

// binary is the path of the service under test. It is built with the race detector unless benchmarks run.
var binary string

// raceFreeBinary builds the service without the race detector and returns its path. Tests with many restarts or
// calls use this binary, because the race detector triples the CPU time of every start.
var raceFreeBinary = sync.OnceValues(func() (string, error) {
	if os.Getenv("NIGHTLY") != "" || runsOnlyBenchmarks() {
		return binary, nil
	}
	path := filepath.Join(filepath.Dir(binary), "plain", "callboard")
	return path, buildService(path)
})

// buildService builds the service with its failpoints. Without the race detector it also builds without cgo, as
// released.
func buildService(to string, args ...string) error {
	link := "-ldflags=-checklinkname=0 -s -w"
	cmd := exec.Command("go", append(append([]string{"build"}, args...), "-tags", "failpoints,pebblegozstd", link, "-o", to, ".")...)
	if !slices.Contains(args, "-race") {
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}

func TestMain(m *testing.M) {
	if mediatest.RunPeerIfStarted() {
		return
	}
	if port := os.Getenv(benchPhonesEnv); port != "" {
		runPhoneServer(port)
		return
	}
	if order := os.Getenv(benchTalkersEnv); order != "" {
		runTalkerServer(order)
		return
	}
	if port := os.Getenv(benchSIP); port != "" {
		runBareSIPServer(port)
		return
	}
	if addr := os.Getenv(benchHTTP); addr != "" {
		runBareHTTPServer(addr)
		return
	}
	if path := os.Getenv(benchPostEnv); path != "" {
		runBarePoster(path)
		return
	}
	if at := os.Getenv(networkPhoneEnv); at != "" {
		runNetworkPhone(at)
		return
	}
	dir, err := os.MkdirTemp("", "callboard-e2e-")
	if err != nil {
		panic(err)
	}
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given { // these tests mostly wait for phones
		_ = flag.Set("test.parallel", "4")
	}
	if err := buildBinaries(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	benchResults.print()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// buildBinaries builds the service with and without the race detector. Benchmarks instead use an existing binary,
// which -bench-binary names.
func buildBinaries(dir string) error {
	if runsOnlyBenchmarks() {
		var err error
		if binary, err = filepath.Abs(*benchBinary); err == nil {
			_, err = os.Stat(binary)
		}
		return err
	}
	if given := os.Getenv(natBinary); given != "" { // the parent process has built the service
		binary = given
		return nil
	}
	binary = filepath.Join(dir, "callboard")
	if err := buildService(binary, "-race"); err != nil {
		return err
	}
	_, err := raceFreeBinary() // not while calls are timed
	return err
}

// runsOnlyBenchmarks reports whether the process runs benchmarks but no tests.
func runsOnlyBenchmarks() bool {
	return flag.Lookup("test.bench").Value.String() != "" || os.Getenv("SOAK_CALLS") != ""
}

// service is a running Callboard process that tests use only through its public interfaces.
type service struct {
	t             testing.TB
	dir           string
	binary        string
	env           []string
	args          []string
	http          string
	sip           int
	key           string
	admin         string // admin listener; empty: none
	cmd           *exec.Cmd
	log           *os.File
	receiver      *webhookReceiver
	processExited chan struct{}
	kills         []time.Time // times of the kills by kill9
}

// newService starts a service with an empty store on free loopback ports.
func newService(t testing.TB, env ...string) *service {
	t.Helper()
	s := prepareService(t, env...)
	s.start()
	return s
}

// newRaceFreeService starts a service that is built without the race detector.
func newRaceFreeService(t testing.TB, env ...string) *service {
	t.Helper()
	s := prepareRaceFreeService(t, env...)
	s.start()
	return s
}

func prepareRaceFreeService(t testing.TB, env ...string) *service {
	t.Helper()
	s := prepareService(t, env...)
	var err error
	s.binary, err = raceFreeBinary()
	require.NoError(t, err)
	return s
}

func prepareService(t testing.TB, env ...string) *service {
	t.Helper()
	dir := t.TempDir()
	low := siptest.MediaPorts400(t)
	s := &service{t: t, dir: dir, binary: binary, http: "127.0.0.1:" + strconv.Itoa(siptest.Port(t)), sip: siptest.Port(t), receiver: newWebhookReceiver(t)}
	ca := filepath.Join(dir, "ca.pem")
	require.NoError(t, os.WriteFile(ca, s.receiver.pem, 0o600))
	s.env = append(append(os.Environ(),
		"CALLBOARD_DATA="+s.dataFolder(), "CALLBOARD_HTTP_ADDR="+s.http, "CALLBOARD_SIP_ADDR=127.0.0.1:"+strconv.Itoa(s.sip),
		"CALLBOARD_PUBLIC_IP=127.0.0.1", "CALLBOARD_EGRESS_ALLOW=127.0.0.0/8", "CALLBOARD_EGRESS_CA_FILE="+ca,
		"CALLBOARD_MEDIA_PORTS="+fmt.Sprintf("%d-%d", low, low+399), "GORACE=halt_on_error=0 exitcode=66 atexit_sleep_ms=0",
	), env...)
	if !runsOnlyBenchmarks() {
		s.env = append(s.env, "FAILPOINT_OVERLOAD_AFTER=10s")
	}
	s.args = []string{"serve"}
	s.enableProfiling()
	t.Cleanup(s.stop)
	return s
}

func (s *service) dataFolder() string { return filepath.Join(s.dir, "data") }

// testKey returns the API key of the test environment, which the first start of the service writes to a file.
func (s *service) testKey() string {
	s.t.Helper()
	key, err := os.ReadFile(filepath.Join(s.dataFolder(), "test.key"))
	require.NoError(s.t, err)
	return strings.TrimSpace(string(key))
}

func (s *service) start() {
	s.t.Helper()
	s.startProcess()
	s.await("readiness", 60*time.Second, func() bool {
		resp, err := http.Get("http://" + s.http + "/readyz")
		if err != nil {
			return false
		}
		defer func() { _ = resp.Body.Close() }()
		return resp.StatusCode == http.StatusOK
	})
	key, err := os.ReadFile(filepath.Join(s.dataFolder(), "admin.key"))
	require.NoError(s.t, err)
	s.key = strings.TrimSpace(string(key))
}

func (s *service) startProcess() {
	s.t.Helper()
	var err error
	s.log, err = os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	require.NoError(s.t, err)
	s.cmd = exec.Command(s.binary, s.args...)
	s.cmd.Env, s.cmd.Stdout, s.cmd.Stderr = s.env, s.log, s.log
	s.cmd.Dir = s.dir
	require.NoError(s.t, s.cmd.Start())
	exited, cmd := make(chan struct{}), s.cmd
	s.processExited = exited
	go func() { _ = cmd.Wait(); close(exited) }()
	s.saveProfiles()
}

// kill9 kills the process with SIGKILL, which has the effect of a power failure.
func (s *service) kill9() {
	_ = s.cmd.Process.Signal(syscall.SIGKILL)
	<-s.processExited
	s.kills = append(s.kills, time.Now())
	_ = s.log.Close()
}

// hasExited reports whether the process has ended. cmd.ProcessState must not be read here, because another
// goroutine waits for the process.
func (s *service) hasExited() bool {
	select {
	case <-s.processExited:
		return true
	default:
		return false
	}
}

func (s *service) stop() {
	if s.cmd != nil && !s.hasExited() {
		_ = s.cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-s.processExited:
		case <-time.After(10 * time.Second):
			_ = s.cmd.Process.Kill()
			<-s.processExited
		}
	}
	log := s.logText()
	if strings.Contains(log, "DATA RACE") {
		s.t.Errorf("the service has a data race:\n%s", log)
	} else if s.t.Failed() {
		s.t.Logf("log of the service:\n%s", lastBytes(log, 12000))
	}
}

func (s *service) logText() string {
	b, _ := os.ReadFile(filepath.Join(s.dir, "log"))
	return string(b)
}

func lastBytes(s string, n int) string { return s[max(0, len(s)-n):] }

// await polls until check returns true. It fails the test after limit, scaled for busy machines, or when the
// service ends.
func (s *service) await(what string, limit time.Duration, check func() bool) {
	s.t.Helper()
	ended := false
	polltest.Until(s.t, limit, what, func() bool {
		select {
		case <-s.processExited:
			ended = true
		default:
		}
		return ended || check()
	})
	if ended {
		s.t.Fatalf("the service ended while the test waited for %s:\n%s", what, lastBytes(s.logText(), 4000))
	}
}

type object = map[string]any

// tryRequest sends a request and returns the status, the body and the headers.
func (s *service) tryRequest(method, path string, body any, header ...string) (int, []byte, http.Header) {
	s.t.Helper()
	status, text, head, err := s.sendRequest(method, path, body, header...)
	require.NoError(s.t, err)
	return status, text, head
}

func (s *service) sendRequest(method, path string, body any, header ...string) (int, []byte, http.Header, error) {
	var r io.Reader
	kind := "application/json"
	switch b := body.(type) {
	case nil:
	case string:
		r = strings.NewReader(b)
	case []byte:
		r = bytes.NewReader(b)
	case io.Reader:
		r = b
	default:
		text, err := json.Marshal(b)
		if err != nil {
			return 0, nil, nil, err
		}
		r = bytes.NewReader(text)
	}
	req, err := http.NewRequest(method, "http://"+s.http+path, r)
	if err != nil {
		return 0, nil, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+s.key)
	if body != nil {
		req.Header.Set("Content-Type", kind)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, text, resp.Header, err
}

// api sends a request that must succeed. For up to a minute, it repeats requests other than POST that get status 503.
func (s *service) api(method, path string, body any) object {
	s.t.Helper()
	status, text, _ := s.tryRequest(method, path, body)
	for begun := time.Now(); status == http.StatusServiceUnavailable && method != http.MethodPost && time.Since(begun) < time.Minute; {
		<-time.After(100 * time.Millisecond)
		status, text, _ = s.tryRequest(method, path, body)
	}
	require.Less(s.t, status, 300, "%s %s: %s", method, path, text)
	var out object
	if len(text) > 0 {
		require.NoError(s.t, json.Unmarshal(text, &out), "%s", text)
	}
	return out
}

func (s *service) removeLimits() {
	s.t.Helper()
	s.api("PATCH", "/v1/workspace", object{"plan": "enterprise", "limits": object{
		"requests_per_minute": 1000000, "concurrent_inbound": 1000, "concurrent_outbound": 1000, "calls_per_minute": 100000,
	}})
}

// createTrunk creates a trunk whose proxies are loopback ports, tried in the given order. With an empty prefix, the
// trunk serves all numbers.
func (s *service) createTrunk(prefix string, ports ...int) string {
	s.t.Helper()
	proxies := make([]object, len(ports))
	for i, p := range ports {
		proxies[i] = object{"host": "127.0.0.1", "port": p, "transport": "udp", "priority": i}
	}
	body := object{"name": "t" + prefix, "proxies": proxies, "caller_ids": []string{"+12025550100"}}
	if prefix != "" {
		body["prefixes"] = []string{prefix}
	}
	return s.api("POST", "/v1/trunks", body)["id"].(string)
}

// createGreetingAgent creates an agent that says one sentence and hangs up.
func (s *service) createGreetingAgent() string {
	s.t.Helper()
	return s.createAgent(object{
		"name": "hello", "start": "hello",
		"nodes": []object{{"id": "hello", "type": "say", "prompt": "Hello {{name | there}}, this is a test."}, {"id": "bye", "type": "end"}},
		"edges": []object{{"from": "hello", "to": "bye", "when": object{"type": "always"}}},
	})
}

// createMenuAgent creates an agent that asks for a key: 1 confirms, 2 declines.
func (s *service) createMenuAgent() string {
	s.t.Helper()
	return s.createMenuAgentWithTimeout(12)
}

// createMenuAgentWithTimeout creates an agent that waits the given seconds for a key: 1 confirms, 2 declines.
func (s *service) createMenuAgentWithTimeout(seconds int) string {
	s.t.Helper()
	return s.createAgent(object{
		"name": "menu", "start": "ask",
		"nodes": []object{
			{"id": "ask", "type": "collect", "input": "dtmf", "length": 1, "timeout_seconds": seconds, "values": []string{"1", "2"}, "save_as": "answer", "prompt": "Press one or two."},
			{"id": "yes", "type": "end", "outcome": "confirmed", "notes": "pressed {{answer}}"},
			{"id": "no", "type": "end", "outcome": "declined", "notes": "pressed {{answer}}"},
			{"id": "none", "type": "end", "notes": "no key"},
		},
		"edges": []object{
			{"from": "ask", "to": "yes", "when": object{"type": "dtmf", "digits": "1"}},
			{"from": "ask", "to": "no", "when": object{"type": "dtmf", "digits": "2"}},
			{"from": "ask", "to": "none", "when": object{"type": "else"}},
		},
	})
}

func (s *service) createAgent(pathway object) string {
	s.t.Helper()
	p := s.api("POST", "/v1/pathways", pathway)
	return s.api("POST", "/v1/agents", object{"name": pathway["name"], "pathway_id": p["id"]})["id"].(string)
}

// allHours returns compliance settings that permit calls at any time.
func allHours() object {
	return object{"calling_hours": object{"start": "00:00", "end": "24:00", "timezone": "UTC"}}
}

// startCampaign creates and starts a campaign. The fields of more override the defaults.
func (s *service) startCampaign(agent string, phones []string, more object) string {
	s.t.Helper()
	contacts := make([]object, len(phones))
	for i, p := range phones {
		contacts[i] = object{"phone": p, "context": object{"name": "N" + strconv.Itoa(i)}}
	}
	body := object{"name": "c", "agent_id": agent, "caller_id": object{"number": "+12025550100"}, "compliance": allHours(), "contacts": contacts}
	maps.Copy(body, more)
	id := s.api("POST", "/v1/campaigns", body)["id"].(string)
	s.api("POST", "/v1/campaigns/"+id+"/start", nil)
	return id
}

type campaignStatus struct {
	Status   string
	Progress struct {
		Total, Attempted, Remaining int
		InProgress                  int `json:"in_progress"`
	}
	Outcomes map[string]int
	Waiting  *struct{ Reason string }
}

// campaignStatus requests the status of a campaign. ok is false if the service does not answer.
func (s *service) campaignStatus(id string) (st campaignStatus, ok bool) {
	code, text, _, err := s.sendRequest("GET", "/v1/campaigns/"+id+"/status", nil)
	return st, err == nil && code == http.StatusOK && json.Unmarshal(text, &st) == nil
}

// awaitCampaignEnd waits until a campaign ends and returns its status. A busy machine may need up to five times limit.
func (s *service) awaitCampaignEnd(id string, limit time.Duration) campaignStatus {
	s.t.Helper()
	var st campaignStatus
	s.await("the end of "+id, 5*limit, func() bool {
		now, ok := s.campaignStatus(id)
		if ok {
			st = now
		}
		return ok && st.Status == "completed"
	})
	return st
}

func phoneNumbers(prefix string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("%s%0*d", prefix, 12-len(prefix), 1000+i)
	}
	return out
}

// readyStatus returns the HTTP status of /readyz, or 0 without a response.
func (s *service) readyStatus() int {
	resp, err := http.Get("http://" + s.http + "/readyz")
	if err != nil {
		return 0
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}
