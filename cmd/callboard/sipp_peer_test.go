package main_test

import (
	"bytes"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip/siptest"
)

// sippPeer is a SIPp process that answers or places calls with a scenario.
type sippPeer struct {
	t           testing.TB
	port        int
	log         string
	cmd         *exec.Cmd
	dir         string
	done        chan error
	shownCallID string // Call-ID whose messages are printed if the test fails
}

// messages returns all sent and received SIP messages, if the peer logs them.
func (p *sippPeer) messages() string {
	text, _ := os.ReadFile(filepath.Join(p.dir, "messages"))
	return string(text)
}

// callMessages returns the logged SIP messages of one call.
func (p *sippPeer) callMessages(callID string) string {
	var out strings.Builder
	for part := range strings.SplitSeq(p.messages(), "-----------------------------------------------") {
		if strings.Contains(part, callID) {
			out.WriteString(part)
		}
	}
	return out.String()
}

// unlimitedLateness disables SIPp's limit for late scheduling, which busy machines exceed.
const unlimitedLateness = "1000000"

// startSIPp starts a scenario of deploy/sipp on a free loopback port.
func startSIPp(t testing.TB, scenario string, args ...string) *sippPeer {
	t.Helper()
	return startSIPpAtPort(t, siptest.Port(t), scenario, args...)
}

func startSIPpAtPort(t testing.TB, port int, scenario string, args ...string) *sippPeer {
	t.Helper()
	return startSIPpAt(t, netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(port)), scenario, args...)
}

// startSIPpAt starts a SIPp scenario of deploy/sipp at an address and port.
func startSIPpAt(t testing.TB, at netip.AddrPort, scenario string, args ...string) *sippPeer {
	t.Helper()
	path, err := filepath.Abs("../../deploy/sipp/" + scenario + ".xml")
	require.NoError(t, err)
	p := &sippPeer{t: t, port: int(at.Port()), dir: t.TempDir(), done: make(chan error, 1)}
	p.log = filepath.Join(p.dir, "sipp.log")
	media := siptest.MediaPorts100(t)
	all := append([]string{
		"-sf", path, "-i", at.Addr().String(), "-p", strconv.Itoa(p.port), "-mp", strconv.Itoa(media), "-nostdin", "-aa",
		"-trace_logs", "-log_file", p.log, "-trace_err", "-error_file", filepath.Join(p.dir, "err"),
		"-watchdog_minor_maxtriggers", unlimitedLateness, "-watchdog_major_maxtriggers", unlimitedLateness,
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
			t.Logf("sipp %s: %s", scenario, lastBytes(string(text), 3000))
			if p.shownCallID != "" {
				t.Logf("the call %s:\n%s", p.shownCallID, lastBytes(p.callMessages(p.shownCallID), 8000))
			}
		}
	})
	network := "udp"
	if containsString(args, "t1") {
		network = "tcp"
	}
	ip := at.Addr().As4()
	slices.Reverse(ip[:])
	require.Eventually(t, func() bool {
		select {
		case <-exited: // the result of a short call is already in done
			return true
		default:
		}
		table, err := os.ReadFile("/proc/net/" + network)
		return err == nil && strings.Contains(string(table), fmt.Sprintf("%X:%04X 00000000:0000", ip, p.port))
	}, time.Minute, 10*time.Millisecond, "sipp did not listen: %s", &out)
	return p
}

// startSIPpCaller starts a SIPp scenario that places calls to the service.
func startSIPpCaller(t testing.TB, scenario string, args ...string) *sippPeer {
	t.Helper()
	return startSIPpAtPort(t, siptest.Port(t), scenario, args...)
}

var scenarioLogLine = regexp.MustCompile(`(INVITE|END) \+?(\S+) (\S+)(?: (\d+))?`)

// scenarioLine is one line of the log that a SIPp scenario writes.
type scenarioLine struct {
	Kind, Number, CallID string
	Ms                   int
}

func (p *sippPeer) logLines() []scenarioLine {
	text, _ := os.ReadFile(p.log)
	var out []scenarioLine
	for _, m := range scenarioLogLine.FindAllStringSubmatch(string(text), -1) {
		ms, _ := strconv.Atoi(m[4])
		out = append(out, scenarioLine{m[1], m[2], m[3], ms})
	}
	return out
}

// inviteCounts returns how many calls, with different Call-IDs, SIPp has received for each called number.
func (p *sippPeer) inviteCounts() map[string]int {
	calls := map[string]map[string]bool{}
	for _, l := range p.logLines() {
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
