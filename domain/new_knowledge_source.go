package domain

// NewKnowledgeSource is a request to add a document to a knowledge base. The document is in Text or at URL.
type NewKnowledgeSource struct {
	Type        SourceType
	Name        string
	Text        string // type text and file: the text, or the bytes of a PDF
	URL         string
	ContentType string // text/plain, text/markdown, text/html or application/pdf
}
