package httpapi

import (
	"cmp"
	"context"
	"encoding/base64"
	"net/http"
	"path"
	"strconv"
	"strings"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/domain/knowledge"
	"github.com/callboard/callboard/domain/validation"
)

// NewSource is a source of a knowledge base as it is sent.
type NewSource struct {
	Type        string `json:"type" enum:"text,url,file"`
	Name        string `json:"name,omitempty" doc:"For people; a file's own name, which is required for it." example:"opening-hours.md"`
	Text        string `json:"text,omitempty" doc:"Of a text." example:"We are open on Mondays from nine to five."`
	URL         string `json:"url,omitempty" doc:"Of a page, https only. It is read once, without following redirects, and must lie at an address that may be reached." example:"https://example.com/faq"`
	Content     string `json:"content,omitempty" doc:"Of a file: its text, or base64 where encoding says so, as a PDF takes it (6 MiB and 500 pages at most)."`
	Encoding    string `json:"encoding,omitempty" enum:"utf-8,base64" default:"utf-8" doc:"Of content."`
	ContentType string `json:"content_type,omitempty" enum:"text/plain,text/markdown,text/html,application/pdf" doc:"Of a file it follows from its name (.txt, .md, .html, .pdf) unless said, of a page from its server; a text is plain."`
}

// NewKnowledge is a knowledge base as it is sent.
type NewKnowledge struct {
	Name     string            `json:"name" example:"Front desk"`
	Sources  []NewSource       `json:"sources,omitempty" nullable:"false" update:"-" doc:"100 at most."`
	Metadata map[string]string `json:"metadata,omitempty"`
}

// KnowledgeQuery is a search as it is sent.
type KnowledgeQuery struct {
	Query string `json:"query" doc:"Words; at most 500 characters." example:"opening hours"`
	TopK  int    `json:"top_k,omitempty" minimum:"1" maximum:"50" default:"5" doc:"The most passages that are wanted."`
}

// SourceOne names a source in the path.
type SourceOne struct {
	One
	SourceID string `path:"source_id" doc:"The source's id."`
}

// apply writes the settings to a knowledge base, and checks it.
func (n *NewKnowledge) apply(into *domain.KnowledgeBase) error {
	into.Name, into.Metadata = n.Name, n.Metadata
	var p domain.Problems
	validation.KnowledgeBase(&p, into)
	return p.Err()
}

