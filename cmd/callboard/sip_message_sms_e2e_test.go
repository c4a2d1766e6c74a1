package main_test

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// smsMessages returns the SIP MESSAGE requests that a scenario has logged.
func (p *sippPeer) smsMessages() (out []string) {
	text, _ := os.ReadFile(p.log)
	for l := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(l), "TEXT "); ok {
			out = append(out, rest)
		}
	}
	return out
}

func TestSMSGuideCommandsWorkWithSIPp(t *testing.T) {
	t.Parallel()
	blocks := codeBlocks(t, "docs/sms.md", "sh run")
	s := newRaceFreeService(t)
	s.api("POST", "/v1/webhooks", object{"url": s.receiver.url, "events": []string{"sms.*"}})
	carrier := startSIPp(t, "uas-message")
	output := s.runBlocks(t.TempDir(), blocks, "", "KEY="+s.key, "CARRIER_HOST=127.0.0.1", "CARRIER_PORT="+strconv.Itoa(carrier.port), "GATEWAY_URL="+s.receiver.url)
	require.Len(t, output, len(blocks))
	assert.Contains(t, output.outputOf(t, blocks, "/v1/trunks"), "True\nsent gsm7 1 +12025550142 trunk\n")
	assert.Contains(t, output.outputOf(t, blocks, "/events\" -d"), "False True True\n['Yes, please.']\n")
	require.Len(t, carrier.smsMessages(), 1)
	assert.Regexp(t, `^MESSAGE sip:\+12025550123@127\.0\.0\.1:\d+ .* See you on Monday, there\.$`, carrier.smsMessages()[0])

	require.NoError(t, s.runSIPpCaller("uac-message", "+12025550142", "-key", "text", "stop"))
	s.await("the notice", 20*time.Second, func() bool { return len(carrier.smsMessages()) == 2 })
	assert.Contains(t, carrier.smsMessages()[1], "no more messages")
	status, body, _ := s.tryRequest("POST", "/v1/sms", object{"to": "+12025550123", "body": "Please."})
	assert.Equal(t, 403, status, "%s", body)
	s.await("the events", 20*time.Second, func() bool {
		return len(s.receiver.events("sms.received")) == 2 && len(s.receiver.events("sms.sent")) == 2
	})
}

// The test kills the service while it sends SMS messages. Every message must be sent, and none under two ids.
func TestSMSMessagesSurviveKill9(t *testing.T) {
	t.Parallel()
	s := newRaceFreeService(t)
	carrier := startSIPp(t, "uas-message")
	s.api("POST", "/v1/trunks", object{"name": "carrier", "proxies": []object{{"host": "127.0.0.1", "port": carrier.port}}, "sms": "plain", "caller_ids": []string{"+12025550100"}})
	s.removeLimits()
	const all = 60
	items := make([]object, all)
	for i := range items {
		items[i] = object{"to": "+120255501" + strconv.Itoa(10+i%80), "from": "+12025550100", "body": "Number " + strconv.Itoa(i) + "."}
	}
	s.api("POST", "/v1/bulk/sms", object{"items": items})
	s.await("some are sent", 20*time.Second, func() bool { return len(carrier.smsMessages()) > 5 })
	killed := time.Now()
	s.kill9()
	s.start()
	slow := time.Since(killed) > 15*time.Second // after this time the service does not know whether some messages were delivered, and reports that
	var list []any
	s.await("all are settled", 60*time.Second, func() bool {
		list = s.api("GET", "/v1/sms?limit=100", nil)["data"].([]any)
		if len(list) < all {
			return false
		}
		for _, m := range list {
			if m.(object)["status"] == "queued" {
				return false
			}
		}
		return true
	})
	require.Len(t, list, all)
	names := map[string]string{}
	for _, l := range carrier.smsMessages() {
		parts := strings.SplitN(l, " ", 4)
		was, known := names[parts[3]]
		assert.True(t, !known || was == parts[2], "%s was sent under two ids", parts[3])
		names[parts[3]] = parts[2]
	}
	for _, m := range list {
		one := m.(object)
		if one["status"] != "sent" && (!slow || one["error_code"] != "unknown") {
			t.Errorf("%v is %v: %v", one["body"], one["status"], one["error_message"])
		}
	}
	assert.True(t, slow || len(names) == all, "%d of %d came", len(names), all)
}
