package agents

import (
	"context"
	"errors"
	"net/http"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/domain/validation"
	"github.com/callboard/callboard/httpapi/limit"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/service/record"
)

// Pathways are plans of conversations.
type Pathways interface {
	CreatePathway(ctx context.Context, p domain.Principal, w *domain.Pathway) (*domain.Pathway, error)
	Pathway(ctx context.Context, p domain.Principal, id string) (*domain.Pathway, error)
	// PathwayVersion is one as it was, 422 with param version where that is not
	// kept; 0: as it is.
	PathwayVersion(ctx context.Context, p domain.Principal, id string, number int) (*domain.Pathway, error)
	ListPathways(ctx context.Context, p domain.Principal, q record.PageQuery) (record.Page[*domain.Pathway], error)
	UpdatePathway(ctx context.Context, p domain.Principal, id string, change func(*domain.Pathway) error) (*domain.Pathway, error)
	// DeletePathway: invalid_state with used_by while an agent names it.
	DeletePathway(ctx context.Context, p domain.Principal, id string) error
	// CheckPathway: 422 where a node names what is not the workspace's.
	CheckPathway(ctx context.Context, p domain.Principal, w *domain.Pathway) error
}

// Models are the language models of agents.
type Models interface {
	// Thinks says whether there is a language model for such an agent; nil: for
	// one that names none.
	Thinks(ctx context.Context, p domain.Principal, l *domain.AgentLLM) bool
	// Think asks it. brief is what it is told of its part.
	Think(ctx context.Context, p domain.Principal, l *domain.AgentLLM, brief string, t pathway.ModelRequest) ([]string, pathway.ModelAnswered)
	// PlayCaller has the service's own model be the caller of a conversation. The
	// error is fit to be shown.
	PlayCaller(ctx context.Context, p domain.Principal, brief string, said []pathway.Message) (string, error)
}

// PastCalls are the calls that a pathway is replayed with.
type PastCalls interface {
	Call(ctx context.Context, p domain.Principal, id string) (*domain.Call, error)
	Transcript(ctx context.Context, p domain.Principal, callID string) (*domain.Transcript, error)
}

// CampaignReader returns the campaign of a call.
type CampaignReader interface {
	Campaign(ctx context.Context, p domain.Principal, id string) (*domain.Campaign, error)
}

// PathwaySpeech says what the engines of this process do with what callers say.
type PathwaySpeech struct {
	Recognized  bool // words that a pathway expects are recognized
	Transcribed bool // everything that is said is transcribed
}

// pathwayHandlers serves the operations of pathways, and plays them.
type pathwayHandlers struct {
	*router.Router

	pathways  Pathways
	models    Models
	agents    Agents
	calls     PastCalls
	campaigns CampaignReader
	speech    PathwaySpeech
	tests     limit.Concurrent // tests that run, by workspace
}

// NewPathway is a pathway as it is sent.
type NewPathway struct {
	Name      string            `json:"name,omitempty" required:"true"`
	Start     string            `json:"start,omitempty" required:"true" doc:"The id of the first node."`
	Variables []domain.Variable `json:"variables,omitempty" nullable:"false"`
	Nodes     []domain.Node     `json:"nodes,omitempty" required:"true" nullable:"false"`
	Edges     []domain.Edge     `json:"edges,omitempty" nullable:"false"`
	Metadata  map[string]string `json:"metadata,omitempty"`
}

// PathwayUpdate is what can be changed of a pathway.
type PathwayUpdate struct {
	NewPathway
	Version int `json:"version,omitempty" minimum:"1" doc:"The version that the change was made to: 409 invalid_state with current_version, and no change, where another one has been saved since. Unless said, whichever there is is changed."`
}

func (n *PathwayUpdate) apply(w *domain.Pathway) error {
	if n.Version != 0 && n.Version != w.Version {
		e := domain.Errorf(domain.CodeInvalidState, "Version %d is saved by now; the change was made to version %d.", w.Version, n.Version)
		e.Param = "version"
		return e.With("current_version", w.Version)
	}
	return n.NewPathway.apply(w)
}

func (n *NewPathway) copyTo(w *domain.Pathway) {
	w.Name, w.Start, w.Variables, w.Nodes, w.Edges, w.Metadata = n.Name, n.Start, n.Variables, n.Nodes, n.Edges, n.Metadata
}

// apply writes the settings to a pathway, and checks the pathway.
func (n *NewPathway) apply(w *domain.Pathway) error {
	n.copyTo(w)
	return checkPathway(w)
}

// checkPathway finds everything that is wrong with a pathway at once.
func checkPathway(w *domain.Pathway) error {
	var p domain.Problems
	validation.Metadata(&p, w.Metadata)
	err := pathway.Validate(w)
	var known *domain.Error
	switch {
	case err == nil:
		return p.Err()
	case len(p) == 0 || !errors.As(err, &known):
		return err
	}
	return append(p, known.Details...).Err()
}

