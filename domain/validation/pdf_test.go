package validation_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/knowledge"
	"github.com/callboard/callboard/domain/validation"
)

func TestPDFTypeAndSize(t *testing.T) {
	const pdf = "application/pdf"
	for name, c := range map[string]struct {
		source domain.NewKnowledgeSource
		param  string
		says   string
	}{
		"a file":      {domain.NewKnowledgeSource{Type: domain.SourceFile, Name: "a.pdf", ContentType: pdf, Text: "%PDF-1.4\n\x00\xff"}, "", ""},
		"no PDF":      {domain.NewKnowledgeSource{Type: domain.SourceFile, Name: "a.pdf", ContentType: pdf, Text: "hello"}, "content", "must be a PDF file, in base64"},
		"empty":       {domain.NewKnowledgeSource{Type: domain.SourceFile, Name: "a.pdf", ContentType: pdf}, "content", "is required"},
		"too large":   {domain.NewKnowledgeSource{Type: domain.SourceFile, Name: "a.pdf", ContentType: pdf, Text: "%PDF-" + strings.Repeat("x", knowledge.MaxPDFBytes)}, "content", "has more than 6291456 bytes"},
		"as text":     {domain.NewKnowledgeSource{Type: domain.SourceText, ContentType: pdf, Text: "%PDF-1.4"}, "content_type", "must not be application/pdf for a text; send it as a file"},
		"bytes as md": {domain.NewKnowledgeSource{Type: domain.SourceFile, Name: "a.md", ContentType: "text/markdown", Text: "%PDF-1.4\xff"}, "content", "must be text in UTF-8"},
	} {
		var p domain.Problems
		validation.Source(&p, "", &c.source)
		if c.param == "" {
			assert.Empty(t, p, name)
			continue
		}
		if assert.Len(t, p, 1, name) {
			assert.Equal(t, []string{c.param, c.says}, []string{p[0].Param, p[0].Message}, name)
		}
	}
}
