package node_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/booking"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/service/sms"
)

// makeRemindersDue changes the stored reminders of appointments so that they are due now.
func (h *fixture) makeRemindersDue(all ...*domain.Appointment) {
	h.Helper()
	for _, a := range all {
		row := &domain.Appointment{Meta: domain.Meta{ID: a.ID, WorkspaceID: a.WorkspaceID}}
		_, err := h.store.Get(h.Context(), row)
		require.NoError(h, err)
		now := time.Now().UTC()
		for i := range row.Reminders {
			row.Reminders[i].DueAt = now
		}
		c := commit.Change{Workspace: a.WorkspaceID, Puts: []domain.Record{row}}
		if _, scheduled := row.NextReminder(); scheduled {
			c.Puts = append(c.Puts, &domain.ReminderDue{WorkspaceID: a.WorkspaceID, AppointmentID: a.ID, At: now})
		}
		_, err = h.store.Apply(h.Context(), c)
		require.NoError(h, err)
	}
}

func hourBefore(body string) *[]domain.Reminder {
	return &[]domain.Reminder{{Channel: domain.RemindSMS, MinutesBefore: 60, Body: body}}
}

func TestAppointmentReminderIsSentOnceWithAnEvent(t *testing.T) {
	h := newFixture(t, nil)
	ctx, d, p := h.Context(), h.services(), h.test
	x := h.createProvider(p, "Dr. Rivera")
	_, err := d.Appointments.UpdateProvider(ctx, p, x.ID, func(x *domain.Provider) error {
		x.ReminderHours = &domain.ReminderHours{Start: "00:00", End: "24:00"}
		x.Reminders = *hourBefore("{{patient_name}} sees {{provider}}.")
		return nil
	})
	require.NoError(t, err)
	book := func(at time.Time, phone string, more *[]domain.Reminder) *domain.Appointment {
		o := appointmentOrder(x.ID, at, 5)
		o.Patient.Phone, o.Reminders = phone, more
		a, err := d.Appointments.Book(ctx, p, o)
		require.NoError(t, err)
		return a
	}
	at := time.Now().UTC().Truncate(time.Minute).Add(2 * time.Hour)
	reminded := book(at, "+15005550000", nil)
	none := book(at.Add(5*time.Minute), "+15005550000", &[]domain.Reminder{})
	cancelled := book(at.Add(10*time.Minute), "+15005550000", hourBefore(""))
	moved := book(at.Add(15*time.Minute), "+15005550000", hourBefore(""))
	opted := book(at.Add(20*time.Minute), "+15005550007", hourBefore(""))
	agent := h.createAgent(p, keyMenuPathway())
	called := book(at.Add(30*time.Minute), "+15005550000", &[]domain.Reminder{{Channel: domain.RemindCall, MinutesBefore: 60, AgentID: agent}})
	past := book(at.Add(25*time.Minute), "+15005550000", &[]domain.Reminder{{Channel: domain.RemindSMS, MinutesBefore: 1440}})
	_, err = d.SMS.TestInboundMessage(ctx, p, sms.InboundMessage{From: "+15005550007", To: "+15005550100", Body: "STOP"})
	require.NoError(t, err)
	deleted, err := d.Appointments.CancelAppointment(ctx, p, cancelled.ID, "ill")
	require.NoError(t, err)
	assert.Equal(t, domain.ReminderCancelled, deleted.Reminders[0].Status, "reminders are cancelled with the appointment")
	_, err = d.Appointments.RescheduleAppointment(ctx, p, moved.ID, booking.Reschedule{Datetime: at.Add(26 * time.Hour).Format(time.RFC3339)})
	require.NoError(t, err)
	h.makeRemindersDue(reminded, cancelled, opted, called)
	_, err = d.Appointments.ConfirmAppointment(ctx, p, none.ID) // confirming makes the service check the reminders
	require.NoError(t, err)

	read := func(a *domain.Appointment) []domain.AppointmentReminder {
		now, err := d.Appointments.Appointment(ctx, p, a.ID)
		require.NoError(t, err)
		return now.Reminders
	}
	require.Eventually(t, func() bool {
		return read(reminded)[0].Status == domain.ReminderSent && read(opted)[0].Status != domain.ReminderScheduled &&
			read(called)[0].Status == domain.ReminderSent
	}, 20*time.Second, 10*time.Millisecond)
	r := read(reminded)[0]
	m, err := d.SMS.Message(ctx, p, r.MessageID)
	require.NoError(t, err)
	assert.Equal(t, []any{"Ada sees Dr. Rivera.", "+15005550000", reminded.ID}, []any{m.Body, m.To, m.Metadata["appointment_id"]})
	assert.False(t, r.SentAt.Before(r.DueAt), "a reminder is not sent early")
	assert.Empty(t, read(none))
	assert.Equal(t, domain.ReminderCancelled, read(cancelled)[0].Status)
	assert.Equal(t, domain.ReminderScheduled, read(moved)[0].Status)
	assert.Equal(t, []any{domain.ReminderFailed, domain.CodeOptedOut}, []any{read(opted)[0].Status, read(opted)[0].Reason})
	assert.Equal(t, []any{domain.ReminderSkipped, domain.Code("too_late")}, []any{read(past)[0].Status, read(past)[0].Reason})
	h.waitUntil(20*time.Second, "the call has ended", func() bool { return h.getCall(p, read(called)[0].CallID).Final() })
	assert.NotNil(t, h.getCall(p, read(called)[0].CallID).AnsweredAt, "the reminder call used a permit of its environment")
	var reported []event.AppointmentData
	for _, e := range h.events(p.WorkspaceID) {
		if e.Type == event.AppointmentReminder {
			var data event.AppointmentData
			require.NoError(t, json.Unmarshal(e.Data, &data))
			if data.Channel == domain.RemindSMS {
				reported = append(reported, data)
			}
		}
	}
	require.Len(t, reported, 1)
	assert.Equal(t, []string{reminded.ID, "sms", m.ID}, []string{reported[0].AppointmentID, reported[0].Channel, reported[0].MessageID})

	_, err = d.Appointments.Book(ctx, p, booking.NewAppointment{Patient: reminded.Patient, Provider: x.ID, Datetime: at.Add(time.Hour).Format(time.RFC3339), Reminders: hourBefore("{{dr}}")})
	var refused *domain.Error
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, "reminders[0].body", refused.Param)
}

