// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"context"
)

// GetWorkspace: Get the workspace.
//
// GET /v1/workspace
func (c *Client) GetWorkspace(ctx context.Context, options ...Option) (*Workspace, error) {
	return send[Workspace](ctx, c, "GET", "/v1/workspace", nil, nil, options)
}

// UpdateWorkspace: Change the workspace.
//
// PATCH /v1/workspace
//
// Needs an API key or a dashboard session. Plan, price, limits and destination rules need an operator key, otherwise 403 operator_required. warnings lists trunks without costs, for which daily_spend_cap has no effect.
func (c *Client) UpdateWorkspace(ctx context.Context, body *WorkspaceUpdate, options ...Option) (*Workspace, error) {
	return send[Workspace](ctx, c, "PATCH", "/v1/workspace", nil, asJSON(body), options)
}
