//go:build netem

package main_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Environment variables that the script .ci/netem sets.
const (
	netemPeer = "NETEM_PEER" // the phone's network namespace
	netemWire = "NETEM_WIRE" // link between the namespaces: "netem" is a veth pair with faults by tc, "tun" is emulated by this process
	netemDev  = "callboard0" // device in both namespaces
)

var (
	netemHere  = netip.MustParseAddr("10.203.7.1")
	netemThere = netip.MustParseAddrPort("10.203.7.2:5060")
)

// netemArguments returns the arguments of the Linux command tc that emulate the fault.
func (f networkFault) netemArguments() []string {
	args := []string{"netem", "limit", "20000"}
	percent := func(name string, share float64) {
		if share > 0 {
			args = append(args, name, fmt.Sprintf("%g%%", 100*share))
		}
	}
	if f.delay > 0 {
		args = append(args, "delay", f.delay.String(), f.jitter.String())
	}
	percent("loss", f.loss)
	percent("duplicate", f.duplicate)
	percent("reorder", f.reorder)
	return args
}

// setFault changes the fault of a running pipe.
func (p *packetPipe) setFault(f networkFault) {
	p.mu.Lock()
	p.fault = f
	p.mu.Unlock()
}

// callsEach is the number of concurrent calls over each network.
const callsEach = 6

func runProgram(t testing.TB, name string, args ...string) {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	require.NoError(t, err, "%s %v: %s", name, args, out)
}

// newFaultyLink returns a function that sets the fault of the link between the service's and the phone's network
// namespaces.
func newFaultyLink(t testing.TB) (set func(networkFault)) {
	t.Helper()
	peer := os.Getenv(netemPeer)
	require.NotEmpty(t, peer, "run this test with make netem")
	if os.Getenv(netemWire) == "netem" {
		return func(f networkFault) {
			args := append([]string{"qdisc", "replace", "dev", netemDev, "root"}, f.netemArguments()...)
			runProgram(t, "tc", args...)
			runProgram(t, "tc", slices.Insert(args, 0, "-n", peer)...)
		}
	}
	here, there := openTUN(t, ""), openTUN(t, peer)
	runProgram(t, "ip", "address", "add", netemHere.String(), "peer", netemThere.Addr().String(), "dev", netemDev)
	runProgram(t, "ip", "-n", peer, "address", "add", netemThere.Addr().String(), "peer", netemHere.String(), "dev", netemDev)
	runProgram(t, "ip", "link", "set", netemDev, "up")
	runProgram(t, "ip", "-n", peer, "link", "set", netemDev, "up")
	one, two := connectDevices(t, here, there, 1), connectDevices(t, there, here, 2)
	return func(f networkFault) { one.setFault(f); two.setFault(f) }
}

// openTUN opens a TUN device in a network namespace. An empty name means the namespace of this process.
func openTUN(t testing.TB, space string) *os.File {
	t.Helper()
	type opened struct {
		fd  int
		err error
	}
	done := make(chan opened)
	go func() {
		runtime.LockOSThread() // never unlocked, so that the thread ends together with this function
		if space != "" {
			ns, err := os.Open("/run/netns/" + space)
			if err == nil {
				err = unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET)
				_ = ns.Close()
			}
			if err != nil {
				done <- opened{err: err}
				return
			}
		}
		fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if err == nil {
			var request *unix.Ifreq
			if request, err = unix.NewIfreq(netemDev); err == nil {
				request.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
				err = unix.IoctlIfreq(fd, unix.TUNSETIFF, request)
			}
		}
		done <- opened{fd, err}
	}()
	o := <-done
	require.NoError(t, o.err, "/dev/net/tun")
	f := os.NewFile(uintptr(o.fd), netemDev)
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// connectDevices forwards the packets of one device to the other.
func connectDevices(t testing.TB, from, to *os.File, seed uint64) *packetPipe {
	t.Helper()
	p := newPacketPipe(networkFault{}, seed)
	t.Cleanup(p.close)
	go func() {
		b := make([]byte, 65536)
		for {
			n, err := from.Read(b)
			if err != nil {
				return
			}
			packet := slices.Clone(b[:n])
			p.sendPacket(func() { _, _ = to.Write(packet) })
		}
	}()
	return p
}

// startDistantPhone starts the simulated phone in the other namespace.
func startDistantPhone(t testing.TB, l *phoneReports) {
	t.Helper()
	cmd := exec.Command("ip", "netns", "exec", os.Getenv(netemPeer), os.Args[0])
	cmd.Env = append(os.Environ(), networkPhoneEnv+"="+netemThere.String())
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	words := bufio.NewScanner(out)
	require.True(t, words.Scan(), "the phone does not start")
	read := make(chan struct{})
	go func() {
		defer close(read)
		for words.Scan() {
			var c phoneCall
			if json.Unmarshal(words.Bytes(), &c) == nil {
				l.addReport(c)
			}
		}
	}()
	t.Cleanup(func() {
		_ = in.Close()
		<-read
		_ = cmd.Wait()
	})
}

// averageFigures returns the average of the figures.
func averageFigures(all []callFigures) (m callFigures) {
	n := float64(len(all))
	for _, f := range all {
		m.mos += f.mos / n
		m.loss += f.loss / n
		m.jitter += f.jitter / n
		m.seconds += f.seconds / n
		m.phone.Stats.MOS += f.phone.Stats.MOS / n
		m.phone.Stats.LossPercent += f.phone.Stats.LossPercent / n
		m.phone.Stats.JitterMs += f.phone.Stats.JitterMs / n
		m.phone.Stats.PacketsRepeated += f.phone.Stats.PacketsRepeated
	}
	return m
}

func TestCallsSurvivePacketLossBetweenNamespaces(t *testing.T) {
	set := newFaultyLink(t)
	var l phoneReports
	startDistantPhone(t, &l)
	s := prepareService(t)
	s.env = append(s.env, fmt.Sprintf("CALLBOARD_SIP_ADDR=%s:%d", netemHere, s.sip), "CALLBOARD_PUBLIC_IP="+netemHere.String(),
		"CALLBOARD_EGRESS_ALLOW=127.0.0.0/8,10.203.7.0/24")
	s.start()
	s.removeLimits()
	agent := s.createKeypadAgent()
	s.api("POST", "/v1/trunks", object{
		"caller_ids": []string{"+12025550100"},
		"name":       "far", "dtmf": "rfc4733", "proxies": []object{{"host": netemThere.Addr().String(), "port": netemThere.Port(), "transport": "udp"}},
	})
	by, calls := map[string]callFigures{}, 0
	for _, f := range networkFaults {
		set(f)
		for range 3 {
			began := time.Now()
			ids := make([]string, callsEach)
			for i := range ids {
				calls++
				ids[i] = s.placeCall(fmt.Sprintf("+12025551%03d", calls), agent, nil)
			}
			for _, id := range ids {
				s.answerAndPressKeys(id)
			}
			all := make([]callFigures, callsEach)
			for i, id := range ids {
				all[i] = s.checkSurvivedCall(f.name, id, &l)
			}
			by[f.name] = averageFigures(all)
			t.Logf("%d calls over %s in %s: %s", callsEach, f.name, time.Since(began).Round(time.Second), by[f.name])
			if f.name != "clean" || by[f.name].isUndisturbed() {
				break
			}
		}
	}
	compareNetworks(t, by)
	assert.Len(t, by, len(networkFaults))
}
