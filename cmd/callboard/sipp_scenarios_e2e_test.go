package main_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip/siptest"
)

const (
	parallelScenarios = 20 // SIPp mostly waits
	scenarioTimeout   = "60s"
	privateMedia      = "IN IP4 10.77.1.20" // unreachable, so the service must learn the source of the audio
	sippMedia         = "IN IP[media_ip_type] [media_ip]"
)

// scenarioCase is a test case: one run of a SIPp scenario of deploy/sipp against the service.
type scenarioCase struct {
	name         string
	scenario     string   // file name without .xml; uac- calls the service, uas- is called
	network      string   // default: udp
	ipv6         bool     // use ::1 on both sides
	sippKeys     []string // name, value, …: -key arguments of SIPp
	replacements []string // old, new, …: replacements in the scenario file
	args         []string // additional arguments of SIPp
	trunk        object   // trunk settings in addition to the defaults
	agent        string   // name in scenarioAgents; default: keypad
	call         object   // additional fields of POST /v1/calls/outbound
	dialled      string   // -s argument instead of the number; may contain {digits} and {last4} of the number
	whenStatus   string   // call status that triggers the action, or sentINVITE
	action       string   // path after /v1/calls/{id}/
	body         object
	byProxy      bool   // whether SIPp is the trunk's outbound proxy
	wantOutcome  string // status, ended_reason and ended_by of the call; "*" means any, empty means no call record
	code         int    // SIP status of the call's last leg
	from         string // expected caller number; empty: any
}

// isCaller reports whether SIPp places the call.
func (r *scenarioCase) isCaller() bool { return strings.HasPrefix(r.scenario, "uac-") }

// scenarioService is the service that all SIPp test cases share.
type scenarioService struct {
	*service
	agents map[string]string
	certs  string // folder with the certificates
}

func newScenarioService(t *testing.T) *scenarioService {
	t.Helper()
	dir := t.TempDir()
	certificates(t, dir)
	file := func(name string) string { return filepath.Join(dir, name) }
	s := &scenarioService{certs: dir, service: prepareService(t, "CALLBOARD_EGRESS_ALLOW=127.0.0.0/8,::1/128", "CALLBOARD_SIP_TLS_CA_FILE="+file("peers.pem"),
		"CALLBOARD_SIP_TLS_CERT="+file("service.pem"), "CALLBOARD_SIP_TLS_KEY="+file("service.key"))}
	s.args = append(s.args, "--sip", fmt.Sprintf("127.0.0.1:%d,[::1]:%d,tls://127.0.0.1:%d,tls://[::1]:%d", s.sip, s.sip, s.sip+1, s.sip+1))
	s.start()
	s.removeLimits()
	s.agents = s.scenarioAgents()
	return s
}

// scenarioAgents creates the agents of the SIPp test cases and returns their ids by name. Agents hang up after one DTMF
// digit or 60 s. The agent "brief" hangs up after 1 s, the agent "end" at once.
func (s *scenarioService) scenarioAgents() map[string]string {
	s.t.Helper()
	agent := func(name, start string, more object) string {
		p := s.api("POST", "/v1/pathways", object{
			"name": name, "start": start,
			"nodes": []object{
				{"id": "keypad", "type": "collect", "input": "dtmf", "length": 1, "timeout_seconds": 60, "save_as": "key", "prompt": "Press seven."},
				{"id": "second", "type": "collect", "input": "dtmf", "length": 1, "timeout_seconds": 1, "save_as": "key", "prompt": "Wait."},
				{"id": "end", "type": "end"},
			},
			"edges": []object{
				{"from": "keypad", "to": "end", "when": object{"type": "else"}},
				{"from": "second", "to": "end", "when": object{"type": "else"}},
			},
		})
		body := object{"name": name, "pathway_id": p["id"], "inbound": object{"answer": "direct"}}
		maps.Copy(body, more)
		return s.api("POST", "/v1/agents", body)["id"].(string)
	}
	return map[string]string{
		"keypad":   agent("keypad", "keypad", nil),
		"brief":    agent("brief", "second", nil),
		"end":      agent("end", "end", nil),
		"ringing":  agent("ringing", "keypad", object{"inbound": object{"answer": "ring", "ring_seconds": 1}}),
		"rings":    agent("rings", "keypad", object{"inbound": object{"answer": "ring", "ring_seconds": 30}}),
		"early":    agent("early", "keypad", object{"inbound": object{"answer": "early", "ring_seconds": 1}}),
		"referred": agent("referred", "keypad", object{"transfer": object{"accept_refer": true}}),
	}
}

