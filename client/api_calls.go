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

// ListCallsQuery holds the query parameters of ListCalls. Zero values are not sent.
type ListCallsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the previous page.
	Cursor string
	// Only resources created after this time.
	CreatedAfter time.Time
	// Only resources created before this time.
	CreatedBefore time.Time
	// Filters by status. active: every status that is not final.
	Status string
	// Filters by campaign.
	CampaignID string
	// Filters by contact.
	ContactID string
	// Filters by agent.
	AgentID string
	// Filters by direction.
	Direction string
	// Only calls whose transcript contains all of these words; quote a phrase. A page searches a bounded number of calls, so it may have fewer than limit calls, or none, although next_cursor leads to more.
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

// AllCalls iterates over all pages of ListCalls. It ends after the first error.
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
// The plan limits these requests per minute. At the limit of concurrent calls: 429 concurrent_limit_exceeded with active_calls and limit. With a test key the test carrier answers. +15005550000 and any other number presses 1, …0001 is busy, …0002 does not answer, …0003 is a voicemail, …0004 presses 2, …0005 does not exist, …0006 fails in the trunk, …0007 says stop, …0008 is a fax, …0009 is silent. For +1500555nnxx the last two digits decide: …11 presses 1, …12 presses 2, …13 declines, …14 is busy, …15 does not answer. …16 is a voicemail, …17 presses 7 and 1, …18 hangs up, …19 does not exist, …20 does not answer (480).
func (c *Client) PlaceCall(ctx context.Context, body *NewCallRequest, options ...Option) (*Call, error) {
	return send[Call](ctx, c, "POST", "/v1/calls/outbound", nil, asJSON(body), options)
}

// DeleteCall: Delete a call.
//
// DELETE /v1/calls/{id}
//
// Deletes an ended call with its recording, transcript and SIP messages. Its events remain until retention.events_days, and its entry in the ledger, which contains no number, until retention.ledger_days. A live call is 409 invalid_state.
func (c *Client) DeleteCall(ctx context.Context, id string, options ...Option) (*Deleted, error) {
	return send[Deleted](ctx, c, "DELETE", "/v1/calls/"+url.PathEscape(id), nil, nil, options)
}

// GetCall: Get a call.
//
// GET /v1/calls/{id}
func (c *Client) GetCall(ctx context.Context, id string, options ...Option) (*Call, error) {
	return send[Call](ctx, c, "GET", "/v1/calls/"+url.PathEscape(id), nil, nil, options)
}

// PressInCall: Send DTMF digits to the remote party.
//
// POST /v1/calls/{id}/dtmf
func (c *Client) PressInCall(ctx context.Context, id string, body *PressRequest, options ...Option) (*Call, error) {
	return send[Call](ctx, c, "POST", "/v1/calls/"+url.PathEscape(id)+"/dtmf", nil, asJSON(body), options)
}

// ListCallEventsQuery holds the query parameters of ListCallEvents. Zero values are not sent.
type ListCallEventsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the previous page.
	Cursor string
	// Only resources created after this time.
	CreatedAfter time.Time
	// Only resources created before this time.
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

// AllCallEvents iterates over all pages of ListCallEvents. It ends after the first error.
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
// Stereo: the caller on the left channel, the agent or a human on the right. Supports Range.
//
// The caller reads the body and closes it.
func (c *Client) GetRecording(ctx context.Context, id string, options ...Option) (*http.Response, error) {
	return c.open(ctx, "GET", "/v1/calls/"+url.PathEscape(id)+"/recording", nil, nil, options)
}

// LinkRecording: Create a link to the recording.
//
// POST /v1/calls/{id}/recording/link
//
// The link needs no credential and supports Range. It ends at its expiry, or when the recording is deleted. A link that is created with a token ends at the latest with the token.
func (c *Client) LinkRecording(ctx context.Context, id string, body *LinkRequest, options ...Option) (*Link, error) {
	return send[Link](ctx, c, "POST", "/v1/calls/"+url.PathEscape(id)+"/recording/link", nil, asJSON(body), options)
}

// PauseRecording: Pause the recording.
//
// POST /v1/calls/{id}/recording/pause
//
// For example while a card number is spoken. The gap is silence of the same length, and the call continues. 409 unless the call is answered and recorded.
func (c *Client) PauseRecording(ctx context.Context, id string, options ...Option) (*RecordingState, error) {
	return send[RecordingState](ctx, c, "POST", "/v1/calls/"+url.PathEscape(id)+"/recording/pause", nil, nil, options)
}

