package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/engines/llm/llmtest"
	"github.com/callboard/callboard/sip/siptest"
)

// createPhoneFolder creates a configuration folder for the SIP phone baresip without a sound card. The commands of
// the guide add an account.
func createPhoneFolder(t *testing.T) string {
	t.Helper()
	dir, low := t.TempDir(), siptest.MediaPorts100(t)
	tone := filepath.Join(dir, "tone.wav")
	require.NoError(t, os.WriteFile(tone, encodeWAV(sweepTone(5)), 0o600))
	config := fmt.Sprintf(`poll_method epoll
sip_listen 127.0.0.1:%d
audio_source aufile,%s
audio_player aubridge,nowhere
audio_alert aubridge,nowhere
ausrc_srate %[3]d
auplay_srate %[3]d
ausrc_channels 1
auplay_channels 1
rtp_ports %[4]d-%[5]d
module_path %[6]s
module g711.so
module aufile.so
module aubridge.so
module_tmp uuid.so
module_tmp account.so
module_app menu.so
net_interface 127.0.0.1
`, siptest.Port(t), tone, sampleRate, low, low+98, baresipModuleFolder(t))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config"), []byte(config), 0o600))
	return dir
}

// firstRegisterScript returns a shell script that sends a REGISTER as a phone without SHA-256 would. The service then
// challenges the phone's next REGISTER with MD5, which the phone supports.
func (s *service) firstRegisterScript(extension string) string {
	return fmt.Sprintf(`python3 - <<'END'
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(10)
s.sendto(%q.encode(), ("127.0.0.1", %d))
assert b"SHA-256" in s.recv(4000)
END
`, registerWithoutSHA256(extension), s.sip)
}

func TestSIPGuideCommandsWork(t *testing.T) {
	t.Parallel()
	blocks := codeBlocks(t, "docs/sip.md", "sh run")
	require.GreaterOrEqual(t, len(blocks), 12)
	s := newRaceFreeService(t)
	for i, b := range blocks {
		if strings.Contains(b, "/v1/phones -d") {
			blocks[i] += s.firstRegisterScript("1001") // so that baresip does not wait a minute before it registers
		}
	}
	carrier, pbx := startSIPp(t, "uas-answer"), startSIPp(t, "uas-refer")
	dir := t.TempDir()
	output := s.runBlocks(dir, blocks, "",
		"TEST_KEY="+s.testKey(), "SIP=127.0.0.1:"+strconv.Itoa(s.sip), "BARESIP="+createPhoneFolder(t),
		"CARRIER_HOST=127.0.0.1", "CARRIER_PORT="+strconv.Itoa(carrier.port), "PBX_HOST=127.0.0.1", "PBX_PORT="+strconv.Itoa(pbx.port))
	require.Len(t, output, len(blocks))

	trunk := output.outputOf(t, blocks, "POST /v1/trunks -d '{\n")
	assert.Contains(t, trunk, `"ok":true`, "the trunk answers")
	assert.Contains(t, trunk, `"sip_uri":"sip:127.0.0.1:`+strconv.Itoa(s.sip))
	assert.NotContains(t, trunk, "password")
	assert.Equal(t, "confirmed\n", output.outputOf(t, blocks, "/v1/test/inbound-calls"))
	assert.Contains(t, output.outputOf(t, blocks, "baresip -f"), `"status":"registered"`)
	assert.Contains(t, output.outputOf(t, blocks, "/v1/tickets"), "ticket=")
	paused := output.outputOf(t, blocks, "/recording/pause")
	assert.Contains(t, paused, `"status":"paused"`)
	assert.Contains(t, paused, `"status":"recording"`)
	head, err := os.ReadFile(filepath.Join(dir, "head.wav"))
	require.NoError(t, err)
	assert.Len(t, head, 44)
	assert.Equal(t, "RIFF", string(head[:4]))
	assert.Equal(t, "blind completed ['REFER 202', 'NOTIFY 100', 'NOTIFY 180', 'NOTIFY 200']\n", output.outputOf(t, blocks, `"mode": "blind"`))
	assert.Regexp(t, `^attended completed .*'REFER 202', .*'NOTIFY 200'`, output.outputOf(t, blocks, `"mode": "attended"`))
	assert.Regexp(t, `^bridge (connected|completed) `, output.outputOf(t, blocks, `"destination": "desk"`))
	messages := output.outputOf(t, blocks, "format=ladder")
	assert.Regexp(t, `^0\n`, messages)
	assert.Contains(t, messages, " INVITE ")
	assert.Contains(t, messages, "call.transferred")
}

