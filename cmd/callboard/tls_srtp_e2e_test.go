package main_test

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip/siptest"
)

// createSentenceAgent creates an agent that says one sentence of five seconds.
func (s *service) createSentenceAgent() string {
	s.t.Helper()
	return s.createAgent(object{
		"name": "brief", "start": "talk",
		"nodes": []object{
			{"id": "talk", "type": "say", "prompt": "Your visit is tomorrow at a quarter past nine in the morning, and please bring the letter of your doctor."},
			{"id": "bye", "type": "end"},
		},
		"edges": []object{{"from": "talk", "to": "bye", "when": object{"type": "always"}}},
	})
}

// A carrier accepts only TLS and SRTP. Calls in both directions must exchange SDES keys over TLS. A phone without SRTP or
// with an unknown certificate must get no call.
func TestBaresipCallOverTLSWithSDESKeys(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	for _, who := range []string{"service", "phone", "stranger"} {
		writeCertificate(t, who, file(who+".pem"), file(who+".key"))
		cert, err := os.ReadFile(file(who + ".pem"))
		require.NoError(t, err)
		key, err := os.ReadFile(file(who + ".key"))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(file(who+".both"), append(cert, key...), 0o600))
	}
	s := prepareService(t, "CALLBOARD_SIP_TLS_CERT="+file("service.pem"), "CALLBOARD_SIP_TLS_KEY="+file("service.key"), "CALLBOARD_SIP_TLS_CA_FILE="+file("phone.pem"))
	secure := "127.0.0.1:" + strconv.Itoa(s.sip+1)
	s.args = append(s.args, "--sip", "127.0.0.1:"+strconv.Itoa(s.sip)+",tls://"+secure)
	s.start()
	s.removeLimits()
	agent := s.createSentenceAgent()
	// baresip listens for TLS at the port after its UDP port.
	phoneOf := func(who, number, encryption string) *softphone {
		return startBaresipWithAccount(t, "<sip:"+number+"@127.0.0.1;transport=tls>;regint=0"+encryption,
			"sip_certificate "+file(who+".both"), "sip_cafile "+file("service.pem"))
	}
	onlySecure := object{"srtp": "required"}
	ring := func(who, encryption string) func(number string) *softphone {
		return func(number string) *softphone {
			p := phoneOf(who, number, encryption)
			s.trunkWith(number, p.port+1, "tls", onlySecure)
			return p
		}
	}

	c := s.makeUndisturbedCall(agent, ring("phone", ";mediaenc=srtp-mand"))
	c.checkAudio()
	quality := c.record["quality"].(object)
	assert.Zero(t, quality["packets_refused"])
	assert.Equal(t, "0,0", c.report[3], "lost packets according to the phone")
	for _, line := range []string{"INVITE sip:", "m=audio ", "RTP/SAVP", "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:", ";transport=tls"} {
		assert.Contains(t, c.phone.log(), line, "the phone's log of the message over TLS")
	}

	for number, p := range map[string]func(string) *softphone{"+12025550135": ring("phone", ""), "+12025550136": ring("stranger", ";mediaenc=srtp-mand")} {
		there := p(number)
		call := s.awaitCallEnd(s.placeCall(number, agent, nil), 60*time.Second)
		assert.Equal(t, "failed", call["status"], "%v", call)
		if number == "+12025550135" {
			assert.Equal(t, "media", call["ended_reason"], "a phone without SRTP rejects a call that requires it")
		} else {
			assert.Equal(t, "trunk_error", call["ended_reason"], "another certificate")
			assert.NotContains(t, there.log(), "INVITE sip:", "a peer with a wrong certificate learns neither the number nor a key")
		}
	}

	in := s.api("POST", "/v1/trunks", object{
		"caller_ids": []string{"+12025550100"},
		"name":       "in", "prefixes": []string{"+1999"}, "srtp": "required",
		"proxies": []object{{"host": "127.0.0.1", "port": siptest.Port(t), "transport": "tls"}},
	})["id"]
	s.api("POST", "/v1/phone-numbers", object{"number": "+12025550142", "agent_id": agent, "trunk_id": in})
	open := phoneOf("phone", "+12025550137", "")
	open.sendCommand("dial", fmt.Sprintf("sip:+12025550142@%s;transport=tls", secure))
	s.await("the rejection of an unencrypted call", 20*time.Second, func() bool { return strings.Contains(open.log(), "488 Not Acceptable Here") })
	p := phoneOf("phone", "+12025550138", ";mediaenc=srtp-mand")
	p.sendCommand("dial", fmt.Sprintf("sip:+12025550142@%s;transport=tls", secure))
	var came object
	s.await("the phone's call", 30*time.Second, func() bool {
		for _, raw := range s.listData("/v1/calls?direction=inbound") {
			if call := raw.(object); call["from"] == "+12025550138" {
				came = call
			}
		}
		return came["ended_at"] != nil
	})
	require.Equal(t, "completed", came["disposition"], "%v", came)
	quality = came["quality"].(object)
	assert.Greater(t, quality["packets_received"], 100.0)
	assert.LessOrEqual(t, quality["packets_refused"], 2.0)
	heard := p.recordedAudio("dec")
	right := readSamples(t, s.saveRecording(came["id"].(string)), 2)
	require.Greater(t, len(heard), 3*sampleRate)
	assert.Greater(t, endCorrelation(heard, right), 0.9, "the phone received what the service played")
}

