package domain

import "time"

// KnowledgeStatus reports whether a knowledge base or a source can be searched.
type KnowledgeStatus string

// The states of a knowledge base or of one of its sources.
const (
	KnowledgeProcessing KnowledgeStatus = "processing"
	KnowledgeReady      KnowledgeStatus = "ready"
	KnowledgeFailed     KnowledgeStatus = "failed"
)

// Values returns the states of a knowledge base.
func (KnowledgeStatus) Values() []string {
	return values(KnowledgeProcessing, KnowledgeReady, KnowledgeFailed)
}

// KnowledgeBase is a collection of documents that agents can search. The fields Status, Sources, Passages and Bytes
// are computed from the sources of the knowledge base.
type KnowledgeBase struct {
	Meta
	Name     string          `json:"name"`
	Status   KnowledgeStatus `json:"status"`
	Sources  int             `json:"source_count"`
	Passages int             `json:"passage_count"`
	Bytes    int             `json:"bytes"`
	// EmbeddingModel is the model of the passage embeddings. If it is empty, the search compares only words.
	EmbeddingModel string `json:"embedding_model,omitempty"`
}

// Key returns the key of the knowledge base in the store.
func (k *KnowledgeBase) Key() Key { return Key{"knowledge_base", k.WorkspaceID, k.ID} }

// Indexes returns the index of all knowledge bases in the environment.
func (k *KnowledgeBase) Indexes() []string { return []string{envIndex(k.Environment)} }

// Sort returns the ID, which sorts by creation time.
func (k *KnowledgeBase) Sort() string { return k.ID }

// SourceType is the way in which the text of a knowledge source is obtained.
type SourceType string

// The types of a knowledge source.
const (
	SourceText SourceType = "text"
	SourceURL  SourceType = "url"
	SourceFile SourceType = "file"
)

// Values returns the types of a knowledge source.
func (SourceType) Values() []string {
	return values(SourceText, SourceURL, SourceFile)
}

// KnowledgeSource is one document of a knowledge base. Raw holds the submitted document until it is split into
// passages.
type KnowledgeSource struct {
	Meta
	KnowledgeBaseID string          `json:"knowledge_base_id"`
	Type            SourceType      `json:"type"`
	Name            string          `json:"name"`
	URL             string          `json:"url,omitempty"`
	ContentType     string          `json:"content_type"` // text/plain, text/markdown, text/html or application/pdf
	Status          KnowledgeStatus `json:"status"`
	Error           string          `json:"error,omitempty"`
	Title           string          `json:"title,omitempty"`
	Passages        int             `json:"passage_count"`
	Bytes           int             `json:"bytes"`
	ReadyAt         *time.Time      `json:"ready_at"`
	Raw             string          `json:"raw,omitempty" hidden:"true"`
}

// Key returns the store key, which contains the IDs of the knowledge base and of the source.
func (s *KnowledgeSource) Key() Key {
	return Key{"knowledge_source", s.WorkspaceID, s.KnowledgeBaseID + "/" + s.ID}
}

// Indexes returns the index of the knowledge base's sources, and the index of sources that have to be processed.
func (s *KnowledgeSource) Indexes() []string {
	ix := []string{"of=" + s.KnowledgeBaseID}
	if s.Status == KnowledgeProcessing {
		ix = append(ix, "todo")
	}
	return ix
}

// Sort returns the ID, which sorts by creation time.
func (s *KnowledgeSource) Sort() string { return s.ID }

// Public returns a copy with the fields that the API shows.
func (s *KnowledgeSource) Public() *KnowledgeSource {
	c := *s
	c.Raw = ""
	return &c
}

// KnowledgePassage is a part of a knowledge source that a search can find.
type KnowledgePassage struct {
	WorkspaceID     string `json:"workspace_id"`
	KnowledgeBaseID string `json:"knowledge_base_id"`
	SourceID        string `json:"source_id"`
	Number          int    `json:"number"` // position within the source, from 0
	Heading         string `json:"heading,omitempty"`
	Text            string `json:"text"`
	Embedder        string `json:"embedder,omitempty"` // model of Vector
	Vector          []byte `json:"vector,omitempty"`   // packed embedding
}

// Key returns the store key, which contains the IDs of knowledge base and source, and the position in the source.
func (p *KnowledgePassage) Key() Key {
	return Key{"knowledge_passage", p.WorkspaceID, p.KnowledgeBaseID + "/" + p.SourceID + "/" + sortableNumber(p.Number)}
}

// Indexes returns no indexes: passages are listed by key prefix.
func (p *KnowledgePassage) Indexes() []string { return nil }

// Sort returns a sort key that is unused, because the passage has no index.
func (p *KnowledgePassage) Sort() string { return "" }

// NewKnowledgeSource is a request to add a document to a knowledge base. The document is in Text or at URL.
type NewKnowledgeSource struct {
	Type        SourceType
	Name        string
	Text        string // type text and file: the text, or the bytes of a PDF
	URL         string
	ContentType string // text/plain, text/markdown, text/html or application/pdf
}
