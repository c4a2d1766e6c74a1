// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"context"
	"time"
)

// CreateTicket: Make a ticket for a browser.
//
// POST /v1/tickets
//
// The URL opens the path once, within 60 seconds, with the rights of the key that asks, as long as that is good.
func (c *Client) CreateTicket(ctx context.Context, body *TicketRequest, options ...Option) (*Ticket, error) {
	return send[Ticket](ctx, c, "POST", "/v1/tickets", nil, asJSON(body), options)
}

// Ticket is an answer of the service, or a part of one.
type Ticket struct {
	// The credential that created it.
	CreatedBy *Creator `json:"created_by,omitempty"`
	// When it ends.
	ExpiresAt time.Time `json:"expires_at"`
	// Opens the path, once.
	URL string `json:"url"`
}

// TicketRequest is sent to the service.
type TicketRequest struct {
	// The path to be opened, with its query.
	Path string `json:"path"`
}
