package hook

import (
	"encoding/json"
	"maps"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
)

type object = map[string]any

// The made-up identifiers and numbers of samples; the numbers are of the range
// that is set aside for fiction.
const (
	sampleCall     = "call_00000000000000000000000000"
	sampleAgent    = "agent_00000000000000000000000000"
	sampleCampaign = "campaign_00000000000000000000000000"
	sampleFrom     = "+12025550100"
	sampleTo       = "+12025550123"
)

// Sample is the event of a test: webhook.test, or an example of another type
// that is marked test: true. id and at are the caller's.
func Sample(t event.Type, w *domain.Webhook, id string, at time.Time) event.Event {
	var data any = event.WebhookTestData{WebhookID: w.ID, Message: "This is a test event."}
	subject := w.ID
	if t != event.WebhookTest && t != "" {
		o := object{"test": true}
		maps.Copy(o, example(t, w, at))
		data = o
		for _, key := range []string{"call_id", "campaign_id", "message_id", "appointment_id", "id"} {
			if s, ok := o[key].(string); ok {
				subject = s
				break
			}
		}
	} else {
		t = event.WebhookTest
	}
	raw, _ := json.Marshal(data) // plain maps and structs: cannot fail
	return event.Event{
		ID: id, Type: t, CreatedAt: at.UTC(), WorkspaceID: w.WorkspaceID, Environment: w.Environment,
		SvcID: domain.Unit(w.WorkspaceID), Subject: subject, Sequence: 1, Data: raw,
	}
}

// example is a payload of each type, in the shape of API.md.
func example(t event.Type, w *domain.Webhook, at time.Time) object {
	call := object{"call_id": sampleCall, "direction": "outbound", "from": sampleFrom, "to": sampleTo, "agent_id": sampleAgent, "campaign_id": sampleCampaign}
	agent := object{"call_id": sampleCall, "agent_id": sampleAgent}
	with := func(base, more object) object {
		maps.Copy(base, more)
		return base
	}
	switch t {
	case event.CallStarted, event.CallRinging:
		return call
	case event.CallAnswered:
		return with(call, object{"answered_by": "human"})
	case event.CallEnded:
		return with(call, object{
			"duration": 42, "duration_seconds": 42, "disposition": "completed", "ended_reason": domain.ReasonCompleted, "intent": "",
			"outcome": object{"appointment_booked": false}, "transcript_url": "", "recording_url": "",
			"transcript_available": false, "recording_available": false,
		})
	case event.CallTransferred:
		return object{"call_id": sampleCall, "to": sampleTo, "mode": "blind", "status": "completed"}
	case event.CallRecordingReady:
		return object{"call_id": sampleCall, "recording_url": "", "duration_seconds": 42.0}
	case event.CallTranscriptReady, event.CallAnalysisReady:
		return object{"call_id": sampleCall, "transcript_url": "", "segments": 4}
	case event.SMSReceived:
		return object{"message_id": "msg_00000000000000000000000000", "from": sampleTo, "to": sampleFrom, "body": "Yes", "media": []string{}}
	case event.SMSSent, event.SMSDelivered, event.SMSFailed:
		return object{"message_id": "msg_00000000000000000000000000", "from": sampleFrom, "to": sampleTo, "status": string(t)[len("sms."):]}
	case event.AgentIntentDetected:
		return with(agent, object{"intent": "book_appointment", "confidence": 0.93, "entities": object{"date": "2030-01-15"}})
	case event.AgentActionTriggered:
		return with(agent, object{"action": "check_availability", "arguments": object{}, "result": object{}, "latency_ms": 120})
	case event.AgentEscalation:
		return with(agent, object{"reason": "requested", "destination": sampleTo, "summary": "The caller asked for a person."})
	case event.AgentError:
		return with(agent, object{"stage": "speech", "code": "unavailable", "message": "The speech engine did not answer.", "recovered": true})
	case event.AppointmentCreated, event.AppointmentUpdated, event.AppointmentCancelled, event.AppointmentConfirmed,
		event.AppointmentRescheduled, event.AppointmentReminder:
		return object{
			"appointment_id": "appt_00000000000000000000000000", "call_id": sampleCall,
			"patient": object{"name": "Alex Example", "phone": sampleTo}, "provider": "Dr. Example",
			"datetime": at.UTC().Format(time.RFC3339), "duration_minutes": 30, "type": "consultation", "status": "confirmed",
		}
	case event.CampaignCreated, event.CampaignStarted, event.CampaignPaused, event.CampaignResumed, event.CampaignCancelled, event.CampaignCompleted:
		return object{"campaign_id": sampleCampaign, "name": "Example", "status": campaignStatus[t]}
	case event.CampaignProgress:
		return object{"event": string(t), "campaign_id": sampleCampaign, "progress_percent": 50.0, "outcomes": object{"completed": 5}}
	case event.CampaignCallCompleted:
		return object{
			"campaign_id": sampleCampaign, "call_id": sampleCall, "contact": object{"phone": sampleTo, "name": "Alex Example"},
			"outcome": "completed", "reason": domain.ReasonCompleted, "attempts": 1, "final": true,
			"campaign_progress": object{"completed": 5, "remaining": 5, "percent_complete": 50.0},
		}
	case event.ContactOptedOut:
		return object{"campaign_id": sampleCampaign, "contact": object{"phone": sampleTo, "name": "Alex Example"}}
	case event.WebhookDisabled:
		return object{"webhook_id": w.ID, "url": w.URL, "reason": "example", "at": at.UTC().Format(time.RFC3339)}
	case event.AgentUpdated:
		return object{"id": sampleAgent, "changed": []string{"name"}}
	case event.WorkspaceUpdated:
		return object{"id": w.WorkspaceID, "changed": []string{"name"}}
	case event.SystemDegraded, event.WebhookTest: // the latter has a payload of its own
		return object{
			"trunk_id": "trunk_00000000000000000000000000", "trunk_name": "Example", "measure": "asr", "value": 0.31, "bound": 0.4,
			"calls": 100, "window_seconds": 3600, "message": "asr of trunk Example is 0.31 over its last 100 calls; its bound is 0.4", "recovered": false,
		}
	}
	return object{}
}

var campaignStatus = map[event.Type]domain.CampaignStatus{
	event.CampaignCreated: domain.CampaignDraft, event.CampaignStarted: domain.CampaignRunning,
	event.CampaignPaused: domain.CampaignPaused, event.CampaignResumed: domain.CampaignRunning,
	event.CampaignCancelled: domain.CampaignCancelled, event.CampaignCompleted: domain.CampaignCompleted,
}
