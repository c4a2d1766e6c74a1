package actors

import (
	"context"
	"encoding/base64"
	"errors"
	"mime"
	"net/url"
	"path"
	"strconv"
	"unicode/utf8"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/knowledge"
	"github.com/callboard/callboard/engines/content"
	"github.com/callboard/callboard/service/record"
)

// maxKnowledge bounds the knowledge bases of a workspace and environment.
const maxKnowledge = 200

// Kinds of text.
const (
	plainText = "text/plain"
	markdown  = "text/markdown"
	hypertext = "text/html"
	pdf       = "application/pdf"
)

// CreateKnowledge keeps a new knowledge base with its first sources, in one
// commit. They are read after the answer.
func (d *Desk) CreateKnowledge(ctx context.Context, p domain.Principal, k *domain.KnowledgeBase, sources []ask.NewSource) (*domain.KnowledgeBase, error) {
	if made, err := record.CreatedBySameRequest[domain.KnowledgeBase](ctx, d.store, p, domain.PrefixKnowledge); made != nil || err != nil {
		return made, err
	}
	end, err := d.revising.Lock(ctx, "knowledge "+p.WorkspaceID)
	if err != nil {
		return nil, err
	}
	defer end()
	n := 0
	if err = commit.Each(ctx, d.store, "knowledge_base", p.WorkspaceID, record.EnvironmentIndex(p), func(*domain.KnowledgeBase) { n++ }); err != nil {
		return nil, record.StoreError(err)
	}
	if n >= maxKnowledge {
		return nil, domain.Errorf(domain.CodeInvalidState, "a workspace has %d knowledge bases at most", maxKnowledge)
	}
	record.SetMeta(&k.Meta, "knowledge_base", p, record.NewID(ctx, domain.PrefixKnowledge), record.Now())
	rows := make([]domain.Record, 0, len(sources))
	for i := range sources {
		var s *domain.KnowledgeSource
		if s, err = d.newSource(ctx, k, mailbox.NewID(domain.PrefixSource), sources[i], "sources["+strconv.Itoa(i)+"]."); err != nil {
			return nil, err
		}
		rows = append(rows, s)
		k.Bytes += s.Bytes
	}
	if err = roomFor(k); err != nil {
		return nil, err
	}
	k.Sources, k.Status = len(rows), domain.KnowledgeReady
	if len(rows) > 0 {
		k.Status = domain.KnowledgeProcessing
	}
	if err = record.Create(ctx, d.store, k, func(c *commit.Change) { c.Puts = append(c.Puts, rows...) }); err != nil {
		return nil, err
	}
	d.readings.Wake(p.WorkspaceID)
	return k, nil
}

func roomFor(k *domain.KnowledgeBase) error {
	if k.Sources > knowledge.MaxSources {
		return domain.Errorf(domain.CodeInvalidState, "a knowledge base has %d sources at most", knowledge.MaxSources)
	}
	if k.Bytes > knowledge.MaxBase {
		return domain.Errorf(domain.CodePayloadTooLarge, "a knowledge base has %d bytes of text at most", knowledge.MaxBase).With("limit", knowledge.MaxBase)
	}
	return nil
}

// newSource makes the row of a source. prefix names its fields.
func (d *Desk) newSource(ctx context.Context, k *domain.KnowledgeBase, id string, o ask.NewSource, prefix string) (*domain.KnowledgeSource, error) {
	s := &domain.KnowledgeSource{
		KnowledgeBaseID: k.ID, Type: o.Type, Name: o.Name, URL: o.URL, ContentType: o.ContentType, Status: domain.KnowledgeProcessing, Raw: o.Text, Bytes: len(o.Text),
	}
	if o.Type == domain.SourceURL {
		if err := d.node.CheckURL(ctx, prefix+"url", o.URL); err != nil {
			return nil, err
		}
		if u, err := url.Parse(o.URL); err == nil && s.Name == "" {
			s.Name = u.Host + u.Path
		}
	}
	if s.Name == "" {
		s.Name = "text"
	}
	if s.Raw != "" && s.ContentType == pdf {
		s.Raw = base64.StdEncoding.EncodeToString([]byte(o.Text)) // rows hold text
	}
	record.SetMeta(&s.Meta, "knowledge_source", domain.Principal{WorkspaceID: k.WorkspaceID, Environment: k.Environment}, id, record.Now())
	return s, nil
}

// KnowledgeBase reads one.
func (d *Desk) KnowledgeBase(ctx context.Context, p domain.Principal, id string) (*domain.KnowledgeBase, error) {
	k, _, err := record.Get[domain.KnowledgeBase](ctx, d.store, p, domain.PrefixKnowledge, id)
	return k, err
}