func TestSecurityOperationsAndAPIGuideCommandsWork(t *testing.T) {
	t.Parallel()
	blocks := append(codeBlocks(t, "docs/security.md", "sh run"), codeBlocks(t, "docs/operations.md", "sh run")...)
	blocks = append(blocks, codeBlocks(t, "docs/api.md", "sh run")...)
	s := newRaceFreeService(t)
	output := s.runBlocks(t.TempDir(), blocks, "", "TEST_KEY="+s.testKey(), "CALLBOARD_DATA="+s.dataFolder())
	require.Len(t, output, len(blocks))
	assert.Regexp(t, `^goroutine profile: total \d+\n$`, output.outputOf(t, blocks, "--unix-socket"))
	rules := output.outputOf(t, blocks, "blocked_prefixes")
	assert.Contains(t, rules, "'countries': ['US', 'CA']")
	assert.Contains(t, rules, "'amount': '50.00'")
	assert.Equal(t, "403\n401\n", output.outputOf(t, blocks, "/v1/api-keys"))
	assert.Equal(t, "calls:read\n401\n", output.outputOf(t, blocks, "/v1/oauth/clients"))
	assert.Equal(t, "200\n401\n", output.outputOf(t, blocks, "sign-in-link"))
	assert.Equal(t, []string{`{"status":"ok"}`, `{"status":"ok"}`}, strings.Fields(output.outputOf(t, blocks, "/readyz")))
	failed := output.outputOf(t, blocks, "/v1/audit-logs")
	assert.Regexp(t, `^401\n`, failed)
	assert.Contains(t, failed, `"action":"api_key.created"`)
	assert.Contains(t, output.outputOf(t, blocks, "api GET /v1/trunks |"), "carrier up {} {}\n")

	assert.Equal(t, "completed completed completed {'order': '4711'}\n", output.outputOf(t, blocks, `"order": "4711"`))
	assert.Regexp(t, `^list\n.*"code":"insufficient_permissions".*"required":\["agents:write"\]`, output.outputOf(t, blocks, `"name": "reports", "permissions": ["calls:read"`))
	assert.Equal(t, "list\n", output.outputOf(t, blocks, "$NEXT"))
	assert.Equal(t, "list\n", output.outputOf(t, blocks, `"scopes": ["calls:read"]}')`))
	assert.Equal(t, "validation_error ['name', 'pacing.max_concurrent', 'retry.retry_on[0]']\n", output.outputOf(t, blocks, "bored"))
	assert.Regexp(t, `(?i)^idempotent-replayed: true\s+idempotency_mismatch\n$`, output.outputOf(t, blocks, "Idempotency-Key"))
	assert.Equal(t, "1 pages\n", output.outputOf(t, blocks, "next_cursor"))
	assert.Equal(t, "4\n['/v1/bulk/*', '/v1/calls/outbound', '/v1/exports', '/v1/knowledge-base', '/v1/sms']\n", output.outputOf(t, blocks, "x-ratelimit"))
	assert.Equal(t, "2 done, 1 rejected: phone of item 2\n", output.outputOf(t, blocks, "/v1/bulk/dnc"))
	assert.Equal(t, "completed\n", output.outputOf(t, blocks, "jsonl"))
	assert.Equal(t, "call.ended completed\n", output.outputOf(t, blocks, "type=call.*"))
	assert.Regexp(t, `^id: evt_\w+\n$`, output.outputOf(t, blocks, "/v1/events/stream"))
}

// Every documentation page with runnable blocks must have a test that runs them.
func TestRunnableDocumentationBlocksHaveATest(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	tests, err := filepath.Glob("*_e2e_test.go")
	require.NoError(t, err)
	var all strings.Builder
	for _, path := range tests {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		all.Write(text)
	}
	for _, path := range pages {
		page := "docs/" + filepath.Base(path)
		if len(codeBlocks(t, page, "sh run")) > 0 {
			assert.Contains(t, all.String(), `codeBlocks(t, "`+page+`", "sh run")`)
		}
	}
}

func TestCampaignGuideCommandsWork(t *testing.T) {
	t.Parallel()
	blocks := codeBlocks(t, "docs/campaigns.md", "sh run")
	require.GreaterOrEqual(t, len(blocks), 8)
	s := newRaceFreeService(t)
	output := s.runBlocks(t.TempDir(), blocks, "", "TEST_KEY="+s.testKey())
	require.Len(t, output, len(blocks))
	assert.Contains(t, output.outputOf(t, blocks, "/v1/dnc/check"), "True\n")
	upload := output.outputOf(t, blocks, "--data-binary @contacts.csv")
	assert.Contains(t, upload, `"received":6,"accepted":3,"duplicates":1,"invalid":1,"dnc":1,"destination_not_allowed":0,"missing_variables":0`)
	over := output.outputOf(t, blocks, "/results")
	assert.Regexp(t, `(?m)^running\n`, over)
	assert.Contains(t, over, `"completion_reason":"exhausted"`)
	assert.Regexp(t, `(?m)^\+15005550000,Ada,confirmed,\d+,true,,`, over)
	assert.Regexp(t, `(?m)^\+15005550001,Grace,busy,0,false,,`, over)
	assert.Regexp(t, `(?m)^\+15005550004,Alan,declined,\d+,false,,`, over)
	assert.Equal(t, "draft\ndraft\nTrue\n", output.outputOf(t, blocks, "/redial"))
}

