// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"context"
)

// Healthz: Whether the process is alive.
//
// GET /healthz
func (c *Client) Healthz(ctx context.Context, options ...Option) (*HealthAnswer, error) {
	return send[HealthAnswer](ctx, c, "GET", "/healthz", nil, nil, options)
}

// Readyz: Whether it can serve; 503 tells why not.
//
// GET /readyz
func (c *Client) Readyz(ctx context.Context, options ...Option) (*HealthAnswer, error) {
	return send[HealthAnswer](ctx, c, "GET", "/readyz", nil, nil, options)
}

// HealthAnswer is an answer of the service, or a part of one.
type HealthAnswer struct {
	// true: the store was restored from a backup and not released; nothing leaves the service.
	Quarantined bool `json:"quarantined,omitzero"`
	// One of ok.
	Status string `json:"status"`
}
