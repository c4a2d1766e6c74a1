package node_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/booking"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/service/appointments"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/sms"
)

// createProvider creates an appointment provider whose opening hours cover every hour of the week.
func (h *fixture) createProvider(p domain.Principal, name string) *domain.Provider {
	h.Helper()
	x := &domain.Provider{Name: name, Timezone: "America/New_York", Hours: map[string][]domain.OpenSpan{}}
	for _, d := range []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"} {
		x.Hours[d] = []domain.OpenSpan{{Start: "00:00", End: "24:00"}}
	}
	booking.SetProviderDefaults(x)
	created, err := h.services().Appointments.CreateProvider(h.Context(), p, x)
	require.NoError(h, err)
	return created
}

// noonInDays returns noon UTC in n days.
func noonInDays(n int) time.Time {
	return time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, n).Add(12 * time.Hour)
}

func appointmentOrder(provider string, at time.Time, minutes int) booking.NewAppointment {
	return booking.NewAppointment{
		Patient: domain.Patient{Name: "Ada", Phone: "+12025550123"}, Provider: provider, Datetime: at.Format(time.RFC3339), Minutes: minutes, Type: "consultation",
	}
}

// runConcurrently runs f n times concurrently and counts the returned error codes. The code "" means success.
func (h *fixture) runConcurrently(n int, f func(i int) error) map[domain.Code]int {
	out := make(map[domain.Code]int)
	var mu sync.Mutex
	var wait sync.WaitGroup
	for i := range n {
		wait.Go(func() {
			err := f(i)
			mu.Lock()
			defer mu.Unlock()
			out[domain.CodeOf(err)]++
		})
	}
	wait.Wait()
	return out
}

func TestConcurrentBookingsOfOneSlotSucceedOnce(t *testing.T) {
	h := newFixture(t, nil)
	ctx, d, p := h.Context(), h.services(), h.live
	x := h.createProvider(p, "Dr. Rivera")
	_, err := d.Appointments.CreateProvider(ctx, p, &domain.Provider{Name: "dr.  RIVERA"})
	assert.Equal(t, domain.CodeAlreadyExists, domain.CodeOf(err))
	at := noonInDays(3)

	got := h.runConcurrently(50, func(i int) error { // overlapping times
		_, err := d.Appointments.Book(ctx, p, appointmentOrder("dr. rivera", at.Add(time.Duration(i%5)*5*time.Minute), 30))
		return err
	})
	assert.Equal(t, map[domain.Code]int{"": 1, domain.CodeSlotUnavailable: 49}, got)

	got = h.runConcurrently(40, func(i int) error { // times over midnight UTC: each spans two days and overlaps the next but one
		start := noonInDays(5).Add(11*time.Hour + 40*time.Minute)
		_, err := d.Appointments.Book(ctx, p, appointmentOrder(x.ID, start.AddDate(0, 0, i%4), 45))
		return err
	})
	assert.Equal(t, map[domain.Code]int{"": 4, domain.CodeSlotUnavailable: 36}, got)

	l, err := d.Appointments.ListAppointments(ctx, p, appointments.Query{PageQuery: record.PageQuery{Limit: 100}, Provider: x.ID})
	require.NoError(t, err)
	require.Len(t, l.Data, 5)
	for i, a := range l.Data {
		for _, b := range l.Data[i+1:] {
			assert.False(t, a.Datetime.Before(b.EndsAt) && b.Datetime.Before(a.EndsAt), "%s and %s", a.Datetime, b.Datetime)
		}
	}

	free, err := d.Appointments.Book(ctx, p, appointmentOrder(x.ID, at.Add(2*time.Hour), 30))
	require.NoError(t, err)
	other, err := d.Appointments.Book(ctx, p, appointmentOrder(x.ID, at.Add(3*time.Hour), 30))
	require.NoError(t, err)
	target := at.Add(5 * time.Hour).Format(time.RFC3339)
	got = h.runConcurrently(20, func(i int) error { // reschedules to one time, concurrent with cancellations
		id := free.ID
		if i%2 == 0 {
			id = other.ID
		}
		_, err := d.Appointments.RescheduleAppointment(ctx, p, id, booking.Reschedule{Datetime: target})
		return err
	})
	assert.Equal(t, map[domain.Code]int{"": 10, domain.CodeSlotUnavailable: 10}, got, "one appointment has the slot, and a repeated reschedule changes nothing")
	got = h.runConcurrently(10, func(int) error { _, err := d.Appointments.CancelAppointment(ctx, p, free.ID, "ill"); return err })
	assert.Equal(t, map[domain.Code]int{"": 10}, got)
	_, err = d.Appointments.CancelAppointment(ctx, p, other.ID, "ill")
	require.NoError(t, err)
	_, err = d.Appointments.Book(ctx, p, appointmentOrder(x.ID, at.Add(5*time.Hour), 30))
	require.NoError(t, err, "a cancelled slot can be booked again")
	reported := countEvents(h.events(p.WorkspaceID), event.AppointmentCancelled)
	assert.Equal(t, map[string]int{free.ID: 1, other.ID: 1}, reported)

	err = d.Appointments.DeleteProvider(ctx, p, x.ID)
	assert.Equal(t, domain.CodeInvalidState, domain.CodeOf(err), "the provider has an appointment")
}