func TestAppointmentsGuideCommandsWork(t *testing.T) {
	t.Parallel()
	blocks := codeBlocks(t, "docs/appointments.md", "sh run")
	s := newRaceFreeService(t)
	output := s.runBlocks(t.TempDir(), blocks, "", "TEST_KEY="+s.testKey())
	require.Len(t, output, len(blocks))
	booked := output.outputOf(t, blocks, "/confirm")
	assert.Regexp(t, `"local_start":"\d{4}-\d\d-\d\dT09:00:00\.000\+0[12]:00"`, booked)
	assert.Contains(t, booked, `"code":"slot_unavailable"`)
	assert.Regexp(t, `(?m)^confirmed\n\d{4}-\d\d-\d\dT14:00:00\.000\+0[12]:00\n1\ncancelled\n`, booked)
	assert.Regexp(t, `^Grace Dr\. Rivera (\S+T\d\d:\d\d:00\.000\+0[12]:00)\nconfirmed True (\S+T\d\d:\d\d:00\.000\+0[12]:00)\n$`, output.outputOf(t, blocks, `"offer"`))
	messages := output.outputOf(t, blocks, "/v1/sms")
	assert.Contains(t, messages, "delivered gsm7 1 See you on Monday, there.\nTrue\n")
	assert.Contains(t, messages, "recipient_opted_out")
	assert.Contains(t, output.outputOf(t, blocks, "/search"), "We open at nine on Mondays.\n")
	assert.Contains(t, output.outputOf(t, blocks, "house-rules.pdf"), "house-rules.pdf Page 1 Dogs are welcome on Fridays.\n")
}

func TestAgentsGuideCommandsWork(t *testing.T) {
	t.Parallel()
	blocks := codeBlocks(t, "docs/agents.md", "sh run")
	s := newRaceFreeService(t)
	output := s.runBlocks(t.TempDir(), blocks, "", "TEST_KEY="+s.testKey(), "PATH="+filepath.Dir(s.binary)+":"+os.Getenv("PATH"))
	require.Len(t, output, len(blocks))
	assert.Contains(t, output.outputOf(t, blocks, "callboard chat"), "agent: Hello Ada. Press 1 to confirm.\n> agent: Thank you.\n[ended outcome=confirmed")
	assert.Equal(t, "['language']\n2\nen-US\n", output.outputOf(t, blocks, "/publish"))
	assert.Equal(t, "ok   confirms (1 of 1)\nok   says nothing (1 of 1)\n", output.outputOf(t, blocks, "callboard test"))
	assert.Regexp(t, `/talk#/v1/agents/agent_\w+/talk\?ticket=[\w.]+\n`, output.outputOf(t, blocks, "/v1/tickets"))
	chat := output.outputOf(t, blocks, "/chat")
	assert.Contains(t, chat, `"text":"Thank you."`)
	assert.Contains(t, chat, `"outcome":"confirmed"`)
}

func TestConversationGuideCommandsWork(t *testing.T) {
	t.Parallel()
	model := llmtest.New(t, llmtest.Replies(llmtest.Reply{
		Say: []string{"Order seven, ", "very well."}, Calls: []llmtest.Call{{ID: "1", Name: "save", Arguments: `{"order":7}`}},
	}))
	engines := filepath.Join(t.TempDir(), "engines.yaml")
	require.NoError(t, os.WriteFile(engines, []byte("engines:\n  local: {kind: openai, url: "+model.URL+", llm: {model: tiny}}\nllm: [local]\n"), 0o600))
	blocks := codeBlocks(t, "docs/conversation.md", "sh run")
	s := newRaceFreeService(t, "CALLBOARD_ENGINES_FILE="+engines)
	output := s.runBlocks(t.TempDir(), blocks, "", "TEST_KEY="+s.testKey())
	require.Len(t, output, len(blocks))
	chat := output.outputOf(t, blocks, "/chat")
	assert.Contains(t, chat, `"text":"Order seven, very well."`)
	assert.Contains(t, chat, `"text":"I have noted order 7."`)
	assert.Contains(t, chat, `"outcome":"confirmed"`)
	assert.Contains(t, chat, `"model_answers":[{"sentences":["Order seven, very well."]`)
}

