// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"context"
	"time"
)

// CreateTicket: Create a ticket for a browser.
//
// POST /v1/tickets
//
// The URL opens the path once within 60 seconds, with the permissions of the requesting credential, as long as that credential is valid.
func (c *Client) CreateTicket(ctx context.Context, body *TicketRequest, options ...Option) (*Ticket, error) {
	return send[Ticket](ctx, c, "POST", "/v1/tickets", nil, asJSON(body), options)
}

// Ticket is part of a response.
type Ticket struct {
	// The credential that created it.
	CreatedBy *Creator `json:"created_by,omitempty"`
	// Time of expiry.
	ExpiresAt time.Time `json:"expires_at"`
	// URL that opens the path once.
	URL string `json:"url"`
}

// TicketRequest is part of a request.
type TicketRequest struct {
	// The path to open, with its query.
	Path string `json:"path"`
}