func TestAppointmentLifecycleAndItsEvents(t *testing.T) {
	h := newFixture(t, nil)
	ctx, d, p := h.Context(), h.services(), h.live
	x := h.createProvider(p, "Dr. Rivera")
	at := noonInDays(2)
	a, err := d.Appointments.Book(ctx, p, appointmentOrder(x.ID, at, 0))
	require.NoError(t, err)
	assert.Equal(t, []any{domain.AppointmentBooked, 30, "America/New_York", at.Add(30 * time.Minute)}, []any{a.Status, a.DurationMinutes, a.Timezone, a.EndsAt})
	zone, err := time.LoadLocation("America/New_York")
	require.NoError(t, err)
	assert.Equal(t, at.In(zone).Format(domain.LocalTimeFormat), a.LocalDatetime)

	_, err = d.Appointments.Book(ctx, p, appointmentOrder(x.ID, at.Add(10*time.Minute), 0))
	var refused *domain.Error
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, "booked", refused.Extra["reason"])
	assert.Equal(t, []string{at.Add(30 * time.Minute).Format(domain.TimeFormat), at.Add(60 * time.Minute).Format(domain.TimeFormat), at.Add(90 * time.Minute).Format(domain.TimeFormat)}, refused.Extra["next_available"])
	open, err := d.Appointments.Availability(ctx, p, booking.AvailabilityQuery{Provider: "dr. rivera", From: at.Format(time.RFC3339), To: at.Add(2 * time.Hour).Format(time.RFC3339), Limit: 2})
	require.NoError(t, err)
	assert.True(t, open.HasMore)
	assert.Equal(t, []time.Time{at.Add(30 * time.Minute), at.Add(time.Hour)}, []time.Time{open.Slots[0].Start, open.Slots[1].Start})
	last := time.Now().Add(2 * 366 * 24 * time.Hour) // the latest time that can be booked
	open, err = d.Appointments.Availability(ctx, p, booking.AvailabilityQuery{Provider: x.ID, From: last.Add(-2 * time.Hour).Format(time.RFC3339), To: last.Add(48 * time.Hour).Format(time.RFC3339), Limit: 500})
	require.NoError(t, err)
	require.NotEmpty(t, open.Slots)
	for _, s := range open.Slots {
		assert.True(t, s.Start.Before(last.Add(time.Minute)), "%s cannot be booked", s.Start)
	}
	open, err = d.Appointments.Availability(ctx, p, booking.AvailabilityQuery{Provider: x.ID, From: last.Add(24 * time.Hour).Format(time.RFC3339), Limit: 500})
	require.NoError(t, err)
	assert.Empty(t, open.Slots)

	for range 2 {
		a, err = d.Appointments.ConfirmAppointment(ctx, p, a.ID)
		require.NoError(t, err)
		assert.Equal(t, domain.AppointmentConfirmed, a.Status)
	}
	_, err = d.Appointments.UpdateAppointment(ctx, p, a.ID, func(a *domain.Appointment) error { a.Status = domain.AppointmentNoShow; return nil })
	assert.Equal(t, domain.CodeInvalidState, domain.CodeOf(err), "the appointment has not started")
	a, err = d.Appointments.UpdateAppointment(ctx, p, a.ID, func(a *domain.Appointment) error { a.Notes = "Bring the letter."; return nil })
	require.NoError(t, err)
	a, err = d.Appointments.RescheduleAppointment(ctx, p, a.ID, booking.Reschedule{Datetime: at.AddDate(0, 0, 1).Format(time.RFC3339), Minutes: 60})
	require.NoError(t, err)
	assert.Equal(t, []any{domain.AppointmentBooked, 1, 60, "Bring the letter."}, []any{a.Status, a.Moves, a.DurationMinutes, a.Notes}, "the new time is not confirmed")
	for range 2 {
		a, err = d.Appointments.CancelAppointment(ctx, p, a.ID, "away")
		require.NoError(t, err)
	}
	_, err = d.Appointments.ConfirmAppointment(ctx, p, a.ID)
	assert.Equal(t, domain.CodeInvalidState, domain.CodeOf(err))

	var types []event.Type
	for _, e := range h.events(p.WorkspaceID) {
		if e.Subject == a.ID {
			types = append(types, e.Type)
			assert.Equal(t, uint64(len(types)), e.Sequence)
			if e.Type == event.AppointmentRescheduled {
				assert.Contains(t, string(e.Data), `"previous":{"confirmed_at":"20`)
				assert.Contains(t, string(e.Data), `"duration_minutes":30`)
			}
		}
	}
	assert.Equal(t, []event.Type{
		event.AppointmentCreated, event.AppointmentConfirmed, event.AppointmentUpdated, event.AppointmentRescheduled, event.AppointmentCancelled,
	}, types, "once each, whatever is repeated")

	for _, q := range []appointments.Query{
		{Status: domain.AppointmentCancelled}, {Provider: x.Name}, {Phone: "+12025550123"}, {From: at, To: at.AddDate(0, 0, 2)},
	} {
		q.Limit = 10
		l, err := d.Appointments.ListAppointments(ctx, p, q)
		require.NoError(t, err)
		assert.Len(t, l.Data, 1, "%+v", q)
	}
	stranger := h.test
	_, err = d.Appointments.Appointment(ctx, stranger, a.ID)
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
	_, err = d.Appointments.Book(ctx, stranger, appointmentOrder(x.ID, at, 0))
	assert.Equal(t, domain.CodeValidation, domain.CodeOf(err))
	require.NoError(t, d.Appointments.DeleteAppointment(ctx, p, a.ID))
	require.NoError(t, d.Appointments.DeleteProvider(ctx, p, x.ID))
	_, err = d.Appointments.Appointment(ctx, p, a.ID)
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
}