func TestSIPpScenarios(t *testing.T) {
	t.Parallel()
	s := newScenarioService(t)
	rows := scenarioRows()
	names := map[string]bool{}
	free := make(chan struct{}, parallelScenarios)
	var work sync.WaitGroup
	for i := range rows {
		require.False(t, names[rows[i].name], "the row name %s is not unique", rows[i].name)
		names[rows[i].name] = true
	}
	for i := range rows {
		free <- struct{}{}
		work.Go(func() {
			defer func() { <-free }()
			t.Run(rows[i].name, func(t *testing.T) { s.play(t, i, &rows[i]) })
		})
	}
	work.Wait()
}

// scenarioPeer is the SIPp process of one test case.
type scenarioPeer struct {
	at     netip.AddrPort // SIPp's own address
	target netip.AddrPort // address to which the service sends
	number string
	dir    string
	done   chan error
}

// play runs one SIPp test case and compares the ended call with the expected outcome. i is the index of the test case.
func (s *scenarioService) play(t *testing.T, i int, r *scenarioCase) {
	p := &scenarioPeer{number: fmt.Sprintf("+1202556%04d", i+1), dir: t.TempDir(), done: make(chan error, 1)}
	port := uint16(siptest.Port(t))
	switch {
	case r.ipv6:
		p.at = netip.AddrPortFrom(netip.IPv6Loopback(), port)
	case r.network == "tls":
		p.at = netip.AddrPortFrom(nodeHost, port)
	default:
		p.at = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 77, byte(i / 200), byte(i%200 + 1)}), port)
	}
	p.target = p.at
	if r.network == "tls" {
		p.target = netip.AddrPortFrom(p.at.Addr(), port+1)
	}
	id := ""
	t.Cleanup(func() { s.explain(t, p, id) })
	s.scenarioTrunk(t, r, p)
	if r.isCaller() {
		p.start(t, r, s.remote(t, r, p))
		require.NoError(t, <-p.done)
		if r.wantOutcome != "" {
			id = s.findInboundCall(t, r, p.number)
		}
	} else {
		if r.network == "tls" {
			listenTLS(t, s.certs, p)
		}
		p.start(t, r, "")
		p.waitForSocket(t, r)
		id = s.dial(t, r, p.number)
		if r.whenStatus != "" {
			s.runAction(t, r, p, id)
		}
		require.NoError(t, <-p.done)
	}
	if r.wantOutcome != "" {
		s.assertCall(t, r, id)
	}
}

// scenarioTrunk creates the trunk of one SIPp test case.
func (s *scenarioService) scenarioTrunk(t *testing.T, r *scenarioCase, p *scenarioPeer) {
	t.Helper()
	network := r.network
	if network == "" {
		network = "udp"
	}
	body := object{
		"name": r.name, "caller_ids": []string{"+12025550100"}, "prefixes": []string{p.number},
		"proxies": []object{{"host": p.target.Addr().String(), "port": p.target.Port(), "transport": network}},
	}
	if r.byProxy {
		body["outbound_proxy"] = body["proxies"].([]object)[0]
		body["proxies"] = []object{{"host": "127.0.0.9", "port": 5099, "transport": "udp"}}
	}
	maps.Copy(body, r.trunk)
	trunk := s.mustPost(t, "/v1/trunks", body)
	if r.isCaller() {
		s.mustPost(t, "/v1/phone-numbers", object{"number": p.number, "agent_id": s.agents[r.agentName()], "trunk_id": trunk["id"]})
	}
}

func (r *scenarioCase) agentName() string {
	if r.agent == "" {
		return "keypad"
	}
	return r.agent
}

// dial makes the service place the outbound call of a test case and returns the call's id.
func (s *scenarioService) dial(t *testing.T, r *scenarioCase, number string) string {
	t.Helper()
	body := object{"to": number, "from": "+12025550100", "agent_id": s.agents[r.agentName()]}
	maps.Copy(body, r.call)
	return s.mustPost(t, "/v1/calls/outbound", body)["id"].(string)
}

// remote returns the address of the service, or of the TLS proxy before it, to which SIPp sends its call.
func (s *scenarioService) remote(t *testing.T, r *scenarioCase, p *scenarioPeer) string {
	t.Helper()
	host := nodeHost
	if r.ipv6 {
		host = netip.IPv6Loopback()
	}
	if r.network == "tls" {
		return dialTLS(t, s.certs, netip.AddrPortFrom(host, uint16(s.sip+1)), p).String()
	}
	return netip.AddrPortFrom(host, uint16(s.sip)).String()
}

