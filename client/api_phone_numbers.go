// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/url"
	"strconv"
	"time"
)

// ListNumbersQuery is what ListNumbers can be asked; what is zero is left out.
type ListNumbersQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
	CreatedBefore time.Time
}

func (q *ListNumbersQuery) values() url.Values {
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

// ListNumbers: List numbers.
//
// GET /v1/phone-numbers
func (c *Client) ListNumbers(ctx context.Context, q ListNumbersQuery, options ...Option) (*ListPhoneNumber, error) {
	return send[ListPhoneNumber](ctx, c, "GET", "/v1/phone-numbers", q.values(), nil, options)
}

// AllNumbers walks the pages of ListNumbers to their end; an error is the last that comes.
func (c *Client) AllNumbers(ctx context.Context, q ListNumbersQuery, options ...Option) iter.Seq2[PhoneNumber, error] {
	return pages(&q.Cursor, func() ([]PhoneNumber, *string, error) {
		l, err := c.ListNumbers(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// CreateNumber: Let an agent answer a number.
//
// POST /v1/phone-numbers
//
// A number is unique in the installation: 409 already_exists. Where several workspaces share it, status is pending until an operator approves; an operator's own are live.
func (c *Client) CreateNumber(ctx context.Context, body *NewNumber, options ...Option) (*PhoneNumber, error) {
	return send[PhoneNumber](ctx, c, "POST", "/v1/phone-numbers", nil, asJSON(body), options)
}

// DeleteNumber: Give a number up.
//
// DELETE /v1/phone-numbers/{id}
func (c *Client) DeleteNumber(ctx context.Context, id string, options ...Option) (*Deleted, error) {
	return send[Deleted](ctx, c, "DELETE", "/v1/phone-numbers/"+url.PathEscape(id), nil, nil, options)
}

// GetNumber: Get a number.
//
// GET /v1/phone-numbers/{id}
func (c *Client) GetNumber(ctx context.Context, id string, options ...Option) (*PhoneNumber, error) {
	return send[PhoneNumber](ctx, c, "GET", "/v1/phone-numbers/"+url.PathEscape(id), nil, nil, options)
}

// UpdateNumber: Let somebody else answer a number.
//
// PATCH /v1/phone-numbers/{id}
func (c *Client) UpdateNumber(ctx context.Context, id string, body *NumberUpdate, options ...Option) (*PhoneNumber, error) {
	return send[PhoneNumber](ctx, c, "PATCH", "/v1/phone-numbers/"+url.PathEscape(id), nil, asJSON(body), options)
}

// TestInboundCall: Let the built-in carrier call a number.
//
// POST /v1/test/inbound-calls
//
// With a test key only. The call runs over real SIP and RTP within the machine.
func (c *Client) TestInboundCall(ctx context.Context, body *TestInbound, options ...Option) (*Call, error) {
	return send[Call](ctx, c, "POST", "/v1/test/inbound-calls", nil, asJSON(body), options)
}

// NewNumber is sent to the service.
type NewNumber struct {
	// Who answers.
	AgentID string `json:"agent_id"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// E.164, or * for whatever else its trunk brings.
	Number string `json:"number"`
	// Messages that name no from come from the oldest number that says so; without one, from the workspace's first.
	SMSEnabled *bool `json:"sms_enabled,omitempty"`
	// The only trunk over which it may be called; * needs it.
	TrunkID *string `json:"trunk_id,omitempty"`
}

// NumberUpdate is sent to the service.
type NumberUpdate struct {
	// Who answers.
	AgentID *string `json:"agent_id,omitempty"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata Optional[map[string]*string] `json:"metadata,omitzero"`
	// Messages that name no from come from the oldest number that says so; without one, from the workspace's first.
	SMSEnabled Optional[bool] `json:"sms_enabled,omitzero"`
	// The only trunk over which it may be called; * needs it.
	TrunkID Optional[string] `json:"trunk_id,omitzero"`
}

// TestInbound is sent to the service.
type TestInbound struct {
	// Keys that the caller presses, one by one, as the agent pauses.
	Digits *string `json:"digits,omitempty"`
	// A number, or anonymous.
	From *string `json:"from,omitempty"`
	// After so long the caller hangs up. 0: when the agent does, after three minutes at most.
	HangUpSeconds *int64 `json:"hang_up_seconds,omitempty"`
	// Shown beside the number.
	Name *string `json:"name,omitempty"`
	// What the caller says once the agent pauses.
	Says *string `json:"says,omitempty"`
	// A number of the test environment.
	To string `json:"to"`
}
