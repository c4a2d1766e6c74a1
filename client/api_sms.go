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
// Answers with the message as queued; what becomes of it is told by sms.sent, sms.delivered and sms.failed. Who opted out is 403 recipient_opted_out. With a live key 409 no_sms_route while no trunk carries messages; with a test key the built-in carrier takes them. All routes of this path share 100 requests per minute.
func (c *Client) SendSMS(ctx context.Context, body *NewMessage, options ...Option) (*Message, error) {
	return send[Message](ctx, c, "POST", "/v1/sms", nil, asJSON(body), options)
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

// Message is an answer of the service, or a part of one.
type Message struct {
	// The words, with the context filled in.
	Body string `json:"body"`
	// What was filled in.
	Context map[string]any `json:"context,omitzero"`
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// When it was reported as delivered.
	DeliveredAt *time.Time `json:"delivered_at"`
	// outbound or inbound.
	Direction string `json:"direction"`
	// gsm7: up to 160 letters, or 153 in each of several segments. ucs2: 70, or 67.
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
	// Outbound: it answers an opt-out, once.
	Notice bool `json:"notice"`
	// What kind of resource this is.
	Object string `json:"object"`
	// Inbound: the sender wants no more; the number is on the default do-not-call list.
	OptOut bool `json:"opt_out"`
	// The message that it answers.
	ReplyTo string `json:"reply_to,omitzero"`
	// How many pieces it takes over the air.
	Segments int64 `json:"segments"`
	// When a carrier took it.
	SentAt *time.Time `json:"sent_at"`
	// queued, sent (a carrier has it), delivered or undelivered (so it reports), failed (none took it), received.
	Status string `json:"status"`
	// E.164.
	To string `json:"to"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
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
