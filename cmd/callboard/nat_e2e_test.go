package main_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/callboard/callboard/sip/siptest"
)

// natBinary is an environment variable with the path of the service under test. Its presence tells the process that
// it runs in its own network namespace.
const natBinary = "NAT_TEST_BINARY"

// Addresses and setup script of the test network: the service at a public address, a masquerading router, and phones
// behind the router. The router maps the phones' ports to random public ports.
const (
	natService = "5.5.5.1"
	natRouter  = "5.5.5.2"
	natPhone   = "192.168.77.2"
	natSetup   = `
mount -t tmpfs none /run && mkdir -p /run/netns
ip link set lo up
ip netns add router && ip netns add phones
ip link add wan type veth peer name wan netns router
ip link add lan netns phones type veth peer name lan netns router
ip address add 5.5.5.1/24 dev wan && ip link set wan up
ip -n router address add 5.5.5.2/24 dev wan && ip -n router link set wan up
ip -n router address add 192.168.77.1/24 dev lan && ip -n router link set lan up && ip -n router link set lo up
ip -n phones address add 192.168.77.2/24 dev lan && ip -n phones link set lan up && ip -n phones link set lo up
ip -n phones route add default via 192.168.77.1
ip netns exec router sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
ip netns exec router nft -f - <<'RULES'
table ip nat {
  chain incoming { type nat hook prerouting priority dstnat; }
  chain outgoing { type nat hook postrouting priority srcnat; oifname "wan" masquerade random; }
}
table ip filter {
  chain forward { type filter hook forward priority filter; }
}
RULES
`
)

// dialFrom connects from the phone's network namespace.
func (p phoneLocation) dialFrom(network, to string) (conn net.Conn, err error) {
	if p.namespace == "" {
		return net.Dial(network, to)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked, so that the thread ends together with this function
		var ns *os.File
		if ns, err = os.Open("/run/netns/" + p.namespace); err != nil {
			return
		}
		defer func() { _ = ns.Close() }()
		if err = unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET); err == nil {
			conn, err = net.Dial(network, to)
		}
	}()
	<-done
	return conn, err
}

// runOnRouter runs a command in the router's network namespace.
func runOnRouter(t testing.TB, name string, args ...string) {
	t.Helper()
	out, err := phoneLocation{namespace: "router"}.newCommand(name, args...).CombinedOutput()
	require.NoError(t, err, "%s %v: %s", name, args, out)
}

// endMappings deletes all NAT mappings of the router, so that later packets get new ports.
func endMappings(t testing.TB) {
	t.Helper()
	runOnRouter(t, "ip", "link", "set", "wan", "down")
	runOnRouter(t, "ip", "link", "set", "wan", "up")
}

