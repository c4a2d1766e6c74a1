package main_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const phonePassword = "correct-horse-battery"

// startRegisteredPhone starts the SIP phone baresip, which registers with the service as an extension.
func (s *service) startRegisteredPhone(extension, transport string) *softphone {
	s.t.Helper()
	return startBaresipWithAccount(s.t, fmt.Sprintf("<sip:%s@127.0.0.1:%d;transport=%s>;auth_user=%[1]s;auth_pass=%[4]s;regint=120", extension, s.sip, transport, phonePassword))
}

// sendFirstRegister sends a REGISTER as a phone without SHA-256 would. Callboard then challenges the phone with MD5
// only. Otherwise baresip would not accept the challenge and would retry only after up to a minute.
func (s *service) sendFirstRegister(extension string) {
	s.t.Helper()
	s.sendFirstRegisterFrom(phoneLocation{}, "127.0.0.1", extension)
}

// sendFirstRegisterFrom sends a REGISTER without SHA-256 support from a phone location to the service's address.
func (s *service) sendFirstRegisterFrom(at phoneLocation, service, extension string) {
	s.t.Helper()
	conn, err := at.dialFrom("udp", net.JoinHostPort(service, strconv.Itoa(s.sip)))
	require.NoError(s.t, err)
	defer func() { _ = conn.Close() }()
	_, err = conn.Write([]byte(registerWithoutSHA256(extension)))
	require.NoError(s.t, err)
	answer := make([]byte, 2000)
	require.NoError(s.t, conn.SetReadDeadline(time.Now().Add(time.Minute)))
	n, err := conn.Read(answer)
	require.NoError(s.t, err)
	require.Contains(s.t, string(answer[:n]), "SHA-256")
}

func registerWithoutSHA256(extension string) string {
	return strings.ReplaceAll(fmt.Sprintf(`REGISTER sip:127.0.0.1 SIP/2.0
Via: SIP/2.0/UDP 127.0.0.1;rport;branch=z9hG4bKold
From: <sip:%[1]s@127.0.0.1>;tag=old
To: <sip:%[1]s@127.0.0.1>
Call-ID: old-%[1]s
CSeq: 1 REGISTER
Max-Forwards: 70
User-Agent: an old phone
Contact: <sip:%[1]s@127.0.0.1:5060>
Allow: INVITE, ACK, BYE, CANCEL, OPTIONS, NOTIFY, SUBSCRIBE, INFO, MESSAGE, REFER
Supported: replaces, timer, gruu, outbound
Content-Length: 0

`, extension), "\n", "\r\n")
}

// createPhone creates a phone with an extension, makes the service challenge it with MD5 only, and returns its id.
func (s *service) createPhone(number string) string {
	s.t.Helper()
	created := s.api("POST", "/v1/phones", object{"extension": number, "password": phonePassword, "name": "Desk " + number})
	require.NotContains(s.t, created, "password")
	s.sendFirstRegister(number)
	return created["id"].(string)
}

func (s *service) awaitContacts(id string, n int) object {
	s.t.Helper()
	var now object
	s.await("the phone's registration", 30*time.Second, func() bool {
		now = nil
		status, text, _ := s.tryRequest("GET", "/v1/phones/"+id, nil) // 503 right after a start
		if status != http.StatusOK || json.Unmarshal(text, &now) != nil {
			return false
		}
		list, _ := now["contacts"].([]any)
		return len(list) == n
	})
	return now
}

func TestBaresipRegistersAndExchangesCallsWithAgent(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for i, transport := range []string{"udp", "tcp"} {
		extension := strconv.Itoa(1001 + i)
		id := s.createPhone(extension)
		p := s.startRegisteredPhone(extension, transport)
		now := s.awaitContacts(id, 1)
		assert.Equal(t, "registered", now["status"])
		assert.Equal(t, transport, now["contacts"].([]any)[0].(object)["transport"])

		call := s.api("POST", "/v1/calls/outbound", object{"to": extension, "agent_id": s.createMenuAgent()})["id"].(string)
		s.await("the answer", 20*time.Second, func() bool { return s.api("GET", "/v1/calls/"+call, nil)["status"] == "in_progress" })
		p.pressKey("1")
		ended := s.awaitCallEnd(call, 30*time.Second)
		assert.Equal(t, "confirmed", ended["disposition"], "%v", ended)
		assert.Equal(t, extension, ended["to"])

		agent := s.createGreetingAgent()
		s.api("PATCH", "/v1/agents/"+agent, object{"extension": "20" + strconv.Itoa(i)})
		p.sendCommand("dial", fmt.Sprintf("sip:20%d@127.0.0.1:%d", i, s.sip))
		var in object
		s.await("the phone's call", 30*time.Second, func() bool {
			for _, raw := range s.api("GET", "/v1/calls?direction=inbound&agent_id="+agent, nil)["data"].([]any) {
				in = raw.(object)
			}
			return in["ended_at"] != nil
		})
		assert.Equal(t, "completed", in["disposition"], "%v", in)
		assert.Equal(t, extension, in["from"])
		p.sendCommand("dial", fmt.Sprintf("sip:+12025550199@127.0.0.1:%d", s.sip))
		s.await("the rejection of a call to an external number", 20*time.Second, func() bool { return strings.Contains(p.log(), "403 Forbidden") })
	}
	assert.Len(t, s.api("GET", "/v1/calls?direction=inbound", nil)["data"], 2)
}

func TestPhoneIsCalledOnceAfterPowerCutByAnyRegisteredContact(t *testing.T) {
	t.Parallel()
	s := newService(t)
	id := s.createPhone("1001")
	one, two := s.startRegisteredPhone("1001", "udp"), s.startRegisteredPhone("1001", "udp")
	before := s.awaitContacts(id, 2)
	s.kill9()
	s.start()
	assert.Equal(t, before["contacts"], s.awaitContacts(id, 2)["contacts"], "the contacts survive without a new REGISTER")
	call := s.api("POST", "/v1/calls/outbound", object{"to": "sip:1001@calls.example.com", "agent_id": s.createGreetingAgent()})["id"].(string)
	ended := s.awaitCallEnd(call, 30*time.Second)
	assert.Equal(t, "completed", ended["disposition"], "%v", ended)
	assert.Len(t, ended["legs"], 1)
	var files []string
	s.await("the phones' recordings", time.Minute, func() bool {
		files = append(one.recordingFiles("dec"), two.recordingFiles("dec")...)
		seen := map[int]int{}
		for _, path := range files {
			seen[wavState(path)]++
		}
		return seen[wavComplete] > 0 && seen[wavGrowing] == 0
	})
	heard := 0
	for _, path := range files {
		if len(readSamples(t, path, 1)) > sampleRate {
			heard++
		}
	}
	assert.Equal(t, 1, heard, "phones that received the agent's audio")
	s.api("PATCH", "/v1/phones/"+id, object{"password": "another-password-1"})
	s.awaitContacts(id, 0)
	status, text, _ := s.tryRequest("POST", "/v1/calls/outbound", object{"to": "1001", "agent_id": s.createGreetingAgent()})
	assert.Equal(t, 409, status, "%s", text)
	status, text, _ = s.tryRequest("POST", "/v1/calls/outbound", object{"to": "1009", "agent_id": s.createGreetingAgent()})
	assert.Equal(t, 422, status, "%s", text)
	s.api("DELETE", "/v1/phones/"+id, nil)
}
