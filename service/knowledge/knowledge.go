// Package knowledge is the service for knowledge bases: it reads their sources, embeds their passages, and searches
// them for agents.
package knowledge

import (
	"context"
	"encoding/base64"
	"errors"
	"log/slog"
	"net/url"
	"strconv"
	"sync"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/webhook"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/knowledge"
	"github.com/callboard/callboard/engines/llm"
	"github.com/callboard/callboard/service/record"
)

// maxBases is the maximum number of knowledge bases of a workspace and environment.
const maxBases = 200

// webClient fetches pages from the public web.
type webClient interface {
	// FetchPage returns a page of at most limit bytes. The text of its error may be shown to users.
	FetchPage(ctx context.Context, url string, limit int64) (webhook.Page, error)
}

// pdfReader extracts the text of PDF files as Markdown. The text of its error may be shown to users.
type pdfReader interface {
	Text(ctx context.Context, file []byte) (string, error)
}

// embeddingModels computes the embeddings of texts.
type embeddingModels interface {
	Embed(ctx context.Context, e *llm.Engine, texts []string) ([][]float32, error)
}

// Config holds the dependencies of a Service.
type Config struct {
	Store      commit.Store
	References *record.References
	URLs       record.URLChecker
	Web        webClient
	PDF        pdfReader // nil: PDF files are not supported
	Models     embeddingModels
	Embedding  *llm.Engine            // embedding model; nil: search by words only
	Context    func() context.Context // returns a context that ends when the service stops
	Log        *slog.Logger
}

// Service manages and searches knowledge bases.
type Service struct {
	store      commit.Store
	references *record.References
	cfg        Config
	locks      record.KeyedMutex    // by workspace for creation, by knowledge base for changes of passages
	reading    record.WorkspaceTask // reads due sources
	embedding  record.WorkspaceTask // embeds new passages
	indexes    indexCache
	queries    queryVectors
}

// New returns a Service. Sources are read and embedded while its method Run runs.
func New(cfg Config) *Service {
	return &Service{store: cfg.Store, references: cfg.References, cfg: cfg, reading: record.NewWorkspaceTask(), embedding: record.NewWorkspaceTask()}
}

// Resume continues reading and embedding in a workspace after a restart.
func (svc *Service) Resume(workspaceID string) {
	svc.reading.Wake(workspaceID)
	svc.embedding.Wake(workspaceID)
}

// Run reads sources and embeds passages until ctx ends.
func (svc *Service) Run(ctx context.Context) {
	var wait sync.WaitGroup
	wait.Go(func() { svc.reading.Run(ctx, svc.cfg.Log, "knowledge bases", svc.readDueSources) })
	wait.Go(func() { svc.embedding.Run(ctx, svc.cfg.Log, "embeddings", svc.embedDue) })
	wait.Wait()
}

// ForgetWorkspace drops the indexes of a deleted workspace from memory.
func (svc *Service) ForgetWorkspace(workspaceID string) { svc.indexes.forgetWorkspace(workspaceID) }

// CreateKnowledge creates a knowledge base with its first sources in one commit. The sources are read in the
// background.
func (svc *Service) CreateKnowledge(ctx context.Context, p domain.Principal, k *domain.KnowledgeBase, sources []domain.NewKnowledgeSource) (*domain.KnowledgeBase, error) {
	if created, err := record.CreatedBySameRequest[domain.KnowledgeBase](ctx, svc.store, p, domain.PrefixKnowledge); created != nil || err != nil {
		return created, err
	}
	unlock, err := svc.locks.Lock(ctx, p.WorkspaceID)
	if err != nil {
		return nil, err
	}
	defer unlock()
	n := 0
	if err = commit.ForEachRow(ctx, svc.store, "knowledge_base", p.WorkspaceID, record.EnvironmentIndex(p), func(*domain.KnowledgeBase) { n++ }); err != nil {
		return nil, commit.StoreError(err)
	}
	if n >= maxBases {
		return nil, domain.Errorf(domain.CodeInvalidState, "the workspace has %d knowledge bases, which is the maximum; delete one first", maxBases)
	}
	k.Init("knowledge_base", p, record.RequestResourceID(ctx, domain.PrefixKnowledge), record.Now())
	rows := make([]domain.Record, 0, len(sources))
	for i := range sources {
		var s *domain.KnowledgeSource
		if s, err = svc.newSource(ctx, k, mailbox.NewID(domain.PrefixSource), sources[i], "sources["+strconv.Itoa(i)+"]."); err != nil {
			return nil, err
		}
		rows = append(rows, s)
		k.Bytes += s.Bytes
	}
	if err = checkSize(k); err != nil {
		return nil, err
	}
	k.Sources, k.Status = len(rows), domain.KnowledgeReady
	if len(rows) > 0 {
		k.Status = domain.KnowledgeProcessing
	}
	if err = record.Create(ctx, svc.store, k, func(c *commit.Change) { c.Puts = append(c.Puts, rows...) }); err != nil {
		return nil, err
	}
	svc.reading.Wake(p.WorkspaceID)
	return k, nil
}

