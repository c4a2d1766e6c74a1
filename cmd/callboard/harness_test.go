package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// binary is the service under test, built once: with the race detector, unless
// it is measured.
var binary string

func TestMain(m *testing.M) {
	if port := os.Getenv(benchPhones); port != "" {
		answerAsPhones(port)
		return
	}
	dir, err := os.MkdirTemp("", "callboard-e2e-")
	if err != nil {
		panic(err)
	}
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given { // these tests wait for phones more than they compute
		_ = flag.Set("test.parallel", "4")
	}
	binary = filepath.Join(dir, "callboard")
	args := []string{"build", "-tags", "failpoints", "-o", binary, "."}
	if flag.Lookup("test.bench").Value.String() == "" {
		args = slices.Insert(args, 1, "-race")
	}
	build := exec.CommandContext(context.Background(), "go", args...)
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		os.Exit(1)
	}
	code := m.Run()
	board.show()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// block hands out port ranges that no two tests share.
var block atomic.Int32

// service is a running callboard, driven as a stranger would.
type service struct {
	t        testing.TB
	dir      string
	env      []string
	args     []string
	http     string
	sip      int
	key      string
	cmd      *exec.Cmd
	log      *os.File
	receiver *receiver
	exited   chan struct{}
}

// newService starts a service on free loopback ports with an empty store.
func newService(t testing.TB, env ...string) *service {
	t.Helper()
	s := prepare(t, env...)
	s.start()
	return s
}

func prepare(t testing.TB, env ...string) *service {
	t.Helper()
	dir := t.TempDir()
	low := 20000 + int(block.Add(1)-1)*400
	s := &service{t: t, dir: dir, http: "127.0.0.1:" + strconv.Itoa(freePort(t, "tcp")), sip: freePorts(t), receiver: newReceiver(t)}
	ca := filepath.Join(dir, "ca.pem")
	require.NoError(t, os.WriteFile(ca, s.receiver.pem, 0o600))
	s.env = append(append(os.Environ(),
		"CALLBOARD_DATA="+s.data(), "CALLBOARD_HTTP_ADDR="+s.http, "CALLBOARD_SIP_ADDR=127.0.0.1:"+strconv.Itoa(s.sip),
		"CALLBOARD_PUBLIC_IP=127.0.0.1", "CALLBOARD_EGRESS_ALLOW=127.0.0.0/8", "CALLBOARD_EGRESS_CA_FILE="+ca,
		"CALLBOARD_MEDIA_PORTS="+fmt.Sprintf("%d-%d", low, low+399), "GORACE=halt_on_error=0 exitcode=66",
	), env...)
	s.args = []string{"serve"}
	t.Cleanup(s.stop)
	return s
}

func (s *service) data() string { return filepath.Join(s.dir, "data") }

func (s *service) start() {
	s.t.Helper()
	s.launch()
	s.await("readiness", 60*time.Second, func() bool {
		resp, err := http.Get("http://" + s.http + "/readyz")
		if err != nil {
			return false
		}
		defer func() { _ = resp.Body.Close() }()
		return resp.StatusCode == http.StatusOK
	})
	key, err := os.ReadFile(filepath.Join(s.data(), "admin.key"))
	require.NoError(s.t, err)
	s.key = strings.TrimSpace(string(key))
}

func (s *service) launch() {
	s.t.Helper()
	var err error
	s.log, err = os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	require.NoError(s.t, err)
	s.cmd = exec.Command(binary, s.args...)
	s.cmd.Env, s.cmd.Stdout, s.cmd.Stderr = s.env, s.log, s.log
	s.cmd.Dir = s.dir
	require.NoError(s.t, s.cmd.Start())
	exited, cmd := make(chan struct{}), s.cmd
	s.exited = exited
	go func() { _ = cmd.Wait(); close(exited) }()
}

// kill9 ends the process as a power cut of it would.
func (s *service) kill9() {
	_ = s.cmd.Process.Signal(syscall.SIGKILL)
	<-s.exited
	_ = s.log.Close()
}

