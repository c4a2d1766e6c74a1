// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/url"
	"strconv"
	"time"
)

// ListSMSQuery is what ListSMS can be asked; what is zero is left out.
type ListSMSQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
	CreatedBefore time.Time
	// Only those in this state.
	Status string
	// Only those of this direction.
	Direction string
	// Only those to this number.
	To string
	// Only those from this number.
	From string
	// Only those of this conversation of an agent.
	ConversationID string
}

func (q *ListSMSQuery) values() url.Values {
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
	if q.Direction != "" {
		v.Set("direction", q.Direction)
	}
	if q.To != "" {
		v.Set("to", q.To)
	}
	if q.From != "" {
		v.Set("from", q.From)
	}
	if q.ConversationID != "" {
		v.Set("conversation_id", q.ConversationID)
	}
	return v
}

// ListSMS: List text messages.
//
// GET /v1/sms
func (c *Client) ListSMS(ctx context.Context, q ListSMSQuery, options ...Option) (*ListMessage, error) {
	return send[ListMessage](ctx, c, "GET", "/v1/sms", q.values(), nil, options)
}

// AllSMS walks the pages of ListSMS to their end; an error is the last that comes.
func (c *Client) AllSMS(ctx context.Context, q ListSMSQuery, options ...Option) iter.Seq2[Message, error] {
	return pages(&q.Cursor, func() ([]Message, *string, error) {
		l, err := c.ListSMS(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// SendSMS: Send a text message.
//
// POST /v1/sms
//
// Answers with the message as queued; what becomes of it is told by sms.sent, sms.delivered and sms.failed. Who opted out is 403 recipient_opted_out; once daily_spend_cap is reached, 403 spend_cap_reached. With a live key 409 no_sms_route while no trunk carries messages; with a test key the built-in carrier takes them. All routes of this path share 100 requests per minute.
func (c *Client) SendSMS(ctx context.Context, body *NewMessage, options ...Option) (*Message, error) {
	return send[Message](ctx, c, "POST", "/v1/sms", nil, asJSON(body), options)
}

// ListSMSConversationsQuery is what ListSMSConversations can be asked; what is zero is left out.
type ListSMSConversationsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
	CreatedBefore time.Time
	// Only those in this state.
	Status string
	// Only those with this number.
	Contact string
}

func (q *ListSMSConversationsQuery) values() url.Values {
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
	if q.Contact != "" {
		v.Set("contact", q.Contact)
	}
	return v
}

// ListSMSConversations: List the conversations of agents by text message.
//
// GET /v1/sms-conversations
//
// Who writes to a number whose agent has sms enabled is answered along its pathway. What was written: GET /v1/sms?conversation_id=.
func (c *Client) ListSMSConversations(ctx context.Context, q ListSMSConversationsQuery, options ...Option) (*ListTexting, error) {
	return send[ListTexting](ctx, c, "GET", "/v1/sms-conversations", q.values(), nil, options)
}

// AllSMSConversations walks the pages of ListSMSConversations to their end; an error is the last that comes.
func (c *Client) AllSMSConversations(ctx context.Context, q ListSMSConversationsQuery, options ...Option) iter.Seq2[Texting, error] {
	return pages(&q.Cursor, func() ([]Texting, *string, error) {
		l, err := c.ListSMSConversations(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// DeleteSMSConversation: Delete a conversation by text message.
//
// DELETE /v1/sms-conversations/{id}
//
// 409 invalid_state while it is open. Its messages stay.
func (c *Client) DeleteSMSConversation(ctx context.Context, id string, options ...Option) (*Deleted, error) {
	return send[Deleted](ctx, c, "DELETE", "/v1/sms-conversations/"+url.PathEscape(id), nil, nil, options)
}

// GetSMSConversation: Get a conversation by text message.
//
// GET /v1/sms-conversations/{id}
func (c *Client) GetSMSConversation(ctx context.Context, id string, options ...Option) (*Texting, error) {
	return send[Texting](ctx, c, "GET", "/v1/sms-conversations/"+url.PathEscape(id), nil, nil, options)
}

// CloseSMSConversation: End a conversation by text message.
//
// POST /v1/sms-conversations/{id}/close
//
// The next message of the contact begins another one. Without effect on one that is over.
func (c *Client) CloseSMSConversation(ctx context.Context, id string, options ...Option) (*Texting, error) {
	return send[Texting](ctx, c, "POST", "/v1/sms-conversations/"+url.PathEscape(id)+"/close", nil, nil, options)
}

// ListSMSGatewaysQuery is what ListSMSGateways can be asked; what is zero is left out.
type ListSMSGatewaysQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
	CreatedBefore time.Time
}

func (q *ListSMSGatewaysQuery) values() url.Values {
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

// ListSMSGateways: List SMS gateways.
//
// GET /v1/sms-gateways
func (c *Client) ListSMSGateways(ctx context.Context, q ListSMSGatewaysQuery, options ...Option) (*ListSMSGateway, error) {
	return send[ListSMSGateway](ctx, c, "GET", "/v1/sms-gateways", q.values(), nil, options)
}

// AllSMSGateways walks the pages of ListSMSGateways to their end; an error is the last that comes.
func (c *Client) AllSMSGateways(ctx context.Context, q ListSMSGatewaysQuery, options ...Option) iter.Seq2[SMSGateway, error] {
	return pages(&q.Cursor, func() ([]SMSGateway, *string, error) {
		l, err := c.ListSMSGateways(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// CreateSMSGateway: Create an SMS gateway.
//
// POST /v1/sms-gateways
//
// Needs an API key or a dashboard session. Live messages that it may take are posted to its URL as JSON {message_id, from, to, body, media, segments, encoding, created_at}, signed as deliveries of events are, with the message's id as Idempotency-Key: the same key is the same message, sent again because no answer was seen. Any 2xx says that the gateway has it; 408, 425, 429, 5xx and silence are tried again (Retry-After is honoured), anything else is final. The secret is in this answer only. 409 invalid_state with a test key.
func (c *Client) CreateSMSGateway(ctx context.Context, body *NewSMSGateway, options ...Option) (*SMSGateway, error) {
	return send[SMSGateway](ctx, c, "POST", "/v1/sms-gateways", nil, asJSON(body), options)
}

// DeleteSMSGateway: Delete an SMS gateway.
//
// DELETE /v1/sms-gateways/{id}
func (c *Client) DeleteSMSGateway(ctx context.Context, id string, options ...Option) (*Deleted, error) {
	return send[Deleted](ctx, c, "DELETE", "/v1/sms-gateways/"+url.PathEscape(id), nil, nil, options)
}

// GetSMSGateway: Get an SMS gateway.
//
// GET /v1/sms-gateways/{id}
func (c *Client) GetSMSGateway(ctx context.Context, id string, options ...Option) (*SMSGateway, error) {
	return send[SMSGateway](ctx, c, "GET", "/v1/sms-gateways/"+url.PathEscape(id), nil, nil, options)
}

// UpdateSMSGateway: Change an SMS gateway.
//
// PATCH /v1/sms-gateways/{id}
//
// Needs an API key or a dashboard session. A changed secret is in this answer only.
func (c *Client) UpdateSMSGateway(ctx context.Context, id string, body *SMSGatewayUpdate, options ...Option) (*SMSGateway, error) {
	return send[SMSGateway](ctx, c, "PATCH", "/v1/sms-gateways/"+url.PathEscape(id), nil, asJSON(body), options)
}

// TellSMSGatewayEvents: Tell of messages, as a gateway.
//
// POST /v1/sms-gateways/{id}/events
//
// For the gateway, with an API key of the workspace: what came in, and what became of messages that were posted to it. 200 says that all of it is stored; after anything else, or no answer, it is told again as a whole. What cannot be taken (an unknown number or message) has an error in its result and holds nothing else back.
func (c *Client) TellSMSGatewayEvents(ctx context.Context, id string, body *SMSGatewayEvents, options ...Option) (*SMSGatewayResults, error) {
	return send[SMSGatewayResults](ctx, c, "POST", "/v1/sms-gateways/"+url.PathEscape(id)+"/events", nil, asJSON(body), options)
}

// DeleteSMS: Delete a text message.
//
// DELETE /v1/sms/{id}
//
// 409 invalid_state while it is on its way. Events that told of it, with numbers and, of one that came in, its words, stay in the event log until the workspace is deleted.
func (c *Client) DeleteSMS(ctx context.Context, id string, options ...Option) (*Deleted, error) {
	return send[Deleted](ctx, c, "DELETE", "/v1/sms/"+url.PathEscape(id), nil, nil, options)
}

// GetSMS: Get a text message.
//
// GET /v1/sms/{id}
func (c *Client) GetSMS(ctx context.Context, id string, options ...Option) (*Message, error) {
	return send[Message](ctx, c, "GET", "/v1/sms/"+url.PathEscape(id), nil, nil, options)
}

// TestInboundSMS: Let the built-in carrier send a text message to the workspace.
//
// POST /v1/test/inbound-sms
//
// With a test key only. sms.received tells of it; a message that only says STOP, or another word that carriers know, opts its sender out.
func (c *Client) TestInboundSMS(ctx context.Context, body *TestMessage, options ...Option) (*Message, error) {
	return send[Message](ctx, c, "POST", "/v1/test/inbound-sms", nil, asJSON(body), options)
}

// ListMessage is an answer of the service, or a part of one.
type ListMessage struct {
	// The rows of this page.
	Data []Message `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// ListSMSGateway is an answer of the service, or a part of one.
type ListSMSGateway struct {
	// The rows of this page.
	Data []SMSGateway `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// ListTexting is an answer of the service, or a part of one.
type ListTexting struct {
	// The rows of this page.
	Data []Texting `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// Message is an answer of the service, or a part of one.
type Message struct {
	// The words, with the context filled in.
	Body string `json:"body"`
	// What was filled in.
	Context map[string]any `json:"context,omitzero"`
	// The conversation of an agent that it belongs to.
	ConversationID string `json:"conversation_id,omitzero"`
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// When it was reported as delivered.
	DeliveredAt *time.Time `json:"delivered_at"`
	// outbound or inbound. One of inbound, outbound.
	Direction string `json:"direction"`
	// gsm7: up to 160 characters, or 153 in each of several segments. ucs2: 70, or 67. One of gsm7, ucs2.
	Encoding string `json:"encoding"`
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// Why it failed.
	ErrorCode string `json:"error_code,omitzero"`
	// Why, in words.
	ErrorMessage string `json:"error_message,omitzero"`
	// When it failed.
	FailedAt *time.Time `json:"failed_at"`
	// E.164.
	From string `json:"from"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// Addresses of pictures and the like.
	Media []string `json:"media"`
	// As id.
	MessageID string `json:"message_id"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// When it is handed to a carrier again.
	NextTryAt *time.Time `json:"next_try_at,omitempty"`
	// Outbound: it answers an opt-out, once.
	Notice bool `json:"notice"`
	// What kind of resource this is.
	Object string `json:"object"`
	// Inbound: the sender wants no more; the number is on the default do-not-call list.
	OptOut bool `json:"opt_out"`
	// The message that it answers.
	ReplyTo string `json:"reply_to,omitzero"`
	// The trunk or SMS gateway that carried it.
	RouteID string `json:"route_id,omitzero"`
	// How many pieces it takes over the air.
	Segments int64 `json:"segments"`
	// When a carrier took it.
	SentAt *time.Time `json:"sent_at"`
	// queued, sent (a carrier has it), delivered or undelivered (so it reports), failed (none took it), received. One of queued, sent, delivered, undelivered, failed, received.
	Status string `json:"status"`
	// E.164.
	To string `json:"to"`
	// How often it was handed to a carrier.
	Tries int64 `json:"tries,omitzero"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// NewSMSGateway is sent to the service.
type NewSMSGateway struct {
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name string `json:"name"`
	// Numbers that it takes; empty: all. Of trunks and gateways the one with the longest is taken.
	Prefixes []string `json:"prefixes,omitzero"`
	// Among those of one prefix length: lower first.
	Priority *int64 `json:"priority,omitempty"`
	// Signs what is posted, as a webhook's does. Default: Callboard makes one.
	Secret *string `json:"secret,omitempty"`
	// Where messages are posted: https only, at an address that may be reached.
	URL string `json:"url"`
}

// SMSGateway is an answer of the service, or a part of one.
type SMSGateway struct {
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// The credential that created it.
	CreatedBy *Creator `json:"created_by,omitempty"`
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name string `json:"name"`
	// What kind of resource this is.
	Object string `json:"object"`
	// Numbers that it takes; empty: all.
	Prefixes []string `json:"prefixes"`
	// Among trunks and gateways of one prefix length: lower first.
	Priority int64 `json:"priority"`
	// Signs what is sent to the URL. Shown once, at creation and when it is changed.
	Secret string `json:"secret,omitzero"`
	// The last characters of the secret.
	SecretHint string `json:"secret_hint"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// Where messages are posted.
	URL string `json:"url"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// SMSGatewayEvent is sent to the service.
type SMSGatewayEvent struct {
	// Of received: at most 1600 characters.
	Body *string `json:"body,omitempty"`
	// Of undelivered and failed: why, in a word.
	ErrorCode *string `json:"error_code,omitempty"`
	// The same for people.
	ErrorMessage *string `json:"error_message,omitempty"`
	// Of received, best in E.164.
	From *string `json:"from,omitempty"`
	// Of received: the gateway's own name for the message. Told again, it is taken once.
	ID *string `json:"id,omitempty"`
	// Of received: addresses of pictures and the like, https only; 10 at most.
	Media []string `json:"media,omitzero"`
	// Of delivered, undelivered and failed: the message_id that was posted.
	MessageID *string `json:"message_id,omitempty"`
	// Of received: a number of the workspace.
	To *string `json:"to,omitempty"`
	// received tells of a message that came in, the others of one that was posted to the gateway. One of received, delivered, undelivered, failed.
	Type string `json:"type"`
}

// SMSGatewayEvents is sent to the service.
type SMSGatewayEvents struct {
	// 1 to 100, in the order in which they are to be taken.
	Events []SMSGatewayEvent `json:"events"`
}

// SMSGatewayResult is an answer of the service, or a part of one.
type SMSGatewayResult struct {
	// It was told before.
	Duplicate bool `json:"duplicate"`
	// Why it cannot be taken: telling it again will not help.
	Error *BulkError `json:"error,omitempty"`
	// Its place among the events, from 0.
	Index int64 `json:"index"`
	// The message it made or changed; empty where it was not taken.
	MessageID string `json:"message_id,omitzero"`
}

// SMSGatewayResults is an answer of the service, or a part of one.
type SMSGatewayResults struct {
	// One for each event, in their order.
	Results []SMSGatewayResult `json:"results"`
}

// SMSGatewayUpdate is sent to the service.
type SMSGatewayUpdate struct {
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata Optional[map[string]*string] `json:"metadata,omitzero"`
	// For people.
	Name *string `json:"name,omitempty"`
	// Numbers that it takes; empty: all. Of trunks and gateways the one with the longest is taken.
	Prefixes Optional[[]string] `json:"prefixes,omitzero"`
	// Among those of one prefix length: lower first.
	Priority Optional[int64] `json:"priority,omitzero"`
	// Signs what is posted, as a webhook's does. Default: Callboard makes one.
	Secret Optional[string] `json:"secret,omitzero"`
	// Where messages are posted: https only, at an address that may be reached.
	URL *string `json:"url,omitempty"`
}

// TestMessage is sent to the service.
type TestMessage struct {
	// The words.
	Body string `json:"body"`
	// Who sends it.
	From string `json:"from"`
	// To which number of yours.
	To string `json:"to"`
}

// Texting is an answer of the service, or a part of one.
type Texting struct {
	// Which agent speaks.
	AgentID string `json:"agent_id"`
	// Which version of the agent was pinned.
	AgentVersion int64 `json:"agent_version,omitzero"`
	// Who wrote, in E.164.
	Contact string `json:"contact"`
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// When it ended.
	EndedAt *time.Time `json:"ended_at"`
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// When it ends.
	ExpiresAt time.Time `json:"expires_at"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// What the contact wants, as the pathway has understood it.
	Intent string `json:"intent,omitzero"`
	// When the agent last dealt with a message of the contact.
	LastMessageAt time.Time `json:"last_message_at"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// What the pathway noted.
	Notes string `json:"notes,omitzero"`
	// The workspace's number.
	Number string `json:"number"`
	// What kind of resource this is.
	Object string `json:"object"`
	// What the pathway came to. One of completed, confirmed, declined, voicemail, no_answer, busy, failed, cancelled.
	Outcome string `json:"outcome,omitzero"`
	// Which pathway it follows.
	PathwayID string `json:"pathway_id,omitzero"`
	// Why it was closed (api, opt_out), failed, or is silent (max_replies).
	Reason string `json:"reason,omitzero"`
	// How many messages the agent has written.
	Replies int64 `json:"replies"`
	// open, completed, timed_out, closed or failed. One of open, completed, timed_out, closed, failed.
	Status string `json:"status"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// What was collected and set, without what is sensitive.
	Variables map[string]string `json:"variables"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}