// waitForMessages waits until every SMS message of the workspace has its final status and returns the messages.
func (h *fixture) waitForMessages(p domain.Principal) map[string]*domain.Message {
	h.Helper()
	out := make(map[string]*domain.Message)
	h.waitUntil(10*time.Second, "all messages are final", func() bool {
		l, err := h.services().SMS.ListMessages(context.Background(), p, sms.MessageQuery{PageQuery: record.PageQuery{Limit: 100}})
		require.NoError(h, err)
		clear(out)
		for _, m := range l.Data {
			if m.Todo != "" {
				return false
			}
			out[m.ID] = m
		}
		return true
	})
	return out
}

func TestTestMessageResultDependsOnTheTestNumber(t *testing.T) {
	h := newFixture(t, nil)
	ctx, d, p := h.Context(), h.services(), h.test
	_, err := d.SMS.SendMessage(ctx, h.live, domain.NewMessage{To: "+12025550123", Body: "Hello."})
	assert.Equal(t, domain.CodeNoSMSRoute, domain.CodeOf(err))
	_, err = d.SMS.SendMessage(ctx, p, domain.NewMessage{To: "911", Body: "Help."})
	assert.Equal(t, domain.CodeDestinationNotAllowed, domain.CodeOf(err))
	_, err = d.SMS.SendMessage(ctx, p, domain.NewMessage{To: "+15005550000", Body: "Hello {{who}}."})
	assert.Equal(t, domain.CodeValidation, domain.CodeOf(err))

	sent := make(map[string]string)
	for _, last := range []string{"0000", "0001", "0002", "0003", "0004", "0005", "0006", "0007", "0008", "0009"} {
		m, err := d.SMS.SendMessage(ctx, p, domain.NewMessage{To: "+1500555" + last, Body: "Hello {{who | you}}.", Context: domain.Context{"who": "Ada"}})
		require.NoError(t, err)
		assert.Equal(t, []any{domain.MessageQueued, "Hello Ada.", 1, domain.GSM7}, []any{m.Status, m.Body, m.Segments, m.Encoding})
		sent[last] = m.ID
	}
	all := h.waitForMessages(p)
	got := make(map[string]string)
	for last, id := range sent {
		got[last] = string(all[id].Status) + " " + all[id].ErrorCode
		assert.Equal(t, all[id].Status == domain.MessageDelivered, all[id].DeliveredAt != nil)
	}
	assert.Equal(t, map[string]string{
		"0000": "delivered ", "0001": "undelivered phone_off", "0002": "sent ", "0003": "delivered ", "0004": "delivered ",
		"0005": "failed invalid_number", "0006": "failed trunk_error", "0007": "delivered ", "0008": "undelivered landline", "0009": "delivered ",
	}, got)
	events := h.events(p.WorkspaceID)
	assert.Len(t, countEvents(events, event.SMSSent), 8+1, "and the notice")
	assert.Len(t, countEvents(events, event.SMSDelivered), 5+1)
	assert.Len(t, countEvents(events, event.SMSFailed), 4)
	assert.Len(t, countEvents(events, event.SMSReceived), 2)

	var reply, notice *domain.Message
	for _, m := range all {
		switch {
		case m.OptOut:
			reply = m
		case m.Notice:
			notice = m
		}
	}
	assert.Equal(t, []any{"STOP", "+15005550007", sent["0007"], domain.MessageReceived}, []any{reply.Body, reply.From, reply.ReplyTo, reply.Status})
	assert.Equal(t, []any{"+15005550007", reply.ID, domain.MessageDelivered}, []any{notice.To, notice.ReplyTo, notice.Status})
	assert.Equal(t, map[string]int{reply.ID: 1}, countEvents(events, event.ContactOptedOut))
	for i, own := range []string{"+12025550171", "+12025550172"} { // only the second number may be used for messages
		_, err = d.Numbers.CreateNumber(ctx, p, &domain.PhoneNumber{Number: own, AgentID: h.createAgent(p, keyMenuPathway()), SMSEnabled: i == 1})
		require.NoError(t, err)
	}
	m, err := d.SMS.SendMessage(ctx, p, domain.NewMessage{To: "+15005550000", Body: "Hello."})
	require.NoError(t, err)
	assert.Equal(t, "+12025550172", m.From)
	_, err = d.SMS.SendMessage(ctx, p, domain.NewMessage{To: "+15005550007", Body: "Please."})
	assert.Equal(t, domain.CodeOptedOut, domain.CodeOf(err))
	_, err = d.Calls.PlaceCall(ctx, p, domain.NewCall{To: "+15005550007", AgentID: h.createAgent(p, keyMenuPathway()), RingTimeout: time.Second, MaxDuration: time.Second})
	assert.Equal(t, domain.CodeDNCBlocked, domain.CodeOf(err), "the number is not called either")
	found, err := d.DNC.CheckDNC(ctx, p, "+15005550007")
	require.NoError(t, err)
	assert.Equal(t, []any{true, reply.ID, ""}, []any{found.Listed, found.Lists[0].MessageID, found.Lists[0].CallID})

	for range 3 { // a repeated opt-out gets no further notice
		_, err = d.SMS.TestInboundMessage(ctx, p, sms.InboundMessage{From: "+15005550007", To: "+15005550100", Body: " stop "})
		require.NoError(t, err)
	}
	h.runConcurrently(10, func(int) error { // ten concurrent opt-outs of another sender
		_, err := d.SMS.TestInboundMessage(ctx, p, sms.InboundMessage{From: "+12025550177", To: "+15005550100", Body: "Stop."})
		return err
	})
	h.waitForMessages(p)
	l, err := d.SMS.ListMessages(ctx, p, sms.MessageQuery{PageQuery: record.PageQuery{Limit: 100}, To: "+12025550177"})
	require.NoError(t, err)
	assert.Len(t, l.Data, 1, "one notice is sent")
	assert.Len(t, countEvents(h.events(p.WorkspaceID), event.ContactOptedOut), 2)

	h.shutdown()
	h.start()
	_, err = h.services().SMS.SendMessage(ctx, h.test, domain.NewMessage{To: "+12025550177", Body: "Please."})
	assert.Equal(t, domain.CodeOptedOut, domain.CodeOf(err))
	again, err := h.services().SMS.Message(ctx, h.test, sent["0000"])
	require.NoError(t, err)
	assert.Equal(t, "Hello Ada.", again.Body)
	require.NoError(t, h.services().SMS.DeleteMessage(ctx, h.test, again.ID))
	_, err = h.services().SMS.Message(ctx, h.test, again.ID)
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
}

