package domain

import (
	"encoding/json"
	"time"
)

// Direction is the direction of a call or message.
type Direction string

// Directions of a call or message, from the view of the service.
const (
	Inbound  Direction = "inbound"
	Outbound Direction = "outbound"
)

// Values returns the directions of a call or message.
func (Direction) Values() []string {
	return values(Inbound, Outbound)
}

// CallStatus is the state of a call.
type CallStatus string

// States of a call. CallCompleted and the four after it are final.
const (
	CallQueued       CallStatus = "queued"
	CallInitiated    CallStatus = "initiated"
	CallRinging      CallStatus = "ringing"
	CallInProgress   CallStatus = "in_progress"
	CallTransferring CallStatus = "transferring"
	CallCompleted    CallStatus = "completed"
	CallBusy         CallStatus = "busy"
	CallNoAnswer     CallStatus = "no_answer"
	CallFailed       CallStatus = "failed"
	CallCancelled    CallStatus = "cancelled"
)

// Values returns the states of a call in the order in which they occur.
func (CallStatus) Values() []string {
	return values(
		CallQueued, CallInitiated, CallRinging, CallInProgress, CallTransferring, CallCompleted, CallBusy,
		CallNoAnswer, CallFailed, CallCancelled,
	)
}

// EndedByValues returns the values of the field ended_by of a call.
func EndedByValues() []string {
	return []string{EndedByAgent, EndedByRemote, EndedByAPI, EndedByService}
}

// Values of the field ended_by of a call and of the field by of a transfer.
const (
	EndedByAgent   = "agent"
	EndedByRemote  = "remote"
	EndedByAPI     = "api"
	EndedByService = "service"
)

// AnsweredByValues returns the values of the field answered_by of a call.
func AnsweredByValues() []string {
	return []string{"human", "voicemail", "ivr", "call_screening", "fax", "unavailable", "unknown"}
}

// Leg is one SIP dialog of a call, from its INVITE to its end.
type Leg struct {
	TrunkID   string     `json:"trunk_id"`
	Target    string     `json:"target"` // host:port;transport
	SIPCallID string     `json:"sip_call_id"`
	Role      string     `json:"role,omitempty"` // transfer: the leg to the transfer target; empty: the leg to the remote party
	Code      int        `json:"code"`           // final SIP status; 0: no final response
	Reason    string     `json:"reason"`
	Q850      int        `json:"q850,omitempty"`
	PDDMs     int64      `json:"pdd_ms"` // post-dial delay: INVITE to the first 18x or final response
	Codec     string     `json:"codec,omitempty"`
	StartedAt time.Time  `json:"started_at"`
	EndedAt   *time.Time `json:"ended_at"`
}

// CallOutcome is the outcome of a call, in the call object of the API and in the event call.ended.
type CallOutcome struct {
	Result            Outcome `json:"result"`
	AppointmentBooked bool    `json:"appointment_booked" doc:"Whether the call booked an appointment and did not cancel it."`
	AppointmentID     string  `json:"appointment_id,omitempty" doc:"The id of the appointment."`
	AppointmentDate   string  `json:"appointment_date,omitempty" doc:"Date of the appointment in the time zone of the provider: YYYY-MM-DD."`
	AppointmentTime   string  `json:"appointment_time,omitempty" doc:"Time of the appointment in the time zone of the provider: HH:MM."`
	Intent            string  `json:"intent,omitempty"`
	Notes             string  `json:"notes,omitempty"`
}

// Diverted is one redirection of an inbound call before it reached this number (RFC 5806, RFC 7044).
type Diverted struct {
	From   string `json:"from"`             // number that redirected the call
	Reason string `json:"reason,omitempty"` // unconditional, no-answer, user-busy …
}

