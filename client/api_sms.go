// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/url"
	"strconv"
	"time"
)

// ListSMSQuery holds the query parameters of ListSMS. Zero values are not sent.
type ListSMSQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the previous page.
	Cursor string
	// Only resources created after this time.
	CreatedAfter time.Time
	// Only resources created before this time.
	CreatedBefore time.Time
	// Filters by status.
	Status string
	// Filters by direction.
	Direction string
	// Filters by recipient.
	To string
	// Filters by sender.
	From string
	// Filters by conversation.
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

// AllSMS iterates over all pages of ListSMS. It ends after the first error.
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
// Returns the message with the status queued; sms.sent, sms.delivered and sms.failed report the result. 403 recipient_opted_out after an opt-out of the recipient, 403 spend_cap_reached once daily_spend_cap is reached. With a live key, 409 no_sms_route if no trunk or gateway carries messages. With a test key the test carrier accepts the message. All routes of this path share 100 requests per minute.
func (c *Client) SendSMS(ctx context.Context, body *NewMessage, options ...Option) (*Message, error) {
	return send[Message](ctx, c, "POST", "/v1/sms", nil, asJSON(body), options)
}

// ListSMSConversationsQuery holds the query parameters of ListSMSConversations. Zero values are not sent.
type ListSMSConversationsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the previous page.
	Cursor string
	// Only resources created after this time.
	CreatedAfter time.Time
	// Only resources created before this time.
	CreatedBefore time.Time
	// Filters by status.
	Status string
	// Filters by the contact's number.
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

// ListSMSConversations: List conversations by text message.
//
// GET /v1/sms-conversations
//
// An agent with sms enabled answers text messages to its numbers by its pathway. GET /v1/sms?conversation_id= lists the messages.
func (c *Client) ListSMSConversations(ctx context.Context, q ListSMSConversationsQuery, options ...Option) (*ListSMSConversation, error) {
	return send[ListSMSConversation](ctx, c, "GET", "/v1/sms-conversations", q.values(), nil, options)
}

