package validation

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/knowledge"
)

// Source adds the problems with a source of a knowledge base. prefix is the path of the source in the request, for
// example "sources[0].".
func Source(p *domain.Problems, prefix string, s *domain.NewKnowledgeSource) {
	Text(p, prefix+"name", s.Name, s.Type == domain.SourceFile, MaxName)
	switch s.Type {
	case domain.SourceURL:
		if s.Text != "" {
			p.Add(prefix+"text", domain.CodeValidation, "must not be sent with a url")
		}
		HTTPS(p, prefix+"url", s.URL)
		return
	case domain.SourceText, domain.SourceFile:
	default:
		p.Add(prefix+"type", domain.CodeValidation, "must be text, url or file")
		return
	}
	field := prefix + "text"
	if s.Type == domain.SourceFile {
		field = prefix + "content"
	}
	if s.URL != "" {
		p.Add(prefix+"url", domain.CodeValidation, "is for sources of the type url")
	}
	switch {
	case strings.TrimSpace(s.Text) == "":
		p.Add(field, domain.CodeValidation, "is required")
	case s.Type == domain.SourceFile && s.ContentType == "application/pdf":
		checkPDF(p, field, s.Text)
	case len(s.Text) > knowledge.MaxSourceBytes:
		p.Add(field, domain.CodeValidation, "has more than %d bytes", knowledge.MaxSourceBytes)
	case !utf8.ValidString(s.Text) || strings.ContainsRune(s.Text, 0):
		p.Add(field, domain.CodeValidation, "must be text in UTF-8")
	}
	switch {
	case s.ContentType == "":
		p.Add(prefix+"content_type", domain.CodeValidation, "must be text/plain, text/markdown, text/html or application/pdf, or follow from a name that ends in .txt, .md, .html or .pdf")
	case s.ContentType == "application/pdf" && s.Type == domain.SourceText:
		p.Add(prefix+"content_type", domain.CodeValidation, "must not be application/pdf for a text; send it as a file")
	}
}

// checkPDF checks the size and the signature of a PDF file without decoding the file.
func checkPDF(p *domain.Problems, field, file string) {
	if len(file) > knowledge.MaxPDFBytes {
		p.Add(field, domain.CodeValidation, "has more than %d bytes", knowledge.MaxPDFBytes)
	} else if !strings.Contains(file[:min(len(file), 1024)], "%PDF-") {
		p.Add(field, domain.CodeValidation, "must be a PDF file, in base64")
	}
}

// KnowledgeBase adds the problems with a knowledge base.
func KnowledgeBase(p *domain.Problems, k *domain.KnowledgeBase) {
	Metadata(p, k.Metadata)
	Text(p, "name", k.Name, true, MaxName)
}

// Sources adds the problems with the initial sources of a knowledge base.
func Sources(p *domain.Problems, all []domain.NewKnowledgeSource) {
	for i := range atMost(p, "sources", all, knowledge.MaxSources) {
		Source(p, "sources["+strconv.Itoa(i)+"].", &all[i])
	}
}