// Caller holds what the SIP headers of an inbound call say about the caller.
type Caller struct {
	Name       string     `json:"name,omitempty"`     // display name of the From header
	Withheld   bool       `json:"withheld,omitempty"` // the caller withholds the number
	Asserted   string     `json:"asserted,omitempty"` // number asserted by the trunk; only of trunks whose caller ID headers are trusted
	Verstat    string     `json:"verstat,omitempty"`  // TN-Validation-Passed …: how the trunk verified the signature of the call (STIR/SHAKEN)
	Identity   string     `json:"identity,omitempty"` // Identity header (RFC 8224)
	Diversions []Diverted `json:"diversions,omitempty"`
	History    []string   `json:"history,omitempty"` // History-Info entries, oldest first
}

// Quality is the media quality of a call.
type Quality struct {
	Codec           string  `json:"codec,omitempty"`
	MOS             float64 `json:"mos"`
	JitterMs        float64 `json:"jitter_ms"`
	LossPercent     float64 `json:"loss_percent"`
	RoundTripMs     float64 `json:"round_trip_ms"`
	PacketsSent     uint64  `json:"packets_sent"`
	PacketsReceived uint64  `json:"packets_received"`
	PacketsRefused  uint64  `json:"packets_refused"`
	// Stretches is the media quality over time, in at most 40 consecutive parts.
	Stretches []QualityInterval `json:"stretches,omitempty"`
}

// QualityInterval is the media quality of a part of a call. Jitter and round-trip time are the maximum of that part.
type QualityInterval struct {
	AtMs        int64   `json:"at_ms"` // since the start of audio
	ForMs       int64   `json:"for_ms"`
	MOS         float64 `json:"mos"` // 0: no audio was received
	JitterMs    float64 `json:"jitter_ms"`
	LossPercent float64 `json:"loss_percent"`
	RoundTripMs float64 `json:"round_trip_ms"`
}

// Call is a phone call as the API shows it.
type Call struct {
	Meta
	RequestTrace

	Direction           Direction         `json:"direction"`
	From                string            `json:"from"`
	To                  string            `json:"to"`
	AgentID             string            `json:"agent_id,omitempty"`
	AgentVersion        int               `json:"agent_version,omitempty"` // version of the agent that the call uses
	PathwayID           string            `json:"pathway_id,omitempty"`
	CampaignID          string            `json:"campaign_id,omitempty"`
	ContactID           string            `json:"contact_id,omitempty"`
	Status              CallStatus        `json:"status"`
	Disposition         string            `json:"disposition,omitempty"` // outcome of an ended call
	EndedReason         Reason            `json:"ended_reason,omitempty"`
	EndedBy             string            `json:"ended_by,omitempty"` // agent, remote, api or service
	Legs                []Leg             `json:"legs"`
	Transfers           []Transfer        `json:"transfers,omitempty"`
	AnsweredBy          string            `json:"answered_by,omitempty"`
	Attempt             int               `json:"attempt"`
	StartedAt           *time.Time        `json:"started_at"`
	RingingAt           *time.Time        `json:"ringing_at"`
	AnsweredAt          *time.Time        `json:"answered_at"`
	EndedAt             *time.Time        `json:"ended_at"`
	DurationSeconds     int               `json:"duration_seconds"`
	Intent              string            `json:"intent,omitempty"`
	Outcome             *CallOutcome      `json:"outcome"`
	Variables           map[string]string `json:"variables"`
	Context             Context           `json:"context,omitempty"`
	Caller              *Caller           `json:"caller,omitempty"` // inbound: caller information of the trunk
	Record              bool              `json:"record"`
	TranscriptAvailable bool              `json:"transcript_available"`
	TranscriptURL       string            `json:"transcript_url,omitempty"`
	TranscriptDeletedAt *time.Time        `json:"transcript_deleted_at,omitempty"` // deleted by the retention of the workspace
	RecordingAvailable  bool              `json:"recording_available"`
	RecordingURL        string            `json:"recording_url,omitempty"`
	RecordingSeconds    float64           `json:"recording_seconds,omitempty"`
	RecordingDeletedAt  *time.Time        `json:"recording_deleted_at,omitempty"` // deleted by the retention of the workspace
	Processing          bool              `json:"processing"`                     // the recording or the transcript is not ready
	Quality             *Quality          `json:"quality,omitempty"`
	MediaIssue          string            `json:"media_issue,omitempty" doc:"A sentence: why the audio was refused, or why no audio was received or sent."`
	SlowestTurnMs       int               `json:"slowest_turn_ms,omitempty"` // longest time that the caller waited for an answer of the agent
	Analysis            *CallAnalysis     `json:"analysis,omitempty"`        // result of the agent's analysis
	Latency             *Latency          `json:"latency,omitempty"`
	Cost                *Money            `json:"cost,omitempty"`
}

