package agents

import (
	"cmp"
	"context"
	"encoding/base64"
	"net/http"
	"path"
	"strconv"
	"strings"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/knowledge"
	"github.com/callboard/callboard/domain/validation"
	"github.com/callboard/callboard/httpapi/router"
	knowledgeservice "github.com/callboard/callboard/service/knowledge"
	"github.com/callboard/callboard/service/record"
)

// Knowledge manages knowledge bases, which agents search.
type Knowledge interface {
	// CreateKnowledge creates a knowledge base. Its sources are read in the background. Error: invalid_url (422) for a URL
	// at a forbidden address.
	CreateKnowledge(ctx context.Context, p domain.Principal, k *domain.KnowledgeBase, sources []domain.NewKnowledgeSource) (*domain.KnowledgeBase, error)
	KnowledgeBase(ctx context.Context, p domain.Principal, id string) (*domain.KnowledgeBase, error)
	ListKnowledge(ctx context.Context, p domain.Principal, q record.PageQuery) (record.Page[*domain.KnowledgeBase], error)
	UpdateKnowledge(ctx context.Context, p domain.Principal, id string, change func(*domain.KnowledgeBase) error) (*domain.KnowledgeBase, error)
	DeleteKnowledge(ctx context.Context, p domain.Principal, id string) error
	AddSource(ctx context.Context, p domain.Principal, id string, s domain.NewKnowledgeSource) (*domain.KnowledgeSource, error)
	Source(ctx context.Context, p domain.Principal, id, sourceID string) (*domain.KnowledgeSource, error)
	ListSources(ctx context.Context, p domain.Principal, id string, q record.PageQuery) (record.Page[*domain.KnowledgeSource], error)
	DeleteSource(ctx context.Context, p domain.Principal, id, sourceID string) error
	// SearchKnowledge searches those sources of a knowledge base that have been read. It returns at most most passages.
	SearchKnowledge(ctx context.Context, p domain.Principal, id, query string, most int) (knowledgeservice.KnowledgeFound, error)
}

// knowledgeHandlers serves the operations on knowledge bases.
type knowledgeHandlers struct {
	*router.Router

	bases Knowledge
}

// NewSource is a source of a knowledge base in a request body.
type NewSource struct {
	Type        string `json:"type" enum:"text,url,file"`
	Name        string `json:"name,omitempty" doc:"Name of the source. Required for a file: the file name." example:"opening-hours.md"`
	Text        string `json:"text,omitempty" doc:"Text of a source of type text." example:"We are open on Mondays from nine to five."`
	URL         string `json:"url,omitempty" doc:"https URL of a page at an allowed address. The page is read once, without following redirects." example:"https://example.com/faq"`
	Content     string `json:"content,omitempty" doc:"Content of a file, as text or as base64, see encoding. A PDF needs base64, at most 6 MiB and 500 pages."`
	Encoding    string `json:"encoding,omitempty" enum:"utf-8,base64" default:"utf-8" doc:"Encoding of content."`
	ContentType string `json:"content_type,omitempty" enum:"text/plain,text/markdown,text/html,application/pdf" doc:"Media type. Default: for a file by its name (.txt, .md, .html, .pdf), for a page as its server sends it, otherwise text/plain."`
}

// NewKnowledge is a knowledge base in a request body.
type NewKnowledge struct {
	Name     string            `json:"name" example:"Front desk"`
	Sources  []NewSource       `json:"sources,omitempty" nullable:"false" update:"-" doc:"Sources, at most 100."`
	Metadata map[string]string `json:"metadata,omitempty"`
}

// KnowledgeQuery is the request body of a search in a knowledge base.
type KnowledgeQuery struct {
	Query string `json:"query" doc:"Search words, at most 500 characters." example:"opening hours"`
	TopK  int    `json:"top_k,omitempty" minimum:"1" maximum:"50" default:"5" doc:"Maximum number of passages."`
}

// SourcePath reads the ids of a knowledge base and of one of its sources from the path.
type SourcePath struct {
	router.IDParam
	SourceID string `path:"source_id" doc:"The id of the source."`
}

