// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"context"
)

// Healthz: Check liveness.
//
// GET /healthz
func (c *Client) Healthz(ctx context.Context, options ...Option) (*HealthAnswer, error) {
	return send[HealthAnswer](ctx, c, "GET", "/healthz", nil, nil, options)
}

// Readyz: Check readiness; 503 gives the reason.
//
// GET /readyz
func (c *Client) Readyz(ctx context.Context, options ...Option) (*HealthAnswer, error) {
	return send[HealthAnswer](ctx, c, "GET", "/readyz", nil, nil, options)
}

// HealthAnswer is part of a response.
type HealthAnswer struct {
	// True while a store that was restored from a backup is not released. The service then sends nothing out.
	Quarantined bool `json:"quarantined,omitzero"`
	// One of ok.
	Status string `json:"status"`
}