// order is the source as it is ordered.
func (n *NewSource) order(p *domain.Problems, prefix string) ask.NewSource {
	o := ask.NewSource{Type: domain.SourceType(n.Type), Name: n.Name, URL: n.URL, ContentType: n.ContentType}
	switch o.Type {
	case domain.SourceText:
		o.Text, o.ContentType = n.Text, cmp.Or(n.ContentType, "text/plain")
		if n.Content != "" {
			p.Add(prefix+"content", domain.CodeValidation, "is for sources of the type file")
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
		if o.ContentType = cmp.Or(n.ContentType, kindOfName(n.Name)); o.ContentType != "application/pdf" {
			o.Text = strings.TrimPrefix(o.Text, "\ufeff")
		}
	case domain.SourceURL:
		o.Text = n.Text + n.Content
	}
	return o
}

func kindOfName(name string) string {
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

func (s *Server) knowledgeRoutes() {
	const tag, path = "Knowledge base", "/v1/knowledge-base"
	add(s.Router, operation{
		method: http.MethodPost, path: path, id: "createKnowledgeBase", tag: tag, status: http.StatusCreated, summary: "Create a knowledge base",
		about: "Its sources are read after the answer: status goes from processing to ready, or to failed where no source could be read. All routes of this path share 60 requests per minute.",
	}, s.createKnowledge)
	add(s.Router, operation{method: http.MethodGet, path: path, id: "listKnowledgeBases", tag: tag, summary: "List knowledge bases"},
		handleList(s.ports.Knowledge, Knowledge.ListKnowledge, same))
	add(s.Router, operation{method: http.MethodGet, path: path + "/{id}", id: "getKnowledgeBase", tag: tag, summary: "Get a knowledge base"},
		handleByID(domain.PrefixKnowledge, s.ports.Knowledge, Knowledge.KnowledgeBase, same))
	add(s.Router, operation{method: http.MethodPatch, path: path + "/{id}", id: "updateKnowledgeBase", tag: tag, summary: "Change a knowledge base"},
		handlePatchByID(s.Registry, domain.PrefixKnowledge, s.ports.Knowledge, Knowledge.UpdateKnowledge, (*NewKnowledge).apply))
	add(s.Router, operation{method: http.MethodDelete, path: path + "/{id}", id: "deleteKnowledgeBase", tag: tag, summary: "Delete a knowledge base with its sources"},
		handleDeleteByID(domain.PrefixKnowledge, "knowledge_base", s.ports.Knowledge, Knowledge.DeleteKnowledge))
	add(s.Router, operation{
		method: http.MethodPost, path: path + "/{id}/search", id: "searchKnowledgeBase", tag: tag, summary: "Search a knowledge base",
		about: "Full-text search: passages with more of the query's words, and with rarer ones, come first. With an embeddings engine configured, also semantic search. Only sources that are ready are searched.",
	}, s.searchKnowledge)
	s.sourceRoutes(tag, path+"/{id}/sources")
}

func (s *Server) sourceRoutes(tag, path string) {
	add(s.Router, operation{method: http.MethodPost, path: path, id: "addKnowledgeSource", tag: tag, status: http.StatusCreated, summary: "Add a source to a knowledge base"},
		func(ctx context.Context, p domain.Principal, in *struct {
			One
			Body NewSource
		},
		) (*answer[*domain.KnowledgeSource], error) {
			id, err := named(domain.PrefixKnowledge, in.ID)
			if err != nil {
				return nil, err
			}
			var problems domain.Problems
			o := in.Body.order(&problems, "")
			validation.Source(&problems, "", &o)
			if err = problems.Err(); err != nil {
				return nil, err
			}
			return public(s.ports.Knowledge.AddSource(ctx, p, id, o))
		})
	add(s.Router, operation{method: http.MethodGet, path: path, id: "listKnowledgeSources", tag: tag, summary: "List the sources of a knowledge base"},
		func(ctx context.Context, p domain.Principal, in *struct {
			One
			Paging
		},
		) (*answer[List[*domain.KnowledgeSource]], error) {
			id, err := named(domain.PrefixKnowledge, in.ID)
			if err != nil {
				return nil, err
			}
			l, err := s.ports.Knowledge.ListSources(ctx, p, id, in.page())
			return page(l, err, (*domain.KnowledgeSource).Public)
		})
	add(s.Router, operation{method: http.MethodGet, path: path + "/{source_id}", id: "getKnowledgeSource", tag: tag, summary: "Get a source of a knowledge base"},
		func(ctx context.Context, p domain.Principal, in *SourceOne) (*answer[*domain.KnowledgeSource], error) {
			id, err := named(domain.PrefixKnowledge, in.ID)
			if err != nil {
				return nil, err
			}
			return public(s.ports.Knowledge.Source(ctx, p, id, in.SourceID))
		})
	add(s.Router, operation{method: http.MethodDelete, path: path + "/{source_id}", id: "deleteKnowledgeSource", tag: tag, summary: "Delete a source of a knowledge base"},
		func(ctx context.Context, p domain.Principal, in *SourceOne) (*answer[Deleted], error) {
			id, err := named(domain.PrefixKnowledge, in.ID)
			if err != nil {
				return nil, err
			}
			return deleted(in.SourceID, "knowledge_source", s.ports.Knowledge.DeleteSource(ctx, p, id, in.SourceID))
		})
}

func (s *Server) createKnowledge(ctx context.Context, p domain.Principal, in *struct{ Body NewKnowledge }) (*answer[*domain.KnowledgeBase], error) {
	k := &domain.KnowledgeBase{Name: in.Body.Name}
	k.Metadata = in.Body.Metadata
	var problems domain.Problems
	validation.KnowledgeBase(&problems, k)
	sources := make([]ask.NewSource, 0, len(in.Body.Sources))
	for i := range in.Body.Sources {
		sources = append(sources, in.Body.Sources[i].order(&problems, "sources["+strconv.Itoa(i)+"]."))
	}
	validation.SourcesOf(&problems, sources)
	if err := problems.Err(); err != nil {
		return nil, err
	}
	made, err := s.ports.Knowledge.CreateKnowledge(ctx, p, k, sources)
	return touched(ctx, made, err)
}

func (s *Server) searchKnowledge(ctx context.Context, p domain.Principal, in *struct {
	One
	Body KnowledgeQuery
},
) (*answer[ask.KnowledgeFound], error) {
	id, err := named(domain.PrefixKnowledge, in.ID)
	if err != nil {
		return nil, err
	}
	var problems domain.Problems
	validation.Prose(&problems, "query", in.Body.Query, knowledge.MaxQuery)
	if strings.TrimSpace(in.Body.Query) == "" {
		problems.Add("query", domain.CodeValidation, "is required")
	}
	if err = problems.Err(); err != nil {
		return nil, err
	}
	return ok(s.ports.Knowledge.SearchKnowledge(ctx, p, id, in.Body.Query, cmp.Or(in.Body.TopK, knowledge.DefaultTop)))
}
