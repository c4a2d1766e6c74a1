// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/url"
	"strconv"
	"time"
)

// ListKnowledgeBasesQuery holds the query parameters of ListKnowledgeBases. Zero values are not sent.
type ListKnowledgeBasesQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the previous page.
	Cursor string
	// Only resources created after this time.
	CreatedAfter time.Time
	// Only resources created before this time.
	CreatedBefore time.Time
}

func (q *ListKnowledgeBasesQuery) values() url.Values {
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

// ListKnowledgeBases: List knowledge bases.
//
// GET /v1/knowledge-base
func (c *Client) ListKnowledgeBases(ctx context.Context, q ListKnowledgeBasesQuery, options ...Option) (*ListKnowledgeBase, error) {
	return send[ListKnowledgeBase](ctx, c, "GET", "/v1/knowledge-base", q.values(), nil, options)
}

// AllKnowledgeBases iterates over all pages of ListKnowledgeBases. It ends after the first error.
func (c *Client) AllKnowledgeBases(ctx context.Context, q ListKnowledgeBasesQuery, options ...Option) iter.Seq2[KnowledgeBase, error] {
	return pages(&q.Cursor, func() ([]KnowledgeBase, *string, error) {
		l, err := c.ListKnowledgeBases(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// CreateKnowledgeBase: Create a knowledge base.
//
// POST /v1/knowledge-base
//
// Its sources are read in the background: status changes from processing to ready, or to failed if no source can be read. All routes of this path share 60 requests per minute.
func (c *Client) CreateKnowledgeBase(ctx context.Context, body *NewKnowledge, options ...Option) (*KnowledgeBase, error) {
	return send[KnowledgeBase](ctx, c, "POST", "/v1/knowledge-base", nil, asJSON(body), options)
}

// DeleteKnowledgeBase: Delete a knowledge base with its sources.
//
// DELETE /v1/knowledge-base/{id}
func (c *Client) DeleteKnowledgeBase(ctx context.Context, id string, options ...Option) (*Deleted, error) {
	return send[Deleted](ctx, c, "DELETE", "/v1/knowledge-base/"+url.PathEscape(id), nil, nil, options)
}

// GetKnowledgeBase: Get a knowledge base.
//
// GET /v1/knowledge-base/{id}
func (c *Client) GetKnowledgeBase(ctx context.Context, id string, options ...Option) (*KnowledgeBase, error) {
	return send[KnowledgeBase](ctx, c, "GET", "/v1/knowledge-base/"+url.PathEscape(id), nil, nil, options)
}

// UpdateKnowledgeBase: Change a knowledge base.
//
// PATCH /v1/knowledge-base/{id}
func (c *Client) UpdateKnowledgeBase(ctx context.Context, id string, body *KnowledgeUpdate, options ...Option) (*KnowledgeBase, error) {
	return send[KnowledgeBase](ctx, c, "PATCH", "/v1/knowledge-base/"+url.PathEscape(id), nil, asJSON(body), options)
}

// SearchKnowledgeBase: Search a knowledge base.
//
// POST /v1/knowledge-base/{id}/search
//
// Full-text search that ranks passages by the number and rarity of matching words. With an embeddings engine, also semantic search. Only ready sources are searched.
func (c *Client) SearchKnowledgeBase(ctx context.Context, id string, body *KnowledgeQuery, options ...Option) (*KnowledgeFound, error) {
	return send[KnowledgeFound](ctx, c, "POST", "/v1/knowledge-base/"+url.PathEscape(id)+"/search", nil, asJSON(body), options)
}

// ListKnowledgeSourcesQuery holds the query parameters of ListKnowledgeSources. Zero values are not sent.
type ListKnowledgeSourcesQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the previous page.
	Cursor string
	// Only resources created after this time.
	CreatedAfter time.Time
	// Only resources created before this time.
	CreatedBefore time.Time
}

func (q *ListKnowledgeSourcesQuery) values() url.Values {
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

// ListKnowledgeSources: List the sources of a knowledge base.
//
// GET /v1/knowledge-base/{id}/sources
func (c *Client) ListKnowledgeSources(ctx context.Context, id string, q ListKnowledgeSourcesQuery, options ...Option) (*ListKnowledgeSource, error) {
	return send[ListKnowledgeSource](ctx, c, "GET", "/v1/knowledge-base/"+url.PathEscape(id)+"/sources", q.values(), nil, options)
}

// AllKnowledgeSources iterates over all pages of ListKnowledgeSources. It ends after the first error.
func (c *Client) AllKnowledgeSources(ctx context.Context, id string, q ListKnowledgeSourcesQuery, options ...Option) iter.Seq2[KnowledgeSource, error] {
	return pages(&q.Cursor, func() ([]KnowledgeSource, *string, error) {
		l, err := c.ListKnowledgeSources(ctx, id, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// AddKnowledgeSource: Add a source to a knowledge base.
//
// POST /v1/knowledge-base/{id}/sources
func (c *Client) AddKnowledgeSource(ctx context.Context, id string, body *NewSource, options ...Option) (*KnowledgeSource, error) {
	return send[KnowledgeSource](ctx, c, "POST", "/v1/knowledge-base/"+url.PathEscape(id)+"/sources", nil, asJSON(body), options)
}

// DeleteKnowledgeSource: Delete a source of a knowledge base.
//
// DELETE /v1/knowledge-base/{id}/sources/{source_id}
func (c *Client) DeleteKnowledgeSource(ctx context.Context, id string, sourceID string, options ...Option) (*Deleted, error) {
	return send[Deleted](ctx, c, "DELETE", "/v1/knowledge-base/"+url.PathEscape(id)+"/sources/"+url.PathEscape(sourceID), nil, nil, options)
}

// GetKnowledgeSource: Get a source of a knowledge base.
//
// GET /v1/knowledge-base/{id}/sources/{source_id}
func (c *Client) GetKnowledgeSource(ctx context.Context, id string, sourceID string, options ...Option) (*KnowledgeSource, error) {
	return send[KnowledgeSource](ctx, c, "GET", "/v1/knowledge-base/"+url.PathEscape(id)+"/sources/"+url.PathEscape(sourceID), nil, nil, options)
}

// KnowledgeBase is part of a response.
type KnowledgeBase struct {
	// Size of the text.
	Bytes int64 `json:"bytes"`
	// When the resource was created.
	CreatedAt time.Time `json:"created_at"`
	// Embeddings engine and model for semantic search; empty: full-text search only.
	EmbeddingModel string `json:"embedding_model,omitzero"`
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
	// Number of passages.
	PassageCount int64 `json:"passage_count"`
	// Number of sources.
	SourceCount int64 `json:"source_count"`
	// processing: a source is still being read. ready. failed: no source could be read. One of processing, ready, failed.
	Status string `json:"status"`
	// When the resource was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// The workspace of the resource.
	WorkspaceID string `json:"workspace_id"`
}

// KnowledgeFound is part of a response.
type KnowledgeFound struct {
	// The passages, best first.
	Data []KnowledgeHit `json:"data"`
	// The id of the knowledge base.
	KnowledgeBaseID string `json:"knowledge_base_id"`
	// The type of the resource.
	Object string `json:"object"`
	// The search words.
	Query string `json:"query"`
}

// KnowledgeHit is part of a response.
type KnowledgeHit struct {
	// Headings above the passage.
	Heading string `json:"heading,omitzero"`
	// Relevance; higher is better. Comparable within one response.
	Score float64 `json:"score"`
	// The id of the source.
	SourceID string `json:"source_id"`
	// Name of the source.
	SourceName string `json:"source_name"`
	// Text of the passage.
	Text string `json:"text"`
	// URL of the source.
	URL string `json:"url,omitzero"`
}

// KnowledgeQuery is part of a request.
type KnowledgeQuery struct {
	// Search words, at most 500 characters.
	Query string `json:"query"`
	// Maximum number of passages.
	TopK *int64 `json:"top_k,omitempty"`
}

// KnowledgeSource is part of a response.
type KnowledgeSource struct {
	// Size of the text.
	Bytes int64 `json:"bytes"`
	// text/plain, text/markdown or text/html.
	ContentType string `json:"content_type"`
	// When the resource was created.
	CreatedAt time.Time `json:"created_at"`
	// live or test. The environments are separate.
	Environment string `json:"environment"`
	// Why the source failed.
	Error string `json:"error,omitzero"`
	// Unique id. It never changes and is never reused.
	ID string `json:"id"`
	// The id of the knowledge base.
	KnowledgeBaseID string `json:"knowledge_base_id"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Name for people.
	Name string `json:"name"`
	// The type of the resource.
	Object string `json:"object"`
	// Number of passages.
	PassageCount int64 `json:"passage_count"`
	// When the source was read.
	ReadyAt *time.Time `json:"ready_at"`
	// processing, ready or failed. One of processing, ready, failed.
	Status string `json:"status"`
	// Title of the page.
	Title string `json:"title,omitzero"`
	// text, url or file. One of text, url, file.
	Type string `json:"type"`
	// When the resource was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// URL of the page.
	URL string `json:"url,omitzero"`
	// The workspace of the resource.
	WorkspaceID string `json:"workspace_id"`
}

// KnowledgeUpdate is part of a request.
type KnowledgeUpdate struct {
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata Optional[map[string]*string] `json:"metadata,omitzero"`
	// Name for people.
	Name *string `json:"name,omitempty"`
}

// ListKnowledgeBase is part of a response.
type ListKnowledgeBase struct {
	// The resources of this page.
	Data []KnowledgeBase `json:"data"`
	// true if there is another page.
	HasMore bool `json:"has_more"`
	// Cursor of the next page; null on the last page.
	NextCursor *string `json:"next_cursor"`
	// The type of the resource. One of list.
	Object string `json:"object"`
}

// ListKnowledgeSource is part of a response.
type ListKnowledgeSource struct {
	// The resources of this page.
	Data []KnowledgeSource `json:"data"`
	// true if there is another page.
	HasMore bool `json:"has_more"`
	// Cursor of the next page; null on the last page.
	NextCursor *string `json:"next_cursor"`
	// The type of the resource. One of list.
	Object string `json:"object"`
}

// NewKnowledge is part of a request.
type NewKnowledge struct {
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Name for people.
	Name string `json:"name"`
	// Sources, at most 100.
	Sources []NewSource `json:"sources,omitzero"`
}

// NewSource is part of a request.
type NewSource struct {
	// Content of a file, as text or as base64, see encoding. A PDF needs base64, at most 6 MiB and 500 pages.
	Content *string `json:"content,omitempty"`
	// Media type. Default: for a file by its name (.txt, .md, .html, .pdf), for a page as its server sends it, otherwise text/plain. One of text/plain, text/markdown, text/html, application/pdf.
	ContentType *string `json:"content_type,omitempty"`
	// Encoding of content. One of utf-8, base64.
	Encoding *string `json:"encoding,omitempty"`
	// Name of the source. Required for a file: the file name.
	Name *string `json:"name,omitempty"`
	// Text of a source of type text.
	Text *string `json:"text,omitempty"`
	// text, url or file. One of text, url, file.
	Type string `json:"type"`
	// https URL of a page at an allowed address. The page is read once, without following redirects.
	URL *string `json:"url,omitempty"`
}