// Of the SRTP cipher suites that the service offers, baresip takes the first that it knows. A proxy removes all but the
// AEAD suite from the offer, and the call must then use AEAD.
func TestBaresipCallWithAEADCipherSuite(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.makeUndisturbedCall(s.createSentenceAgent(), func(number string) *softphone {
		p := startBaresipWithAccount(t, "<sip:"+number+"@127.0.0.1>;regint=0;mediaenc=srtp-mand")
		s.trunkWith(number, s.startSDPFilterProxy(p.port, otherSuites), "udp", object{"srtp": "required", "srtp_keys_in_clear": true})
		return p
	})
	answer := c.phone.log()
	answer = answer[strings.Index(answer, "SIP/2.0 200"):]
	assert.Contains(t, answer, "a=crypto:2 AEAD_AES_128_GCM inline:")
	assert.NotContains(t, answer, "a=crypto:1")
	c.checkAudio()
	quality := c.record["quality"].(object)
	assert.Zero(t, quality["packets_refused"])
	assert.Greater(t, quality["packets_received"], 100.0)
}

var (
	otherSuites = regexp.MustCompile(`a=crypto:\d+ AES_CM_\S+ [^\r\n]*\r\n`)
	bodyLength  = regexp.MustCompile(`(?i)Content-Length: *\d+`)
)

// startSDPFilterProxy starts a SIP proxy between the service and a phone, and returns its port. The proxy removes matches
// of pattern from the SDP that the service sends.
func (s *service) startSDPFilterProxy(port int, pattern *regexp.Regexp) int {
	s.t.Helper()
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: siptest.Port(s.t)})
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = conn.Close() })
	go func() {
		b := make([]byte, 64<<10)
		for {
			n, from, err := conn.ReadFromUDP(b)
			if err != nil {
				return
			}
			to, text := s.sip, b[:n]
			if from.Port != port {
				to = port
				if head, body, found := bytes.Cut(text, []byte("\r\n\r\n")); found {
					body = pattern.ReplaceAll(body, nil)
					head = bodyLength.ReplaceAll(head, fmt.Appendf(nil, "Content-Length: %d", len(body)))
					text = append(append(bytes.Clone(head), "\r\n\r\n"...), body...)
				}
			}
			_, _ = conn.WriteToUDP(text, &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: to}) // datagrams may be lost
		}
	}()
	return conn.LocalAddr().(*net.UDPAddr).Port
}
