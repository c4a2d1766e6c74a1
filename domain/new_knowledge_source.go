package domain

// NewKnowledgeSource is a source of a knowledge base as it is ordered: the words in
// Text, or where they are to be read.
type NewKnowledgeSource struct {
	Type        SourceType
	Name        string
	Text        string // of text and file; the bytes of a PDF
	URL         string
	ContentType string // text/plain, text/markdown, text/html or application/pdf
}