func TestDataGuideCommandsWork(t *testing.T) {
	t.Parallel()
	blocks := append(codeBlocks(t, "docs/data.md", "sh run"), codeBlocks(t, "docs/dashboard.md", "sh run")...)
	blocks = append(blocks, codeBlocks(t, "docs/privacy.md", "sh run")...)
	require.GreaterOrEqual(t, len(blocks), 6)
	s := newRaceFreeService(t)
	output := s.runBlocks(t.TempDir(), blocks, "",
		"TEST_KEY="+s.testKey(), "CALLBOARD_DATA="+s.dataFolder(), "PATH="+filepath.Dir(s.binary)+":"+os.Getenv("PATH"))
	require.Len(t, output, len(blocks))
	assert.Regexp(t, `^2 1 2 0 \[\{'index': 2, 'code': 'destination_not_allowed'.*'param': 'to'\}\]\n$`, output.outputOf(t, blocks, `"to": "911"`))
	assert.Regexp(t, `^\d{4}-\d\d-\d\dT\d\d:00:00\.000Z\ncancelled\n$`, output.outputOf(t, blocks, "status=waiting"))
	assert.Equal(t, "['+15005550001', '+15005550005']\nid,dire\n", output.outputOf(t, blocks, "/v1/exports"))
	assert.Equal(t, "1\n['default']\n", output.outputOf(t, blocks, "callboard workspaces"))
	assert.Equal(t, "True\n", output.outputOf(t, blocks, "api DELETE \"/v1/calls/"))
	assert.Equal(t, "['appointments.jsonl', 'calls.jsonl', 'contacts.jsonl']\n[]\n", output.outputOf(t, blocks, "/v1/data-requests"))
	assert.Equal(t, "1\n", output.outputOf(t, blocks, "--role admin"))
}

func TestCommandLineGuideCommandsWork(t *testing.T) {
	t.Parallel()
	blocks := codeBlocks(t, "docs/cli.md", "sh run")
	require.GreaterOrEqual(t, len(blocks), 9)
	s, dir := newRaceFreeService(t), t.TempDir()
	require.NoError(t, os.Symlink(s.binary, filepath.Join(dir, "callboard")))
	output := s.runBlocks(dir, blocks, "",
		"CALLBOARD_DATA="+s.dataFolder(), "CALLBOARD_PROFILES="+filepath.Join(dir, "profiles.json"), "PATH="+dir+":"+os.Getenv("PATH"))
	require.Len(t, output, len(blocks))
	assert.Regexp(t, `(?s)^local is http://127.0.0.1:\d+, workspace \S+ \(test\).*\*  local .*service +http://\S+ ready\n`, output.outputOf(t, blocks, "callboard login"))
	assert.Equal(t, "exit code 3\n", output.outputOf(t, blocks, "completion bash"))
	call := output.outputOf(t, blocks, "calls dial")
	assert.Regexp(t, `(?s)the pathway is valid.*agent: Hello Ada, see you tomorrow\..*call\.started.*call\.ended.*completed: .*outcome confirmed`, call)
	shown := output.outputOf(t, blocks, "--transcript")
	assert.Contains(t, shown, "agent: Hello Ada, see you tomorrow.")
	assert.Contains(t, shown, "INVITE")
	campaign := output.outputOf(t, blocks, "campaigns watch")
	assert.Regexp(t, `(?s)running: .*completed: 0 of 2 remaining.*passed .*greetings +completed`, campaign)
	results, err := os.ReadFile(filepath.Join(dir, "results.csv"))
	require.NoError(t, err)
	assert.Len(t, strings.Split(strings.TrimSpace(string(results)), "\n"), 3)
	assert.Contains(t, output.outputOf(t, blocks, "pause-all"), `"paused": []`)
	assert.Regexp(t, `(?s)1 of 1 numbers added.*exit code 1.*is removed.*campaign.completed`, output.outputOf(t, blocks, "dnc add"))
	assert.Contains(t, output.outputOf(t, blocks, "rate-limits"), "current_window")
	assert.Regexp(t, `(?s)reader.*"revoked": true`, output.outputOf(t, blocks, "keys list"))
	assert.Contains(t, output.outputOf(t, blocks, "callboard doctor"), "warn")
	out, errs, err := s.runCommand("keys", "list", "--json", "--url", "http://"+s.http, "--key", s.key)
	require.NoError(t, err, errs)
	assert.Contains(t, out, `"operator": true`)

	// While the service runs, the doctor also checks its trunks through the API.
	s.createTrunk("", siptest.Port(t))
	out, _, err = s.runCommand("doctor", "--json")
	require.NoError(t, err, "a trunk without an OPTIONS reply and without calls is only a warning")
	var found []struct{ Check, State, What string }
	require.NoError(t, json.Unmarshal([]byte(out), &found))
	states := make(map[string]string)
	for _, f := range found {
		states[f.Check] += f.State
	}
	assert.Equal(t, []string{"ok", "warn"}, []string{states["ready"], states["trunk"]}, "%v", found)
}
