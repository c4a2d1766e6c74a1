package domain

import "time"

// KnowledgeStatus is whether a knowledge base, or a source of one, can be
// searched.
type KnowledgeStatus string

// The states.
const (
	KnowledgeProcessing KnowledgeStatus = "processing"
	KnowledgeReady      KnowledgeStatus = "ready"
	KnowledgeFailed     KnowledgeStatus = "failed"
)

// Values are the states of a knowledge base.
func (KnowledgeStatus) Values() []string {
	return values(KnowledgeProcessing, KnowledgeReady, KnowledgeFailed)
}

// KnowledgeBase is what an agent may look things up in: sources, cut into
// passages. Status, Sources, Passages and Bytes follow from the sources.
type KnowledgeBase struct {
	Meta
	Name     string          `json:"name"`
	Status   KnowledgeStatus `json:"status"`
	Sources  int             `json:"source_count"`
	Passages int             `json:"passage_count"`
	Bytes    int             `json:"bytes"`
	// EmbeddingModel is the one by which all passages have their meanings; "": words alone find them.
	EmbeddingModel string `json:"embedding_model,omitempty"`
}

// Key names the row.
func (k *KnowledgeBase) Key() Key { return Key{"knowledge_base", k.WorkspaceID, k.ID} }

// Indexes: by environment.
func (k *KnowledgeBase) Indexes() []string { return []string{envIndex(k.Environment)} }

// Sort is by age.
func (k *KnowledgeBase) Sort() string { return k.ID }

// SourceType is where the text of a source comes from.
type SourceType string

// The types.
const (
	SourceText SourceType = "text"
	SourceURL  SourceType = "url"
	SourceFile SourceType = "file"
)

// Values are the types of a knowledge source.
func (SourceType) Values() []string {
	return values(SourceText, SourceURL, SourceFile)
}

// KnowledgeSource is one text of a knowledge base. Raw is what was sent, until
// it is cut into passages.
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

// Key names the row: below its knowledge base.
func (s *KnowledgeSource) Key() Key {
	return Key{"knowledge_source", s.WorkspaceID, s.KnowledgeBaseID + "/" + s.ID}
}

// Indexes: by knowledge base, and what is still to be cut.
func (s *KnowledgeSource) Indexes() []string {
	ix := []string{"of=" + s.KnowledgeBaseID}
	if s.Status == KnowledgeProcessing {
		ix = append(ix, "todo")
	}
	return ix
}

// Sort is by age.
func (s *KnowledgeSource) Sort() string { return s.ID }

// Public is the source as the API shows it.
func (s *KnowledgeSource) Public() *KnowledgeSource {
	c := *s
	c.Raw = ""
	return &c
}

// KnowledgePassage is a piece of a source that a search finds.
type KnowledgePassage struct {
	WorkspaceID     string `json:"workspace_id"`
	KnowledgeBaseID string `json:"knowledge_base_id"`
	SourceID        string `json:"source_id"`
	Number          int    `json:"number"` // within the source, from 0
	Heading         string `json:"heading,omitempty"`
	Text            string `json:"text"`
	Embedder        string `json:"embedder,omitempty"` // whose Vector it is
	Vector          []byte `json:"vector,omitempty"`   // its meaning, packed
}

// Key names the row: below its source.
func (p *KnowledgePassage) Key() Key {
	return Key{"knowledge_passage", p.WorkspaceID, p.KnowledgeBaseID + "/" + p.SourceID + "/" + sortableNumber(p.Number)}
}

// Indexes: none; passages are walked by the key's beginning.
func (p *KnowledgePassage) Indexes() []string { return nil }

// Sort is unused.
func (p *KnowledgePassage) Sort() string { return "" }
