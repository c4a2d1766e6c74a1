package domain

import (
	"encoding/json"
	"time"
)

// Direction of a call.
type Direction string

// The directions.
const (
	Inbound  Direction = "inbound"
	Outbound Direction = "outbound"
)

// Values are the directions of a call.
func (Direction) Values() []string {
	return values(Inbound, Outbound)
}

// CallStatus is where a call stands.
type CallStatus string

// The states of a call. The last five are final.
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

// Values are the states of a call, in the order in which a call has them.
func (CallStatus) Values() []string {
	return values(
		CallQueued, CallInitiated, CallRinging, CallInProgress, CallTransferring, CallCompleted, CallBusy,
		CallNoAnswer, CallFailed, CallCancelled,
	)
}

// EndedByValues are the values of ended_by: who ended a call.
func EndedByValues() []string {
	return []string{EndedByAgent, EndedByRemote, EndedByAPI, EndedByService}
}

// The values of ended_by and of a transfer's by.
const (
	EndedByAgent   = "agent"
	EndedByRemote  = "remote"
	EndedByAPI     = "api"
	EndedByService = "service"
)

// AnsweredByValues are the values of answered_by.
func AnsweredByValues() []string {
	return []string{"human", "voicemail", "ivr", "call_screening", "fax", "unavailable", "unknown"}
}

// Leg is one INVITE chain of a call.
type Leg struct {
	TrunkID   string     `json:"trunk_id"`
	Target    string     `json:"target"` // host:port;transport
	SIPCallID string     `json:"sip_call_id"`
	Role      string     `json:"role,omitempty"` // transfer: to whom the caller was handed; "": to the far end itself
	Code      int        `json:"code"`           // the final answer, 0 where none came
	Reason    string     `json:"reason"`
	Q850      int        `json:"q850,omitempty"`
	PDDMs     int64      `json:"pdd_ms"` // INVITE to first 18x or final answer
	Codec     string     `json:"codec,omitempty"`
	StartedAt time.Time  `json:"started_at"`
	EndedAt   *time.Time `json:"ended_at"`
}

// CallOutcome is the outcome object of a call and of call.ended.
type CallOutcome struct {
	Result            Outcome `json:"result"`
	AppointmentBooked bool    `json:"appointment_booked" doc:"In this call, and not cancelled in it again."`
	AppointmentID     string  `json:"appointment_id,omitempty" doc:"Of that appointment."`
	AppointmentDate   string  `json:"appointment_date,omitempty" doc:"Its date in the provider's zone, YYYY-MM-DD."`
	AppointmentTime   string  `json:"appointment_time,omitempty" doc:"Its time in the provider's zone, HH:MM."`
	Intent            string  `json:"intent,omitempty"`
	Notes             string  `json:"notes,omitempty"`
}

// Diverted is one step on a call's way to us (RFC 5806, RFC 7044).
type Diverted struct {
	From   string `json:"from"`             // the number that was called before
	Reason string `json:"reason,omitempty"` // unconditional, no-answer, user-busy …
}

// Caller is what a trunk told of the caller of an inbound call, as it said it.
type Caller struct {
	Name       string     `json:"name,omitempty"`     // From's display name
	Withheld   bool       `json:"withheld,omitempty"` // the caller does not want the number shown
	Asserted   string     `json:"asserted,omitempty"` // the number that the trunk vouches for; only of trunks whose header is believed
	Verstat    string     `json:"verstat,omitempty"`  // TN-Validation-Passed …: the trunk's judgement of the signature
	Identity   string     `json:"identity,omitempty"` // the Identity header (RFC 8224)
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
	// How it went over time, one part after the other, forty at most.
	Stretches []QualityStretch `json:"stretches,omitempty"`
}

// QualityStretch is the media quality of a part of a call: jitter and round
// trip are the worst of it.
type QualityStretch struct {
	AtMs        int64   `json:"at_ms"` // since its sound began
	ForMs       int64   `json:"for_ms"`
	MOS         float64 `json:"mos"` // 0: nothing was received
	JitterMs    float64 `json:"jitter_ms"`
	LossPercent float64 `json:"loss_percent"`
	RoundTripMs float64 `json:"round_trip_ms"`
}

// Call is one phone call as the API shows it.
type Call struct {
	Meta
	RequestTrace

	Direction           Direction         `json:"direction"`
	From                string            `json:"from"`
	To                  string            `json:"to"`
	AgentID             string            `json:"agent_id,omitempty"`
	AgentVersion        int               `json:"agent_version,omitempty"` // which was pinned
	PathwayID           string            `json:"pathway_id,omitempty"`
	CampaignID          string            `json:"campaign_id,omitempty"`
	ContactID           string            `json:"contact_id,omitempty"`
	Status              CallStatus        `json:"status"`
	Disposition         string            `json:"disposition,omitempty"` // the outcome word once it ended
	EndedReason         Reason            `json:"ended_reason,omitempty"`
	EndedBy             string            `json:"ended_by,omitempty"` // agent | remote | api | service
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
	Caller              *Caller           `json:"caller,omitempty"` // inbound: what its trunk told of the caller
	Record              bool              `json:"record"`
	TranscriptAvailable bool              `json:"transcript_available"`
	TranscriptURL       string            `json:"transcript_url,omitempty"`
	TranscriptDeletedAt *time.Time        `json:"transcript_deleted_at,omitempty"` // by the workspace's retention
	RecordingAvailable  bool              `json:"recording_available"`
	RecordingURL        string            `json:"recording_url,omitempty"`
	RecordingSeconds    float64           `json:"recording_seconds,omitempty"`
	RecordingDeletedAt  *time.Time        `json:"recording_deleted_at,omitempty"` // by the workspace's retention
	Processing          bool              `json:"processing"`                     // recording or transcript still to come
	Quality             *Quality          `json:"quality,omitempty"`
	MediaIssue          string            `json:"media_issue,omitempty" doc:"Why audio was refused, or why none was heard or sent, as one sentence."`
	SlowestTurnMs       int               `json:"slowest_turn_ms,omitempty"` // the longest wait for the agent's next word
	Analysis            *CallAnalysis     `json:"analysis,omitempty"`        // what its agent's analysis found
	Latency             *Latency          `json:"latency,omitempty"`
	Cost                *Money            `json:"cost,omitempty"`
}

