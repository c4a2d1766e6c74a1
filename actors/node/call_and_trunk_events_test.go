package node_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/booking"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/service/appointments"
	"github.com/callboard/callboard/service/record"
)

// appointmentPathway returns a pathway that runs the given appointment actions one after another.
func appointmentPathway(acts ...domain.Node) domain.Pathway {
	w := domain.Pathway{Start: "hello", Nodes: []domain.Node{{ID: "hello", Type: domain.NodeSay, Prompt: "One moment."}}}
	last, when := "hello", domain.EdgeAlways
	for i, n := range acts {
		n.ID, n.Type = string(rune('a'+i)), domain.NodeAppointment
		w.Nodes = append(w.Nodes, n)
		w.Edges = append(w.Edges, domain.Edge{From: last, To: n.ID, When: domain.When{Type: when}})
		last, when = n.ID, domain.EdgeSuccess
	}
	w.Nodes = append(w.Nodes, domain.Node{ID: "end", Type: domain.NodeEnd, Notes: "all done"})
	w.Edges = append(w.Edges, domain.Edge{From: last, To: "end", When: domain.When{Type: when}})
	return w
}

// checkEventReferences checks that the filter fields (event.Attributes) of the selected events are equal to want, and
// returns the types of the events. If want.To is empty, every number is accepted.
func (h *fixture) checkEventReferences(which func(*event.Event) bool, want event.Attributes) (types []event.Type) {
	h.Helper()
	for _, e := range h.events(h.live.WorkspaceID) {
		if !which(&e) {
			continue
		}
		types = append(types, e.Type)
		got := event.AttributesOf(&e)
		if want.To == "" {
			assert.NotEmpty(h, got.To, e.Type)
			got.To = ""
		}
		assert.Equal(h, want, got, "%s: %s", e.Type, e.Data)
	}
	return types
}

func TestCallEndedEventContainsTheAppointmentBookedInTheCall(t *testing.T) {
	t.Parallel()
	h, _ := buildWithModels(t, nil)
	ctx, p := t.Context(), h.test
	_, err := h.services().Workspaces.UpdateWorkspace(ctx, h.live, func(w *domain.Workspace) error {
		w.Redaction.Patterns = []string{`\d{4}-\d{2}-\d{2}`} // redaction of the transcript must not change the action
		return nil
	})
	require.NoError(t, err)
	x := h.createProvider(p, "Dr. Rivera")
	zone, err := time.LoadLocation(x.Timezone)
	require.NoError(t, err)
	at := noonInDays(3)
	to := carrierNumber(0, 0, "00")
	stored := func(hours int) string {
		a, err := h.services().Appointments.Book(ctx, p, booking.NewAppointment{Patient: domain.Patient{Name: "Ada", Phone: to}, Provider: x.ID, Datetime: at.Add(time.Duration(hours) * time.Hour).Format(time.RFC3339), Type: "visit"})
		require.NoError(t, err)
		return a.ID
	}
	act := func(action string, arguments map[string]string) domain.Node {
		return domain.Node{Action: action, Arguments: arguments}
	}
	book := act("book", map[string]string{"provider": x.Name, "datetime": at.Format(time.RFC3339), "name": "Ada", "type": "visit"})
	older, another := stored(2), stored(3)

	ended := func(w domain.Pathway) map[string]any {
		id := h.placeCall(h.createAgent(p, w), to)
		assert.Equal(t, "all done", h.waitForCallEnd(id).Outcome.Notes)
		var data []map[string]any
		h.waitUntil(time.Minute, "the end is reported", func() bool { data = h.callPayloads(id, event.CallEnded); return len(data) == 1 })
		return data[0]["outcome"].(map[string]any)
	}
	changed := ended(appointmentPathway(
		act("confirm", map[string]string{"appointment_id": older}),
		act("reschedule", map[string]string{"appointment_id": older, "datetime": at.Add(5 * time.Hour).Format(time.RFC3339)}),
		act("cancel", map[string]string{"appointment_id": older}),
	))
	assert.Equal(t, false, changed["appointment_booked"], "the appointment existed before the call")
	for _, name := range []string{"appointment_id", "appointment_date", "appointment_time"} {
		assert.NotContains(t, changed, name)
	}
	created := ended(appointmentPathway(book, act("cancel", map[string]string{"appointment_id": another})))
	stands, err := h.services().Appointments.ListAppointments(ctx, p, appointments.Query{PageQuery: record.PageQuery{Limit: 10}, Status: domain.AppointmentBooked})
	require.NoError(t, err)
	require.Len(t, stands.Data, 1)
	local := at.In(zone)
	assert.Equal(t, []any{true, stands.Data[0].ID, local.Format(time.DateOnly), local.Format("15:04")},
		[]any{created["appointment_booked"], created["appointment_id"], created["appointment_date"], created["appointment_time"]})
}