// Audio must arrive in both directions when phones behind a NAT call and are called. The test restarts itself in its
// own network namespace, which needs no root permissions.
func TestAudioThroughNATInBothDirections(t *testing.T) { //nolint:tparallel // the subtests share one phone
	t.Parallel()
	if os.Getenv(natBinary) == "" {
		cmd := exec.Command("unshare", "--user", "--map-root-user", "--net", "--mount", os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=10m")
		cmd.Env = append(os.Environ(), natBinary+"="+binary)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		assert.Contains(t, string(out), "--- PASS: "+t.Name()+"/")
		return
	}
	out, err := exec.Command("bash", "-euo", "pipefail", "-c", natSetup).CombinedOutput()
	require.NoError(t, err, "%s", out)
	s := prepareService(t)
	s.env = append(s.env, fmt.Sprintf("CALLBOARD_SIP_ADDR=%s:%d", natService, s.sip), "CALLBOARD_PUBLIC_IP="+natService)
	s.start()
	n := &natTest{service: s, at: phoneLocation{natPhone, "phones"}, agent: s.createLongSpeechAgent()}
	s.api("PATCH", "/v1/agents/"+n.agent, object{"extension": "200", "inbound": object{"answer": "direct"}})
	n.registerPhone("1001")
	t.Run("a phone is called", func(t *testing.T) { n := n.withTest(t); n.checkAudioBothWays(n.callPhone("1001")) })
	t.Run("a phone calls", func(t *testing.T) { n := n.withTest(t); n.checkAudioBothWays(n.callFromPhone("200")) })
	t.Run("a phone that is silent for 20 seconds after the answer", func(t *testing.T) {
		n := n.withTest(t)
		runOnRouter(t, "nft", "add", "rule", "ip", "filter", "forward", "iifname", "lan", "udp", "sport", "!=", strconv.Itoa(n.phone.port), "drop")
		before, id := n.phone.loudSamples(), n.callPhone("1001")
		assert.Never(t, func() bool { return n.phone.loudSamples() > before }, 20*time.Second, 100*time.Millisecond, "the service does not know the phone's media address yet")
		runOnRouter(t, "nft", "flush", "chain", "ip", "filter", "forward")
		n.checkAudioBothWays(id)
	})
	t.Run("a phone whose mapping changes during a call", func(t *testing.T) {
		n := n.withTest(t)
		id := n.callPhone("1001")
		n.awaitAudioAtPhone()
		endMappings(t)
		n.checkAudioBothWays(id)
	})
	n.createForwardedTrunk()
	t.Run("a trunk calls", func(t *testing.T) { n := n.withTest(t); n.checkAudioBothWays(n.callFromPhone("+12025550142")) })
	t.Run("a trunk is called", func(t *testing.T) { n := n.withTest(t); n.checkAudioBothWays(n.callPhone("+12025550123")) })
}

// natTest is a service with a phone behind a NAT.
type natTest struct {
	*service
	t     *testing.T
	at    phoneLocation
	phone *softphone
	agent string
}

// withTest returns a copy of n that reports failures to a subtest.
func (n *natTest) withTest(t *testing.T) *natTest {
	c := *n
	c.t, c.phone.t = t, t
	return &c
}

// createLongSpeechAgent creates an agent that speaks longer than any call of the test lasts.
func (s *service) createLongSpeechAgent() string {
	s.t.Helper()
	return s.createAgent(object{
		"name": "chatty", "start": "talk",
		"nodes": []object{{"id": "talk", "type": "say", "prompt": strings.Repeat("The clinic on the corner is open from eight to six on every day of the week. ", 30)}, {"id": "bye", "type": "end"}},
		"edges": []object{{"from": "talk", "to": "bye", "when": object{"type": "always"}}},
	})
}

// registerPhone creates an extension in the service, starts a phone behind the NAT and waits until it is registered.
func (n *natTest) registerPhone(extension string) {
	n.service.t.Helper()
	id := n.api("POST", "/v1/phones", object{"extension": extension, "password": phonePassword, "name": "Desk"})["id"].(string)
	n.sendFirstRegisterFrom(n.at, natService, extension)
	n.phone = startBaresipAt(n.service.t, n.at, fmt.Sprintf("<sip:%s@%s:%d;transport=udp>;auth_user=%[1]s;auth_pass=%[4]s;regint=120", extension, natService, n.sip, phonePassword))
	contact := n.awaitContacts(id, 1)["contacts"].([]any)[0].(object)
	assert.True(n.service.t, strings.HasPrefix(contact["address"].(string), natRouter+":"), "%v", contact)
}

// createForwardedTrunk starts another phone behind the NAT, forwards a port of the router to it and creates a trunk
// whose proxy is this port.
func (n *natTest) createForwardedTrunk() {
	t := n.service.t
	t.Helper()
	port := siptest.Port(t)
	n.phone = startBaresipAt(t, n.at, fmt.Sprintf("<sip:+12025550123@%s:%d>;regint=0", natService, n.sip))
	runOnRouter(t, "nft", "add", "rule", "ip", "nat", "incoming", "iifname", "wan", "udp", "dport", strconv.Itoa(port), "dnat", "to", fmt.Sprintf("%s:%d", natPhone, n.phone.port))
	trunk := n.api("POST", "/v1/trunks", object{
		"name": "PBX behind a NAT", "caller_ids": []string{"+12025550100"}, "proxies": []object{{"host": natRouter, "port": port, "transport": "udp"}},
	})["id"].(string)
	n.api("POST", "/v1/phone-numbers", object{"number": "+12025550142", "agent_id": n.agent, "trunk_id": trunk})
}

// callPhone makes the service call the phone and returns the call's id.
func (n *natTest) callPhone(to string) string {
	n.t.Helper()
	body := object{"to": to, "agent_id": n.agent}
	if strings.HasPrefix(to, "+") {
		body["from"] = "+12025550100"
	}
	id := n.api("POST", "/v1/calls/outbound", body)["id"].(string)
	n.awaitAnswer(id)
	return id
}

// callFromPhone makes the phone call the service and returns the call's id.
func (n *natTest) callFromPhone(to string) (id string) {
	n.t.Helper()
	n.phone.sendCommand("dial", fmt.Sprintf("sip:%s@%s:%d", to, natService, n.sip))
	n.await("the phone's call", 30*time.Second, func() bool {
		for _, raw := range n.api("GET", "/v1/calls?direction=inbound&status=active", nil)["data"].([]any) {
			id = raw.(object)["id"].(string)
		}
		return id != ""
	})
	n.awaitAnswer(id)
	return id
}

func (n *natTest) awaitAnswer(id string) {
	n.t.Helper()
	n.await("the answer", 30*time.Second, func() bool { return n.api("GET", "/v1/calls/"+id, nil)["status"] == "in_progress" })
}

// checkAudioBothWays waits until the phone has received two more seconds of audio, and hangs up. The last seconds of
// the recording must contain the phone's tone.
func (n *natTest) checkAudioBothWays(id string) {
	n.t.Helper()
	n.awaitAudioAtPhone()
	n.awaitAudioAtPhone()
	n.phone.sendCommand("hangup", "")
	ended := n.awaitCallEnd(id, 30*time.Second)
	assert.Equal(n.t, "remote_hangup", ended["ended_reason"], "%v", ended)
	assert.Empty(n.t, ended["media_issue"], "%v", ended)
	phoneAudio := readSamples(n.t, n.saveRecording(id), 1)
	assert.GreaterOrEqual(n.t, countLoudTenths(phoneAudio[max(len(phoneAudio)-3*sampleRate, 0):]), 20, "the recording contains the phone's tone")
}

// awaitAudioAtPhone waits until the phone has received more audio.
func (n *natTest) awaitAudioAtPhone() {
	n.t.Helper()
	before := n.phone.loudSamples()
	n.await("audio at the phone", 30*time.Second, func() bool { return n.phone.loudSamples() > before+sampleRate })
}

// countLoudTenths counts the tenths of a second with audible sound.
func countLoudTenths(pcm []float64) (tenths int) {
	const tenth = sampleRate / 10
	for ; len(pcm) >= tenth; pcm = pcm[tenth:] {
		if rmsPower(pcm[:tenth]) > 300 {
			tenths++
		}
	}
	return tenths
}