// AllSMSConversations iterates over all pages of ListSMSConversations. It ends after the first error.
func (c *Client) AllSMSConversations(ctx context.Context, q ListSMSConversationsQuery, options ...Option) iter.Seq2[SMSConversation, error] {
	return pages(&q.Cursor, func() ([]SMSConversation, *string, error) {
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
// 409 invalid_state while the conversation is open. Its messages remain.
func (c *Client) DeleteSMSConversation(ctx context.Context, id string, options ...Option) (*Deleted, error) {
	return send[Deleted](ctx, c, "DELETE", "/v1/sms-conversations/"+url.PathEscape(id), nil, nil, options)
}

// GetSMSConversation: Get a conversation by text message.
//
// GET /v1/sms-conversations/{id}
func (c *Client) GetSMSConversation(ctx context.Context, id string, options ...Option) (*SMSConversation, error) {
	return send[SMSConversation](ctx, c, "GET", "/v1/sms-conversations/"+url.PathEscape(id), nil, nil, options)
}

// CloseSMSConversation: Close a conversation by text message.
//
// POST /v1/sms-conversations/{id}/close
//
// The next message of the contact starts a new conversation. Closing an ended conversation has no effect.
func (c *Client) CloseSMSConversation(ctx context.Context, id string, options ...Option) (*SMSConversation, error) {
	return send[SMSConversation](ctx, c, "POST", "/v1/sms-conversations/"+url.PathEscape(id)+"/close", nil, nil, options)
}

// ListSMSGatewaysQuery holds the query parameters of ListSMSGateways. Zero values are not sent.
type ListSMSGatewaysQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the previous page.
	Cursor string
	// Only resources created after this time.
	CreatedAfter time.Time
	// Only resources created before this time.
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

// AllSMSGateways iterates over all pages of ListSMSGateways. It ends after the first error.
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
// Needs an API key or a dashboard session. Callboard sends live messages to the URL as JSON {message_id, from, to, body, media, segments, encoding, created_at}, signed like webhook deliveries, with the message id as Idempotency-Key. The same key marks a repeated message after a missing response. Any 2xx means that the gateway has accepted the message. 408, 425, 429, 5xx and timeouts are retried (Retry-After is respected), any other status is final. Only this response contains the secret. 409 invalid_state with a test key.
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
// Needs an API key or a dashboard session. Only this response contains a changed secret.
func (c *Client) UpdateSMSGateway(ctx context.Context, id string, body *SMSGatewayUpdate, options ...Option) (*SMSGateway, error) {
	return send[SMSGateway](ctx, c, "PATCH", "/v1/sms-gateways/"+url.PathEscape(id), nil, asJSON(body), options)
}

// TellSMSGatewayEvents: Report message events, for a gateway.
//
// POST /v1/sms-gateways/{id}/events
//
// The gateway reports inbound messages and the state of messages that were sent to it, with an API key of the workspace. 200 means that all events are stored. After any other response, or none, send all events again. An invalid event, such as one with an unknown number or message, has an error in its result and does not affect other events.
func (c *Client) TellSMSGatewayEvents(ctx context.Context, id string, body *SMSGatewayEvents, options ...Option) (*SMSGatewayResults, error) {
	return send[SMSGatewayResults](ctx, c, "POST", "/v1/sms-gateways/"+url.PathEscape(id)+"/events", nil, asJSON(body), options)
}

// DeleteSMS: Delete a text message.
//
// DELETE /v1/sms/{id}
//
// 409 invalid_state while the message is being delivered. Its events, with numbers and the text of an inbound message, remain in the event log until the workspace is deleted.
func (c *Client) DeleteSMS(ctx context.Context, id string, options ...Option) (*Deleted, error) {
	return send[Deleted](ctx, c, "DELETE", "/v1/sms/"+url.PathEscape(id), nil, nil, options)
}

// GetSMS: Get a text message.
//
// GET /v1/sms/{id}
func (c *Client) GetSMS(ctx context.Context, id string, options ...Option) (*Message, error) {
	return send[Message](ctx, c, "GET", "/v1/sms/"+url.PathEscape(id), nil, nil, options)
}

// TestInboundSMS: Let the test carrier send a text message to the workspace.
//
// POST /v1/test/inbound-sms
//
// With a test key only. sms.received reports the message. A message with only STOP, or another opt-out keyword of carriers, opts its sender out.
func (c *Client) TestInboundSMS(ctx context.Context, body *TestMessage, options ...Option) (*Message, error) {
	return send[Message](ctx, c, "POST", "/v1/test/inbound-sms", nil, asJSON(body), options)
}

// ListMessage is part of a response.
type ListMessage struct {
	// The resources of this page.
	Data []Message `json:"data"`
	// true if there is another page.
	HasMore bool `json:"has_more"`
	// Cursor of the next page; null on the last page.
	NextCursor *string `json:"next_cursor"`
	// The type of the resource. One of list.
	Object string `json:"object"`
}

// ListSMSConversation is part of a response.
type ListSMSConversation struct {
	// The resources of this page.
	Data []SMSConversation `json:"data"`
	// true if there is another page.
	HasMore bool `json:"has_more"`
	// Cursor of the next page; null on the last page.
	NextCursor *string `json:"next_cursor"`
	// The type of the resource. One of list.
	Object string `json:"object"`
}

// ListSMSGateway is part of a response.
type ListSMSGateway struct {
	// The resources of this page.
	Data []SMSGateway `json:"data"`
	// true if there is another page.
	HasMore bool `json:"has_more"`
	// Cursor of the next page; null on the last page.
	NextCursor *string `json:"next_cursor"`
	// The type of the resource. One of list.
	Object string `json:"object"`
}

// Message is part of a response.
type Message struct {
	// Text with inserted variables.
	Body string `json:"body"`
	// Inserted variables.
	Context map[string]any `json:"context,omitzero"`
	// The id of the agent's conversation that the message belongs to.
	ConversationID string `json:"conversation_id,omitzero"`
	// When the resource was created.
	CreatedAt time.Time `json:"created_at"`
	// When the delivery was reported.
	DeliveredAt *time.Time `json:"delivered_at"`
	// outbound or inbound. One of inbound, outbound.
	Direction string `json:"direction"`
	// gsm7: up to 160 characters, or 153 in each of several segments. ucs2: 70, or 67. One of gsm7, ucs2.
	Encoding string `json:"encoding"`
	// live or test. The environments are separate.
	Environment string `json:"environment"`
	// Error code of a failed message.
	ErrorCode string `json:"error_code,omitzero"`
	// Error message of a failed message.
	ErrorMessage string `json:"error_message,omitzero"`
	// When the message failed.
	FailedAt *time.Time `json:"failed_at"`
	// Sender in E.164.
	From string `json:"from"`
	// Unique id. It never changes and is never reused.
	ID string `json:"id"`
	// URLs of media.
	Media []string `json:"media"`
	// The same as id.
	MessageID string `json:"message_id"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Time of the next delivery attempt.
	NextTryAt *time.Time `json:"next_try_at,omitempty"`
	// Outbound: the message confirms an opt-out.
	Notice bool `json:"notice"`
	// The type of the resource.
	Object string `json:"object"`
	// Inbound: the sender has opted out, and the number is on the default do-not-call list.
	OptOut bool `json:"opt_out"`
	// The message to which this one replies.
	ReplyTo string `json:"reply_to,omitzero"`
	// The id of the trunk or SMS gateway that delivers the message.
	RouteID string `json:"route_id,omitzero"`
	// Number of SMS segments.
	Segments int64 `json:"segments"`
	// When a carrier accepted the message.
	SentAt *time.Time `json:"sent_at"`
	// queued, sent (accepted by a carrier), delivered or undelivered (reported by the carrier), failed (accepted by no carrier), received. One of queued, sent, delivered, undelivered, failed, received.
	Status string `json:"status"`
	// Recipient in E.164.
	To string `json:"to"`
	// Number of delivery attempts.
	Tries int64 `json:"tries,omitzero"`
	// When the resource was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// The workspace of the resource.
	WorkspaceID string `json:"workspace_id"`
}

// NewSMSGateway is part of a request.
type NewSMSGateway struct {
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Name for people.
	Name string `json:"name"`
	// Number prefixes that the gateway carries; empty: all. The trunk or gateway with the longest matching prefix carries a message.
	Prefixes []string `json:"prefixes,omitzero"`
	// Priority among gateways and trunks with the same prefix length; lower first.
	Priority *int64 `json:"priority,omitempty"`
	// Secret that signs the requests like webhook deliveries. Default: Callboard creates one.
	Secret *string `json:"secret,omitempty"`
	// https URL at an allowed address that receives the messages.
	URL string `json:"url"`
}

// SMSConversation is part of a response.
type SMSConversation struct {
	// The id of the agent.
	AgentID string `json:"agent_id"`
	// Version of the agent in this conversation.
	AgentVersion int64 `json:"agent_version,omitzero"`
	// Number of the contact in E.164.
	Contact string `json:"contact"`
	// When the resource was created.
	CreatedAt time.Time `json:"created_at"`
	// When the conversation ended.
	EndedAt *time.Time `json:"ended_at"`
	// live or test. The environments are separate.
	Environment string `json:"environment"`
	// Time of expiry.
	ExpiresAt time.Time `json:"expires_at"`
	// Unique id. It never changes and is never reused.
	ID string `json:"id"`
	// Intent of the contact that the pathway recognized.
	Intent string `json:"intent,omitzero"`
	// When the agent last processed a message of the contact.
	LastMessageAt time.Time `json:"last_message_at"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Notes of the pathway.
	Notes string `json:"notes,omitzero"`
	// The workspace's number.
	Number string `json:"number"`
	// The type of the resource.
	Object string `json:"object"`
	// Outcome of the pathway. One of completed, confirmed, declined, voicemail, no_answer, busy, failed, cancelled.
	Outcome string `json:"outcome,omitzero"`
	// The id of the pathway.
	PathwayID string `json:"pathway_id,omitzero"`
	// Why the conversation was closed (api, opt_out), failed, or gets no replies (max_replies).
	Reason string `json:"reason,omitzero"`
	// Number of messages of the agent.
	Replies int64 `json:"replies"`
	// open, completed, timed_out, closed or failed. One of open, completed, timed_out, closed, failed.
	Status string `json:"status"`
	// When the resource was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// Collected and set variables, without sensitive ones.
	Variables map[string]string `json:"variables"`
	// The workspace of the resource.
	WorkspaceID string `json:"workspace_id"`
}

// SMSGateway is part of a response.
type SMSGateway struct {
	// When the resource was created.
	CreatedAt time.Time `json:"created_at"`
	// The credential that created it.
	CreatedBy *Creator `json:"created_by,omitempty"`
	// live or test. The environments are separate.
	Environment string `json:"environment"`
	// Unique id. It never changes and is never reused.
	ID string `json:"id"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Name for people.
	Name string `json:"name"`
	// The type of the resource.
	Object string `json:"object"`
	// Prefixes of the phone numbers that the gateway delivers to. Empty: all numbers.
	Prefixes []string `json:"prefixes"`
	// Trunks and gateways with the same prefix length are tried in ascending order of priority.
	Priority int64 `json:"priority"`
	// The secret that signs requests to the URL. It is shown only after creation and after a change.
	Secret string `json:"secret,omitzero"`
	// The last characters of the secret.
	SecretHint string `json:"secret_hint"`
	// When the resource was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// URL that receives the messages.
	URL string `json:"url"`
	// The workspace of the resource.
	WorkspaceID string `json:"workspace_id"`
}

// SMSGatewayEvent is part of a request.
type SMSGatewayEvent struct {
	// For received: the text, at most 1600 characters.
	Body *string `json:"body,omitempty"`
	// For undelivered and failed: an error code.
	ErrorCode *string `json:"error_code,omitempty"`
	// For undelivered and failed: an error message.
	ErrorMessage *string `json:"error_message,omitempty"`
	// For received: the sender, preferably in E.164.
	From *string `json:"from,omitempty"`
	// For received: the gateway's id of the message. Repeated events with the same id are stored once.
	ID *string `json:"id,omitempty"`
	// For received: https URLs of media, at most 10.
	Media []string `json:"media,omitzero"`
	// For delivered, undelivered and failed: the message_id of the message.
	MessageID *string `json:"message_id,omitempty"`
	// For received: a number of the workspace.
	To *string `json:"to,omitempty"`
	// received reports an inbound message. The other types report the state of a message that was sent to the gateway. One of received, delivered, undelivered, failed.
	Type string `json:"type"`
}

// SMSGatewayEvents is part of a request.
type SMSGatewayEvents struct {
	// 1 to 100 events, in the order of processing.
	Events []SMSGatewayEvent `json:"events"`
}

// SMSGatewayResult is part of a response.
type SMSGatewayResult struct {
	// true: the event was already reported.
	Duplicate bool `json:"duplicate"`
	// Final error of the event; do not send the event again.
	Error *BulkError `json:"error,omitempty"`
	// Index of the event, from 0.
	Index int64 `json:"index"`
	// The created or changed message; empty after an error.
	MessageID string `json:"message_id,omitzero"`
}

// SMSGatewayResults is part of a response.
type SMSGatewayResults struct {
	// One result for each event, in the same order.
	Results []SMSGatewayResult `json:"results"`
}

// SMSGatewayUpdate is part of a request.
type SMSGatewayUpdate struct {
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata Optional[map[string]*string] `json:"metadata,omitzero"`
	// Name for people.
	Name *string `json:"name,omitempty"`
	// Number prefixes that the gateway carries; empty: all. The trunk or gateway with the longest matching prefix carries a message.
	Prefixes Optional[[]string] `json:"prefixes,omitzero"`
	// Priority among gateways and trunks with the same prefix length; lower first.
	Priority Optional[int64] `json:"priority,omitzero"`
	// Secret that signs the requests like webhook deliveries. Default: Callboard creates one.
	Secret Optional[string] `json:"secret,omitzero"`
	// https URL at an allowed address that receives the messages.
	URL *string `json:"url,omitempty"`
}

// TestMessage is part of a request.
type TestMessage struct {
	// Text of the message.
	Body string `json:"body"`
	// Sender.
	From string `json:"from"`
	// A number of the workspace.
	To string `json:"to"`
}