// ListKnowledge reads a page.
func (d *Desk) ListKnowledge(ctx context.Context, p domain.Principal, q ask.Page) (ask.List[*domain.KnowledgeBase], error) {
	return record.List[domain.KnowledgeBase](ctx, d.store, p.WorkspaceID, record.EnvironmentIndex(p), domain.PrefixKnowledge, q, nil)
}

// UpdateKnowledge changes name and metadata.
func (d *Desk) UpdateKnowledge(ctx context.Context, p domain.Principal, id string, change func(*domain.KnowledgeBase) error) (*domain.KnowledgeBase, error) {
	return record.Update(ctx, d.store, p, domain.PrefixKnowledge, id, change)
}

// DeleteKnowledge removes a knowledge base: passages and sources first, so that
// it can be deleted again where that was cut short.
func (d *Desk) DeleteKnowledge(ctx context.Context, p domain.Principal, id string) error {
	k, err := d.KnowledgeBase(ctx, p, id)
	if err != nil {
		return err
	}
	free, err := d.references.Lock(ctx, p.WorkspaceID)
	if err != nil {
		return err
	}
	defer free()
	if err = d.references.CheckUnused(ctx, p, "knowledge base", k.ID); err != nil {
		return err
	}
	end, err := d.revising.Lock(ctx, k.ID) // nobody reads sources of it meanwhile
	if err != nil {
		return err
	}
	defer end()
	for _, kind := range []kindOfCampaign{
		{"knowledge_passage", func() domain.Record { return &domain.KnowledgePassage{} }},
		{"knowledge_source", func() domain.Record { return &domain.KnowledgeSource{} }},
	} {
		if err = d.eraseUnder(ctx, domain.Key{Kind: kind.kind, Workspace: k.WorkspaceID, ID: k.ID + "/"}, kind.fresh); err != nil {
			return record.StoreError(err)
		}
	}
	defer d.shelves.forget(shelfKey(k))
	return record.Delete[domain.KnowledgeBase](ctx, d.store, p, domain.PrefixKnowledge, k.ID)
}

// AddSource adds a source, which is read after the answer.
func (d *Desk) AddSource(ctx context.Context, p domain.Principal, id string, o ask.NewSource) (*domain.KnowledgeSource, error) {
	k, err := d.KnowledgeBase(ctx, p, id)
	if err != nil {
		return nil, err
	}
	sourceID := record.NewID(ctx, domain.PrefixSource)
	if t := record.KeyedRequestOf(ctx); t != nil && t.Repeated {
		if made, _, failed := d.sourceOf(ctx, k, sourceID); domain.CodeOf(failed) != domain.CodeNotFound {
			return made, failed
		}
	}
	s, err := d.newSource(ctx, k, sourceID, o, "")
	if err != nil {
		return nil, err
	}
	_, err = record.Update(ctx, d.store, p, domain.PrefixKnowledge, k.ID, func(k *domain.KnowledgeBase) error {
		k.Sources++
		k.Bytes += s.Bytes
		k.Status = domain.KnowledgeProcessing
		return roomFor(k)
	}, func(c *commit.Change, _ *domain.KnowledgeBase) error {
		c.Guards = append(c.Guards, commit.Absent(s.Key()))
		c.Puts = append(c.Puts, s)
		return nil
	})
	if err != nil {
		return nil, err
	}
	d.readings.Wake(p.WorkspaceID)
	return s, nil
}

// sourceOf reads a source with its version.
func (d *Desk) sourceOf(ctx context.Context, k *domain.KnowledgeBase, sourceID string) (*domain.KnowledgeSource, uint64, error) {
	id, err := domain.ParseID(domain.PrefixSource, sourceID)
	if err != nil {
		return nil, 0, record.NotFound("source")
	}
	s := &domain.KnowledgeSource{Meta: domain.Meta{ID: id, WorkspaceID: k.WorkspaceID}, KnowledgeBaseID: k.ID}
	version, err := d.store.Get(ctx, s)
	if errors.Is(err, domain.ErrNotFound) {
		return nil, 0, record.NotFound("source")
	}
	return s, version, record.StoreError(err)
}

// Source reads one.
func (d *Desk) Source(ctx context.Context, p domain.Principal, id, sourceID string) (*domain.KnowledgeSource, error) {
	k, err := d.KnowledgeBase(ctx, p, id)
	if err != nil {
		return nil, err
	}
	s, _, err := d.sourceOf(ctx, k, sourceID)
	return s, err
}