func TestAppointmentReminderWaitsUntilItCanBeSent(t *testing.T) {
	h := newFixture(t, nil)
	ctx, d, p := h.Context(), h.services(), h.test
	_, err := d.Workspaces.UpdateWorkspace(ctx, h.live, func(w *domain.Workspace) error {
		w.FrequencyCaps.PerNumberPerDay = 1
		return nil
	})
	require.NoError(t, err)
	x := h.createProvider(p, "Dr. Rivera")
	_, err = d.Appointments.UpdateProvider(ctx, p, x.ID, func(x *domain.Provider) error {
		x.ReminderHours = &domain.ReminderHours{Start: "00:00", End: "24:00"}
		return nil
	})
	require.NoError(t, err)
	agent := h.createAgent(p, keyMenuPathway())
	at := time.Now().UTC().Truncate(time.Minute).Add(2 * time.Hour)
	var all []*domain.Appointment
	for i := range 2 {
		o := appointmentOrder(x.ID, at.Add(time.Duration(i)*5*time.Minute), 5)
		o.Patient.Phone = "+15005550000"
		o.Reminders = &[]domain.Reminder{{Channel: domain.RemindCall, MinutesBefore: 60, AgentID: agent}, {Channel: domain.RemindSMS, MinutesBefore: 60}}
		a, err := d.Appointments.Book(ctx, p, o)
		require.NoError(t, err)
		all = append(all, a)
	}
	h.makeRemindersDue(all...)
	_, err = d.Appointments.ConfirmAppointment(ctx, p, all[0].ID) // confirming makes the service check the reminders
	require.NoError(t, err)
	states := func() (n map[string]int) {
		n = map[string]int{}
		for _, a := range all {
			now, err := d.Appointments.Appointment(ctx, p, a.ID)
			require.NoError(t, err)
			for _, r := range now.Reminders {
				n[r.Channel+" "+string(r.Status)]++
			}
		}
		return n
	}
	h.waitUntil(20*time.Second, "all reminders except one are sent", func() bool { n := states(); return n["sms sent"] == 2 && n["call scheduled"] < 2 })
	assert.Equal(t, map[string]int{"call sent": 1, "call scheduled": 1, "sms sent": 2}, states(), "the daily cap holds one call and no other reminder")
}
