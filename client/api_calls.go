// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// ListCallsQuery is what ListCalls can be asked; what is zero is left out.
type ListCallsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
	CreatedBefore time.Time
	// active: any that is not final.
	Status string
	// Only those of this campaign.
	CampaignID string
	// Only those of this contact.
	ContactID string
	// Only those of this agent.
	AgentID string
	// Only calls of this direction.
	Direction string
	// Only calls in which all of these words were said, by whomever; a phrase stands in quotes. A page looks through a bounded number of calls: it may hold fewer than limit, or none, while next_cursor goes on.
	Transcript string
}

func (q *ListCallsQuery) values() url.Values {
	v := make(url.Values)
	if q.Limit != 0 {
		v.Set("limit", strconv.FormatInt(q.Limit, 10))
	}
	if q.Cursor != "" {
		v.Set("cursor", q.Cursor)
	}
	if !q.CreatedAfter.IsZero() {
		v.Set("created_after", q.CreatedAfter.UTC().Format(time.RFC3339Nano))
	}
	if !q.CreatedBefore.IsZero() {
		v.Set("created_before", q.CreatedBefore.UTC().Format(time.RFC3339Nano))
	}
	if q.Status != "" {
		v.Set("status", q.Status)
	}
	if q.CampaignID != "" {
		v.Set("campaign_id", q.CampaignID)
	}
	if q.ContactID != "" {
		v.Set("contact_id", q.ContactID)
	}
	if q.AgentID != "" {
		v.Set("agent_id", q.AgentID)
	}
	if q.Direction != "" {
		v.Set("direction", q.Direction)
	}
	if q.Transcript != "" {
		v.Set("transcript", q.Transcript)
	}
	return v
}

// ListCalls: List calls.
//
// GET /v1/calls
func (c *Client) ListCalls(ctx context.Context, q ListCallsQuery, options ...Option) (*ListCall, error) {
	return send[ListCall](ctx, c, "GET", "/v1/calls", q.values(), nil, options)
}

