// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/url"
	"strconv"
	"time"
)

// ListKnowledgeBasesQuery is what ListKnowledgeBases can be asked; what is zero is left out.
type ListKnowledgeBasesQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
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

// AllKnowledgeBases walks the pages of ListKnowledgeBases to their end; an error is the last that comes.
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
// Its sources are read after the answer: status goes from processing to ready, or to failed where no source could be read. All routes of this path share 60 requests per minute.
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
// Full-text search: passages with more of the query's words, and with rarer ones, come first. With an embeddings engine configured, also semantic search. Only sources that are ready are searched.
func (c *Client) SearchKnowledgeBase(ctx context.Context, id string, body *KnowledgeQuery, options ...Option) (*KnowledgeFound, error) {
	return send[KnowledgeFound](ctx, c, "POST", "/v1/knowledge-base/"+url.PathEscape(id)+"/search", nil, asJSON(body), options)
}

// ListKnowledgeSourcesQuery is what ListKnowledgeSources can be asked; what is zero is left out.
type ListKnowledgeSourcesQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
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

// AllKnowledgeSources walks the pages of ListKnowledgeSources to their end; an error is the last that comes.
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

// KnowledgeBase is an answer of the service, or a part of one.
type KnowledgeBase struct {
	// How much text that is.
	Bytes int64 `json:"bytes"`
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// The engine and model by whose meanings all of it is found, besides words; empty: by words alone.
	EmbeddingModel string `json:"embedding_model,omitzero"`
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name string `json:"name"`
	// What kind of resource this is.
	Object string `json:"object"`
	// How many passages a search looks through.
	PassageCount int64 `json:"passage_count"`
	// How many sources it has.
	SourceCount int64 `json:"source_count"`
	// processing: some source is still to be read. ready. failed: no source could be read. One of processing, ready, failed.
	Status string `json:"status"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// KnowledgeFound is an answer of the service, or a part of one.
type KnowledgeFound struct {
	// The passages, best first.
	Data []KnowledgeHit `json:"data"`
	// Which was searched.
	KnowledgeBaseID string `json:"knowledge_base_id"`
	// What kind of resource this is.
	Object string `json:"object"`
	// What was looked for.
	Query string `json:"query"`
}

// KnowledgeHit is an answer of the service, or a part of one.
type KnowledgeHit struct {
	// The headings that it stands below.
	Heading string `json:"heading,omitzero"`
	// The higher the better; comparable within one answer.
	Score float64 `json:"score"`
	// From which source it is.
	SourceID string `json:"source_id"`
	// Its name.
	SourceName string `json:"source_name"`
	// The words.
	Text string `json:"text"`
	// Its address.
	URL string `json:"url,omitzero"`
}

// KnowledgeQuery is sent to the service.
type KnowledgeQuery struct {
	// Words; at most 500 characters.
	Query string `json:"query"`
	// The most passages that are wanted.
	TopK *int64 `json:"top_k,omitempty"`
}

// KnowledgeSource is an answer of the service, or a part of one.
type KnowledgeSource struct {
	// How much text it has.
	Bytes int64 `json:"bytes"`
	// text/plain, text/markdown or text/html.
	ContentType string `json:"content_type"`
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// Why it failed.
	Error string `json:"error,omitzero"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// Of which knowledge base it is.
	KnowledgeBaseID string `json:"knowledge_base_id"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name string `json:"name"`
	// What kind of resource this is.
	Object string `json:"object"`
	// Into how many passages it was cut.
	PassageCount int64 `json:"passage_count"`
	// When it was read.
	ReadyAt *time.Time `json:"ready_at"`
	// processing, ready or failed. One of processing, ready, failed.
	Status string `json:"status"`
	// What the page calls itself.
	Title string `json:"title,omitzero"`
	// text, url or file. One of text, url, file.
	Type string `json:"type"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// Where it was read.
	URL string `json:"url,omitzero"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// KnowledgeUpdate is sent to the service.
type KnowledgeUpdate struct {
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata Optional[map[string]*string] `json:"metadata,omitzero"`
	// For people.
	Name *string `json:"name,omitempty"`
}

// ListKnowledgeBase is an answer of the service, or a part of one.
type ListKnowledgeBase struct {
	// The rows of this page.
	Data []KnowledgeBase `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// ListKnowledgeSource is an answer of the service, or a part of one.
type ListKnowledgeSource struct {
	// The rows of this page.
	Data []KnowledgeSource `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// NewKnowledge is sent to the service.
type NewKnowledge struct {
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name string `json:"name"`
	// 100 at most.
	Sources []NewSource `json:"sources,omitzero"`
}

// NewSource is sent to the service.
type NewSource struct {
	// Of a file: its text, or base64 where encoding says so, as a PDF takes it (6 MiB and 500 pages at most).
	Content *string `json:"content,omitempty"`
	// Of a file it follows from its name (.txt, .md, .html, .pdf) unless said, of a page from its server; a text is plain. One of text/plain, text/markdown, text/html, application/pdf.
	ContentType *string `json:"content_type,omitempty"`
	// Of content. One of utf-8, base64.
	Encoding *string `json:"encoding,omitempty"`
	// For people; a file's own name, which is required for it.
	Name *string `json:"name,omitempty"`
	// Of a text.
	Text *string `json:"text,omitempty"`
	// text, url or file. One of text, url, file.
	Type string `json:"type"`
	// Of a page, https only. It is read once, without following redirects, and must lie at an address that may be reached.
	URL *string `json:"url,omitempty"`
}
