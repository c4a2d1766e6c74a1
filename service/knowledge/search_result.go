package knowledge

// KnowledgeHit is a passage that a search found.
type KnowledgeHit struct { //nolint:revive // the name of its schema in the OpenAPI document
	SourceID   string  `json:"source_id"`
	SourceName string  `json:"source_name"`
	URL        string  `json:"url,omitempty"`
	Heading    string  `json:"heading,omitempty"`
	Text       string  `json:"text"`
	Score      float64 `json:"score"`
}

// KnowledgeFound is the result of a search, best hits first.
type KnowledgeFound struct { //nolint:revive // the name of its schema in the OpenAPI document
	Object          string         `json:"object"`
	KnowledgeBaseID string         `json:"knowledge_base_id"`
	Query           string         `json:"query"`
	Data            []KnowledgeHit `json:"data"`
}
