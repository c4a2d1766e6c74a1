package main_test

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip/siptest"
)

// createKeypadAgent creates an agent that collects ten DTMF digits, speaks for a while and hangs up.
func (s *service) createKeypadAgent() string {
	s.t.Helper()
	return s.createAgent(object{
		"name": "keypad", "start": "ask",
		"nodes": []object{
			{
				"id": "ask", "type": "collect", "input": "dtmf", "length": len(phonePresses), "timeout_seconds": 10, "save_as": "keys",
				"prompt": "Your customer number, please.",
			},
			{"id": "thanks", "type": "say", "prompt": "Thank you. Your visit is tomorrow at a quarter past nine in the morning. Please bring the letter of your doctor."},
			{"id": "bye", "type": "end"},
		},
		"edges": []object{
			{"from": "ask", "to": "thanks", "when": object{"type": "else"}},
			{"from": "thanks", "to": "bye", "when": object{"type": "always"}},
		},
	})
}

// callFigures are the quality figures of a call, at the service and at the phone.
type callFigures struct {
	mos, loss, jitter, seconds float64
	phone                      phoneCall
	machineStalled             bool // whether the machine stalled so long that the media clock skipped seconds
}

func (f callFigures) String() string {
	return fmt.Sprintf("MOS %.2f, loss %.1f %%, jitter %.0f ms; at the phone MOS %.2f, loss %.1f %%, jitter %.0f ms; %.1f s",
		f.mos, f.loss, f.jitter, f.phone.Stats.MOS, f.phone.Stats.LossPercent, f.phone.Stats.JitterMs, f.seconds)
}

// phoneReports collects the reports that the simulated phone makes about its calls, by the called number.
type phoneReports struct {
	mu    sync.Mutex
	calls map[string]phoneCall
}

func (l *phoneReports) addReport(c phoneCall) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.calls == nil {
		l.calls = map[string]phoneCall{}
	}
	l.calls[strings.TrimPrefix(c.To, "+")] = c
}

func (l *phoneReports) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.calls)
}

func (l *phoneReports) reportOf(number string) (phoneCall, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c, ok := l.calls[strings.TrimPrefix(number, "+")]
	return c, ok
}

// answerAndPressKeys waits for the answer of a call and makes the service send ten keys.
func (s *service) answerAndPressKeys(id string) {
	s.t.Helper()
	s.await("the answer of "+id, 30*time.Second, func() bool {
		now := s.api("GET", "/v1/calls/"+id, nil)["status"]
		require.NotEqual(s.t, "failed", now)
		return now == "in_progress"
	})
	s.api("POST", "/v1/calls/"+id+"/dtmf", object{"digits": servicePresses})
}

// checkSurvivedCall checks that a call ended normally, that each DTMF digit arrived once, and that the recording is as
// long as the call. It returns the quality figures.
func (s *service) checkSurvivedCall(name, id string, l *phoneReports) (f callFigures) {
	t := s.t
	t.Helper()
	call := s.awaitCallEnd(id, 60*time.Second)
	assert.Equal(t, []any{"completed", "agent"}, []any{call["status"], call["ended_by"]}, "%s: %v", name, call)
	assert.Equal(t, object{"keys": phonePresses}, call["variables"], "%s: the keys of the phone", name)
	s.await("the recording, "+name, 20*time.Second, func() bool {
		call = s.api("GET", "/v1/calls/"+id, nil)
		return call["recording_available"] == true
	})
	s.await("the phone's report, "+name, 40*time.Second, func() (ok bool) { f.phone, ok = l.reportOf(call["to"].(string)); return ok })
	assert.Equal(t, servicePresses, f.phone.Keys, "%s: the keys sent to the phone", name)
	began, err := time.Parse(time.RFC3339Nano, call["answered_at"].(string))
	require.NoError(t, err)
	end, err := time.Parse(time.RFC3339Nano, call["ended_at"].(string))
	require.NoError(t, err)
	q := call["quality"].(object)
	f.mos, f.loss, f.jitter = q["mos"].(float64), q["loss_percent"].(float64), q["jitter_ms"].(float64)
	f.seconds, _ = call["recording_seconds"].(float64)
	sent := q["packets_sent"].(float64) / 50
	if f.machineStalled = f.seconds-sent > 0.9; !f.machineStalled {
		assert.InEpsilon(t, sent, f.seconds, 0.02, "%s: recorded seconds, sent seconds", name)
		assert.InDelta(t, end.Sub(began).Seconds(), f.seconds, 3, "%s: recorded seconds, seconds between answer and end", name)
	}
	wav := float64(len(readSamples(t, s.saveRecording(id), 1))) / sampleRate
	assert.InDelta(t, f.seconds, wav, 0.05, "%s: seconds in the file", name)
	assert.Zero(t, q["packets_refused"], name)
	return f
}

// maxCleanJitterMs is the maximum jitter of a fault-free network on one machine. Above it the machine is too busy
// for meaningful figures.
const maxCleanJitterMs = 15

func (f callFigures) isUndisturbed() bool {
	return !f.machineStalled && f.jitter < maxCleanJitterMs && f.phone.Stats.JitterMs < maxCleanJitterMs && f.mos > 4.2 && f.phone.Stats.MOS > 4.2
}