// Final says whether the call is over.
func (c *Call) Final() bool {
	switch c.Status {
	case CallCompleted, CallBusy, CallNoAnswer, CallFailed, CallCancelled:
		return true
	case CallQueued, CallInitiated, CallRinging, CallInProgress, CallTransferring:
		return false
	}
	return false
}

// Key names the row.
func (c *Call) Key() Key { return Key{"call", c.WorkspaceID, c.ID} }

// Indexes: by environment, status, activity, recording, campaign, contact and
// agent.
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

// Sort is by age.
func (c *Call) Sort() string { return c.ID }

// StatusFor is the call state that an outcome ends in.
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

// Segment is one utterance of a transcript.
type Segment struct {
	Index       int     `json:"index"`
	Speaker     string  `json:"speaker"` // agent | caller | human
	Text        string  `json:"text"`
	StartMs     int64   `json:"start_ms"`
	EndMs       int64   `json:"end_ms"`
	Confidence  float64 `json:"confidence"`
	Interrupted bool    `json:"interrupted"`
	// FirstTokenMs is how long a model took for the first piece of the answer that
	// begins here; Sources are what it was told of the knowledge bases.
	FirstTokenMs int64     `json:"llm_first_token_ms,omitempty"`
	Sources      []Passage `json:"sources,omitempty"`
}

// Passage is where something was read in a knowledge base.
type Passage struct {
	KnowledgeBaseID string `json:"knowledge_base_id"`
	SourceID        string `json:"source_id"`
	Name            string `json:"name"`
	URL             string `json:"url,omitempty"`
	Heading         string `json:"heading,omitempty"`
}

// Transcript is what was said in a call. It is kept sealed.
type Transcript struct {
	CallID      string    `json:"call_id"`
	WorkspaceID string    `json:"workspace_id"`
	Status      string    `json:"status"` // ready
	Language    string    `json:"language"`
	Segments    []Segment `json:"segments"`
	Text        string    `json:"text"`
	SealedBody  string    `json:"sealed_body,omitempty"` // the segments at rest
}

// Key names the row.
func (t *Transcript) Key() Key { return Key{"transcript", t.WorkspaceID, t.CallID} }

// Indexes: none.
func (t *Transcript) Indexes() []string { return nil }

// Sort is by call.
func (t *Transcript) Sort() string { return t.CallID }

// Sealed returns a copy whose words are one sealed text.
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

// Unseal restores the words.
func (t *Transcript) Unseal(f func(field, text string) (string, error)) error {
	body, err := f("body", t.SealedBody)
	if err != nil {
		return err
	}
	t.SealedBody = ""
	return ReadRow([]byte(body), t)
}

// Attempt is an open call: the row that is durable before the first INVITE
// and goes when the call's end is committed. After a crash it tells what has
// to be closed as interrupted and which dialogs to end.
type Attempt struct {
	ID          string       `json:"id"` // AttemptID of a campaign's, otherwise the call's id
	WorkspaceID string       `json:"workspace_id"`
	Environment Environment  `json:"environment"`
	CallID      string       `json:"call_id"`
	CampaignID  string       `json:"campaign_id,omitempty"`
	Ordinal     int          `json:"ordinal"`
	Number      int          `json:"number"` // 1 for the first
	Direction   Direction    `json:"direction"`
	Boot        string       `json:"boot"` // the process that opened it
	OpenedAt    time.Time    `json:"opened_at"`
	Tariff      int          `json:"tariff,omitempty"` // of the workspace when it was opened
	Legs        []AttemptLeg `json:"legs"`
	// Trace are the SIP messages up to the last commit, one after the
	// other as SIPMessage.Append writes them: a crash leaves no others.
	Trace []byte `json:"-"`
	// Kept is what another process needs to go on with the call (actors/call);
	// nil: it cannot.
	ResumeState json.RawMessage `json:"kept,omitempty"`
}

// AttemptLeg is one INVITE chain as a crash must find it.
type AttemptLeg struct {
	Number    int             `json:"number"`
	TrunkID   string          `json:"trunk_id"`
	SIPCallID string          `json:"sip_call_id"`
	Closed    bool            `json:"closed,omitempty"` // a final answer was seen
	Dialog    json.RawMessage `json:"dialog,omitempty"` // sip.DialogState
}

// Key names the row.
func (a *Attempt) Key() Key { return Key{"attempt", a.WorkspaceID, a.ID} }

// Indexes: by campaign; without one in "single".
func (a *Attempt) Indexes() []string {
	if a.CampaignID != "" {
		return []string{"campaign=" + a.CampaignID}
	}
	return []string{"single"}
}

// Sort is by call.
func (a *Attempt) Sort() string { return a.CallID }

// RawPart is the trace.
func (a *Attempt) RawPart() []byte { return a.Trace }

// SetRawPart sets the trace.
func (a *Attempt) SetRawPart(part []byte) { a.Trace = part }