func (s *service) stop() {
	if s.cmd != nil && s.cmd.ProcessState == nil {
		_ = s.cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-s.exited:
		case <-time.After(10 * time.Second):
			_ = s.cmd.Process.Kill()
			<-s.exited
		}
	}
	log := s.logged()
	if strings.Contains(log, "DATA RACE") {
		s.t.Errorf("the service has a data race:\n%s", log)
	} else if s.t.Failed() {
		s.t.Logf("log of the service:\n%s", tail(log, 12000))
	}
}

func (s *service) logged() string {
	b, _ := os.ReadFile(filepath.Join(s.dir, "log"))
	return string(b)
}

func tail(s string, n int) string { return s[max(0, len(s)-n):] }

// await polls until check holds.
func (s *service) await(what string, limit time.Duration, check func() bool) {
	s.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	end := time.After(limit)
	for !check() {
		select {
		case <-s.exited:
			s.t.Fatalf("the service ended while it was waited for %s:\n%s", what, tail(s.logged(), 4000))
		case <-end:
			s.t.Fatalf("waited %s in vain for %s", limit, what)
		case <-tick.C:
		}
	}
}

type object = map[string]any

// try sends a request and returns status and body.
func (s *service) try(method, path string, body any, header ...string) (int, []byte, http.Header) {
	s.t.Helper()
	status, text, head, err := s.request(method, path, body, header...)
	require.NoError(s.t, err)
	return status, text, head
}

