package main_test

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Loopback addresses of the nodes, the carrier, Kamailio and an unknown host in tests with Kamailio before the nodes.
var (
	nodeHost       = netip.MustParseAddr("127.0.0.1")
	carrierHost    = netip.MustParseAddr("127.0.0.2")
	dispatcherHost = netip.MustParseAddr("127.0.0.3")
	strangerHost   = netip.MustParseAddr("127.0.0.9")
)

var lowPort atomic.Int32

// freePortOn returns a UDP and TCP port that is free at a loopback address and below the ephemeral range.
func freePortOn(t testing.TB, ip netip.Addr) netip.AddrPort {
	t.Helper()
	for range 500 {
		at := netip.AddrPortFrom(ip, uint16(6000+lowPort.Add(1)%3500))
		l, err := net.ListenTCP("tcp4", net.TCPAddrFromAddrPort(at))
		if err != nil {
			continue
		}
		_ = l.Close()
		if c, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(at)); err == nil {
			_ = c.Close()
			return at
		}
	}
	require.Fail(t, "no free port")
	return netip.AddrPort{}
}

// silentNode is a hanging node: it reads SIP messages and answers none.
type silentNode struct {
	at  netip.AddrPort
	mu  sync.Mutex
	ids map[string]int // INVITEs by Call-ID
}

var callIDLine = regexp.MustCompile(`(?m)^Call-ID: *(\S+)`)

func startSilentNode(t testing.TB) *silentNode {
	t.Helper()
	n := &silentNode{at: freePortOn(t, nodeHost), ids: map[string]int{}}
	conn, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(n.at))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	go func() {
		b := make([]byte, 4096)
		for {
			k, err := conn.Read(b)
			if err != nil {
				return
			}
			if id := callIDLine.FindSubmatch(b[:k]); id != nil && bytes.HasPrefix(b[:k], []byte("INVITE ")) {
				n.mu.Lock()
				n.ids[string(id[1])]++
				n.mu.Unlock()
			}
		}
	}()
	return n
}

// countCalls returns the number of distinct calls for which the silent node received an INVITE.
func (n *silentNode) countCalls() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.ids)
}

// startKamailio starts Kamailio with deploy/kamailio/kamailio.cfg and the given dispatcher list.
func startKamailio(t testing.TB, list string) netip.AddrPort {
	t.Helper()
	return startKamailioAt(t, dispatcherHost, carrierHost, list, `NODE_CHOICE="8"`, "PROBE_SECONDS=600",
		"SILENT_MS=8000") // so long that only a dead node is given up
}

// startKamailioAt starts Kamailio at a free port of host and waits until it answers OPTIONS from carrierIP, an
// address in the dispatcher list.
func startKamailioAt(t testing.TB, host, carrierIP netip.Addr, list string, settings ...string) netip.AddrPort {
	t.Helper()
	at, dir := freePortOn(t, host), t.TempDir()
	config, err := filepath.Abs("../../deploy/kamailio/kamailio.cfg")
	require.NoError(t, err)
	file := filepath.Join(dir, "dispatcher.list")
	require.NoError(t, os.WriteFile(file, []byte(list), 0o600))
	out, err := os.Create(filepath.Join(dir, "log"))
	require.NoError(t, err)
	args := []string{"-f", config, "-DD", "-E", "-m", "32", "-M", "4", "-n", "2", "-Y", dir, "-w", dir}
	for _, set := range append(settings, "LISTEN=udp:"+at.String(), fmt.Sprintf("DISPATCHER_LIST=%q", file)) {
		args = append(args, "-A", set)
	}
	cmd := exec.Command("kamailio", args...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, cmd.Start(), "kamailio must be installed: make tools")
	exited := make(chan struct{})
	go func() { _ = cmd.Wait(); close(exited) }()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-exited:
		case <-time.After(10 * time.Second):
		}
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // also ends child processes
		<-exited
		_ = out.Close()
		if text, err := os.ReadFile(out.Name()); t.Failed() && err == nil {
			t.Logf("kamailio: %s", lastBytes(string(text), 6000))
		}
	})
	carrier, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(freePortOn(t, carrierIP)))
	require.NoError(t, err)
	defer func() { _ = carrier.Close() }()
	require.Eventually(t, func() bool { return answersOptions(t, carrier, at, 300*time.Millisecond) }, 30*time.Second, 20*time.Millisecond,
		"kamailio does not answer")
	return at
}

// answersOptions sends OPTIONS to an address and reports whether a 200 response arrives within the limit.
func answersOptions(t testing.TB, from *net.UDPConn, at netip.AddrPort, limit time.Duration) bool {
	t.Helper()
	me := from.LocalAddr().String()
	_, err := from.WriteToUDPAddrPort([]byte(strings.ReplaceAll(fmt.Sprintf(`OPTIONS sip:%s SIP/2.0
Via: SIP/2.0/UDP %s;branch=z9hG4bKask;rport
From: <sip:ask@%[2]s>;tag=ask
To: <sip:%[1]s>
Call-ID: ask@%[2]s
CSeq: 1 OPTIONS
Max-Forwards: 10
Content-Length: 0

`, at, me), "\n", "\r\n")), at)
	require.NoError(t, err)
	require.NoError(t, from.SetReadDeadline(time.Now().Add(limit)))
	b := make([]byte, 2048)
	n, _, err := from.ReadFromUDPAddrPort(b)
	if err != nil {
		require.True(t, errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, syscall.ECONNREFUSED), "%v", err)
		return false
	}
	return strings.HasPrefix(string(b[:n]), "SIP/2.0 200 ")
}