// ListSources reads a page.
func (d *Desk) ListSources(ctx context.Context, p domain.Principal, id string, q ask.Page) (ask.List[*domain.KnowledgeSource], error) {
	k, err := d.KnowledgeBase(ctx, p, id)
	if err != nil {
		return ask.List[*domain.KnowledgeSource]{}, err
	}
	return record.List[domain.KnowledgeSource](ctx, d.store, p.WorkspaceID, "of="+k.ID, domain.PrefixSource, q, nil)
}

// DeleteSource removes a source with its passages.
func (d *Desk) DeleteSource(ctx context.Context, p domain.Principal, id, sourceID string) error {
	k, err := d.KnowledgeBase(ctx, p, id)
	if err != nil {
		return err
	}
	end, err := d.revising.Lock(ctx, k.ID)
	if err != nil {
		return err
	}
	defer end()
	s, version, err := d.sourceOf(ctx, k, sourceID)
	if err != nil {
		return err
	}
	if err = d.erasePassages(ctx, s); err != nil {
		return record.StoreError(err)
	}
	defer d.shelves.forget(shelfKey(k))
	return d.settle(ctx, k, func(c *commit.Change) {
		c.Guards = append(c.Guards, commit.Guard{Key: s.Key(), Version: version})
		c.Deletes = append(c.Deletes, s.Key())
	}, nil, s)
}

// settle counts a knowledge base anew in the commit that changes one of its
// sources: is takes the place of was; nil: there is none.
func (d *Desk) settle(ctx context.Context, k *domain.KnowledgeBase, more func(*commit.Change), is, was *domain.KnowledgeSource) error {
	p := domain.Principal{WorkspaceID: k.WorkspaceID, Environment: k.Environment}
	_, err := record.Update(ctx, d.store, p, domain.PrefixKnowledge, k.ID, func(k *domain.KnowledgeBase) error {
		var all []*domain.KnowledgeSource
		err := commit.Each(ctx, d.store, "knowledge_source", k.WorkspaceID, "of="+k.ID, func(s *domain.KnowledgeSource) {
			if s.ID != was.ID {
				all = append(all, s)
			}
		})
		if err != nil {
			return record.StoreError(err)
		}
		if is != nil {
			all = append(all, is)
		}
		k.Status, k.Sources, k.Passages, k.Bytes = domain.KnowledgeReady, len(all), 0, 0
		if is != nil {
			k.EmbeddingModel = "" // its new passages have no meanings yet
		}
		failed := 0
		for _, s := range all {
			k.Passages += s.Passages
			k.Bytes += s.Bytes
			switch s.Status {
			case domain.KnowledgeProcessing:
				k.Status = domain.KnowledgeProcessing
			case domain.KnowledgeFailed:
				failed++
			case domain.KnowledgeReady:
			}
		}
		if failed > 0 && failed == len(all) {
			k.Status = domain.KnowledgeFailed
		}
		return nil
	}, func(c *commit.Change, _ *domain.KnowledgeBase) error {
		more(c)
		return nil
	})
	return err
}

// readSources reads what is to be read of a workspace, one source after the
// other. As soon as one is ready its words are found; what its passages mean
// follows beside, however long that takes.
func (d *Desk) readSources(ctx context.Context, workspaceID string) error {
	for {
		var due *domain.KnowledgeSource
		q := commit.Query{Kind: "knowledge_source", Workspace: workspaceID, Index: "todo", Oldest: true, Limit: 1}
		_, err := d.store.List(ctx, q, func() domain.Record { return &domain.KnowledgeSource{} }, func(r domain.Record) error {
			due, _ = r.(*domain.KnowledgeSource)
			return nil
		})
		if due == nil || err != nil {
			return err
		}
		if err = d.readSource(ctx, due); err != nil {
			return err
		}
		d.meanings.Wake(workspaceID)
	}
}