func TestCallEventsReportCallerIntentAndTransfer(t *testing.T) {
	t.Parallel()
	h, _ := buildWithModels(t, nil)
	ctx := t.Context()
	stored, err := h.services().Pathways.CreatePathway(ctx, h.test, &domain.Pathway{
		Name: "order", Start: "ask",
		Nodes: []domain.Node{
			{ID: "ask", Type: domain.NodeCollect, Input: "speech", Prompt: "What can I do?", TimeoutSeconds: 5, Retries: 10},
			{ID: "hand", Type: domain.NodeTransfer, Destination: "sales", Mode: domain.TransferBridge, Summary: "Asks for an order."},
			{ID: "end", Type: domain.NodeEnd},
		},
		Edges: []domain.Edge{
			{From: "ask", To: "hand", When: domain.When{Type: domain.EdgeIntent, Intent: "order", Words: []string{"order seven"}}},
			{From: "ask", To: "end", When: domain.When{Type: domain.EdgeElse}},
			{From: "hand", To: "end", When: domain.When{Type: domain.EdgeElse}},
		},
	})
	require.NoError(t, err)
	agent, err := h.services().Agents.CreateAgent(ctx, h.test, &domain.Agent{
		Name: "desk", PathwayID: stored.ID, Language: "en-US", Timezone: "UTC",
		Transfer: domain.AgentTransfer{Destinations: []domain.Destination{{Name: "sales", To: carrierNumber(0, 1, "14")}}},
	})
	require.NoError(t, err)
	placed, err := h.services().Calls.PlaceCall(ctx, h.test, domain.NewCall{To: "+15005550007", AgentID: agent.ID, RingTimeout: 20 * time.Second, MaxDuration: time.Minute, Record: true})
	require.NoError(t, err)
	id := placed.ID
	h.waitForCallEnd(id)
	h.waitUntil(time.Minute, "the recording event is delivered", func() bool { return len(h.callPayloads(id, event.CallRecordingReady)) == 1 })
	kinds := h.checkEventReferences(func(e *event.Event) bool { return e.Subject == id }, event.Attributes{AgentID: agent.ID, Direction: domain.Outbound, From: placed.From, To: "+15005550007"})
	assert.Subset(t, kinds, []event.Type{
		event.AgentIntentDetected, event.AgentEscalation, event.AgentActionTriggered, event.CallTransferred, event.CallEnded,
		event.CallTranscriptReady, event.CallRecordingReady,
	})
	want := h.callPayloads(id, event.AgentIntentDetected)
	require.Len(t, want, 1)
	assert.Equal(t, []any{id, agent.ID, "order", 0.9, map[string]any{"number": "7"}},
		[]any{want[0]["call_id"], want[0]["agent_id"], want[0]["intent"], want[0]["confidence"], want[0]["entities"]})
	assert.Equal(t, []map[string]any{{"call_id": id, "agent_id": agent.ID, "reason": "pathway", "destination": "sales", "summary": "Asks for an order."}},
		h.callPayloads(id, event.AgentEscalation))
}

func TestBadTrunkQualityEmitsSystemDegradedEvent(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx := t.Context()
	all, err := h.services().Trunks.ListTrunks(ctx, h.live, record.PageQuery{Limit: 10})
	require.NoError(t, err)
	require.Len(t, all.Data, 1)
	trunk, err := h.services().Trunks.UpdateTrunk(ctx, h.live, all.Data[0].ID, func(x *domain.Trunk) error {
		x.Alarms = domain.TrunkAlarms{MinASR: 0.9, MinCalls: 2}
		return nil
	})
	require.NoError(t, err)
	agent := h.createAgent(h.live, keyMenuPathway())
	id := h.createCampaign(h.live, agent, carrierNumber(0, 0, "14"), carrierNumber(0, 1, "14"))
	_, err = h.services().Campaigns.StartCampaign(ctx, h.live, id)
	require.NoError(t, err)
	var reported map[string]any
	h.waitUntil(time.Minute, "the trunk alarm event is delivered", func() bool {
		for _, e := range h.events(h.live.WorkspaceID) {
			if e.Type == event.SystemDegraded && e.Subject == trunk.ID {
				require.NoError(t, json.Unmarshal(e.Data, &reported))
			}
		}
		return reported != nil
	})
	h.waitForCampaignEnd(h.live, id)
	calls := h.checkEventReferences(func(e *event.Event) bool { return e.Type == event.CampaignCallCompleted },
		event.Attributes{AgentID: agent, CampaignID: id, Direction: domain.Outbound, From: "+15005550100"})
	assert.NotEmpty(t, calls)
	assert.Equal(t, []any{trunk.ID, trunk.Name, "asr", 0.0, 0.9, 2.0, false},
		[]any{reported["trunk_id"], reported["trunk_name"], reported["measure"], reported["value"], reported["bound"], reported["calls"], reported["recovered"]})
}