// PathwayReport is what a validation found.
type PathwayReport struct {
	Valid    bool            `json:"valid"`
	Runnable bool            `json:"runnable" doc:"Calls can walk it here."`
	Needs    []domain.Detail `json:"needs" doc:"What takes an engine that is not configured: it can be saved, but calls that would walk it are 409 engine_not_configured."`
	Errors   []domain.Detail `json:"errors" doc:"What keeps the pathway from being saved."`
	Warnings []domain.Detail `json:"warnings" doc:"What is odd but stops nothing."`
}

func (s *pathwayHandlers) reportOn(ctx context.Context, p domain.Principal, w *domain.Pathway) (PathwayReport, error) {
	var r PathwayReport
	if pathway.IsWithinLimits(w) {
		r.Warnings, r.Needs = pathway.Warnings(w), pathway.MissingCapabilities(w, pathway.Capabilities{Actions: true, Speech: s.speech.Recognized, Text: s.speech.Transcribed, Model: s.models.Thinks(ctx, p, nil)})
	}
	err := checkPathway(w)
	if err == nil {
		err = s.pathways.CheckPathway(ctx, p, w)
	}
	var known *domain.Error
	switch {
	case err == nil:
		r.Valid, r.Runnable = true, len(r.Needs) == 0
	case errors.As(err, &known) && known.Code == domain.CodeValidation:
		r.Errors = known.Details
	default:
		return r, err
	}
	return r, nil
}

// registerPathways registers the operations of pathways, and plays them.
func registerPathways(r *router.Router, services Services, speech PathwaySpeech) {
	s := &pathwayHandlers{
		Router: r, pathways: services.Pathways, models: services.Models, agents: services.Agents, calls: services.Calls, campaigns: services.Campaigns, speech: speech,
	}
	const tag, path = "Pathways", "/v1/pathways"
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path, ID: "createPathway", Tag: tag, Status: http.StatusCreated, Summary: "Create a pathway",
		Description: "Nodes say, collect, converse, dtmf, condition, tool, appointment, sms, transfer, agent and end; edges lead from node to node. Text takes {{name}} and {{name | fallback}}. " +
			"Tools, knowledge bases and agents that nodes name must belong to the workspace. Edges are taken by key presses, words (needs speech recognition), decisions of a language model (needs one), time-outs, always, else, success and failure. " +
			"A node or edge that needs an engine that is not configured is stored, reported by validate, and refused when a call reaches it (409 engine_not_configured).",
	}, func(ctx context.Context, p domain.Principal, in *struct{ Body NewPathway }) (*router.Response[*domain.Pathway], error) {
		w := &domain.Pathway{}
		if err := in.Body.apply(w); err != nil {
			return nil, err
		}
		made, err := s.pathways.CreatePathway(ctx, p, w)
		return router.RespondCreated(ctx, made, err)
	})
	router.Add(s.Router, router.Operation{Method: http.MethodPost, Path: path + "/validate", ID: "validatePathway", Tag: tag, SkipValidation: true, Summary: "Check a pathway without saving it", Description: "The report lists all problems, those of missing members as well."},
		func(ctx context.Context, p domain.Principal, in *struct{ Body NewPathway }) (*router.Response[PathwayReport], error) {
			w := &domain.Pathway{}
			in.Body.copyTo(w)
			return router.Respond(s.reportOn(ctx, p, w))
		})
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path, ID: "listPathways", Tag: tag, Summary: "List pathways"},
		router.HandleList(s.pathways, Pathways.ListPathways, router.Identity))
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path + "/{id}", ID: "getPathway", Tag: tag, Summary: "Get a pathway"},
		func(ctx context.Context, p domain.Principal, in *router.IDParam) (*router.Response[*domain.Pathway], error) {
			return router.Respond(s.pathwayOf(ctx, p, *in))
		})
	router.Add(s.Router, router.Operation{Method: http.MethodPost, Path: path + "/{id}/validate", ID: "validateSavedPathway", Tag: tag, Summary: "Check a saved pathway"},
		func(ctx context.Context, p domain.Principal, in *router.IDParam) (*router.Response[PathwayReport], error) {
			w, err := s.pathwayOf(ctx, p, *in)
			if err != nil {
				return nil, err
			}
			return router.Respond(s.reportOn(ctx, p, w))
		})
	router.Add(s.Router, router.Operation{Method: http.MethodPatch, Path: path + "/{id}", ID: "updatePathway", Tag: tag, Summary: "Change a pathway", Description: "Calls and campaigns that are running keep the pathway they began with."},
		router.HandlePatchByID(s.Registry, domain.PrefixPathway, s.pathways, Pathways.UpdatePathway, (*PathwayUpdate).apply))
	router.Add(s.Router, router.Operation{Method: http.MethodDelete, Path: path + "/{id}", ID: "deletePathway", Tag: tag, Summary: "Delete a pathway", Errors: []int{http.StatusConflict}},
		router.HandleDeleteByID(domain.PrefixPathway, "pathway", s.pathways, Pathways.DeletePathway))
	s.registerChat(tag, path)
	s.registerTests(tag, path)
}

// CheckRules checks what the schema cannot express.
func (n *NewPathway) CheckRules(context.Context, router.Workspaces, domain.Principal) error {
	return n.apply(&domain.Pathway{})
}
