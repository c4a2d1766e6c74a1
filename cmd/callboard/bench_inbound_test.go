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

// benchSIP is an environment variable that makes the test binary a bare SIP user agent that answers every call.
const benchSIP = "CALLBOARD_BENCH_SIP"

const dialledIn = "+12025550142"

// runBareSIPServer runs the bare user agent until its input ends.
func answerAsSIP(port string) {
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
type load struct {
	usage
	calls int
	rate  float64 // calls per second
	again int     // messages that SIPp retransmitted
	bad   int     // calls that failed
}

func (l load) per1000() float64 { return l.cpu.Seconds() * 1000 / float64(l.calls) }

// measureCallsInto places calls at a rate, hangs each up after the answer, and measures the answering process.
func callInto(b *testing.B, pid, port, calls, rate int) load {
	b.Helper()
	dir := b.TempDir()
	stats := filepath.Join(dir, "stats.csv")
	w := startWatch(b, pid)
	far := sippCaller(b, "uac-hangup", "-m", strconv.Itoa(calls), "-r", strconv.Itoa(rate), "-l", strconv.Itoa(2*rate), "-d", "0",
		"-s", dialledIn, "-trace_stat", "-stf", stats, "-fd", "1", "127.0.0.1:"+strconv.Itoa(port))
	w.far = []int{far.cmd.Process.Pid}
	w.cpu = w.read()
	err := <-far.done
	w.far = nil
	u := w.stop()
	l := load{usage: u, calls: calls, rate: float64(calls) / u.elapsed.Seconds()}
	text, errRead := os.ReadFile(stats)
	require.NoError(b, errRead)
	rows := strings.Split(strings.TrimSpace(string(text)), "\n")
	names, last := strings.Split(rows[0], ";"), strings.Split(rows[len(rows)-1], ";")
	for i, name := range names {
		n, _ := strconv.Atoi(last[i])
		switch name {
		case "FailedCall(C)":
			l.bad = n
		case "Retransmissions(C)":
			l.again = n
		}
	}
	if err != nil && l.bad == 0 {
		require.NoError(b, err)
	}
	return l
}

// BenchmarkInbound measures inbound calls from SIPp: to SIPp's own answerer, to the SIP layer alone, their commits
// alone, and to the complete service.
func BenchmarkInbound(b *testing.B) {
	board.addRowOnFailure(b)
	b.Run("floor", inboundFloor)
	b.Run("alone", inboundAlone)
	b.Run("rows", inboundRows)
	b.Run("tree", inboundTree)
}

const inboundRate, inboundCalls = 500, 5000

func inboundFloor(b *testing.B) {
	floor := sipp(b, "uas-instant")
	l := callInto(b, floor.cmd.Process.Pid, floor.port, inboundCalls, inboundRate)
	board.add("CPU per 1000 inbound calls, SIPp's own answerer", "", fmt.Sprintf("%.2f s at %.0f calls/s", l.per1000(), l.rate), false, &l.usage)
}

func inboundAlone(b *testing.B) {
	alone := exec.Command(os.Args[0])
	port := siptest.Port(b)
	alone.Env = append(os.Environ(), benchSIP+"="+strconv.Itoa(port))
	alone.Stderr = os.Stderr
	in, err := alone.StdinPipe()
	require.NoError(b, err)
	require.NoError(b, alone.Start())
	b.Cleanup(func() { _ = in.Close(); _ = alone.Wait() })
	localURL(b, port)
	callInto(b, alone.Process.Pid, port, 500, inboundRate) // warm-up
	l := callInto(b, alone.Process.Pid, port, inboundCalls, inboundRate)
	board.add("CPU per 1000 inbound calls, SIP layer alone", "≤ 0.30 s", l.describe(), l.per1000() <= 0.30 && l.bad == 0, &l.usage)
}

func inboundRows(b *testing.B) {
	store := emptyStore(b)
	commitCalls(b, store, 500, inboundRate) // warms up
	l := commitCalls(b, store, inboundCalls, inboundRate)
	board.add("CPU per 1000 inbound calls, their rows alone in the store", "", fmt.Sprintf("%.2f s at %.0f calls/s", l.per1000(), l.rate), false, &l.usage)
}

// createInboundAgent creates an agent that answers calls over a trunk at once and listens.
func (s *service) takesCalls(trunk string) {
	s.t.Helper()
	agent := s.agent(object{
		"name": "listener", "start": "wait",
		"nodes": []object{{"id": "wait", "type": "collect", "input": "dtmf", "length": 1, "timeout_seconds": 30}, {"id": "bye", "type": "end"}},
		"edges": []object{{"from": "wait", "to": "bye", "when": object{"type": "always"}}},
	})
	s.api("PATCH", "/v1/agents/"+agent, object{"inbound": object{"answer": "direct"}})
	s.api("POST", "/v1/agents/"+agent+"/publish", nil)
	s.api("POST", "/v1/phone-numbers", object{"number": dialledIn, "agent_id": agent, "trunk_id": trunk})
}

// measureInbound measures inbound calls over a trunk without audio.
func measureInbound(b *testing.B) (*service, load) {
	b.Helper()
	s := measured(b, wide)
	s.takesCalls(s.trunk("", siptest.Port(b)))
	callInto(b, s.pid(), s.sip, 300, 100) // warm-up
	return s, callInto(b, s.pid(), s.sip, inboundCalls, inboundRate)
}

func inboundTree(b *testing.B) {
	s, l := measureInbound(b)
	board.add("CPU per 1000 inbound calls without sound, the whole tree", "≤ 1.0 s", l.describe(), l.per1000() <= 1 && l.bad == 0, &l.usage)
	l = callInto(b, s.pid(), s.sip, 5000, 1000)
	board.add("Inbound calls per second, the whole tree", "≥ 1000",
		fmt.Sprintf("%.0f of 1000 offered, %d failed, %d repeated", l.rate, l.bad, l.again), l.rate >= 950 && l.bad == 0 && l.again == 0, &l.usage)
}

// describe returns the figures as text for the table.
func (l load) describe() string {
	return fmt.Sprintf("%.2f s at %.0f calls/s, %d failed, %d repeated", l.per1000(), l.rate, l.bad, l.again)
}

// localURL waits until a loopback UDP port is open.
func localURL(b testing.TB, port int) {
	b.Helper()
	require.Eventually(b, func() bool {
		table, err := os.ReadFile("/proc/net/udp")
		return err == nil && strings.Contains(string(table), fmt.Sprintf("0100007F:%04X 00000000:0000", port))
	}, 20*time.Second, 10*time.Millisecond)
}
