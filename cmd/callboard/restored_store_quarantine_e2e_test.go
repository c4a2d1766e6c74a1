package main_test

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip/siptest"
)

// A restored copy of a store must send nothing while it is in quarantine and the original service runs. After the
// original has stopped, the copy is released and works.
func TestRestoredStoreSendsNothingDuringQuarantine(t *testing.T) {
	t.Parallel()
	s := newRaceFreeService(t)
	carrier := startSIPpAtPort(t, siptest.Port(t), "uas-answer")
	registrar, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = registrar.Close() }()
	var copied atomic.Int32 // SIP port of the copy
	var fromCopy atomic.Int32
	go func() {
		for b := make([]byte, 4096); ; {
			_, from, err := registrar.ReadFrom(b)
			if err != nil {
				return
			}
			if udp, ok := from.(*net.UDPAddr); ok && udp.Port == int(copied.Load()) {
				fromCopy.Add(1)
			}
		}
	}()
	s.api("PATCH", "/v1/workspace", object{"limits": object{"requests_per_minute": 100000, "concurrent_inbound": 10, "concurrent_outbound": 10, "calls_per_minute": 1000}})
	s.createTrunk("", carrier.port)
	s.api("POST", "/v1/trunks", object{
		"name": "registers", "proxies": []object{{"host": "127.0.0.1", "port": registrar.LocalAddr().(*net.UDPAddr).Port}}, "register": true,
		"auth": object{"username": "u", "password": "secret-secret"}, "from_domain": "127.0.0.1", "prefixes": []string{"+1999"},
	})
	s.api("POST", "/v1/webhooks", object{"url": s.receiver.url, "events": []string{"call.ended"}})
	agent := s.createMenuAgentWithTimeout(60)
	id := s.startCampaign(agent, []string{"+12025550151", "+12025550152", "+12025550153"}, object{"pacing": object{"calls_per_minute": 600, "max_concurrent": 2}})
	s.await("two calls of the campaign", time.Minute, func() bool { return len(s.listData("/v1/calls?status=in_progress")) == 2 })
	later := func(in time.Duration) string { return time.Now().UTC().Add(in).Format("15:04") }
	bulk := s.api("POST", "/v1/bulk/calls", object{
		"defaults": object{"agent_id": agent, "from": "+12025550100", "compliance": object{"calling_hours": object{"start": later(5 * time.Hour), "end": later(6 * time.Hour), "timezone": "UTC"}}}, "items": []object{{"to": "+12025550155"}},
	})["id"].(string)
	always := object{}
	for day := range strings.FieldsSeq("monday tuesday wednesday thursday friday saturday sunday") {
		always[day] = []object{{"start": "00:00", "end": "24:00"}}
	}
	s.api("POST", "/v1/providers", object{"name": "Dr. Rivera", "hours": always, "slot_minutes": 5, "reminder_hours": object{"start": "00:00", "end": "24:00"}})
	visit := s.api("POST", "/v1/appointments", object{
		"patient": object{"name": "Ada", "phone": "+12025550156"}, "provider": "Dr. Rivera", "duration_minutes": 5,
		"datetime":  time.Now().UTC().Truncate(time.Minute).Add(4 * time.Hour).Format(time.RFC3339),
		"reminders": []object{{"channel": "call", "agent_id": agent, "minutes_before": 180}},
	})["id"].(string)
	backup := filepath.Join(s.dir, "backup")
	_, errs, err := s.runCommand("backup", backup)
	require.NoError(t, err, errs)

	w := newShiftedClock(t)
	w.setOffset(t, 2*time.Hour) // the reminder is due two hours later
	c := prepareService(t, w.env(), "CALLBOARD_EGRESS_CA_FILE="+filepath.Join(s.dir, "ca.pem"))
	require.NoError(t, os.MkdirAll(c.dataFolder(), 0o700))
	for _, name := range []string{"master.key", "admin.key"} {
		text, err := os.ReadFile(filepath.Join(s.dataFolder(), name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(c.dataFolder(), name), text, 0o600))
	}
	part := filepath.Join(c.dataFolder(), "restore.part") // leftover of a killed restore
	require.NoError(t, os.MkdirAll(filepath.Join(part, "store"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(part, "store", "MANIFEST-000001"), []byte("half"), 0o600))
	output, errs, err := c.runCommand("restore", backup)
	require.NoError(t, err, errs)
	assert.NoDirExists(t, part)
	assert.Contains(t, output, "The store is in quarantine")
	copied.Store(int32(c.sip))
	c.start()
	assert.Equal(t, true, c.api("GET", "/readyz", nil)["quarantined"])
	c.await("the end of the calls in the copy's store", time.Minute, func() bool { return len(c.listData("/v1/calls?status=in_progress")) == 0 })

	code, text, _ := c.tryRequest("POST", "/v1/calls/outbound", object{"to": "+12025550157", "agent_id": agent, "from": "+12025550100"})
	assert.Equal(t, http.StatusServiceUnavailable, code)
	assert.Contains(t, string(text), `"reason":"quarantine"`)
	c.api("POST", "/v1/campaigns/"+id+"/resume", nil)
	assert.Equal(t, "quarantine", c.api("GET", "/v1/campaigns/"+id+"/status", nil)["waiting"].(object)["reason"])
	c.api("POST", "/v1/campaigns/"+id+"/pause", nil)
	code, text, _ = c.tryRequest("POST", "/v1/webhooks/"+c.listData("/v1/webhooks")[0].(object)["id"].(string)+"/test", object{})
	assert.Equal(t, http.StatusServiceUnavailable, code, string(text))
	c.await("the due reminder in the quarantine list", time.Minute, func() bool {
		n := c.api("GET", "/v1/operator/quarantine", nil)["counts"].(object)
		return n["calls"] == 2.0 && n["bulks"] == 1.0 && n["reminders"] == 1.0
	})
	output, errs, err = c.runCommand("release", "--list")
	require.NoError(t, err, errs)
	assert.Contains(t, output, visit)
	assert.Len(t, s.listData("/v1/calls?status=in_progress"), 2, "the original keeps its calls")
	s.kill9()
	assert.Empty(t, s.receiver.deliveries(), "the copy sends no webhooks")
	assert.Zero(t, fromCopy.Load(), "the copy does not register")

	output, errs, err = c.runCommand("release")
	require.NoError(t, err, errs)
	assert.Contains(t, output, "The quarantine of the store has ended.")
	c.await("the restart of the service", time.Minute, func() bool {
		status, text, _, err := c.sendRequest("GET", "/readyz", nil)
		return err == nil && status == http.StatusOK && !strings.Contains(string(text), "quarantined")
	})
	c.await("a registration of the released copy", time.Minute, func() bool { return fromCopy.Load() > 0 })
	c.await("the events of the ended calls", time.Minute, func() bool { return len(s.receiver.events("call.ended")) == 2 })
	reminder := c.api("GET", "/v1/appointments/"+visit, nil)["reminders"].([]any)[0].(object)
	assert.Equal(t, []any{"failed", "restored"}, []any{reminder["status"], reminder["reason"]})
	assert.Equal(t, "cancelled", c.api("GET", "/v1/bulk/"+bulk, nil)["status"])
	c.api("POST", "/v1/campaigns/"+id+"/resume", nil)
	c.await("the call to the third contact", time.Minute, func() bool { return carrier.inviteCounts()["12025550153"] == 1 })
	assert.Equal(t, map[string]int{"12025550151": 1, "12025550152": 1, "12025550153": 1}, carrier.inviteCounts())
	for _, l := range carrier.logLines() {
		assert.False(t, l.Kind == "END" && l.Number != "12025550153", "the copy hangs up no call of the original: %v", l)
	}
}