// readSource fetches a source, cuts it and keeps the passages; then the source
// says that it is ready. Whatever is wrong with the text, it is failed.
func (d *Desk) readSource(ctx context.Context, s *domain.KnowledgeSource) error {
	text, kind, title, why := d.textOf(ctx, s)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	end, err := d.revising.Lock(ctx, s.KnowledgeBaseID)
	if err != nil {
		return err
	}
	defer end()
	k := &domain.KnowledgeBase{Meta: domain.Meta{ID: s.KnowledgeBaseID, WorkspaceID: s.WorkspaceID}}
	if _, err = d.store.Get(ctx, k); errors.Is(err, domain.ErrNotFound) {
		_, err = d.store.Apply(ctx, commit.Change{Workspace: s.WorkspaceID, Deletes: []domain.Key{s.Key()}})
		return err
	} else if err != nil {
		return err
	}
	is := &domain.KnowledgeSource{Meta: domain.Meta{ID: s.ID, WorkspaceID: s.WorkspaceID}, KnowledgeBaseID: s.KnowledgeBaseID}
	version, err := d.store.Get(ctx, is)
	if errors.Is(err, domain.ErrNotFound) {
		return nil // deleted meanwhile
	}
	if err != nil {
		return err
	}
	was := *is
	now := record.Now()
	is.UpdatedAt, is.Raw = now, ""
	passages := knowledge.Cut(text, kind != plainText)
	switch {
	case why == "" && len(passages) == 0:
		why = "there are no words in it"
	case why == "" && k.Bytes-was.Bytes+len(text) > knowledge.MaxBase:
		why = "the knowledge base is full"
	}
	if why != "" {
		is.Status, is.Error, passages, is.Bytes = domain.KnowledgeFailed, why, nil, 0
	} else {
		is.Status, is.ReadyAt, is.ContentType, is.Title, is.Passages, is.Bytes = domain.KnowledgeReady, &now, kind, title, len(passages), len(text)
	}
	if err = d.keepPassages(ctx, is, passages); err != nil {
		return err
	}
	return d.settle(ctx, k, func(c *commit.Change) {
		c.Guards = append(c.Guards, commit.Guard{Key: is.Key(), Version: version})
		c.Puts = append(c.Puts, is)
	}, is, &was)
}

func (d *Desk) erasePassages(ctx context.Context, s *domain.KnowledgeSource) error {
	prefix := domain.Key{Kind: "knowledge_passage", Workspace: s.WorkspaceID, ID: s.KnowledgeBaseID + "/" + s.ID + "/"}
	return d.eraseUnder(ctx, prefix, func() domain.Record { return &domain.KnowledgePassage{} })
}

// keepPassages keeps those of a source, and none that a reading which was cut
// off has left of another text.
func (d *Desk) keepPassages(ctx context.Context, s *domain.KnowledgeSource, all []knowledge.Passage) error {
	if err := d.erasePassages(ctx, s); err != nil {
		return err
	}
	for from := 0; from < len(all); from += eraseRows {
		c := commit.Change{Workspace: s.WorkspaceID}
		for i := from; i < min(from+eraseRows, len(all)); i++ {
			c.Puts = append(c.Puts, &domain.KnowledgePassage{
				WorkspaceID: s.WorkspaceID, KnowledgeBaseID: s.KnowledgeBaseID, SourceID: s.ID, Number: i, Heading: all[i].Heading, Text: all[i].Text,
			})
		}
		if _, err := d.store.Apply(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// textOf is the text of a source for readers; why says what is wrong with it.
func (d *Desk) textOf(ctx context.Context, s *domain.KnowledgeSource) (text, kind, title, why string) {
	text, kind = s.Raw, s.ContentType
	if s.Type == domain.SourceURL {
		page, err := d.node.sender.Fetch(ctx, s.URL, knowledge.MaxPaper)
		if err != nil {
			return "", "", "", err.Error()
		}
		switch kind = kindOf(page.ContentType, s.URL); {
		case kind == "":
			return "", "", "", "the page is neither HTML nor Markdown nor plain text nor PDF"
		case kind == pdf:
			text = string(page.Body)
		case len(page.Body) > 4*knowledge.MaxBytes:
			return "", "", "", "the page has more than " + strconv.Itoa(4*knowledge.MaxBytes) + " bytes"
		default:
			if text, err = content.DecodeText(page.ContentType, page.Body); err != nil {
				return "", "", "", "the page cannot be read: " + err.Error()
			}
		}
	} else if kind == pdf {
		file, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return "", "", "", "it cannot be read"
		}
		text = string(file)
	}
	switch kind {
	case hypertext:
		title, text = readable(text)
	case pdf:
		if d.node.cfg.Papers == nil {
			return "", "", "", "PDF files are not read here"
		}
		var err error
		if text, err = d.node.cfg.Papers.Text(ctx, []byte(text)); err != nil {
			return "", "", "", err.Error()
		}
	}
	switch {
	case !utf8.ValidString(text):
		return "", "", "", "it is not text in UTF-8"
	case len(text) > knowledge.MaxBytes:
		return "", "", "", "it has more than " + strconv.Itoa(knowledge.MaxBytes) + " bytes of text"
	}
	return text, kind, title, ""
}

// kindOf is the kind of a page, by what its server says and by its name.
func kindOf(said, address string) string {
	kind, _, err := mime.ParseMediaType(said)
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
