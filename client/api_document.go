// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"context"
)

// GetDocument: Get this document.
//
// GET /openapi.json
func (c *Client) GetDocument(ctx context.Context, options ...Option) (*map[string]any, error) {
	return send[map[string]any](ctx, c, "GET", "/openapi.json", nil, nil, options)
}
