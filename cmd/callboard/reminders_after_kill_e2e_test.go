package main_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestRemindersAreSentOnceAcrossKills(t *testing.T) {
	t.Parallel()
	w := newShiftedClock(t)
	s := newService(t, w.env())
	s.key = s.testKey()
	agent := s.api("POST", "/v1/agents", object{"name": "reminds", "first_message": "{{name}}, you see {{provider}} on {{date}}."})["id"].(string)
	always := object{}
	for day := range strings.FieldsSeq("monday tuesday wednesday thursday friday saturday sunday") {
		always[day] = []object{{"start": "00:00", "end": "24:00"}}
	}
	s.api("POST", "/v1/providers", object{"name": "Dr. Rivera", "hours": always, "slot_minutes": 5, "reminder_hours": object{"start": "00:00", "end": "24:00"}})
	const patients = 30
	due := time.Now().UTC().Truncate(time.Minute).Add(2 * time.Hour)
	last := ""
	for i := range patients {
		minutes := 60 + 5*i
		reminder := object{"channel": "sms", "minutes_before": minutes}
		if i == 0 {
			reminder = object{"channel": "call", "minutes_before": minutes, "agent_id": agent}
		}
		last = s.api("POST", "/v1/appointments", object{
			"patient": object{"name": "Ada", "phone": fmt.Sprintf("+150055511%02d", i)}, "provider": "Dr. Rivera", "duration_minutes": 5,
			"datetime": due.Add(time.Duration(minutes) * time.Minute).Format(time.RFC3339), "reminders": []object{reminder},
		})["id"].(string)
	}
	countReminders := func() (n int) {
		for _, e := range s.committedEvents() {
			if e.Type == "appointment.reminder.sent" {
				n++
			}
		}
		return n
	}
	assert.Zero(t, countReminders(), "no reminder before it is due")
	w.setOffset(t, 2*time.Hour)
	s.await("the clock", 20*time.Second, func() bool {
		_, _, head, err := s.sendRequest("GET", "/healthz", nil)
		at, _ := time.Parse(time.RFC1123, head.Get("Date"))
		return err == nil && time.Until(at) > time.Hour
	})
	s.api("POST", "/v1/appointments/"+last+"/confirm", nil)
	s.await("the first reminder", 20*time.Second, func() bool { return countReminders() > 0 })
	s.kill9()
	s.start()
	s.key = s.testKey()
	s.await("every reminder", 30*time.Second, func() bool { return countReminders() >= patients })
	messages, at := 0, map[string]int{}
	for _, m := range s.listData("/v1/sms?direction=outbound&limit=100") {
		messages++
		at[m.(object)["to"].(string)]++
	}
	assert.Equal(t, patients-1, messages)
	assert.Len(t, at, patients-1, "each once")
	calls := s.listData("/v1/calls?limit=100")
	assert.Len(t, calls, 1)
	c := s.awaitCallEnd(calls[0].(object)["id"].(string), time.Minute)
	assert.Equal(t, "+15005551100", c["to"])
	assert.Equal(t, patients, countReminders())

	for field, body := range map[string]object{
		"reminders[0].channel":        {"channel": "pigeon", "minutes_before": 60},
		"reminders[0].agent_id":       {"channel": "call", "minutes_before": 60},
		"reminders[0].minutes_before": {"channel": "sms", "minutes_before": 1},
	} {
		code, text, _ := s.tryRequest("POST", "/v1/providers", object{"name": "Dr. Who", "reminders": []object{body}})
		assert.Equal(t, http.StatusUnprocessableEntity, code)
		assert.Contains(t, string(text), field)
	}
}