// AllCalls walks the pages of ListCalls to their end; an error is the last that comes.
func (c *Client) AllCalls(ctx context.Context, q ListCallsQuery, options ...Option) iter.Seq2[Call, error] {
	return pages(&q.Cursor, func() ([]Call, *string, error) {
		l, err := c.ListCalls(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// PlaceCall: Place a call.
//
// POST /v1/calls/outbound
//
// Has its own limit per minute, the plan's. With all lines busy: 429 concurrent_limit_exceeded with active_calls and limit. With a test key the built-in carrier answers: +15005550000 and any other number presses 1, …0001 is busy, …0002 does not answer, …0003 is a voicemail, …0004 presses 2, …0005 is no number, …0006 fails in the trunk, …0007 says stop, …0008 is a fax, …0009 says nothing. +1500555nnxx goes by its last two digits: …11 presses 1, …12 presses 2, …13 declines, …14 is busy, …15 does not answer, …16 is a voicemail, …17 presses 7 and 1, …18 hangs up, …19 is no number, …20 does not answer (480).
func (c *Client) PlaceCall(ctx context.Context, body *NewCallRequest, options ...Option) (*Call, error) {
	return send[Call](ctx, c, "POST", "/v1/calls/outbound", nil, asJSON(body), options)
}

// DeleteCall: Delete a call.
//
// DELETE /v1/calls/{id}
//
// A call that is over. Its recording, its transcript and its SIP messages are deleted with it; its events stay until retention.events_days, its bill in the ledger, which holds no number, until retention.ledger_days. While the call is live: 409 invalid_state.
func (c *Client) DeleteCall(ctx context.Context, id string, options ...Option) (*Deleted, error) {
	return send[Deleted](ctx, c, "DELETE", "/v1/calls/"+url.PathEscape(id), nil, nil, options)
}

// GetCall: Get a call.
//
// GET /v1/calls/{id}
func (c *Client) GetCall(ctx context.Context, id string, options ...Option) (*Call, error) {
	return send[Call](ctx, c, "GET", "/v1/calls/"+url.PathEscape(id), nil, nil, options)
}

// PressInCall: Send digits to the far end.
//
// POST /v1/calls/{id}/dtmf
func (c *Client) PressInCall(ctx context.Context, id string, body *PressRequest, options ...Option) (*Call, error) {
	return send[Call](ctx, c, "POST", "/v1/calls/"+url.PathEscape(id)+"/dtmf", nil, asJSON(body), options)
}

// ListCallEventsQuery is what ListCallEvents can be asked; what is zero is left out.
type ListCallEventsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
	CreatedBefore time.Time
}

func (q *ListCallEventsQuery) values() url.Values {
	v := make(url.Values)
	if q.Limit != 0 {
		v.Set("limit", strconv.FormatInt(q.Limit, 10))
	}
	if q.Cursor != "" {
		v.Set("cursor", q.Cursor)
	}
	if !q.CreatedAfter.IsZero() {
		v.Set("created_after", q.CreatedAfter.UTC().Format(time.RFC3339Nano))
	}
	if !q.CreatedBefore.IsZero() {
		v.Set("created_before", q.CreatedBefore.UTC().Format(time.RFC3339Nano))
	}
	return v
}

// ListCallEvents: List the events of a call, oldest first.
//
// GET /v1/calls/{id}/events
func (c *Client) ListCallEvents(ctx context.Context, id string, q ListCallEventsQuery, options ...Option) (*ListEvent, error) {
	return send[ListEvent](ctx, c, "GET", "/v1/calls/"+url.PathEscape(id)+"/events", q.values(), nil, options)
}

// AllCallEvents walks the pages of ListCallEvents to their end; an error is the last that comes.
func (c *Client) AllCallEvents(ctx context.Context, id string, q ListCallEventsQuery, options ...Option) iter.Seq2[Event, error] {
	return pages(&q.Cursor, func() ([]Event, *string, error) {
		l, err := c.ListCallEvents(ctx, id, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// HangUpCall: Hang up.
//
// POST /v1/calls/{id}/hangup
func (c *Client) HangUpCall(ctx context.Context, id string, options ...Option) (*Call, error) {
	return send[Call](ctx, c, "POST", "/v1/calls/"+url.PathEscape(id)+"/hangup", nil, nil, options)
}

// GetRecording: Download the recording.
//
// GET /v1/calls/{id}/recording
//
// Stereo: the caller on the left, the agent or a human on the right. Takes Range.
//
// The caller reads the body and closes it.
func (c *Client) GetRecording(ctx context.Context, id string, options ...Option) (*http.Response, error) {
	return c.open(ctx, "GET", "/v1/calls/"+url.PathEscape(id)+"/recording", nil, nil, options)
}

// LinkRecording: Make a link to the recording.
//
// POST /v1/calls/{id}/recording/link
//
// The link needs no credential and takes Range. It ends with its time, and with the recording. A token makes links that end with the token at the latest.
func (c *Client) LinkRecording(ctx context.Context, id string, body *LinkRequest, options ...Option) (*Link, error) {
	return send[Link](ctx, c, "POST", "/v1/calls/"+url.PathEscape(id)+"/recording/link", nil, asJSON(body), options)
}

// PauseRecording: Pause the recording.
//
// POST /v1/calls/{id}/recording/pause
//
// As for card numbers: the gap is silence of the same length, and the call goes on. 409 unless somebody is talking and the call is recorded.
func (c *Client) PauseRecording(ctx context.Context, id string, options ...Option) (*RecordingState, error) {
	return send[RecordingState](ctx, c, "POST", "/v1/calls/"+url.PathEscape(id)+"/recording/pause", nil, nil, options)
}

// ResumeRecording: Go on recording.
//
// POST /v1/calls/{id}/recording/resume
//
// As for card numbers: the gap is silence of the same length, and the call goes on. 409 unless somebody is talking and the call is recorded.
func (c *Client) ResumeRecording(ctx context.Context, id string, options ...Option) (*RecordingState, error) {
	return send[RecordingState](ctx, c, "POST", "/v1/calls/"+url.PathEscape(id)+"/recording/resume", nil, nil, options)
}

// SayInCall: Have the agent say a text.
//
// POST /v1/calls/{id}/say
//
// It is said besides the pathway, once nothing else sounds.
func (c *Client) SayInCall(ctx context.Context, id string, body *SayRequest, options ...Option) (*Call, error) {
	return send[Call](ctx, c, "POST", "/v1/calls/"+url.PathEscape(id)+"/say", nil, asJSON(body), options)
}

// GetCallMessagesQuery is what GetCallMessages can be asked; what is zero is left out.
type GetCallMessagesQuery struct {
	// How the messages are shown.
	Format string
}

func (q *GetCallMessagesQuery) values() url.Values {
	v := make(url.Values)
	if q.Format != "" {
		v.Set("format", q.Format)
	}
	return v
}

// GetCallMessages: See the SIP messages of a call.
//
// GET /v1/calls/{id}/sip
//
// Of a live call: those so far. Of a call that a crash interrupted: those up to the last step that was stored. Credentials, keys of SRTP and digits told by INFO are stars. In the capture every message is one UDP packet, whatever carried it.
func (c *Client) GetCallMessages(ctx context.Context, id string, q GetCallMessagesQuery, options ...Option) (*CallMessages, error) {
	return send[CallMessages](ctx, c, "GET", "/v1/calls/"+url.PathEscape(id)+"/sip", q.values(), nil, options)
}

// GetCallMessagesRaw: See the SIP messages of a call.
//
// GET /v1/calls/{id}/sip
//
// Of a live call: those so far. Of a call that a crash interrupted: those up to the last step that was stored. Credentials, keys of SRTP and digits told by INFO are stars. In the capture every message is one UDP packet, whatever carried it.
//
// The caller reads the body and closes it.
func (c *Client) GetCallMessagesRaw(ctx context.Context, id string, q GetCallMessagesQuery, options ...Option) (*http.Response, error) {
	return c.open(ctx, "GET", "/v1/calls/"+url.PathEscape(id)+"/sip", q.values(), nil, options)
}

// GetTranscript: Read what was said.
//
// GET /v1/calls/{id}/transcript
func (c *Client) GetTranscript(ctx context.Context, id string, options ...Option) (*Transcript, error) {
	return send[Transcript](ctx, c, "GET", "/v1/calls/"+url.PathEscape(id)+"/transcript", nil, nil, options)
}

// TransferCall: Hand the caller on.
//
// POST /v1/calls/{id}/transfer
//
// Answered at once with the call as transferring; call.transferred tells how it ends. Where nobody is reached, and when the other side of a bridge hangs up, the caller is the agent's again.
func (c *Client) TransferCall(ctx context.Context, id string, body *TransferRequest, options ...Option) (*Call, error) {
	return send[Call](ctx, c, "POST", "/v1/calls/"+url.PathEscape(id)+"/transfer", nil, asJSON(body), options)
}

// CallMessage is an answer of the service, or a part of one.
type CallMessage struct {
	// When it was sent or came.
	At time.Time `json:"at"`
	// Sent by the service or received. One of sent, received.
	Direction string `json:"direction"`
	// Our address.
	Local string `json:"local"`
	// As it stood on the wire, but that secrets are stars.
	Message string `json:"message"`
	// Lines of the SDP and parts of the body that were not used, and why.
	Notes []string `json:"notes,omitzero"`
	// The far end's address.
	Remote string `json:"remote"`
	// The Call-ID: a call with several legs has several.
	SIPCallID string `json:"sip_call_id"`
	// Its first line.
	StartLine string `json:"start_line"`
	// What carried it. One of udp, tcp, tls.
	Transport string `json:"transport"`
}

// CallMessages is an answer of the service, or a part of one.
type CallMessages struct {
	// The call.
	CallID string `json:"call_id"`
	// Messages that were too many or too large to keep.
	Dropped int64 `json:"dropped"`
	// In the order in which they were sent and came.
	Messages []CallMessage `json:"messages"`
}

// Link is an answer of the service, or a part of one.
type Link struct {
	// The call.
	CallID string `json:"call_id"`
	// When it ends.
	ExpiresAt time.Time `json:"expires_at"`
	// Whoever has it may fetch the recording: hand it on with care.
	URL string `json:"url"`
}

// LinkRequest is sent to the service.
type LinkRequest struct {
	// Seconds for which the link opens.
	ExpiresIn *int64 `json:"expires_in,omitempty"`
}

// ListCall is an answer of the service, or a part of one.
type ListCall struct {
	// The rows of this page.
	Data []Call `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// Passage is an answer of the service, or a part of one.
type Passage struct {
	// Under which headings it stands.
	Heading string `json:"heading,omitzero"`
	// In which knowledge base.
	KnowledgeBaseID string `json:"knowledge_base_id"`
	// What the source is called.
	Name string `json:"name"`
	// Of which source.
	SourceID string `json:"source_id"`
	// Where it was read, where that is known.
	URL string `json:"url,omitzero"`
}

// PressRequest is sent to the service.
type PressRequest struct {
	// 0-9, *, # and A-D; w and a comma wait for half a second.
	Digits string `json:"digits"`
}

// RecordingState is an answer of the service, or a part of one.
type RecordingState struct {
	// The call.
	CallID string `json:"call_id"`
	// Whether it is recorded now. One of recording, paused.
	Status string `json:"status"`
}

// SayRequest is sent to the service.
type SayRequest struct {
	// Said in the voice of the agent.
	Text string `json:"text"`
}

// Segment is an answer of the service, or a part of one.
type Segment struct {
	// How sure the text is, 0 to 1.
	Confidence float64 `json:"confidence"`
	// When it ended, from the answer.
	EndMs int64 `json:"end_ms"`
	// Counts them from 0.
	Index int64 `json:"index"`
	// Whether the other side broke in.
	Interrupted bool `json:"interrupted"`
	// How long a language model took for the first piece of the answer that begins here.
	LlmFirstTokenMs int64 `json:"llm_first_token_ms,omitzero"`
	// What a model was told of the knowledge bases for the answer that begins here.
	Sources []Passage `json:"sources,omitzero"`
	// agent, caller or human.
	Speaker string `json:"speaker"`
	// When it began, from the answer.
	StartMs int64 `json:"start_ms"`
	// What was said.
	Text string `json:"text"`
}

// Transcript is an answer of the service, or a part of one.
type Transcript struct {
	// The call.
	CallID string `json:"call_id"`
	// The language spoken.
	Language string `json:"language"`
	// What was said, in order.
	Segments []Segment `json:"segments"`
	// ready, or processing while it is still to come. One of ready, processing.
	Status string `json:"status"`
	// All of it as one text.
	Text string `json:"text"`
}

// TransferRequest is sent to the service.
type TransferRequest struct {
	// A name of the agent's transfer.destinations.
	Destination *string `json:"destination,omitempty"`
	// blind: the far end is asked to call (REFER). attended: we call, and the far end takes that call over. bridge: we call and join both; the recording goes on. Left out: as the destination says, otherwise bridge. One of blind, attended, bridge.
	Mode *string `json:"mode,omitempty"`
	// The extension or the id of a phone.
	Phone *string `json:"phone,omitempty"`
	// Told to whoever answers, before the caller is heard; not in mode blind.
	Summary *string `json:"summary,omitempty"`
	// A number; exactly one of to, phone and destination is required.
	To *string `json:"to,omitempty"`
}