func checkSize(k *domain.KnowledgeBase) error {
	if k.Sources > knowledge.MaxSources {
		return domain.Errorf(domain.CodeInvalidState, "a knowledge base has at most %d sources", knowledge.MaxSources)
	}
	if k.Bytes > knowledge.MaxBaseBytes {
		return domain.Errorf(domain.CodePayloadTooLarge, "a knowledge base has at most %d bytes of text", knowledge.MaxBaseBytes).With("limit", knowledge.MaxBaseBytes)
	}
	return nil
}

// newSource returns the record of a new source. Validation errors name its fields with prefix in front.
func (svc *Service) newSource(ctx context.Context, k *domain.KnowledgeBase, id string, o domain.NewKnowledgeSource, prefix string) (*domain.KnowledgeSource, error) {
	s := &domain.KnowledgeSource{
		KnowledgeBaseID: k.ID, Type: o.Type, Name: o.Name, URL: o.URL, ContentType: o.ContentType, Status: domain.KnowledgeProcessing, Raw: o.Text, Bytes: len(o.Text),
	}
	if o.Type == domain.SourceURL {
		if err := svc.cfg.URLs.CheckURL(ctx, prefix+"url", o.URL); err != nil {
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
		s.Raw = base64.StdEncoding.EncodeToString([]byte(o.Text)) // stored rows contain text only
	}
	s.Init("knowledge_source", domain.Principal{WorkspaceID: k.WorkspaceID, Environment: k.Environment}, id, record.Now())
	return s, nil
}

// KnowledgeBase returns one knowledge base. Errors: not_found.
func (svc *Service) KnowledgeBase(ctx context.Context, p domain.Principal, id string) (*domain.KnowledgeBase, error) {
	k, _, err := record.Get[domain.KnowledgeBase](ctx, svc.store, p, domain.PrefixKnowledge, id)
	return k, err
}

// ListKnowledge returns a page of knowledge bases.
func (svc *Service) ListKnowledge(ctx context.Context, p domain.Principal, q record.PageQuery) (record.Page[*domain.KnowledgeBase], error) {
	return record.List[domain.KnowledgeBase](ctx, svc.store, p.WorkspaceID, record.EnvironmentIndex(p), domain.PrefixKnowledge, q, nil)
}

// UpdateKnowledge changes the name and the metadata of a knowledge base.
func (svc *Service) UpdateKnowledge(ctx context.Context, p domain.Principal, id string, change func(*domain.KnowledgeBase) error) (*domain.KnowledgeBase, error) {
	return record.Update(ctx, svc.store, p, domain.PrefixKnowledge, id, change)
}

// DeleteKnowledge deletes a knowledge base. It deletes the passages and sources first, so that an interrupted
// deletion can be repeated. Errors: not_found, invalid_state.
func (svc *Service) DeleteKnowledge(ctx context.Context, p domain.Principal, id string) error {
	k, err := svc.KnowledgeBase(ctx, p, id)
	if err != nil {
		return err
	}
	unlockReferences, err := svc.references.Lock(ctx, p.WorkspaceID)
	if err != nil {
		return err
	}
	defer unlockReferences()
	if err = svc.references.CheckUnused(ctx, p, "knowledge base", k.ID); err != nil {
		return err
	}
	unlock, err := svc.locks.Lock(ctx, k.ID) // prevents reading of sources during the deletion
	if err != nil {
		return err
	}
	defer unlock()
	under := func(kind string) domain.Key { return domain.Key{Kind: kind, Workspace: k.WorkspaceID, ID: k.ID + "/"} }
	err = record.DeleteByPrefix(ctx, svc.store, under("knowledge_passage"), func() domain.Record { return &domain.KnowledgePassage{} })
	if err == nil {
		err = record.DeleteByPrefix(ctx, svc.store, under("knowledge_source"), func() domain.Record { return &domain.KnowledgeSource{} })
	}
	if err != nil {
		return commit.StoreError(err)
	}
	defer svc.indexes.remove(indexKey(k))
	return record.Delete[domain.KnowledgeBase](ctx, svc.store, p, domain.PrefixKnowledge, k.ID)
}

// AddSource adds a source to a knowledge base. A background task reads the text of the source.
func (svc *Service) AddSource(ctx context.Context, p domain.Principal, id string, o domain.NewKnowledgeSource) (*domain.KnowledgeSource, error) {
	k, err := svc.KnowledgeBase(ctx, p, id)
	if err != nil {
		return nil, err
	}
	sourceID := record.RequestResourceID(ctx, domain.PrefixSource)
	if t := record.IdempotentRequestOf(ctx); t != nil && t.Repeated {
		if earlier, _, failed := svc.source(ctx, k, sourceID); domain.CodeOf(failed) != domain.CodeNotFound {
			return earlier, failed
		}
	}
	s, err := svc.newSource(ctx, k, sourceID, o, "")
	if err != nil {
		return nil, err
	}
	_, err = record.Update(ctx, svc.store, p, domain.PrefixKnowledge, k.ID, func(k *domain.KnowledgeBase) error {
		k.Sources++
		k.Bytes += s.Bytes
		k.Status = domain.KnowledgeProcessing
		return checkSize(k)
	}, func(c *commit.Change, _ *domain.KnowledgeBase) error {
		c.Guards = append(c.Guards, commit.Absent(s.Key()))
		c.Puts = append(c.Puts, s)
		return nil
	})
	if err != nil {
		return nil, err
	}
	svc.reading.Wake(p.WorkspaceID)
	return s, nil
}

// source returns a source with its version. Errors: not_found.
func (svc *Service) source(ctx context.Context, k *domain.KnowledgeBase, sourceID string) (*domain.KnowledgeSource, uint64, error) {
	id, err := domain.ParseID(domain.PrefixSource, sourceID)
	if err != nil {
		return nil, 0, domain.NotFound("source")
	}
	s := &domain.KnowledgeSource{Meta: domain.Meta{ID: id, WorkspaceID: k.WorkspaceID}, KnowledgeBaseID: k.ID}
	version, err := svc.store.Get(ctx, s)
	if errors.Is(err, domain.ErrNotFound) {
		return nil, 0, domain.NotFound("source")
	}
	return s, version, commit.StoreError(err)
}

// Source returns one source. Errors: not_found.
func (svc *Service) Source(ctx context.Context, p domain.Principal, id, sourceID string) (*domain.KnowledgeSource, error) {
	k, err := svc.KnowledgeBase(ctx, p, id)
	if err != nil {
		return nil, err
	}
	s, _, err := svc.source(ctx, k, sourceID)
	return s, err
}

// ListSources returns a page of sources.
func (svc *Service) ListSources(ctx context.Context, p domain.Principal, id string, q record.PageQuery) (record.Page[*domain.KnowledgeSource], error) {
	k, err := svc.KnowledgeBase(ctx, p, id)
	if err != nil {
		return record.Page[*domain.KnowledgeSource]{}, err
	}
	return record.List[domain.KnowledgeSource](ctx, svc.store, p.WorkspaceID, "of="+k.ID, domain.PrefixSource, q, nil)
}

// DeleteSource deletes a source with its passages.
func (svc *Service) DeleteSource(ctx context.Context, p domain.Principal, id, sourceID string) error {
	k, err := svc.KnowledgeBase(ctx, p, id)
	if err != nil {
		return err
	}
	unlock, err := svc.locks.Lock(ctx, k.ID)
	if err != nil {
		return err
	}
	defer unlock()
	s, version, err := svc.source(ctx, k, sourceID)
	if err != nil {
		return err
	}
	if err = svc.deletePassages(ctx, s); err != nil {
		return commit.StoreError(err)
	}
	defer svc.indexes.remove(indexKey(k))
	return svc.updateTotals(ctx, k, func(c *commit.Change) {
		c.Guards = append(c.Guards, commit.Guard{Key: s.Key(), Version: version})
		c.Deletes = append(c.Deletes, s.Key())
	}, nil, s)
}

// updateTotals recomputes the totals of a knowledge base in the same commit that changes one of its sources. The source
// changes from was to is. If the source is deleted, is is nil.
func (svc *Service) updateTotals(ctx context.Context, k *domain.KnowledgeBase, more func(*commit.Change), is, was *domain.KnowledgeSource) error {
	p := domain.Principal{WorkspaceID: k.WorkspaceID, Environment: k.Environment}
	_, err := record.Update(ctx, svc.store, p, domain.PrefixKnowledge, k.ID, func(k *domain.KnowledgeBase) error {
		var all []*domain.KnowledgeSource
		err := commit.ForEachRow(ctx, svc.store, "knowledge_source", k.WorkspaceID, "of="+k.ID, func(s *domain.KnowledgeSource) {
			if s.ID != was.ID {
				all = append(all, s)
			}
		})
		if err != nil {
			return commit.StoreError(err)
		}
		if is != nil {
			all = append(all, is)
		}
		k.Status, k.Sources, k.Passages, k.Bytes = domain.KnowledgeReady, len(all), 0, 0
		if is != nil {
			k.EmbeddingModel = "" // the new passages are not embedded yet
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
