package ask

import "github.com/callboard/callboard/domain"

// NewSource is a source of a knowledge base as it is ordered: the words in
// Text, or where they are to be read.
type NewSource struct {
	Type        domain.SourceType
	Name        string
	Text        string // of text and file; the bytes of a PDF
	URL         string
	ContentType string // text/plain, text/markdown, text/html or application/pdf
}

// KnowledgeHit is a passage that a search found.
type KnowledgeHit struct {
	SourceID   string  `json:"source_id"`
	SourceName string  `json:"source_name"`
	URL        string  `json:"url,omitempty"`
	Heading    string  `json:"heading,omitempty"`
	Text       string  `json:"text"`
	Score      float64 `json:"score"`
}

// KnowledgeFound is the answer to a search, best first.
type KnowledgeFound struct {
	Object          string         `json:"object"`
	KnowledgeBaseID string         `json:"knowledge_base_id"`
	Query           string         `json:"query"`
	Data            []KnowledgeHit `json:"data"`
}