// Final reports whether the call has ended.
func (c *Call) Final() bool {
	switch c.Status {
	case CallCompleted, CallBusy, CallNoAnswer, CallFailed, CallCancelled:
		return true
	case CallQueued, CallInitiated, CallRinging, CallInProgress, CallTransferring:
		return false
	}
	return false
}

// Key returns the key of the call in the store.
func (c *Call) Key() Key { return Key{"call", c.WorkspaceID, c.ID} }

// Indexes returns the indexes by environment and status, and those of active and of recorded calls. They also include the
// indexes by campaign, contact and agent.
func (c *Call) Indexes() []string {
	e := string(c.Environment)
	ix := []string{envIndex(c.Environment), "status=" + e + "/" + string(c.Status)}
	if !c.Final() {
		ix = append(ix, "active="+e)
	}
	if c.RecordingAvailable {
		ix = append(ix, "recorded")
	}
	if c.CampaignID != "" {
		ix = append(ix, "campaign="+c.CampaignID)
	}
	if c.ContactID != "" {
		ix = append(ix, "contact="+c.ContactID)
	}
	if c.AgentID != "" {
		ix = append(ix, "agent="+c.AgentID)
	}
	return ix
}

// Sort returns the ID, which sorts by creation time.
func (c *Call) Sort() string { return c.ID }

// StatusFor returns the final call status for an outcome.
func StatusFor(o Outcome) CallStatus {
	switch o {
	case OutcomeCompleted, OutcomeConfirmed, OutcomeDeclined, OutcomeVoicemail:
		return CallCompleted
	case OutcomeBusy:
		return CallBusy
	case OutcomeNoAnswer:
		return CallNoAnswer
	case OutcomeCancelled:
		return CallCancelled
	case OutcomeFailed:
		return CallFailed
	}
	return CallFailed
}

// Segment is one utterance in a transcript.
type Segment struct {
	Index       int     `json:"index"`
	Speaker     string  `json:"speaker"` // agent, caller or human
	Text        string  `json:"text"`
	StartMs     int64   `json:"start_ms"`
	EndMs       int64   `json:"end_ms"`
	Confidence  float64 `json:"confidence"`
	Interrupted bool    `json:"interrupted"`
	// FirstTokenMs is the time until the first token of the language model's answer that starts with this segment.
	// Sources are the passages of knowledge bases that the model received.
	FirstTokenMs int64     `json:"llm_first_token_ms,omitempty"`
	Sources      []Passage `json:"sources,omitempty"`
}

// Passage identifies a passage in a source, such as a document, of a knowledge base.
type Passage struct {
	KnowledgeBaseID string `json:"knowledge_base_id"`
	SourceID        string `json:"source_id"`
	Name            string `json:"name"`
	URL             string `json:"url,omitempty"`
	Heading         string `json:"heading,omitempty"`
}

// Transcript holds the utterances of a call. They are encrypted at rest.
type Transcript struct {
	CallID      string    `json:"call_id"`
	WorkspaceID string    `json:"workspace_id"`
	Status      string    `json:"status"` // ready
	Language    string    `json:"language"`
	Segments    []Segment `json:"segments"`
	Text        string    `json:"text"`
	SealedBody  string    `json:"sealed_body,omitempty"` // the encrypted segments, at rest
}