// start starts the SIPp process of a test case. If remote is not empty, SIPp calls this address.
func (p *scenarioPeer) start(t *testing.T, r *scenarioCase, remote string) {
	t.Helper()
	args := []string{
		"-sf", p.scenario(t, r), "-i", p.at.Addr().String(), "-p", strconv.Itoa(int(p.at.Port())), "-mp", strconv.Itoa(siptest.MediaPorts100(t)),
		"-nostdin", "-m", "1", "-timeout", scenarioTimeout, "-timeout_error", "-trace_err", "-error_file", filepath.Join(p.dir, "err"),
		"-trace_msg", "-message_file", filepath.Join(p.dir, "messages"),
		"-watchdog_minor_maxtriggers", unlimitedLateness, "-watchdog_major_maxtriggers", unlimitedLateness,
	}
	if r.network == "tcp" || r.network == "tls" {
		args = append(args, "-t", "t1")
	}
	for i := 0; i < len(r.sippKeys); i += 2 {
		args = append(args, "-key", r.sippKeys[i], strings.ReplaceAll(r.sippKeys[i+1], "{number}", p.number))
	}
	if remote != "" {
		number := p.number
		if r.dialled != "" {
			number = strings.NewReplacer("{digits}", p.number[1:], "{last4}", p.number[len(p.number)-4:]).Replace(r.dialled)
		}
		args = append(args, "-s", number, remote)
	}
	for _, a := range r.args {
		args = append(args, strings.NewReplacer("{number}", p.number, "{remote}", remote).Replace(a))
	}
	cmd := exec.Command("sipp", args...)
	cmd.Dir = p.dir
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	require.NoError(t, cmd.Start(), "sipp must be installed: make tools")
	ended := make(chan struct{})
	go func() {
		err := cmd.Wait()
		if err != nil {
			err = fmt.Errorf("%w: %s", err, lastLines(out.String(), 4))
		}
		close(ended)
		p.done <- err
	}()
	t.Cleanup(func() { _ = cmd.Process.Kill(); <-ended })
}

// scenario writes the scenario file with the replacements of the test case and returns its path. Over IPv4 the SDP gets
// a private media address, unless the agent is "brief".
func (p *scenarioPeer) scenario(t *testing.T, r *scenarioCase) string {
	t.Helper()
	b, err := os.ReadFile("../../deploy/sipp/" + r.scenario + ".xml")
	require.NoError(t, err)
	text := string(b)
	for i := 0; i < len(r.replacements); i += 2 {
		require.Contains(t, text, r.replacements[i])
		text = strings.ReplaceAll(text, r.replacements[i], r.replacements[i+1])
	}
	if !r.ipv6 && r.agent != "brief" {
		text = strings.ReplaceAll(text, sippMedia, privateMedia)
	}
	path := filepath.Join(p.dir, r.scenario+".xml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// waitForSocket waits until SIPp has opened its socket.
func (p *scenarioPeer) waitForSocket(t *testing.T, r *scenarioCase) {
	t.Helper()
	table := "/proc/net/udp"
	if r.network == "tcp" || r.network == "tls" {
		table = "/proc/net/tcp"
	}
	ip := p.at.Addr().AsSlice()
	if r.ipv6 {
		table += "6"
	}
	for word := range slices.Chunk(ip, 4) { // the kernel prints each word in host byte order
		slices.Reverse(word)
	}
	socket := fmt.Sprintf("%s:%04X 00000000", strings.ToUpper(hex.EncodeToString(ip)), p.at.Port())
	require.Eventually(t, func() bool {
		text, err := os.ReadFile(table)
		return err == nil && bytes.Contains(text, []byte(socket))
	}, time.Minute, 10*time.Millisecond, "sipp does not listen at %s", p.at)
}

// explain logs the SIP messages of a failed test case.
func (s *scenarioService) explain(t *testing.T, p *scenarioPeer, id string) {
	if !t.Failed() {
		return
	}
	for _, name := range []string{"err", "messages"} {
		text, _ := os.ReadFile(filepath.Join(p.dir, name))
		t.Logf("%s of SIPp:\n%s", name, lastBytes(string(text), 9000))
	}
	if id != "" {
		_, text, _, _ := s.sendRequest("GET", "/v1/calls/"+id, nil)
		t.Logf("call: %s", text)
		_, _, _, _ = s.sendRequest("POST", "/v1/calls/"+id+"/hangup", nil)
	}
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