// apply copies the settings in the request body to a knowledge base and validates the knowledge base.
func (n *NewKnowledge) apply(into *domain.KnowledgeBase) error {
	into.Name, into.Metadata = n.Name, n.Metadata
	var p domain.Problems
	validation.KnowledgeBase(&p, into)
	return p.Err()
}

// newSource returns the source that the request body describes. It adds problems to p, whose fields begin with prefix.
func (n *NewSource) newSource(p *domain.Problems, prefix string) domain.NewKnowledgeSource {
	o := domain.NewKnowledgeSource{Type: domain.SourceType(n.Type), Name: n.Name, URL: n.URL, ContentType: n.ContentType}
	switch o.Type {
	case domain.SourceText:
		o.Text, o.ContentType = n.Text, cmp.Or(n.ContentType, "text/plain")
		if n.Content != "" {
			p.Add(prefix+"content", domain.CodeValidation, "is allowed for sources of the type file only")
		}
	case domain.SourceFile:
		o.Text = n.Content
		if n.Encoding == "base64" {
			raw, err := base64.StdEncoding.DecodeString(n.Content)
			if err != nil {
				p.Add(prefix+"content", domain.CodeValidation, "is not base64")
			}
			o.Text = string(raw)
		}
		if o.ContentType = cmp.Or(n.ContentType, sourceTypeOfName(n.Name)); o.ContentType != "application/pdf" {
			o.Text = strings.TrimPrefix(o.Text, "\ufeff")
		}
	case domain.SourceURL:
		o.Text = n.Text + n.Content
	}
	return o
}

func sourceTypeOfName(name string) string {
	switch strings.ToLower(path.Ext(name)) {
	case ".txt", ".text":
		return "text/plain"
	case ".md", ".markdown":
		return "text/markdown"
	case ".html", ".htm":
		return "text/html"
	case ".pdf":
		return "application/pdf"
	}
	return ""
}

// registerKnowledge registers the routes for knowledge bases.
func registerKnowledge(r *router.Router, bases Knowledge) {
	s := &knowledgeHandlers{Router: r, bases: bases}
	const tag, path = "Knowledge base", "/v1/knowledge-base"
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path, ID: "createKnowledgeBase", Tag: tag, Status: http.StatusCreated, Summary: "Create a knowledge base",
		Description: "Its sources are read in the background: status changes from processing to ready, or to failed if no source can be read. All routes of this path share 60 requests per minute.",
	}, s.createKnowledge)
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path, ID: "listKnowledgeBases", Tag: tag, Summary: "List knowledge bases"},
		router.HandleList(s.bases, Knowledge.ListKnowledge, router.Identity))
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path + "/{id}", ID: "getKnowledgeBase", Tag: tag, Summary: "Get a knowledge base"},
		router.HandleByID(domain.PrefixKnowledge, s.bases, Knowledge.KnowledgeBase, router.Identity))
	router.Add(s.Router, router.Operation{Method: http.MethodPatch, Path: path + "/{id}", ID: "updateKnowledgeBase", Tag: tag, Summary: "Change a knowledge base"},
		router.HandlePatchByID(s.Registry, domain.PrefixKnowledge, s.bases, Knowledge.UpdateKnowledge, (*NewKnowledge).apply))
	router.Add(s.Router, router.Operation{Method: http.MethodDelete, Path: path + "/{id}", ID: "deleteKnowledgeBase", Tag: tag, Summary: "Delete a knowledge base with its sources"},
		router.HandleDeleteByID(domain.PrefixKnowledge, "knowledge_base", s.bases, Knowledge.DeleteKnowledge))
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path + "/{id}/search", ID: "searchKnowledgeBase", Tag: tag, Summary: "Search a knowledge base",
		Description: "Full-text search that ranks passages by the number and rarity of matching words. With an embeddings engine, also semantic search. Only ready sources are searched.",
	}, s.searchKnowledge)
	s.registerSources(tag, path+"/{id}/sources")
}