func (s *service) request(method, path string, body any, header ...string) (int, []byte, http.Header, error) {
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

// api sends a request that must succeed.
func (s *service) api(method, path string, body any) object {
	s.t.Helper()
	status, text, _ := s.try(method, path, body)
	require.Less(s.t, status, 300, "%s %s: %s", method, path, text)
	var out object
	if len(text) > 0 {
		require.NoError(s.t, json.Unmarshal(text, &out), "%s", text)
	}
	return out
}

func (s *service) unlimited() {
	s.t.Helper()
	s.api("PATCH", "/v1/workspace", object{"plan": "enterprise", "limits": object{
		"requests_per_minute": 1000000, "concurrent_inbound": 1000, "concurrent_outbound": 1000, "calls_per_minute": 100000,
	}})
}

// trunk makes a trunk to loopback ports, tried in order; "" prefix: every number.
func (s *service) trunk(prefix string, ports ...int) string {
	s.t.Helper()
	proxies := make([]object, len(ports))
	for i, p := range ports {
		proxies[i] = object{"host": "127.0.0.1", "port": p, "transport": "udp", "priority": i}
	}
	body := object{"name": "t" + prefix, "proxies": proxies}
	if prefix != "" {
		body["prefixes"] = []string{prefix}
	}
	return s.api("POST", "/v1/trunks", body)["id"].(string)
}

// hello is an agent that says one sentence.
func (s *service) hello() string {
	s.t.Helper()
	return s.agent(object{
		"name": "hello", "start": "hello",
		"nodes": []object{{"id": "hello", "type": "say", "prompt": "Hello {{name | there}}, this is a test."}, {"id": "bye", "type": "end"}},
		"edges": []object{{"from": "hello", "to": "bye", "when": object{"type": "always"}}},
	})
}

// menu is an agent that asks for a key: 1 confirms, 2 declines.
func (s *service) menu() string {
	s.t.Helper()
	return s.agent(object{
		"name": "menu", "start": "ask",
		"nodes": []object{
			{"id": "ask", "type": "collect", "input": "dtmf", "length": 1, "timeout_seconds": 5, "values": []string{"1", "2"}, "save_as": "answer", "prompt": "Press one or two."},
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

func (s *service) agent(pathway object) string {
	s.t.Helper()
	p := s.api("POST", "/v1/pathways", pathway)
	return s.api("POST", "/v1/agents", object{"name": pathway["name"], "pathway_id": p["id"]})["id"].(string)
}

// anyHour is compliance that lets a test ring at night.
func anyHour() object {
	return object{"calling_hours": object{"start": "00:00", "end": "24:00", "timezone": "UTC"}}
}

// campaign creates and starts one; more overrides fields.
func (s *service) campaign(agent string, phones []string, more object) string {
	s.t.Helper()
	contacts := make([]object, len(phones))
	for i, p := range phones {
		contacts[i] = object{"phone": p, "context": object{"name": "N" + strconv.Itoa(i)}}
	}
	body := object{"name": "c", "agent_id": agent, "caller_id": object{"number": "+12025550100"}, "compliance": anyHour(), "contacts": contacts}
	maps.Copy(body, more)
	id := s.api("POST", "/v1/campaigns", body)["id"].(string)
	s.api("POST", "/v1/campaigns/"+id+"/start", nil)
	return id
}

type status struct {
	Status   string
	Progress struct {
		Total, Attempted, Remaining int
		InProgress                  int `json:"in_progress"`
	}
	Outcomes map[string]int
	Waiting  *struct{ Reason string }
}

// statusOf asks for a campaign's status; ok is false while nobody answers.
func (s *service) statusOf(id string) (st status, ok bool) {
	code, text, _, err := s.request("GET", "/v1/campaigns/"+id+"/status", nil)
	return st, err == nil && code == http.StatusOK && json.Unmarshal(text, &st) == nil
}

// finished waits for a campaign's end.
func (s *service) finished(id string, limit time.Duration) status {
	s.t.Helper()
	var st status
	s.await("the end of "+id, limit, func() bool {
		now, ok := s.statusOf(id)
		if ok {
			st = now
		}
		return ok && st.Status == "completed"
	})
	return st
}

func phones(prefix string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("%s%0*d", prefix, 12-len(prefix), 1000+i)
	}
	return out
}

// receiver is an HTTPS endpoint that keeps what it got.
type receiver struct {
	server *httptest.Server
	pem    []byte
	url    string
	mu     sync.Mutex
	got    []delivery
}

type delivery struct {
	Header http.Header
	Body   []byte
	Event  envelope
}

type envelope struct {
	ID, Type, Subject string
	Sequence          int
	Data              json.RawMessage
}

func newReceiver(t testing.TB) *receiver {
	t.Helper()
	r := &receiver{}
	r.server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		d := delivery{Header: req.Header.Clone(), Body: body}
		_ = json.Unmarshal(body, &d.Event)
		r.mu.Lock()
		r.got = append(r.got, d)
		r.mu.Unlock()
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(r.server.Close)
	r.pem = pemOf(r.server.Certificate().Raw)
	r.url = r.server.URL + "/hook"
	return r
}

// events are the distinct events received, by id, in the order of arrival.
func (r *receiver) events(kinds ...string) []envelope {
	r.mu.Lock()
	defer r.mu.Unlock()
	seen := map[string]bool{}
	var out []envelope
	for _, d := range r.got {
		if seen[d.Event.ID] || (len(kinds) > 0 && !contains(kinds, d.Event.Type)) {
			continue
		}
		seen[d.Event.ID] = true
		out = append(out, d.Event)
	}
	return out
}

func (r *receiver) deliveries() []delivery {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]delivery(nil), r.got...)
}

func contains(list []string, s string) bool {
	return slices.Contains(list, s)
}

// peer is a SIPp that answers or calls.
type peer struct {
	t    testing.TB
	port int
	log  string
	cmd  *exec.Cmd
	dir  string
	done chan error
	tell string // Call-ID whose messages a failed test shows
}

// story are the messages of one call, where the peer keeps messages.
func (p *peer) story(callID string) string {
	text, _ := os.ReadFile(filepath.Join(p.dir, "messages"))
	var out strings.Builder
	for part := range strings.SplitSeq(string(text), "-----------------------------------------------") {
		if strings.Contains(part, callID) {
			out.WriteString(part)
		}
	}
	return out.String()
}

var mediaBlock atomic.Int32

// sipp starts a scenario of deploy/sipp on a free port of loopback.
func sipp(t testing.TB, scenario string, args ...string) *peer {
	t.Helper()
	return sippAt(t, freePort(t, "udp"), scenario, args...)
}

func sippAt(t testing.TB, port int, scenario string, args ...string) *peer {
	t.Helper()
	path, err := filepath.Abs("../../deploy/sipp/" + scenario + ".xml")
	require.NoError(t, err)
	p := &peer{t: t, port: port, dir: t.TempDir(), done: make(chan error, 1)}
	p.log = filepath.Join(p.dir, "sipp.log")
	media := mediaPorts(t)
	all := append([]string{
		"-sf", path, "-i", "127.0.0.1", "-p", strconv.Itoa(p.port), "-mp", strconv.Itoa(media), "-nostdin", "-aa",
		"-trace_logs", "-log_file", p.log, "-trace_err", "-error_file", filepath.Join(p.dir, "err"),
	}, args...)
	p.cmd = exec.Command("sipp", all...)
	p.cmd.Dir = p.dir
	var out bytes.Buffer
	p.cmd.Stdout, p.cmd.Stderr = &out, &out
	require.NoError(t, p.cmd.Start(), "sipp must be installed: make tools")
	exited := make(chan struct{})
	go func() { err := p.cmd.Wait(); close(exited); p.done <- err }()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-exited
		if t.Failed() {
			text, _ := os.ReadFile(filepath.Join(p.dir, "err"))
			t.Logf("sipp %s: %s", scenario, tail(string(text), 3000))
			if p.tell != "" {
				t.Logf("the call %s:\n%s", p.tell, tail(p.story(p.tell), 8000))
			}
		}
	})
	network := "udp"
	if contains(args, "t1") {
		network = "tcp"
	}
	require.Eventually(t, func() bool {
		table, err := os.ReadFile("/proc/net/" + network)
		return err == nil && strings.Contains(string(table), fmt.Sprintf("0100007F:%04X", p.port))
	}, 20*time.Second, 10*time.Millisecond, "sipp did not listen: %s", &out)
	return p
}

