package main_test

import (
	"context"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/siptest"
	"github.com/callboard/callboard/sip/transport"
)

// benchSIP is an environment variable. If it is set, the test binary runs as a bare SIP user agent that answers every
// call.
const benchSIP = "CALLBOARD_BENCH_SIP"

const dialledIn = "+12025550142"

// runBareSIPServer runs the bare SIP user agent until its standard input ends.
func runBareSIPServer(port string) {
	ua, err := sip.New(sip.Config{
		Listen: []transport.Listener{{Network: "udp", Addr: "127.0.0.1:" + port}}, PublicIP: netip.MustParseAddr("127.0.0.1"),
	})
	if err != nil {
		panic(err)
	}
	body := []byte("v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 40000 RTP/AVP 0\r\n")
	ua.OnInvite(func(i *sip.Incoming) { i.Answer(body, func(sip.Event) {}) })
	go func() {
		if err := ua.Serve(context.Background()); err != nil {
			panic(err)
		}
	}()
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// inboundLoad is the measurement of a stream of inbound calls.
type inboundLoad struct {
	usage
	calls         int
	rate          float64 // calls per second
	retransmitted int     // messages that SIPp retransmitted
	failed        int     // calls that failed
}

func (l inboundLoad) cpuPer1000() float64 { return l.cpu.Seconds() * 1000 / float64(l.calls) }

// measureCallsInto places calls to a port at a rate, hangs up each call after its answer, and measures the process pid,
// which answers the calls.
func measureCallsInto(b *testing.B, pid, port, calls, rate int) inboundLoad {
	b.Helper()
	dir := b.TempDir()
	stats := filepath.Join(dir, "stats.csv")
	w := startStopwatch(b, pid)
	far := startSIPpCaller(b, "uac-hangup", "-m", strconv.Itoa(calls), "-r", strconv.Itoa(rate), "-l", strconv.Itoa(2*rate), "-d", "0",
		"-s", dialledIn, "-trace_stat", "-stf", stats, "-fd", "1", "127.0.0.1:"+strconv.Itoa(port))
	w.peerPIDs = []int{far.cmd.Process.Pid}
	w.cpu = w.readTimes()
	err := <-far.done
	w.peerPIDs = nil
	u := w.stop()
	l := inboundLoad{usage: u, calls: calls, rate: float64(calls) / u.elapsed.Seconds()}
	text, errRead := os.ReadFile(stats)
	require.NoError(b, errRead)
	rows := strings.Split(strings.TrimSpace(string(text)), "\n")
	names, last := strings.Split(rows[0], ";"), strings.Split(rows[len(rows)-1], ";")
	for i, name := range names {
		n, _ := strconv.Atoi(last[i])
		switch name {
		case "FailedCall(C)":
			l.failed = n
		case "Retransmissions(C)":
			l.retransmitted = n
		}
	}
	if err != nil && l.failed == 0 {
		require.NoError(b, err)
	}
	return l
}

// BenchmarkInbound measures inbound calls from SIPp in four setups: to another SIPp, to the SIP layer alone, only the
// commits of the calls, and to the complete service.
func BenchmarkInbound(b *testing.B) {
	benchResults.addRowOnFailure(b)
	b.Run("floor", measureSIPpAnswerer)
	b.Run("alone", measureSIPLayer)
	b.Run("rows", measureInboundCommits)
	b.Run("tree", measureWholeService)
}

const inboundRate, inboundCalls = 500, 5000

func measureSIPpAnswerer(b *testing.B) {
	floor := startSIPp(b, "uas-instant")
	l := measureCallsInto(b, floor.cmd.Process.Pid, floor.port, inboundCalls, inboundRate)
	benchResults.add("CPU per 1000 inbound calls, SIPp's own answerer", "", fmt.Sprintf("%.2f s at %.0f calls/s", l.cpuPer1000(), l.rate), false, &l.usage)
}

func measureSIPLayer(b *testing.B) {
	alone := exec.Command(os.Args[0])
	port := siptest.Port(b)
	alone.Env = append(os.Environ(), benchSIP+"="+strconv.Itoa(port))
	alone.Stderr = os.Stderr
	in, err := alone.StdinPipe()
	require.NoError(b, err)
	require.NoError(b, alone.Start())
	b.Cleanup(func() { _ = in.Close(); _ = alone.Wait() })
	awaitUDPPort(b, port)
	measureCallsInto(b, alone.Process.Pid, port, 500, inboundRate) // warm-up
	l := measureCallsInto(b, alone.Process.Pid, port, inboundCalls, inboundRate)
	benchResults.add("CPU per 1000 inbound calls, SIP layer alone", "≤ 0.30 s", l.describe(), l.cpuPer1000() <= 0.30 && l.failed == 0, &l.usage)
}

func measureInboundCommits(b *testing.B) {
	store := openEmptyStore(b)
	commitCalls(b, store, 500, inboundRate) // warms up
	l := commitCalls(b, store, inboundCalls, inboundRate)
	benchResults.add("CPU per 1000 inbound calls, their commits alone", "", fmt.Sprintf("%.2f s at %.0f calls/s", l.cpuPer1000(), l.rate), false, &l.usage)
}

// createInboundAgent creates an agent and its phone number. The agent answers calls over a trunk at once and waits for a
// key.
func (s *service) createInboundAgent(trunk string) {
	s.t.Helper()
	agent := s.createAgent(object{
		"name": "listener", "start": "wait",
		"nodes": []object{{"id": "wait", "type": "collect", "input": "dtmf", "length": 1, "timeout_seconds": 30}, {"id": "bye", "type": "end"}},
		"edges": []object{{"from": "wait", "to": "bye", "when": object{"type": "always"}}},
	})
	s.api("PATCH", "/v1/agents/"+agent, object{"inbound": object{"answer": "direct"}})
	s.api("POST", "/v1/agents/"+agent+"/publish", nil)
	s.api("POST", "/v1/phone-numbers", object{"number": dialledIn, "agent_id": agent, "trunk_id": trunk})
}

// measureInbound measures inbound calls without audio that arrive over a trunk.
func measureInbound(b *testing.B) (*service, inboundLoad) {
	b.Helper()
	s := newMeasuredService(b, wideMediaPorts)
	s.createInboundAgent(s.createTrunk("", siptest.Port(b)))
	measureCallsInto(b, s.pid(), s.sip, 300, 100) // warm-up
	return s, measureCallsInto(b, s.pid(), s.sip, inboundCalls, inboundRate)
}

func measureWholeService(b *testing.B) {
	s, l := measureInbound(b)
	benchResults.add("CPU per 1000 inbound calls without media, the complete service", "≤ 1.0 s", l.describe(), l.cpuPer1000() <= 1 && l.failed == 0, &l.usage)
	l = measureCallsInto(b, s.pid(), s.sip, 5000, 1000)
	benchResults.add("Inbound calls per second, the complete service", "≥ 1000",
		fmt.Sprintf("%.0f of 1000 offered, %d failed, %d repeated", l.rate, l.failed, l.retransmitted), l.rate >= 950 && l.failed == 0 && l.retransmitted == 0, &l.usage)
}

// describe returns the measurements as text for the table of benchmark results.
func (l inboundLoad) describe() string {
	return fmt.Sprintf("%.2f s at %.0f calls/s, %d failed, %d repeated", l.cpuPer1000(), l.rate, l.failed, l.retransmitted)
}

// awaitUDPPort waits until a process listens on a UDP port of the loopback address.
func awaitUDPPort(b testing.TB, port int) {
	b.Helper()
	require.Eventually(b, func() bool {
		table, err := os.ReadFile("/proc/net/udp")
		return err == nil && strings.Contains(string(table), fmt.Sprintf("0100007F:%04X 00000000:0000", port))
	}, 20*time.Second, 10*time.Millisecond)
}