// Key returns the key of the transcript in the store.
func (t *Transcript) Key() Key { return Key{"transcript", t.WorkspaceID, t.CallID} }

// Indexes returns nil: the transcript is read by key only.
func (t *Transcript) Indexes() []string { return nil }

// Sort returns the call ID.
func (t *Transcript) Sort() string { return t.CallID }

// Sealed returns a copy whose segments and text are one encrypted value.
func (t *Transcript) Sealed(f func(field, text string) (string, error)) (Record, error) {
	body, err := AppendRow(nil, struct {
		Segments []Segment `json:"segments"`
		Text     string    `json:"text"`
	}{t.Segments, t.Text})
	if err != nil {
		return nil, err
	}
	c := *t
	c.Segments, c.Text = nil, ""
	c.SealedBody, err = f("body", string(body))
	return &c, err
}

// Unseal decrypts the segments and the text.
func (t *Transcript) Unseal(f func(field, text string) (string, error)) error {
	body, err := f("body", t.SealedBody)
	if err != nil {
		return err
	}
	t.SealedBody = ""
	return ReadRow([]byte(body), t)
}

// Attempt is the record of an open call. It is committed before the first INVITE is sent, and the commit that ends the
// call deletes it. After a crash the stored Attempts show which calls were interrupted and which SIP dialogs to end.
type Attempt struct {
	ID          string       `json:"id"` // AttemptID for a campaign, otherwise the call ID
	WorkspaceID string       `json:"workspace_id"`
	Environment Environment  `json:"environment"`
	CallID      string       `json:"call_id"`
	CampaignID  string       `json:"campaign_id,omitempty"`
	Ordinal     int          `json:"ordinal"`
	Number      int          `json:"number"` // number of the attempt to reach this contact, from 1
	Direction   Direction    `json:"direction"`
	Boot        string       `json:"boot"` // ID of the process that opened the call
	OpenedAt    time.Time    `json:"opened_at"`
	Tariff      int          `json:"tariff,omitempty"` // tariff of the workspace when the call was opened
	Legs        []AttemptLeg `json:"legs"`
	// Trace holds the SIP messages of the call up to the last commit, in the format of SIPMessage.Append. After a
	// crash it is the only SIP trace of the call.
	Trace []byte `json:"-"`
	// ResumeState is the state from which another process resumes the call (package actors/call). It is nil if the call
	// cannot be resumed.
	ResumeState json.RawMessage `json:"kept,omitempty"`
}

// AttemptLeg is one SIP leg of an open call.
type AttemptLeg struct {
	Number    int             `json:"number"`
	TrunkID   string          `json:"trunk_id"`
	SIPCallID string          `json:"sip_call_id"`
	Closed    bool            `json:"closed,omitempty"` // the leg has a final response
	Dialog    json.RawMessage `json:"dialog,omitempty"` // sip.DialogState
}

// Key returns the key of the Attempt in the store.
func (a *Attempt) Key() Key { return Key{"attempt", a.WorkspaceID, a.ID} }

// Indexes returns the index of the campaign to which the call belongs, or "single" for a call without a campaign.
func (a *Attempt) Indexes() []string {
	if a.CampaignID != "" {
		return []string{"campaign=" + a.CampaignID}
	}
	return []string{"single"}
}

// Sort returns the call ID.
func (a *Attempt) Sort() string { return a.CallID }

// RawPart returns the SIP trace as the raw part of the record, which is stored as bytes after the JSON.
func (a *Attempt) RawPart() []byte { return a.Trace }

// SetRawPart sets the SIP trace from the raw part of the record.
func (a *Attempt) SetRawPart(part []byte) { a.Trace = part }
