// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/url"
	"strconv"
	"time"
)

// ListNumbersQuery holds the query parameters of ListNumbers. Zero values are not sent.
type ListNumbersQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the previous page.
	Cursor string
	// Only resources created after this time.
	CreatedAfter time.Time
	// Only resources created before this time.
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

// AllNumbers iterates over all pages of ListNumbers. It ends after the first error.
func (c *Client) AllNumbers(ctx context.Context, q ListNumbersQuery, options ...Option) iter.Seq2[PhoneNumber, error] {
	return pages(&q.Cursor, func() ([]PhoneNumber, *string, error) {
		l, err := c.ListNumbers(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// CreateNumber: Create a phone number.
//
// POST /v1/phone-numbers
//
// Assigns a number to an agent. A number is unique in the installation: 409 already_exists. In an installation with several workspaces the status is pending until an operator approves the number; numbers that an operator creates are live.
func (c *Client) CreateNumber(ctx context.Context, body *NewNumber, options ...Option) (*PhoneNumber, error) {
	return send[PhoneNumber](ctx, c, "POST", "/v1/phone-numbers", nil, asJSON(body), options)
}

// DeleteNumber: Delete a phone number.
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

// UpdateNumber: Change a phone number.
//
// PATCH /v1/phone-numbers/{id}
func (c *Client) UpdateNumber(ctx context.Context, id string, body *NumberUpdate, options ...Option) (*PhoneNumber, error) {
	return send[PhoneNumber](ctx, c, "PATCH", "/v1/phone-numbers/"+url.PathEscape(id), nil, asJSON(body), options)
}

// TestInboundCall: Let the test carrier call a number.
//
// POST /v1/test/inbound-calls
//
// With a test key only. The call uses real SIP and RTP within the machine.
func (c *Client) TestInboundCall(ctx context.Context, body *TestInbound, options ...Option) (*Call, error) {
	return send[Call](ctx, c, "POST", "/v1/test/inbound-calls", nil, asJSON(body), options)
}

// NewNumber is part of a request.
type NewNumber struct {
	// The agent that answers calls to the number.
	AgentID string `json:"agent_id"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// E.164, or * for all other numbers of its trunk.
	Number string `json:"number"`
	// Messages without from are sent from the oldest number with true, otherwise from the first number of the workspace.
	SMSEnabled *bool `json:"sms_enabled,omitempty"`
	// The only trunk whose calls reach the number. Required for *.
	TrunkID *string `json:"trunk_id,omitempty"`
}

// NumberUpdate is part of a request.
type NumberUpdate struct {
	// The agent that answers calls to the number.
	AgentID *string `json:"agent_id,omitempty"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata Optional[map[string]*string] `json:"metadata,omitzero"`
	// Messages without from are sent from the oldest number with true, otherwise from the first number of the workspace.
	SMSEnabled Optional[bool] `json:"sms_enabled,omitzero"`
	// The only trunk whose calls reach the number. Required for *.
	TrunkID Optional[string] `json:"trunk_id,omitzero"`
}

// TestInbound is part of a request.
type TestInbound struct {
	// Keys that the caller presses, one at each pause of the agent.
	Digits *string `json:"digits,omitempty"`
	// Caller ID: a number, or anonymous.
	From *string `json:"from,omitempty"`
	// Seconds after which the caller hangs up. 0: the caller waits for the agent to hang up, at most three minutes.
	HangUpSeconds *int64 `json:"hang_up_seconds,omitempty"`
	// Caller name.
	Name *string `json:"name,omitempty"`
	// Text that the caller speaks at the first pause of the agent.
	Says *string `json:"says,omitempty"`
	// A number of the test environment.
	To string `json:"to"`
}
