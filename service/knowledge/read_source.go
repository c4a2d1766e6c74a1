package knowledge

import (
	"context"
	"encoding/base64"
	"errors"
	"mime"
	"net/url"
	"path"
	"strconv"
	"unicode/utf8"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/knowledge"
	"github.com/callboard/callboard/engines/content"
	"github.com/callboard/callboard/service/record"
)

// Content types of sources.
const (
	plainText = "text/plain"
	markdown  = "text/markdown"
	hypertext = "text/html"
	pdf       = "application/pdf"
)

// readDueSources reads one by one the sources of a workspace that are not read yet. After that, a search by words finds
// the passages of a source. Their embeddings are computed later.
func (svc *Service) readDueSources(ctx context.Context, workspaceID string) error {
	for {
		var due *domain.KnowledgeSource
		q := commit.Query{Kind: "knowledge_source", Workspace: workspaceID, Index: "todo", Oldest: true, Limit: 1}
		_, err := svc.store.List(ctx, q, func() domain.Record { return &domain.KnowledgeSource{} }, func(r domain.Record) error {
			due, _ = r.(*domain.KnowledgeSource)
			return nil
		})
		if due == nil || err != nil {
			return err
		}
		if err = svc.readSource(ctx, due); err != nil {
			return err
		}
		svc.embedding.Wake(workspaceID)
	}
}

// readSource fetches the text of a source, splits it into passages and stores them. Then it sets the status of the
// source to ready, or to failed if there is no usable text.
func (svc *Service) readSource(ctx context.Context, s *domain.KnowledgeSource) error {
	text, kind, title, problem := svc.sourceText(ctx, s)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	unlock, err := svc.locks.Lock(ctx, s.KnowledgeBaseID)
	if err != nil {
		return err
	}
	defer unlock()
	k := &domain.KnowledgeBase{Meta: domain.Meta{ID: s.KnowledgeBaseID, WorkspaceID: s.WorkspaceID}}
	if _, err = svc.store.Get(ctx, k); errors.Is(err, domain.ErrNotFound) {
		_, err = svc.store.Apply(ctx, commit.Change{Workspace: s.WorkspaceID, Deletes: []domain.Key{s.Key()}})
		return err
	} else if err != nil {
		return err
	}
	is := &domain.KnowledgeSource{Meta: domain.Meta{ID: s.ID, WorkspaceID: s.WorkspaceID}, KnowledgeBaseID: s.KnowledgeBaseID}
	version, err := svc.store.Get(ctx, is)
	if errors.Is(err, domain.ErrNotFound) {
		return nil // the source was deleted since
	}
	if err != nil {
		return err
	}
	was := *is
	now := record.Now()
	is.UpdatedAt, is.Raw = now, ""
	passages := knowledge.SplitPassages(text, kind != plainText)
	switch {
	case problem == "" && len(passages) == 0:
		problem = "the source contains no words"
	case problem == "" && k.Bytes-was.Bytes+len(text) > knowledge.MaxBaseBytes:
		problem = "the knowledge base is full"
	}
	if problem != "" {
		is.Status, is.Error, passages, is.Bytes = domain.KnowledgeFailed, problem, nil, 0
	} else {
		is.Status, is.ReadyAt, is.ContentType, is.Title, is.Passages, is.Bytes = domain.KnowledgeReady, &now, kind, title, len(passages), len(text)
	}
	if err = svc.putPassages(ctx, is, passages); err != nil {
		return err
	}
	return svc.updateTotals(ctx, k, func(c *commit.Change) {
		c.Guards = append(c.Guards, commit.Guard{Key: is.Key(), Version: version})
		c.Puts = append(c.Puts, is)
	}, is, &was)
}

// deletePassages deletes the passages of a source.
func (svc *Service) deletePassages(ctx context.Context, s *domain.KnowledgeSource) error {
	prefix := domain.Key{Kind: "knowledge_passage", Workspace: s.WorkspaceID, ID: s.KnowledgeBaseID + "/" + s.ID + "/"}
	return record.DeleteByPrefix(ctx, svc.store, prefix, func() domain.Record { return &domain.KnowledgePassage{} })
}

// putPassages stores the passages of a source. It first deletes the stored ones, also those of an interrupted run.
func (svc *Service) putPassages(ctx context.Context, s *domain.KnowledgeSource, all []knowledge.Passage) error {
	if err := svc.deletePassages(ctx, s); err != nil {
		return err
	}
	for from := 0; from < len(all); from += record.BatchRows {
		c := commit.Change{Workspace: s.WorkspaceID}
		for i := from; i < min(from+record.BatchRows, len(all)); i++ {
			c.Puts = append(c.Puts, &domain.KnowledgePassage{
				WorkspaceID: s.WorkspaceID, KnowledgeBaseID: s.KnowledgeBaseID, SourceID: s.ID, Number: i, Heading: all[i].Heading, Text: all[i].Text,
			})
		}
		if _, err := svc.store.Apply(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// sourceText returns the text of a source, its content type and its title. If there is no usable text, problem says why.
func (svc *Service) sourceText(ctx context.Context, s *domain.KnowledgeSource) (text, kind, title, problem string) {
	text, kind = s.Raw, s.ContentType
	if s.Type == domain.SourceURL {
		page, err := svc.cfg.Web.FetchPage(ctx, s.URL, knowledge.MaxPDFBytes)
		if err != nil {
			return "", "", "", err.Error()
		}
		switch kind = contentType(page.ContentType, s.URL); {
		case kind == "":
			return "", "", "", "the page is neither HTML nor Markdown nor plain text nor PDF"
		case kind == pdf:
			text = string(page.Body)
		case len(page.Body) > 4*knowledge.MaxSourceBytes:
			return "", "", "", "the page has more than " + strconv.Itoa(4*knowledge.MaxSourceBytes) + " bytes"
		default:
			if text, err = content.DecodeText(page.ContentType, page.Body); err != nil {
				return "", "", "", "the page cannot be read: " + err.Error()
			}
		}
	} else if kind == pdf {
		file, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return "", "", "", "the PDF file cannot be read"
		}
		text = string(file)
	}
	switch kind {
	case hypertext:
		title, text = parseHTML(text)
	case pdf:
		if svc.cfg.PDF == nil {
			return "", "", "", "this installation does not read PDF files"
		}
		var err error
		if text, err = svc.cfg.PDF.Text(ctx, []byte(text)); err != nil {
			return "", "", "", err.Error()
		}
	}
	switch {
	case !utf8.ValidString(text):
		return "", "", "", "the source is not UTF-8 text"
	case len(text) > knowledge.MaxSourceBytes:
		return "", "", "", "the source has more than " + strconv.Itoa(knowledge.MaxSourceBytes) + " bytes of text"
	}
	return text, kind, title, ""
}

// contentType returns the supported content type of a page, found from its Content-Type header and its URL. It returns
// "" if the type is not supported.
func contentType(header, address string) string {
	kind, _, err := mime.ParseMediaType(header)
	if err != nil {
		return ""
	}
	switch kind {
	case hypertext, "application/xhtml+xml":
		return hypertext
	case pdf:
		return pdf
	case markdown, "text/x-markdown":
		return markdown
	case plainText:
		u, err := url.Parse(address)
		if err == nil && (path.Ext(u.Path) == ".md" || path.Ext(u.Path) == ".markdown") {
			return markdown
		}
		return plainText
	}
	return ""
}
