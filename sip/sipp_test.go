package sip_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/auth"
	"github.com/callboard/callboard/sip/outcome"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/siptest"
)

// sipp is a running SIPp process with a scenario of deploy/sipp.
type sipp struct {
	port int
	log  string
	done chan error
	out  *bytes.Buffer
	kill func()
}

func runSIPp(t *testing.T, scenario, network string, more ...string) *sipp {
	t.Helper()
	program, err := exec.LookPath("sipp")
	require.NoError(t, err, "SIPp is needed")
	path, err := filepath.Abs("../deploy/sipp/" + scenario + ".xml")
	require.NoError(t, err)
	dir := t.TempDir()
	s := &sipp{port: siptest.Port(t), log: filepath.Join(dir, "log"), done: make(chan error, 1), out: new(bytes.Buffer)}
	args := []string{
		"-sf", path, "-i", "127.0.0.1", "-p", strconv.Itoa(s.port), "-mp", strconv.Itoa(siptest.MediaPorts100(t)), "-nostdin",
		"-trace_logs", "-log_file", s.log, "-trace_err", "-error_file", filepath.Join(dir, "err"),
		"-watchdog_minor_maxtriggers", "1000000", "-watchdog_major_maxtriggers", "1000000", // on a busy machine SIPp's watchdog often triggers
	}
	if network == "tcp" {
		args = append(args, "-t", "t1")
	}
	cmd := exec.CommandContext(t.Context(), program, append(args, more...)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, s.out, s.out
	require.NoError(t, cmd.Start())
	s.kill = func() { _ = cmd.Process.Kill() }
	go func() { s.done <- cmd.Wait() }()
	t.Cleanup(func() {
		s.kill()
		if t.Failed() {
			errors, _ := os.ReadFile(filepath.Join(dir, "err"))
			t.Logf("sipp: %s", errors)
		}
	})
	return s
}

// waitUntilListening waits until SIPp has bound its socket, without sending to it.
func (s *sipp) waitUntilListening(t *testing.T, network string) {
	t.Helper()
	require.Eventually(t, func() bool {
		table, err := os.ReadFile("/proc/net/" + network)
		return err == nil && strings.Contains(string(table), fmt.Sprintf("0100007F:%04X 00000000:0000", s.port)) // a closed connection would have its peer's address there
	}, time.Minute, 10*time.Millisecond)
}

func (s *sipp) readLog(t *testing.T) []string {
	t.Helper()
	var words []string
	require.Eventually(t, func() bool {
		b, err := os.ReadFile(s.log)
		words = strings.Fields(string(b))
		return err == nil && len(words) >= 3
	}, time.Minute, 10*time.Millisecond, "three words")
	return words
}

func TestOutcomesOfSIPpScenarios(t *testing.T) { //nolint:tparallel // beside its own cases only: SIPp counts in real time
	for scenario, want := range map[string]string{
		"uas-answer": "ended", "uas-hangup": "ended by the far end", "uas-busy": "busy busy", "uas-decline": "failed rejected",
		"uas-unknown": "failed invalid_number", "uas-503": "failed trunk_error", "uas-180-503": "failed trunk_error",
		"uas-noanswer": "no_answer no_answer", "uas-digest": "ended",
	} {
		for _, network := range []string{"udp", "tcp"} {
			if network == "tcp" && scenario != "uas-answer" && scenario != "uas-noanswer" {
				continue
			}
			t.Run(scenario+" "+network, func(t *testing.T) {
				t.Parallel()
				there := runSIPp(t, scenario, network)
				there.waitUntilListening(t, network)
				ua, here := startUserAgent(t, nil), newEventLog()
				ring, talk := time.Minute, 1500*time.Millisecond
				switch scenario {
				case "uas-noanswer":
					ring = time.Second
				case "uas-hangup":
					talk = time.Minute
				}
				d, err := ua.Invite(sip.Invite{
					Attempt: scenario, To: "+15550001", From: "+15559999", Body: []byte(sdp), Notify: here.add,
					Target:      resolve.Target{Host: "127.0.0.1", Port: there.port, Transport: network},
					RingTimeout: ring, Credentials: &auth.Credentials{Username: "callboard", Password: "secret"},
				})
				require.NoError(t, err)
				assert.Equal(t, want, finalOutcome(t, d, here, talk))
				assert.Equal(t, []string{"INVITE", "+15550001", d.CallID()}, there.readLog(t)[:3])
			})
		}
	}
}

// finalOutcome handles the events of a leg until it ends, and returns the outcome. This side ends an answered call after
// the time talk, if the remote party has not ended it.
func finalOutcome(t *testing.T, d *sip.Dialog, here *eventLog, talk time.Duration) string {
	t.Helper()
	limit := time.After(2 * time.Minute)
	var hangUp <-chan time.Time
	for {
		select {
		case e := <-here.ch:
			switch e := e.(type) {
			case sip.Answered:
				hangUp = time.After(talk)
			case sip.Refused:
				v := outcome.Classify(e.Final)
				return string(v.Outcome) + " " + string(v.Reason)
			case sip.Ended:
				assert.False(t, e.Fault)
				if e.ByRemote {
					return "ended by the far end"
				}
				return "ended"
			}
		case <-hangUp:
			d.Bye(16, "")
		case <-limit:
			return "nothing"
		}
	}
}

func TestInboundSIPpCallsOnAllTransports(t *testing.T) { //nolint:tparallel // beside its own cases only: SIPp counts in real time
	for _, network := range []string{"udp", "tcp"} {
		t.Run(network, func(t *testing.T) {
			t.Parallel()
			there := newEventLog()
			to := make(chan string, 1)
			ua := startUserAgent(t, func(_ *sip.Config, ua *sip.UserAgent) {
				if ua != nil {
					ua.OnInvite(func(i *sip.Incoming) {
						to <- i.To
						i.Ring()
						i.Answer([]byte(sdp), there.add)
					})
				}
			})
			caller := runSIPp(t, "uac-call", network, "-s", "+15551000", "-d", "300", "-m", "1", ua.Addr(network).String())
			select {
			case err := <-caller.done:
				require.NoError(t, err, caller.out.String())
			case <-time.After(time.Minute):
				require.Fail(t, "the caller did not end")
			}
			assert.Equal(t, "+15551000", <-to)
			assert.True(t, next[sip.Ended](t, there).ByRemote)
		})
	}
}

func TestOptionsFromSIPp(t *testing.T) {
	t.Parallel()
	ua := startUserAgent(t, func(_ *sip.Config, ua *sip.UserAgent) {
		if ua != nil {
			ua.OnInvite(func(i *sip.Incoming) { i.Reject(486, 0) })
		}
	})
	for _, network := range []string{"udp", "tcp"} {
		runSIPp(t, "uac-options", network, "-m", "1", "-s", "+15551000", ua.Addr(network).String()).requireSuccess(t)
	}
	ua.Drain(true)
	for _, network := range []string{"udp", "tcp"} {
		runSIPp(t, "uac-options-draining", network, "-m", "1", "-s", "+15551000", ua.Addr(network).String()).requireSuccess(t)
	}
}