// sippCaller starts a scenario that calls.
func sippCaller(t testing.TB, scenario string, args ...string) *peer {
	t.Helper()
	return sippAt(t, freePort(t, "udp"), scenario, args...)
}

var invited = regexp.MustCompile(`(INVITE|END) \+?(\S+) (\S+)(?: (\d+))?`)

// line is one line of a scenario's log.
type line struct {
	Kind, Number, CallID string
	Ms                   int
}

func (p *peer) lines() []line {
	text, _ := os.ReadFile(p.log)
	var out []line
	for _, m := range invited.FindAllStringSubmatch(string(text), -1) {
		ms, _ := strconv.Atoi(m[4])
		out = append(out, line{m[1], m[2], m[3], ms})
	}
	return out
}

// rung counts the INVITEs, by Call-ID, of each number.
func (p *peer) rung() map[string]int {
	calls := map[string]map[string]bool{}
	for _, l := range p.lines() {
		if l.Kind != "INVITE" {
			continue
		}
		if calls[l.Number] == nil {
			calls[l.Number] = map[string]bool{}
		}
		calls[l.Number][l.CallID] = true
	}
	out := map[string]int{}
	for n, ids := range calls {
		out[n] = len(ids)
	}
	return out
}

func freePort(t testing.TB, network string) int {
	t.Helper()
	if network == "tcp" {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer func() { _ = l.Close() }()
		return l.Addr().(*net.TCPAddr).Port
	}
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = c.Close() }()
	return c.LocalAddr().(*net.UDPAddr).Port
}

// readyz is the status of /readyz, 0 where nobody answers.
func (s *service) readyz() int {
	resp, err := http.Get("http://" + s.http + "/readyz")
	if err != nil {
		return 0
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}