// checkPathThroughDispatcher checks in the SIP trace that every message of a call went through the dispatcher. It
// returns the methods of the requests that the service sent, without retransmissions.
func (s *service) checkPathThroughDispatcher(id string, dispatcher netip.AddrPort) (sent []string) {
	s.t.Helper()
	seen := map[string]bool{}
	for _, raw := range s.api("GET", "/v1/calls/"+id+"/sip", nil)["messages"].([]any) {
		m := raw.(object)
		assert.Equal(s.t, dispatcher.String(), m["remote"], "%v", m["start_line"])
		line, _ := m["start_line"].(string)
		if method, _, _ := strings.Cut(line, " "); m["direction"] == "sent" && method != "SIP/2.0" {
			text, _ := m["message"].(string)
			if seen[text] {
				continue
			}
			seen[text] = true
			sent = append(sent, method)
			if method != "INVITE" || strings.Contains(line, "sip:sipp@") {
				assert.Contains(s.t, text, "Route: <sip:"+dispatcher.String(), "%s", line)
			}
		}
	}
	return sent
}

func TestKamailioDispatcherKeepsCallPathAndFailsOver(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.removeLimits()
	dead := startSilentNode(t)
	answers, refresh := freePortOn(t, carrierHost), freePortOn(t, carrierHost)
	at := startKamailio(t, fmt.Sprintf("1 sip:%s 0 20\n1 sip:127.0.0.1:%d 0 10\n2 sip:%s 0 20\n", dead.at, s.sip, answers))
	other := startKamailio(t, fmt.Sprintf("1 sip:127.0.0.1:%d 0 10\n2 sip:%s 0 20\n", s.sip, refresh))
	trunk := func(prefix string, at netip.AddrPort) string {
		return s.api("POST", "/v1/trunks", object{
			"caller_ids": []string{"+12025550100"},
			"name":       "dispatcher " + prefix, "prefixes": []string{prefix},
			"proxies": []object{{"host": at.Addr().String(), "port": at.Port(), "transport": "udp"}}, "media_networks": []string{"127.0.0.2/32"},
		})["id"].(string)
	}
	front := trunk("+1202555", at)
	trunk("+1303555", other)
	patient := s.createWaitingAgent("wait")
	s.api("POST", "/v1/phone-numbers", object{"number": "+12025550142", "agent_id": s.createGreetingAgent(), "trunk_id": front})
	s.api("POST", "/v1/phone-numbers", object{"number": "+12025550143", "agent_id": patient, "trunk_id": front})

	refreshed := startSIPpAt(t, refresh, "uas-proxied-refresh", "-m", "1")
	long := s.placeCall("+13035550177", patient, nil)

	through := func(scenario, number string) {
		t.Helper()
		p := startSIPpAt(t, freePortOn(t, carrierHost), scenario, "-m", "1", "-s", number, "-recv_timeout", "30000", at.String())
		require.NoError(t, <-p.done, scenario)
	}
	through("uac-proxied", "+12025550142")
	assert.Equal(t, 1, dead.countCalls(), "the dispatcher tried the dead node first and then the other node")
	through("uac-proxied-bye", "+12025550143")
	assert.Equal(t, 1, dead.countCalls(), "the dispatcher no longer tries the dead node")
	s.await("the ends", 20*time.Second, func() bool {
		return len(s.api("GET", "/v1/calls?direction=inbound&status=completed", nil)["data"].([]any)) == 2
	})
	sentBy := map[string][]string{}
	for _, raw := range s.api("GET", "/v1/calls?direction=inbound", nil)["data"].([]any) {
		c := raw.(object)
		sentBy[c["ended_by"].(string)] = s.checkPathThroughDispatcher(c["id"].(string), at)
	}
	assert.Equal(t, map[string][]string{"agent": {"BYE"}, "remote": nil}, sentBy)

	answered := startSIPpAt(t, answers, "uas-proxied", "-m", "1", "-recv_timeout", "30000")
	out := s.placeCall("+12025550177", s.createMenuAgent(), nil)
	call := s.awaitCallEnd(out, 40*time.Second)
	assert.Equal(t, []any{"completed", "agent"}, []any{call["status"], call["ended_by"]}, "%v", call)
	require.NoError(t, <-answered.done)
	assert.Equal(t, []string{"INVITE", "ACK", "BYE"}, s.checkPathThroughDispatcher(out, at))
	assert.Equal(t, 1, dead.countCalls())

	stranger, err := net.ListenUDP("udp4", &net.UDPAddr{IP: strangerHost.AsSlice()})
	require.NoError(t, err)
	defer func() { _ = stranger.Close() }()
	assert.False(t, answersOptions(t, stranger, at, 500*time.Millisecond), "an address outside of the list gets no response")

	call = s.awaitCallEnd(long, 80*time.Second)
	assert.Equal(t, []any{"completed", "remote"}, []any{call["status"], call["ended_by"]}, "%v", call)
	require.NoError(t, <-refreshed.done)
	assert.Equal(t, []string{"INVITE", "ACK", "INVITE", "ACK"}, s.checkPathThroughDispatcher(long, other), "the re-INVITE of the service used the route set")
}

func TestKamailioConfigurationIsValid(t *testing.T) {
	t.Parallel()
	list, err := filepath.Abs("../../deploy/kamailio/dispatcher.list")
	require.NoError(t, err)
	out, err := exec.Command("kamailio", "-c", "-f", "../../deploy/kamailio/kamailio.cfg", "-A", "DISPATCHER_LIST="+strconv.Quote(list)).CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Contains(t, string(out), "config file ok")
}