// ResumeRecording: Go on recording.
//
// POST /v1/calls/{id}/recording/resume
//
// For example while a card number is spoken. The gap is silence of the same length, and the call continues. 409 unless the call is answered and recorded.
func (c *Client) ResumeRecording(ctx context.Context, id string, options ...Option) (*RecordingState, error) {
	return send[RecordingState](ctx, c, "POST", "/v1/calls/"+url.PathEscape(id)+"/recording/resume", nil, nil, options)
}

// SayInCall: Let the agent speak a text.
//
// POST /v1/calls/{id}/say
//
// The agent speaks the text outside the pathway, after its current speech.
func (c *Client) SayInCall(ctx context.Context, id string, body *SayRequest, options ...Option) (*Call, error) {
	return send[Call](ctx, c, "POST", "/v1/calls/"+url.PathEscape(id)+"/say", nil, asJSON(body), options)
}

// GetCallMessagesQuery holds the query parameters of GetCallMessages. Zero values are not sent.
type GetCallMessagesQuery struct {
	// Format of the messages.
	Format string
}

func (q *GetCallMessagesQuery) values() url.Values {
	v := make(url.Values)
	if q.Format != "" {
		v.Set("format", q.Format)
	}
	return v
}

// GetCallMessages: Get the SIP messages of a call.
//
// GET /v1/calls/{id}/sip
//
// For a live call: the messages so far. For a call that a crash interrupted: the messages up to the last stored step. Credentials, SRTP keys and DTMF digits in INFO are replaced by asterisks. In a pcap file every message is one UDP packet, whatever its transport was.
func (c *Client) GetCallMessages(ctx context.Context, id string, q GetCallMessagesQuery, options ...Option) (*CallMessages, error) {
	return send[CallMessages](ctx, c, "GET", "/v1/calls/"+url.PathEscape(id)+"/sip", q.values(), nil, options)
}

// GetCallMessagesRaw: Get the SIP messages of a call.
//
// GET /v1/calls/{id}/sip
//
// For a live call: the messages so far. For a call that a crash interrupted: the messages up to the last stored step. Credentials, SRTP keys and DTMF digits in INFO are replaced by asterisks. In a pcap file every message is one UDP packet, whatever its transport was.
//
// The caller reads the body and closes it.
func (c *Client) GetCallMessagesRaw(ctx context.Context, id string, q GetCallMessagesQuery, options ...Option) (*http.Response, error) {
	return c.open(ctx, "GET", "/v1/calls/"+url.PathEscape(id)+"/sip", q.values(), nil, options)
}

// GetTranscript: Get the transcript of a call.
//
// GET /v1/calls/{id}/transcript
func (c *Client) GetTranscript(ctx context.Context, id string, options ...Option) (*Transcript, error) {
	return send[Transcript](ctx, c, "GET", "/v1/calls/"+url.PathEscape(id)+"/transcript", nil, nil, options)
}

// TransferCall: Transfer the caller.
//
// POST /v1/calls/{id}/transfer
//
// Returns the call at once with the status transferring; call.transferred reports the result. If the target does not answer, or hangs up after a bridge, the caller returns to the agent.
func (c *Client) TransferCall(ctx context.Context, id string, body *TransferRequest, options ...Option) (*Call, error) {
	return send[Call](ctx, c, "POST", "/v1/calls/"+url.PathEscape(id)+"/transfer", nil, asJSON(body), options)
}

// CallMessage is part of a response.
type CallMessage struct {
	// When the message was sent or received.
	At time.Time `json:"at"`
	// sent or received. One of sent, received.
	Direction string `json:"direction"`
	// Address of Callboard.
	Local string `json:"local"`
	// The message as on the wire. Secrets are replaced by asterisks.
	Message string `json:"message"`
	// SDP lines and body parts that were not used, with the reason.
	Notes []string `json:"notes,omitzero"`
	// Address of the remote party.
	Remote string `json:"remote"`
	// Call-ID of the SIP dialog. A call with several legs has several.
	SIPCallID string `json:"sip_call_id"`
	// First line of the message.
	StartLine string `json:"start_line"`
	// udp, tcp or tls. One of udp, tcp, tls.
	Transport string `json:"transport"`
}