func TestKnowledgeBaseReadsSourcesAndFindsWords(t *testing.T) {
	h := newFixture(t, nil)
	ctx, d, p := h.Context(), h.services(), h.live
	k, err := d.Knowledge.CreateKnowledge(ctx, p, &domain.KnowledgeBase{Name: "desk"}, []domain.NewKnowledgeSource{
		{Type: domain.SourceText, Text: "Parking is behind the house.", ContentType: "text/plain"},
		{Type: domain.SourceFile, Name: "faq.md", ContentType: "text/markdown", Text: "# Hours\n\nWe open at nine on Mondays.\n\n# Prices\n\nA visit costs forty dollars."},
		{Type: domain.SourceFile, Name: "a.html", ContentType: "text/html", Text: "<title>Staff</title><script>parking()</script><h2>Doctors</h2><p>Dr.&nbsp;Rivera sees children.</p>"},
		{Type: domain.SourceFile, Name: "b.html", ContentType: "text/html", Text: "<script>nothing()</script>"},
		{Type: domain.SourceURL, URL: h.receiver.url + "/nothing"},
	})
	require.NoError(t, err)
	assert.Equal(t, domain.KnowledgeProcessing, k.Status)
	h.waitUntil(10*time.Second, "all sources are read", func() bool {
		k, err = d.Knowledge.KnowledgeBase(ctx, p, k.ID)
		require.NoError(t, err)
		return k.Status != domain.KnowledgeProcessing
	})
	assert.Equal(t, []any{domain.KnowledgeReady, 5, 4}, []any{k.Status, k.Sources, k.Passages})
	l, err := d.Knowledge.ListSources(ctx, p, k.ID, record.PageQuery{Limit: 10})
	require.NoError(t, err)
	states := make(map[string]string)
	for _, s := range l.Data {
		states[s.Name] = string(s.Status) + " " + s.Error
		assert.Empty(t, s.Raw)
	}
	assert.Equal(t, "failed the source contains no words", states["b.html"])
	assert.Equal(t, "ready ", states["a.html"])

	find := func(q string) (out []string) {
		got, err := d.Knowledge.SearchKnowledge(ctx, p, k.ID, q, 2)
		require.NoError(t, err)
		for _, hit := range got.Data {
			out = append(out, hit.Heading+"|"+hit.Text)
		}
		return out
	}
	assert.Equal(t, []string{"Hours|We open at nine on Mondays."}, find("When do you OPEN? hours"))
	assert.Equal(t, []string{"Doctors|Dr. Rivera sees children."}, find("child children"))
	assert.Equal(t, []string{"|Parking is behind the house."}, find("parking"))
	assert.Empty(t, find("submarine"))

	_, err = d.Knowledge.AddSource(ctx, p, k.ID, domain.NewKnowledgeSource{Type: domain.SourceURL, URL: "https://10.0.0.1/secret"})
	assert.Equal(t, domain.CodeInvalidURL, domain.CodeOf(err), "no way inside")
	for _, s := range l.Data {
		if s.Name == "text" {
			require.NoError(t, d.Knowledge.DeleteSource(ctx, p, k.ID, s.ID))
		}
	}
	assert.Empty(t, find("parking"))
	require.NoError(t, d.Knowledge.DeleteKnowledge(ctx, p, k.ID))
	_, err = d.Knowledge.SearchKnowledge(ctx, p, k.ID, "hours", 1)
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
	rows := 0
	require.NoError(t, h.store.Under(ctx, domain.Key{Kind: "knowledge_passage", Workspace: p.WorkspaceID}, "", 100, func() domain.Record { return &domain.KnowledgePassage{} },
		func(domain.Record) error { rows++; return nil }))
	assert.Zero(t, rows, "no row of the knowledge base remains")
}