// compareNetworks checks that loss, MOS and jitter of the emulated networks differ as their faults suggest.
func compareNetworks(t *testing.T, by map[string]callFigures) {
	t.Helper()
	clean := by["clean"]
	assert.Positive(t, by["duplication"].phone.Stats.PacketsRepeated, "some packets were duplicated")
	for _, f := range networkFaults {
		got, ok := by[f.name]
		require.True(t, ok, f.name)
		t.Logf("%-16s %s", f.name, got)
	}
	one, five, jitter, all := by["loss of 1 %"], by["loss of 5 %"], by["jitter of 50 ms"], by["all at once"]
	for _, name := range []string{"clean", "duplication", "reordering", "jitter of 50 ms"} {
		assert.InDelta(t, 0, by[name].loss, 0.6, "%s: nothing was lost", name)
	}
	assert.InDelta(t, 1, one.loss, 0.9)
	assert.InDelta(t, 5, five.loss, 3)
	assert.Less(t, five.mos, clean.mos, "a loss of 5 %% lowers the MOS on any machine")
	assert.Greater(t, five.mos, 2.0, "a loss of 5 %% leaves intelligible speech")
	if !clean.isUndisturbed() {
		t.Log("the machine is too busy for finer differences")
		return
	}
	assert.Less(t, one.mos, clean.mos-0.01, "a loss of 1 %% lowers the MOS")
	assert.Less(t, five.mos, one.mos-0.1, "a loss of 5 %% lowers the MOS more than 1 %%")
	assert.Less(t, jitter.mos, clean.mos, "jitter lowers the MOS")
	assert.Less(t, all.mos, clean.mos-0.02)
	if twice := by["duplication"]; twice.isUndisturbed() {
		// A busy machine adds jitter, which lowers the MOS by some hundredths per millisecond. The comparison allows
		// for this, because duplicates do not cause it.
		kept := 0.04 * max(twice.jitter-clean.jitter, 0)
		keptThere := 0.04 * max(twice.phone.Stats.JitterMs-clean.phone.Stats.JitterMs, 0)
		assert.Greater(t, twice.mos, clean.mos-0.06-kept, "duplicates do not lower the MOS")
		assert.Greater(t, twice.phone.Stats.MOS, clean.phone.Stats.MOS-0.06-keptThere, "at neither end")
	}
	assert.Less(t, five.phone.Stats.MOS, one.phone.Stats.MOS-0.1, "the same holds at the phone")
	assert.Greater(t, jitter.jitter, 10+clean.jitter)
}

// Calls over lossy networks must end normally, with all DTMF digits and plausible quality figures. A relay in this
// process emulates the networks.
func TestCallsSurvivePacketLoss(t *testing.T) {
	t.Parallel()
	s := newRaceFreeService(t)
	s.removeLimits()
	r, agent := newNetworkRelay(t, s.sip), s.createKeypadAgent()
	ledgers := make([]phoneReports, len(networkFaults))
	number := func(n int) string { return fmt.Sprintf("+1202555013%d", n) }
	for n, f := range networkFaults {
		at := freePortOn(t, netip.MustParseAddr(fmt.Sprintf("127.0.1.%d", n+1)))
		p, err := newSimulatedPhone(at, siptest.MediaPorts100(t), ledgers[n].addReport)
		require.NoError(t, err)
		t.Cleanup(p.close)
		s.api("POST", "/v1/trunks", object{
			"caller_ids": []string{"+12025550100"},
			"name":       f.name, "prefixes": []string{number(n)}, "dtmf": "rfc4733",
			"proxies": []object{{"host": r.addPhone(n+1, int(at.Port()), f), "port": at.Port(), "transport": "udp"}},
		})
	}
	// A busy machine makes even the fault-free network lossy. The test then repeats all calls, at most twice.
	by := map[string]callFigures{}
	for range 3 {
		ids := make([]string, len(networkFaults))
		for n := range networkFaults { // calls of all networks run concurrently
			ids[n] = s.placeCall(number(n), agent, nil)
			s.answerAndPressKeys(ids[n])
		}
		for n, f := range networkFaults {
			by[f.name] = s.checkSurvivedCall(f.name, ids[n], &ledgers[n])
			ledgers[n].reset()
		}
		if by["clean"].isUndisturbed() {
			break
		}
		t.Logf("the machine was busy: %s", by["clean"])
	}
	compareNetworks(t, by)
}

// A remote party with an IPv6 address can call and be called. The IPv4 public_ip must not be announced to it.
func TestCallsOverIPv6(t *testing.T) {
	t.Parallel()
	probe, err := net.ListenPacket("udp6", "[::1]:0")
	if err != nil {
		t.Log("this machine has no IPv6:", err)
		return
	}
	_ = probe.Close()
	s := prepareService(t)
	s.env = append(s.env, fmt.Sprintf("CALLBOARD_SIP_ADDR=127.0.0.1:%d,[::1]:%d", s.sip, s.sip), "CALLBOARD_PUBLIC_IP=192.0.2.1",
		"CALLBOARD_EGRESS_ALLOW=127.0.0.0/8,::1/128")
	s.start()
	s.removeLimits()
	agent := s.createKeypadAgent()
	var l phoneReports
	at := netip.AddrPortFrom(netip.IPv6Loopback(), freePortOn(t, netip.MustParseAddr("127.0.0.1")).Port())
	p, err := newSimulatedPhone(at, siptest.MediaPorts100(t), l.addReport)
	require.NoError(t, err)
	t.Cleanup(p.close)
	s.api("POST", "/v1/trunks", object{
		"caller_ids": []string{"+12025550100"},
		"name":       "six", "dtmf": "rfc4733", "proxies": []object{{"host": "::1", "port": at.Port(), "transport": "udp"}},
	})
	id := s.placeCall("+12025550166", agent, nil)
	s.answerAndPressKeys(id)
	f := s.checkSurvivedCall("IPv6", id, &l)
	assert.Greater(t, f.mos, 3.0)
	assert.Greater(t, f.phone.Stats.MOS, 3.0)
}