// CallMessages is part of a response.
type CallMessages struct {
	// The id of the call.
	CallID string `json:"call_id"`
	// Number of messages that were not stored, because they were too many or too large.
	Dropped int64 `json:"dropped"`
	// SIP messages in the order in which they were sent and received.
	Messages []CallMessage `json:"messages"`
}

// Link is part of a response.
type Link struct {
	// The id of the call.
	CallID string `json:"call_id"`
	// Time of expiry.
	ExpiresAt time.Time `json:"expires_at"`
	// The link gives access to the recording without a credential, so share it securely.
	URL string `json:"url"`
}

// LinkRequest is part of a request.
type LinkRequest struct {
	// Lifetime of the link in seconds.
	ExpiresIn *int64 `json:"expires_in,omitempty"`
}

// ListCall is part of a response.
type ListCall struct {
	// The resources of this page.
	Data []Call `json:"data"`
	// true if there is another page.
	HasMore bool `json:"has_more"`
	// Cursor of the next page; null on the last page.
	NextCursor *string `json:"next_cursor"`
	// The type of the resource. One of list.
	Object string `json:"object"`
}

// Passage is part of a response.
type Passage struct {
	// Headings above the passage.
	Heading string `json:"heading,omitzero"`
	// The id of the knowledge base.
	KnowledgeBaseID string `json:"knowledge_base_id"`
	// Name of the source.
	Name string `json:"name"`
	// The id of the source.
	SourceID string `json:"source_id"`
	// URL of the source, if it has one.
	URL string `json:"url,omitzero"`
}

// PressRequest is part of a request.
type PressRequest struct {
	// 0-9, *, # and A-D. w and a comma are pauses of half a second.
	Digits string `json:"digits"`
}

// RecordingState is part of a response.
type RecordingState struct {
	// The id of the call.
	CallID string `json:"call_id"`
	// recording or paused. One of recording, paused.
	Status string `json:"status"`
}

// SayRequest is part of a request.
type SayRequest struct {
	// Text that the agent speaks.
	Text string `json:"text"`
}

// Segment is part of a response.
type Segment struct {
	// Confidence of the text, 0 to 1.
	Confidence float64 `json:"confidence"`
	// End of the utterance, in milliseconds after the answer.
	EndMs int64 `json:"end_ms"`
	// Index of the segment, from 0.
	Index int64 `json:"index"`
	// true if the other side interrupted the utterance.
	Interrupted bool `json:"interrupted"`
	// Time to the first token of the language model for the response that starts here.
	LlmFirstTokenMs int64 `json:"llm_first_token_ms,omitzero"`
	// Passages of knowledge bases that the model received for the response that starts here.
	Sources []Passage `json:"sources,omitzero"`
	// agent, caller or human.
	Speaker string `json:"speaker"`
	// Start of the utterance, in milliseconds after the answer.
	StartMs int64 `json:"start_ms"`
	// Text of the utterance.
	Text string `json:"text"`
}

// Transcript is part of a response.
type Transcript struct {
	// The id of the call.
	CallID string `json:"call_id"`
	// Language of the conversation.
	Language string `json:"language"`
	// Utterances in order.
	Segments []Segment `json:"segments"`
	// ready, or processing while the transcript is not ready. One of ready, processing.
	Status string `json:"status"`
	// The whole transcript as one text.
	Text string `json:"text"`
}

// TransferRequest is part of a request.
type TransferRequest struct {
	// A name of the agent's transfer.destinations.
	Destination *string `json:"destination,omitempty"`
	// blind: the remote party is asked to call the target (REFER). attended: Callboard calls the target, and the remote party takes over that call (REFER with Replaces). bridge: Callboard calls the target and connects both; the recording continues. Default: the mode of the destination, otherwise bridge. One of blind, attended, bridge.
	Mode *string `json:"mode,omitempty"`
	// The extension or the id of a phone.
	Phone *string `json:"phone,omitempty"`
	// Announcement to the person who answers, before the caller is connected. Not for mode blind.
	Summary *string `json:"summary,omitempty"`
	// A telephone number. Exactly one of to, phone and destination is required.
	To *string `json:"to,omitempty"`
}