func (s *knowledgeHandlers) registerSources(tag, path string) {
	router.Add(s.Router, router.Operation{Method: http.MethodPost, Path: path, ID: "addKnowledgeSource", Tag: tag, Status: http.StatusCreated, Summary: "Add a source to a knowledge base"},
		func(ctx context.Context, p domain.Principal, in *struct {
			router.IDParam
			Body NewSource
		},
		) (*router.Response[*domain.KnowledgeSource], error) {
			id, err := router.PathID(domain.PrefixKnowledge, in.ID)
			if err != nil {
				return nil, err
			}
			var problems domain.Problems
			o := in.Body.newSource(&problems, "")
			validation.Source(&problems, "", &o)
			if err = problems.Err(); err != nil {
				return nil, err
			}
			return router.RespondPublic(s.bases.AddSource(ctx, p, id, o))
		})
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path, ID: "listKnowledgeSources", Tag: tag, Summary: "List the sources of a knowledge base"},
		func(ctx context.Context, p domain.Principal, in *struct {
			router.IDParam
			router.Paging
		},
		) (*router.Response[router.List[*domain.KnowledgeSource]], error) {
			id, err := router.PathID(domain.PrefixKnowledge, in.ID)
			if err != nil {
				return nil, err
			}
			l, err := s.bases.ListSources(ctx, p, id, in.Query())
			return router.Page(l, err, (*domain.KnowledgeSource).Public)
		})
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path + "/{source_id}", ID: "getKnowledgeSource", Tag: tag, Summary: "Get a source of a knowledge base"},
		func(ctx context.Context, p domain.Principal, in *SourcePath) (*router.Response[*domain.KnowledgeSource], error) {
			id, err := router.PathID(domain.PrefixKnowledge, in.ID)
			if err != nil {
				return nil, err
			}
			return router.RespondPublic(s.bases.Source(ctx, p, id, in.SourceID))
		})
	router.Add(s.Router, router.Operation{Method: http.MethodDelete, Path: path + "/{source_id}", ID: "deleteKnowledgeSource", Tag: tag, Summary: "Delete a source of a knowledge base"},
		func(ctx context.Context, p domain.Principal, in *SourcePath) (*router.Response[router.Deleted], error) {
			id, err := router.PathID(domain.PrefixKnowledge, in.ID)
			if err != nil {
				return nil, err
			}
			return router.RespondDeleted(in.SourceID, "knowledge_source", s.bases.DeleteSource(ctx, p, id, in.SourceID))
		})
}

func (s *knowledgeHandlers) createKnowledge(ctx context.Context, p domain.Principal, in *struct{ Body NewKnowledge }) (*router.Response[*domain.KnowledgeBase], error) {
	k := &domain.KnowledgeBase{Name: in.Body.Name}
	k.Metadata = in.Body.Metadata
	var problems domain.Problems
	validation.KnowledgeBase(&problems, k)
	sources := make([]domain.NewKnowledgeSource, 0, len(in.Body.Sources))
	for i := range in.Body.Sources {
		sources = append(sources, in.Body.Sources[i].newSource(&problems, "sources["+strconv.Itoa(i)+"]."))
	}
	validation.Sources(&problems, sources)
	if err := problems.Err(); err != nil {
		return nil, err
	}
	created, err := s.bases.CreateKnowledge(ctx, p, k, sources)
	return router.RespondCreated(ctx, created, err)
}

func (s *knowledgeHandlers) searchKnowledge(ctx context.Context, p domain.Principal, in *struct {
	router.IDParam
	Body KnowledgeQuery
},
) (*router.Response[knowledgeservice.KnowledgeFound], error) {
	id, err := router.PathID(domain.PrefixKnowledge, in.ID)
	if err != nil {
		return nil, err
	}
	var problems domain.Problems
	validation.Prose(&problems, "query", in.Body.Query, knowledge.MaxQueryLength)
	if strings.TrimSpace(in.Body.Query) == "" {
		problems.Add("query", domain.CodeValidation, "is required")
	}
	if err = problems.Err(); err != nil {
		return nil, err
	}
	return router.Respond(s.bases.SearchKnowledge(ctx, p, id, in.Body.Query, cmp.Or(in.Body.TopK, knowledge.DefaultHits)))
}
