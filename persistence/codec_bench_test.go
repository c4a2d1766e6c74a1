package persistence

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/webhook"
)

// BenchmarkRows measures the encoding and decoding of the database rows and events of one call.
func BenchmarkRows(b *testing.B) {
	at := time.Date(2030, 1, 2, 3, 4, 5, 678912345, time.UTC)
	const ws, id = "ws_01J00000000000000000000000", "call_01J00000000000000000000000"
	call := &domain.Call{
		Meta:      domain.Meta{ID: id, Object: "call", WorkspaceID: ws, Environment: domain.Live, CreatedAt: at, UpdatedAt: at},
		Direction: domain.Outbound, From: "+12025550177", To: "+12025550123", AgentID: "agent_01J00000000000000000000000", AgentVersion: 2,
		PathwayID: "pathway_01J00000000000000000000000", CampaignID: "campaign_01J00000000000000000000000", Status: domain.CallCompleted,
		Disposition: "completed", EndedReason: domain.ReasonRemoteHangup, EndedBy: "remote", Attempt: 1, StartedAt: &at, RingingAt: &at, AnsweredAt: &at, EndedAt: &at,
		Legs:    []domain.Leg{{TrunkID: "trunk_01J00000000000000000000000", Target: "127.0.0.1:30406", SIPCallID: "1-22962@127.0.0.1", Code: 200, Reason: "OK", Codec: "PCMU/8000", StartedAt: at, EndedAt: &at}},
		Outcome: &domain.CallOutcome{Result: domain.OutcomeCompleted}, Variables: map[string]string{"name": "Ada"}, Record: true, TranscriptAvailable: true,
		TranscriptURL: "http://127.0.0.1:32116/v1/calls/" + id + "/transcript", Quality: &domain.Quality{Codec: "PCMU/8000", MOS: 4.4, JitterMs: 1.25, PacketsSent: 1500, PacketsReceived: 1500},
	}
	attempt := &domain.Attempt{
		ID: id, WorkspaceID: ws, Environment: domain.Live, CallID: id, Number: 1, Direction: domain.Outbound, Boot: "boot_01J00000000000000000000000", OpenedAt: at,
		Legs:  []domain.AttemptLeg{{Number: 1, TrunkID: "trunk_01J00000000000000000000000", SIPCallID: "1-22962@127.0.0.1", Dialog: []byte(`{"call_id":"1-22962@127.0.0.1","local_tag":"` + strings.Repeat("a", 300) + `"}`)}},
		Trace: []byte(strings.Repeat("Via: SIP/2.0/UDP 127.0.0.1:30406;branch=z9hG4bK-22962-1-0\r\n", 30)),
	}
	campaign := &domain.Campaign{Meta: call.Meta, Name: "Reminders", Status: domain.CampaignRunning, AgentID: call.AgentID, StartedAt: &at}
	progress := &domain.Progress{CampaignID: call.CampaignID, WorkspaceID: ws, Total: 100, Outcomes: map[domain.Outcome]int{domain.OutcomeCompleted: 5, domain.OutcomeBusy: 2}}
	ledger := &domain.LedgerRow{AttemptID: id, WorkspaceID: ws, Environment: domain.Live, CallID: id, OpenedAt: at, ClosedAt: at, Seconds: 42}
	c, err := newCodec()
	require.NoError(b, err)
	buf := make([]byte, 0, 8<<10)
	for _, r := range []domain.Record{call, attempt, campaign, progress, ledger} {
		b.Run("write "+r.Key().Kind, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if buf, err = c.encode(buf[:0], r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	value, err := c.encode(nil, call)
	require.NoError(b, err)
	b.Run("read call", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := c.decode(call.Key(), value, new(domain.Call)); err != nil {
				b.Fatal(err)
			}
		}
	})
	ended := &event.Event{ID: "evt_01J00000000000000000000000", Type: event.CallEnded, CreatedAt: at, WorkspaceID: ws, SvcID: "unit_1", Subject: id, Sequence: 3}
	for name, data := range map[string]any{"call.ended": event.NewCallEndedData(call), "campaign.completed": domain.NewStatusObject(campaign, progress)} {
		b.Run("event "+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if ended.Data, err = domain.EncodeJSON(data); err != nil {
					b.Fatal(err)
				}
				buf = c.encodeEvent(buf[:0], ended)
			}
		})
	}
	ended.Data, err = domain.EncodeJSON(event.NewCallEndedData(call))
	require.NoError(b, err)
	b.Run("body of call.ended", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := webhook.Body(*ended, ""); err != nil {
				b.Fatal(err)
			}
		}
	})
	status := domain.NewStatusObject(campaign, progress)
	b.Run("answer status", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err = domain.EncodeJSON(&status); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("answer call", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err = domain.EncodeJSON(call); err != nil {
				b.Fatal(err)
			}
		}
	})
}
